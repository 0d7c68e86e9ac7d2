internal import CGtk4
internal import CStage
public import StagedoorKit

/// The actions that the menu of a window, a key and the desktop can call.
@MainActor final class Actions {
  struct Action {
    let name: String
    let title: String
    let shortcut: String?
    let body: @MainActor (WindowScene?) async throws -> Void
  }

  /// The actions in the order of the menu: "New Window", those of the application, "Close Window", "Quit".
  private(set) var list: [Action] = []

  func addStandard(to application: Application) {
    list = [
      Action(name: "new-window", title: "New Window", shortcut: "<Control>n") { _ in
        try await application.requestSceneSessionActivation(
          nil, userActivity: nil, options: .init(activationToken: GtkStage.activationToken()))
      },
      Action(name: "close", title: "Close Window", shortcut: "<Control>w") { $0?.close() },
      Action(name: "quit", title: "Quit", shortcut: "<Control>q") { _ in GtkStage.quit() },
    ]
  }

  func add(_ action: Action) {
    list.removeAll { $0.name == action.name }
    list.insert(action, at: list.count - 2)
  }

  /// Runs an action that was called over the bus, for the window that was used last. Returns whether an action with this name exists.
  func run(_ name: String) async throws -> Bool {
    guard let action = list.first(where: { $0.name == name }) else { return false }
    try await action.body(GtkStage.lastActive?.delegate as? WindowScene)
    return true
  }

  /// Gives a window the actions, their keys and a menu of them.
  func install(in window: OpaquePointer, of owner: WindowScene) -> OpaquePointer? {
    let widget = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWidget.self)
    guard let group = g_simple_action_group_new(), let keys = gtk_shortcut_controller_new(), let menu = g_menu_new()
    else {
      return nil
    }
    for action in list {
      guard let entry = g_simple_action_new(action.name, nil) else { continue }
      _ = Signal.connect(entry, "activate") { [weak owner] _ in
        owner?.attempt(action.title) { try await action.body(owner) }
      }
      g_action_map_add_action(OpaquePointer(group), entry)
      g_object_unref(UnsafeMutableRawPointer(entry))
      let item = g_menu_item_new(action.title, "stage.\(action.name)")
      if let shortcut = action.shortcut {
        gtk_shortcut_controller_add_shortcut(
          keys,
          gtk_shortcut_new(gtk_shortcut_trigger_parse_string(shortcut), gtk_named_action_new("stage.\(action.name)")))
        g_menu_item_set_attribute_value(item, "accel", g_variant_new_string(shortcut))
      }
      g_menu_append_item(menu, item)
      if let item { g_object_unref(UnsafeMutableRawPointer(item)) }
    }
    gtk_widget_insert_action_group(widget, "stage", OpaquePointer(group))
    g_object_unref(group)
    gtk_widget_add_controller(widget, keys)
    return menu
  }
}

extension Application {
  /// Adds an entry to the menu of each window, which the desktop can call as well, as it does for the `Actions` of a `.desktop` file. Add
  /// actions in ``didFinishLaunching(with:)``. "New Window" (`new-window`), "Close Window" and "Quit" are there already.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class Notes: Application {
  ///   override func didFinishLaunching(with options: LaunchOptions) {
  ///     addAction("add-note", title: "Add Note", shortcut: "<Control><Shift>n") { [unowned self] window in
  ///       print("in", window?.scene?.title ?? "no window", "of", identifier)
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name on the bus.
  ///   - title: The title in the menu.
  ///   - shortcut: The keys, in GTK's notation.
  ///   - body: Runs the action. It gets the window in which the user chose the action; from the desktop, the window that was used last.
  ///     This window shows an error.
  public func addAction(
    _ name: String, title: String, shortcut: String? = nil,
    _ body: @escaping @MainActor (WindowScene?) async throws -> Void
  ) {
    GtkStage.actions.add(Actions.Action(name: name, title: title, shortcut: shortcut, body: body))
  }
}
