internal import CGtk4
internal import CStage
public import StagedoorKit

extension Widget {
  /// Lets people drag the widget. `items` is called when a drag begins; without items there is nothing to drag.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// let picture = Picture(nil, "Tom").onDrag {
  ///   var tom = DragItem(UserActivity("org.example.Cats.view", targetContentIdentifier: "Tom"))
  ///   tom.localObject = "a value of this program"
  ///   return [tom]
  /// }
  /// ```
  ///
  /// The promised data is loaded when somebody asks for it, and only in the requested type. Items with data are also files for other
  /// programs. An item that is dropped onto nothing opens a window: see ``onDragOut(_:)``.
  ///
  /// - Parameters:
  ///   - operations: The operations that a drop may choose. After a move ``onDragEnd(_:)`` is called with ``DropOperation/move``.
  ///   - icon: The widget that follows the pointer; `nil` for the dragged widget itself.
  ///   - items: The dragged items.
  @discardableResult
  public func onDrag<each Window: WindowScene>(
    allowing operations: Set<DropOperation> = [.copy], icon: Widget? = nil,
    _ items: @escaping @MainActor (repeat each Window) -> [DragItem]
  ) -> Self {
    let dragging = Dragging(operations, icon) { widget in
      (try? items(repeat widget.window(as: (each Window).self))) ?? []
    }
    self.dragging = dragging
    dragging.start(from: self)
    return self
  }

  /// Handles items of this widget that are dropped onto nothing. Without this, a new window opens for the first activity that the
  /// application declares, as at the edge of an iPad's screen.
  ///
  /// ```swift
  /// let tab = Label("a tab").onDrag { [] }.onDragOut { items in print("nobody wants", items.count) }
  /// ```
  @discardableResult
  public func onDragOut<each Window: WindowScene>(
    _ body: @escaping @MainActor ([DragItem], repeat each Window) -> Void
  ) -> Self {
    dragging?.out = { [weak self] items in
      if let self { try? body(items, repeat self.window(as: (each Window).self)) }
    }
    return self
  }

  /// Calls `body` when a drag of this widget has ended, with the operation. After ``DropOperation/move`` the items belong to someone else. If
  /// the drop went through the service, this is the service's answer: a move that its receiver did not complete is a copy.
  @discardableResult
  public func onDragEnd<each Window: WindowScene>(
    _ body: @escaping @MainActor (DropOperation, repeat each Window) -> Void
  ) -> Self {
    dragging?.ended = { [weak self] operation in
      if let self { try? body(operation, repeat self.window(as: (each Window).self)) }
    }
    return self
  }
}

/// The items that people can drag from a widget, and the drag in progress.
@MainActor final class Dragging {
  let operations: Set<DropOperation>
  private let icon: Widget?
  private let items: @MainActor (Widget) -> [DragItem]
  var out: (@MainActor ([DragItem]) -> Void)?
  var ended: (@MainActor (DropOperation) -> Void)?
  /// The drag that GTK is about to begin.
  private var prepared: Drag?

  init(_ operations: Set<DropOperation>, _ icon: Widget?, _ items: @escaping @MainActor (Widget) -> [DragItem]) {
    (self.operations, self.icon, self.items) = (operations, icon, items)
  }

  func start(from widget: Widget) {
    guard widget.pointer != nil, let source = gtk_drag_source_new() else { return }
    gtk_drag_source_set_actions(source, GdkDragAction(operations))
    widget.connect("prepare", of: source) { widget, signal in
      signal.answer(giving: widget.dragging?.prepare(widget))
    }
    widget.connect("drag-begin", of: source) { widget, signal in
      widget.dragging?.begin(source, signal.object(1), from: widget)
    }
    widget.add(controller: source)
  }

  private func prepare(_ widget: Widget) -> OpaquePointer? {
    let items = items(widget)
    if items.isEmpty { return nil }
    let drag = Drag(items, from: self, of: widget.scene)
    prepared = drag
    return drag.content()
  }

  private func begin(_ source: OpaquePointer, _ drag: OpaquePointer?, from widget: Widget) {
    guard let prepared, let drag else { return }
    self.prepared = nil
    prepared.begin(drag, of: source)
    guard let shown = icon?.pointer ?? widget.pointer, let image = stage_drag_icon(shown) else { return }
    gtk_drag_source_set_icon(source, image, -8, -8)
    g_object_unref(UnsafeMutableRawPointer(image))
  }
}

extension GdkDragAction {
  init(_ operations: Set<DropOperation>) {
    var bits: UInt32 = 0
    if operations.contains(.copy) { bits |= GDK_ACTION_COPY.rawValue }
    if operations.contains(.move) { bits |= GDK_ACTION_MOVE.rawValue }
    self.init(bits)
  }

  init(_ operation: DropOperation) { self.init([operation]) }

  var operations: Set<DropOperation> {
    var operations: Set<DropOperation> = []
    if rawValue & GDK_ACTION_COPY.rawValue != 0 { operations.insert(.copy) }
    if rawValue & GDK_ACTION_MOVE.rawValue != 0 { operations.insert(.move) }
    return operations
  }
}
