internal import CGtk4

/// An entry of a context menu.
///
/// ```swift
/// let note = Label("Lunch?").contextMenu { (window: WindowScene) in
///   [MenuItem("Close") { window.close() }]
/// }
/// ```
@MainActor public struct MenuItem {
  let title: String
  let action: @MainActor () -> Void

  /// Makes an entry.
  public init(_ title: String, action: @escaping @MainActor () -> Void) { (self.title, self.action) = (title, action) }
}

extension Widget {
  /// Shows a menu after a click with the right button, after the menu key, or when a finger rests. `items` is called each time.
  @discardableResult
  public func contextMenu<each Window: WindowScene>(
    _ items: @escaping @MainActor (repeat each Window) -> [MenuItem]
  ) -> Self {
    guard pointer != nil, let click = gtk_gesture_click_new(), let press = gtk_gesture_long_press_new() else {
      return self
    }
    gtk_gesture_single_set_button(click, 3)
    gtk_gesture_single_set_touch_only(press, 1)
    let popUp: @MainActor (Self, Double, Double) -> Void = { widget, x, y in
      if let items = try? items(repeat widget.window(as: (each Window).self)) { widget.popUp(items, x, y) }
    }
    connect("pressed", of: click) { popUp($0, $1.number(2), $1.number(3)) }
    connect("pressed", of: press) { popUp($0, $1.number(1), $1.number(2)) }
    add(controller: click)
    add(controller: press)
    return self
  }

  /// Removes the menu: GTK demands this before the widget ends.
  func closeMenu() {
    guard let menu = openMenu else { return }
    openMenu = nil
    if gtk_widget_get_parent(menu) != nil { gtk_widget_unparent(menu) }
    g_object_unref(menu)
  }

  private func popUp(_ items: [MenuItem], _ x: Double, _ y: Double) {
    guard let pointer, !items.isEmpty else { return }
    let (menu, group) = (g_menu_new(), g_simple_action_group_new())
    for (index, item) in items.enumerated() {
      g_menu_append(menu, item.title, "context.\(index)")
      guard let action = g_simple_action_new("\(index)", nil) else { continue }
      // The action keeps the closure, and the popover's group the action.
      _ = Signal.connect(action, "activate") { _ in item.action() }
      g_action_map_add_action(group.map { OpaquePointer($0) }, action)
      g_object_unref(UnsafeMutableRawPointer(action))
    }
    guard let popover = gtk_popover_menu_new_from_model(menu?.as(GMenuModel.self)) else { return }
    gtk_widget_insert_action_group(popover, "context", group.map { OpaquePointer($0) })
    if let group { g_object_unref(group) }
    if let menu { g_object_unref(UnsafeMutableRawPointer(menu)) }
    gtk_widget_set_parent(popover, pointer)
    let raw = popover.as(GtkPopover.self)
    var place = GdkRectangle(x: Int32(x), y: Int32(y), width: 1, height: 1)
    gtk_popover_set_pointing_to(raw, &place)
    gtk_popover_set_has_arrow(raw, 0)
    gtk_widget_set_halign(popover, GTK_ALIGN_START)
    closeMenu()
    g_object_ref(popover)
    openMenu = popover
    _ = Signal.connect(OpaquePointer(popover), "closed") { [weak self] _ in
      // The chosen action runs after the popover has closed, and GTK still counts presses in the popover for a moment.
      Timeout.run(after: 500) {
        if let self, let menu = self.openMenu, gtk_widget_get_visible(menu) == 0 { self.closeMenu() }
      }
    }
    gtk_popover_popup(raw)
  }
}
