internal import CGtk4
internal import CStage
internal import FoundationEssentials
public import StagedoorKit

/// Something that is over a widget, or was dropped there.
///
/// ```swift
/// import StagedoorKit
///
/// let place = Label("drop a picture here")
/// place.onDrop(of: ["image/*"]) { drop in
///   for item in drop.items {
///     let picture = try await item.itemProvider.loadDataRepresentation(as: "image/*", progress: drop.progress)
///     place.text = "\(item.itemProvider.suggestedName ?? "a picture"): \(picture.count) bytes"
///   }
///   return .copy
/// }
/// ```
@MainActor public final class Drop {
  /// The items. While the drag hovers, the items of another program are unknown; of this program's own, only types and activities are
  /// known. After the drop their data can be loaded, until the handler has answered.
  public internal(set) var items: [DragItem] = []
  /// The operations that the source allows.
  public let allowedOperations: Set<DropOperation>
  /// The operation that the target proposed while the drag hovered.
  public internal(set) var operation = DropOperation.copy
  /// The pointer's position in the widget.
  public internal(set) var location: (x: Double, y: Double) = (0, 0)
  /// The source's scene, if it belongs to this program.
  public let source: Scene?
  /// The progress of loading the items.
  public let progress: ItemProgress
  /// The types that the source offers, the best first.
  public let types: [String]

  let pointer: OpaquePointer
  private let drag: Drag?

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    progress = ItemProgress()
    g_object_ref(UnsafeMutableRawPointer(pointer))
    allowedOperations = gdk_drop_get_actions(pointer).operations
    drag = gdk_drop_get_drag(pointer).flatMap { Drag.current[$0] }
    source = drag?.scene
    items = drag?.items ?? []
    var count: UInt = 0
    let names = gdk_content_formats_get_mime_types(gdk_drop_get_formats(pointer), &count)
    types = (0..<Int(count)).compactMap { names?[$0].map { String(cString: $0) } }
  }

  isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// Tells the source the operation of the drop.
  func finish(_ operation: DropOperation) { stage_drop_finish(pointer, GdkDragAction(operation)) }

  /// Whether the source speaks Stagedoor and offers activities.
  private var isOfStagedoor: Bool {
    drag != nil || types.contains(Payload.contentType) || types.contains(DragSession.ticketType)
  }

  /// Hands the drop on to an existing or a new window of any application, with everything that its source offers. If the source speaks
  /// Stagedoor, this program does not load the data, and the receiver gets the drop with ``operation``.
  ///
  /// A drop with a ticket takes place as its source wished: of the options, only ``DeliveryOptions/wait`` applies to it.
  @discardableResult
  public func deliver(
    to place: DropPlace, _ stagedoor: Stagedoor, _ options: DeliveryOptions = DeliveryOptions()
  ) async throws -> Delivery {
    if drag == nil, types.contains(DragSession.ticketType), place != .anywhere {
      let ticket = String(decoding: try await load(DragSession.ticketType), as: UTF8.self)
      let delivery = try await stagedoor.openDrag(ticket).drop(on: place.session, operation: operation)
      if options.wait == .handled { try await stagedoor.finished(delivery.identifier) }
      return delivery
    }
    var options = options
    options.session = place.session
    if place == .edge { options.disposition = .new }
    options.keepsPromises = true
    options.requestingSession = place.session == nil ? source?.id : nil
    return try await stagedoor.deliver(items, options)
  }

  // MARK: Reading

  /// Whether a target that takes these types can take something of the drop.
  func fits(_ wanted: [String]) -> Bool {
    if let drag {
      return drag.items.contains { item in
        !item.itemProvider.userActivities.isEmpty || wanted.contains { item.itemProvider.hasItem(conformingTo: $0) }
      }
    }
    return isOfStagedoor || stage_drop_has_files(pointer) != 0
      || types.contains { type in Self.type(type, isOf: wanted) }
  }

  /// Reads the types and activities of the items, and not their data. The most expressive types come first: Stagedoor's own types,
  /// files, and then the types that the target prefers.
  func readItems(_ wanted: [String]) async throws {
    if drag != nil { return }
    if types.contains(Payload.contentType) {
      items = try Payload(decoding: try await load(Payload.contentType)).items
      if items.count == 1 { register(ofSingle: &items[0], { !Self.own.contains($0) }) }
    } else if stage_drop_has_files(pointer) != 0 {
      items = try await files().map { DragItem(itemProvider: ItemProvider(file: $0, openInPlace: false)) }
    } else {
      var item = DragItem(itemProvider: ItemProvider())
      for type in wanted { register(ofSingle: &item) { Self.type($0, isOf: [type]) } }
      items = [item]
    }
  }

  /// Stagedoor's types, and the type that stands for files.
  private static let own: Set<String> = [Payload.contentType, DragSession.ticketType, "text/uri-list"]

  private func register(ofSingle item: inout DragItem, _ fits: (String) -> Bool) {
    for type in types where type.contains("/") && fits(type) && !item.itemProvider.registeredTypes.contains(type) {
      item.itemProvider.registerDataRepresentation(as: type) { [self] progress in try await load(type, progress) }
    }
  }

  private static func type(_ type: String, isOf wanted: [String]) -> Bool {
    var provider = ItemProvider()
    provider.registerData(Data(), as: type)
    return wanted.contains { provider.hasItem(conformingTo: $0) }
  }

  func load(_ type: String, _ progress: ItemProgress = ItemProgress()) async throws -> Data {
    try await reading(progress) { stage_drop_read(pointer, type, $0, Reading.take, Reading.end, $1) }.data
  }

  private func files() async throws -> [URL] {
    try await reading(progress) { stage_drop_read_files(pointer, $0, Reading.take, Reading.end, $1) }.pieces
      .compactMap { URL(string: String(decoding: $0, as: UTF8.self)) }
  }

  private func reading(
    _ progress: ItemProgress, _ start: (UnsafeMutablePointer<GCancellable>?, UnsafeMutableRawPointer) -> Void
  ) async throws -> Reading {
    let reading = Reading(progress)
    let cancellable = g_cancellable_new()
    // The source of a reading that has failed may still be sending.
    defer {
      g_cancellable_cancel(cancellable)
      if let cancellable { g_object_unref(cancellable) }
    }
    // Any thread may cancel this object.
    nonisolated(unsafe) let cancelled = cancellable
    try await withTaskCancellationHandler {
      try await GtkStage.suspended { continuation in
        reading.continuation = continuation
        start(cancellable, Box(reading).given)
      }
    } onCancel: {
      g_cancellable_cancel(cancelled)
      // GDK notices the cancellation only when the source sends something.
      Task { @MainActor in reading.end(.failure(CancellationError())) }
    }
    return reading
  }
}

extension DropPlace {
  fileprivate var session: SessionIdentifier? { if case .window(let session) = self { session } else { nil } }
}

/// Bytes on their way from the source of a drag.
@MainActor private final class Reading {
  private(set) var pieces: [Data] = []
  private var count = 0
  /// Other programs decide what they send.
  private let limit = GtkStage.application?.loadLimit ?? 1 << 30
  private let progress: ItemProgress
  var continuation: CheckedContinuation<Void, any Error>?

  init(_ progress: ItemProgress) { self.progress = progress }

  var data: Data { Data(pieces.joined()) }

  func end(_ result: Result<Void, any Error>) {
    continuation?.resume(with: result)
    continuation = nil
  }

  private func take(_ piece: Data) {
    count += piece.count
    if count > limit {
      pieces = []
      return end(.failure(StagedoorError(.limitsExceeded, "the source sends more than \(limit) bytes")))
    }
    pieces.append(piece)
    progress.update(completedByteCount: count)
  }

  static let take: StageBytes = { box, bytes, count in
    guard let box, let bytes else { return }
    let piece = Data(bytes: bytes, count: count)
    let reading = Box<Reading>.value(of: box)
    // GLib calls on the main thread.
    MainActor.assumeIsolated { reading.take(piece) }
  }

  static let end: StageEnd = { box, error in
    guard let box else { return }
    let reading = Box<Reading>.taken(box)
    let message = error.map { String(cString: $0) }
    MainActor.assumeIsolated {
      reading.end(message.map { .failure(StagedoorError(.loadFailed, $0)) } ?? .success(()))
    }
  }
}
