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
  ///   tom.localObject = "what only this program knows"
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
  public func onDrag(
    allowing operations: Set<DropOperation> = [.copy], icon: Widget? = nil,
    _ items: @escaping @MainActor () -> [DragItem]
  ) -> Self {
    let dragging = Dragging(of: self, operations, icon, items)
    self.dragging = dragging
    dragging.start()
    return self
  }

  /// Handles items of this widget that are dropped onto nothing. Without this, a new window opens for the first activity that the
  /// application declares, as at the edge of an iPad's screen.
  ///
  /// ```swift
  /// let tab = Label("a tab").onDrag { [] }.onDragOut { items in print("nobody wants", items.count) }
  /// ```
  @discardableResult
  public func onDragOut(_ body: @escaping @MainActor ([DragItem]) -> Void) -> Self {
    dragging?.out = body
    return self
  }

  /// Calls `body` when a drag of this widget has ended, with the operation. After ``DropOperation/move`` the items belong to someone else.
  @discardableResult
  public func onDragEnd(_ body: @escaping @MainActor (DropOperation) -> Void) -> Self {
    dragging?.ended = body
    return self
  }
}

/// The items that people can drag from a widget, and the drag in progress.
@MainActor final class Dragging {
  unowned let widget: Widget
  let operations: Set<DropOperation>
  private let icon: Widget?
  private let items: @MainActor () -> [DragItem]
  var out: (@MainActor ([DragItem]) -> Void)?
  var ended: (@MainActor (DropOperation) -> Void)?
  /// The drag that GTK is about to begin.
  private var prepared: Drag?

  init(
    of widget: Widget, _ operations: Set<DropOperation>, _ icon: Widget?, _ items: @escaping @MainActor () -> [DragItem]
  ) {
    (self.widget, self.operations, self.icon, self.items) = (widget, operations, icon, items)
  }

  func start() {
    guard widget.pointer != nil, let source = gtk_drag_source_new() else { return }
    gtk_drag_source_set_actions(source, GdkDragAction(operations))
    widget.connect("prepare", of: source) { [unowned self] signal in signal.answer(giving: prepare()) }
    widget.connect("drag-begin", of: source) { [unowned self] signal in begin(source, signal.object(1)) }
    widget.add(controller: source)
  }

  private func prepare() -> OpaquePointer? {
    let items = items()
    if items.isEmpty { return nil }
    let drag = Drag(items, from: self)
    prepared = drag
    return drag.content()
  }

  private func begin(_ source: OpaquePointer, _ drag: OpaquePointer?) {
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
