internal import CGtk4
internal import CStage
public import StagedoorKit

extension Widget {
  /// Lets people drop onto the widget.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// let folder = Label("Archive")
  /// folder.onDrop { drop in
  ///   for case let message? in drop.items.map(\.localObject) { print("archived", message) }
  ///   return drop.allowedOperations.contains(.move) ? .move : .copy
  /// }
  /// ```
  ///
  /// Stagedoor's items, with their activities, are taken whatever their types. Other programs' content is taken if its type is in `types`: each
  /// file of a list becomes an item.
  ///
  /// - Parameters:
  ///   - types: The wanted types beside activities, the best first: `image/*`, `text/plain`.
  ///   - proposal: Returns the operation of a drop, while the drag hovers; `nil` asks the window's ``SceneDelegate/scene(_:proposalFor:allowed:)``.
  ///   - perform: Takes the drop, and returns the operation: ``Drop/operation``, or another one. If this takes longer than a moment, the window shows the
  ///     progress, with a button that cancels the drop. The window shows an error, and the source hears that the drop was not taken.
  @discardableResult
  public func onDrop<each Window: WindowScene>(
    of types: [String] = [], proposal: (@MainActor (Drop) -> DropOperation)? = nil,
    _ perform: @escaping @MainActor (Drop, repeat each Window) async throws -> DropOperation
  ) -> Self {
    guard pointer != nil,
      let target = gtk_drop_target_async_new(nil, GdkDragAction([.copy, .move]))
    else { return self }
    let dropping = Dropping(types, proposal) { drop, widget in
      try await perform(drop, repeat widget.window(as: (each Window).self))
    }
    connect("accept", of: target) { _, signal in
      signal.answer(signal.object(1).map { Drop($0).fits(types) } ?? false)
    }
    for name in ["drag-enter", "drag-motion"] {
      connect(name, of: target) { widget, signal in
        signal.answer(dropping.hover(signal.object(1), signal.number(2), signal.number(3), over: widget))
      }
    }
    connect("drag-leave", of: target) { widget, _ in dropping.leave(widget) }
    connect("drop", of: target) { widget, signal in
      signal.answer(dropping.drop(signal.object(1), signal.number(2), signal.number(3), onto: widget))
    }
    add(controller: target)
    return style(Dropping.mark)
  }
}

/// A widget onto which something can be dropped.
@MainActor private final class Dropping {
  private let types: [String]
  private let proposal: (@MainActor (Drop) -> DropOperation)?
  private let perform: @MainActor (Drop, Widget) async throws -> DropOperation
  private var hovering: Drop?

  init(
    _ types: [String], _ proposal: (@MainActor (Drop) -> DropOperation)?,
    _ perform: @escaping @MainActor (Drop, Widget) async throws -> DropOperation
  ) {
    (self.types, self.proposal, self.perform) = (types, proposal, perform)
  }

  func hover(_ pointer: OpaquePointer?, _ x: Double, _ y: Double, over widget: Widget) -> GdkDragAction {
    guard let pointer else { return GdkDragAction([]) }
    let drop = drop(pointer, x, y)
    hovering = drop
    drop.operation = operation(of: drop, over: widget)
    let isPossible = drop.operation == .copy || drop.operation == .move
    // GTK also reports to the outer target a drag over an inner target.
    highlight(widget, isPossible && isInnermost(widget, at: x, y))
    return GdkDragAction(drop.operation)
  }

  private func drop(_ pointer: OpaquePointer, _ x: Double, _ y: Double) -> Drop {
    let drop = hovering.flatMap { $0.pointer == pointer ? $0 : nil } ?? Drop(pointer)
    drop.location = (x, y)
    return drop
  }

  func leave(_ widget: Widget) {
    hovering = nil
    highlight(widget, false)
  }

  private func operation(of drop: Drop, over widget: Widget) -> DropOperation {
    if let proposal { return proposal(drop) }
    guard let scene = widget.scene else { return drop.allowedOperations.contains(.copy) ? .copy : .forbidden }
    return scene.delegate.scene(scene, proposalFor: drop.items, allowed: drop.allowedOperations)
  }

  private func isInnermost(_ widget: Widget, at x: Double, _ y: Double) -> Bool {
    widget.raw { widget in
      var part = gtk_widget_pick(widget, x, y, GTK_PICK_DEFAULT)
      while let inner = part, inner != widget {
        if gtk_widget_has_css_class(inner, Self.mark) != 0 { return false }
        part = gtk_widget_get_parent(inner)
      }
      return true
    } ?? true
  }

  /// A class without a style that marks the widgets that are targets.
  static let mark = "stage-drop-target"

  /// Marks the target: GTK's own highlight would stay after a slow drop.
  private func highlight(_ widget: Widget, _ isOn: Bool) { widget.style("stage-drop-here", isOn: isOn) }

  func drop(_ pointer: OpaquePointer?, _ x: Double, _ y: Double, onto widget: Widget) -> Bool {
    guard let pointer else { return false }
    let drop = drop(pointer, x, y)
    leave(widget)
    // GTK may report that the drag leaves before it reports the drop.
    drop.operation = operation(of: drop, over: widget)
    guard let delegate = widget.delegate else { return false }
    delegate.perform("Taking the drop", drop.progress) { [self] in
      try await drop.readItems(types)
      return try await perform(drop, widget)
    } then: {
      drop.finish($0 ?? .cancel)
    }
    return true
  }
}

extension WindowScene {
  /// Lets people drop onto the whole window. The service handles the drop, like a drop from anywhere else:
  /// ``SceneDelegate/scene(_:proposalFor:allowed:)`` is called while the drag hovers, and ``SceneDelegate/scene(_:continue:)`` and
  /// ``SceneDelegate/scene(_:receive:)`` get the drop.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class PhotoScene: WindowScene {
  ///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
  ///     content = Label("drop a picture here")
  ///     takesDrops(of: ["image/*"])
  ///   }
  ///
  ///   override func scene(_ scene: Scene, receive items: [DragItem]) {
  ///     task("Showing the picture") {
  ///       for item in items { print(try await item.itemProvider.loadDataRepresentation(as: "image/*").count) }
  ///     }
  ///   }
  /// }
  /// ```
  public func takesDrops(of types: [String] = []) {
    content?.onDrop(of: types) { [weak self] drop in
      guard let scene = self?.scene, let stagedoor = scene.application?.stagedoor else { return .cancel }
      var options = DeliveryOptions()
      options.wait = .handled
      try await drop.deliver(to: .window(scene.id), stagedoor, options)
      return drop.operation
    }
  }
}
