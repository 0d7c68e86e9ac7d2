internal import CGtk4
internal import CStage
public import StagedoorKit

extension Widget {
  /// Lets people drag the widget. `items` is asked when a drag begins; none means that nothing can be dragged.
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
  /// What the items promise is loaded when somebody asks for it, and only in the type that is asked for. To other programs the items are
  /// also files, where they have data. An item that is dropped onto nothing opens a window: see ``onDragOut(_:)``.
  ///
  /// - Parameters:
  ///   - operations: What a drop may do. After a move ``onDragEnd(_:)`` is called with ``DropOperation/move``.
  ///   - icon: What follows the pointer; `nil` for the widget itself.
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

  /// Says what happens to items of this widget that are dropped onto nothing, in place of the usual: a new window opens for the
  /// first activity that the application declares, as at the edge of an iPad's screen.
  ///
  /// ```swift
  /// let tab = Label("a tab").onDrag { [] }.onDragOut { items in print("nobody wants", items.count) }
  /// ```
  @discardableResult
  public func onDragOut(_ body: @escaping @MainActor ([DragItem]) -> Void) -> Self {
    dragging?.out = body
    return self
  }

  /// Calls `body` when a drag of this widget has ended, with what became of it. After ``DropOperation/move`` the items belong to someone else.
  @discardableResult
  public func onDragEnd(_ body: @escaping @MainActor (DropOperation) -> Void) -> Self {
    dragging?.ended = body
    return self
  }
}

/// What can be dragged from a widget, and what is being dragged.
@MainActor final class Dragging {
  private unowned let widget: Widget
  private let operations: Set<DropOperation>
  private let icon: Widget?
  private let items: @MainActor () -> [DragItem]
  var out: (@MainActor ([DragItem]) -> Void)?
  var ended: (@MainActor (DropOperation) -> Void)?
  private var drag: Drag?

  init(
    of widget: Widget, _ operations: Set<DropOperation>, _ icon: Widget?, _ items: @escaping @MainActor () -> [DragItem]
  ) {
    (self.widget, self.operations, self.icon, self.items) = (widget, operations, icon, items)
  }

  /// The widget may go while it is dragged. The drag goes on, and its items come to a drop as from another program.
  isolated deinit { if let drag { Drag.current = Drag.current.filter { $0.value !== drag } } }

  func start() {
    guard widget.pointer != nil, let source = gtk_drag_source_new() else { return }
    gtk_drag_source_set_actions(source, GdkDragAction(operations))
    widget.connect("prepare", of: source) { [unowned self] signal in signal.answer(giving: prepare()) }
    widget.connect("drag-begin", of: source) { [unowned self] signal in begin(source, signal.object(1)) }
    widget.connect("drag-cancel", of: source) { [unowned self] signal in
      signal.answer(cancel(signal.object(1), GdkDragCancelReason(UInt32(signal.enumeration(2)))))
    }
    widget.connect("drag-end", of: source) { [unowned self] signal in end(signal.object(1), isMoved: signal.flag(2)) }
    widget.add(controller: source)
  }

  private func prepare() -> OpaquePointer? {
    let items = items()
    if items.isEmpty { return nil }
    let drag = Drag(items, operations, from: widget.scene)
    self.drag = drag
    return drag.content()
  }

  private func begin(_ source: OpaquePointer, _ gdkDrag: OpaquePointer?) {
    guard let drag, let gdkDrag else { return }
    Drag.current[gdkDrag] = drag
    guard let shown = icon?.pointer ?? widget.pointer, let image = stage_drag_icon(shown) else { return }
    gtk_drag_source_set_icon(source, image, -8, -8)
    g_object_unref(UnsafeMutableRawPointer(image))
  }

  /// Whether there is nothing more to show: otherwise the icon flies back.
  private func cancel(_ gdkDrag: OpaquePointer?, _ reason: GdkDragCancelReason) -> Bool {
    guard let drag, let gdkDrag, let scene = drag.scene, stage_drag_is_out(gdkDrag, reason) != 0 else { return false }
    if let out {
      out(drag.items)
      return true
    }
    guard drag.items.contains(where: { !$0.itemProvider.userActivities.isEmpty }) else { return false }
    (scene.delegate as? WindowScene)?.attempt("opening a window") {
      var options = DeliveryOptions()
      options.activationToken = GtkStage.activationToken()
      try await scene.application?.deliver(drag.items, from: scene, at: .edge, options)
    }
    return true
  }

  private func end(_ gdkDrag: OpaquePointer?, isMoved: Bool) {
    guard let gdkDrag, let drag = Drag.current.removeValue(forKey: gdkDrag) else { return }
    let action = gdk_drag_get_selected_action(gdkDrag)
    if self.drag === drag { self.drag = nil }
    drag.end()
    ended?(isMoved ? .move : action == GDK_ACTION_COPY ? .copy : .cancel)
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
