internal import CGtk4
internal import CStage

/// A signal of GTK, while its handler runs. Argument 0 is the object that sends it.
@MainActor struct Signal {
  private let arguments: UnsafePointer<GValue>
  private let result: UnsafeMutablePointer<GValue>?

  func integer(_ index: Int) -> Int { Int(g_value_get_int(arguments + index)) }
  func flag(_ index: Int) -> Bool { g_value_get_boolean(arguments + index) != 0 }
  func number(_ index: Int) -> Double { g_value_get_double(arguments + index) }
  func enumeration(_ index: Int) -> Int32 { g_value_get_enum(arguments + index) }
  func object(_ index: Int) -> OpaquePointer? { g_value_get_object(arguments + index).map { OpaquePointer($0) } }

  func answer(_ flag: Bool) { if let result { g_value_set_boolean(result, flag ? 1 : 0) } }
  func answer(_ action: GdkDragAction) { if let result { g_value_set_flags(result, action.rawValue) } }
  /// Answers with an object, and gives up its ownership.
  func answer(giving object: OpaquePointer?) {
    if let result { g_value_take_object(result, object.map { UnsafeMutableRawPointer($0) }) }
  }

  /// Connects `body`, which lives until the handler is disconnected or the object ends.
  static func connect(_ object: OpaquePointer, _ name: String, _ body: @escaping @MainActor (Signal) -> Void) -> UInt {
    stage_connect(
      UnsafeMutableRawPointer(object), name,
      { box, _, arguments, result in
        guard let box, let arguments else { return }
        // Swift reads these before this function returns.
        nonisolated(unsafe) let (read, written) = (arguments, result)
        let handler = Unmanaged<Box<@MainActor (Signal) -> Void>>.fromOpaque(box).takeUnretainedValue()
        // GTK calls on the main thread, and waits for the answer.
        MainActor.assumeIsolated { handler.value(Signal(arguments: read, result: written)) }
      }, Box(body).given, { Box<@MainActor (Signal) -> Void>.release($0) })
  }
}

/// Handlers of signals. Each keeps its object until it is dropped.
@MainActor final class Handlers {
  private var all: [(object: OpaquePointer, identifier: UInt)] = []

  func connect(_ signal: String, of object: OpaquePointer, _ body: @escaping @MainActor (Signal) -> Void) {
    g_object_ref(UnsafeMutableRawPointer(object))
    all.append((object, Signal.connect(object, signal, body)))
  }

  /// Drops the handlers, with everything that they keep.
  func drop() {
    // The objects that a handler keeps may end here, and with them the widget of these handlers.
    let dropped = all
    all = []
    for handler in dropped {
      stage_disconnect(UnsafeMutableRawPointer(handler.object), handler.identifier)
      g_object_unref(UnsafeMutableRawPointer(handler.object))
    }
  }
}

/// A Swift value that C carries.
final class Box<Value: Sendable>: Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }

  /// A pointer that owns this object.
  var given: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  static func release(_ pointer: UnsafeMutableRawPointer?) {
    if let pointer { Unmanaged<Box>.fromOpaque(pointer).release() }
  }

  static func value(of pointer: UnsafeMutableRawPointer) -> Value {
    Unmanaged<Box>.fromOpaque(pointer).takeUnretainedValue().value
  }

  /// The value of a pointer that comes back for the last time.
  static func taken(_ pointer: UnsafeMutableRawPointer) -> Value {
    Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().value
  }
}
