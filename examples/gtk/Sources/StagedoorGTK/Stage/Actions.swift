internal import CGtk4
public import StagedoorKit

/// The actions that the menu of a window, a key and the desktop can call.
@MainActor final class Actions {
  struct Action {
    let name: String
    let title: String
    let shortcut: String?
    /// Gets the window in which the user chose the action; from the desktop, the window that was used last.
    let body: @MainActor (WindowScene?) async throws -> Void
  }

  private let first = [
    Action(name: "new-window", title: "New Window", shortcut: "<Control>n") { _ in
      try await GtkStage.application?.requestSceneSessionActivation(
        nil, userActivity: nil, options: .init(activationToken: GtkStage.activationToken()))
    }
  ]
  /// The actions of the application.
  private var own: [Action] = []
  private let last = [
    Action(name: "close", title: "Close Window", shortcut: "<Control>w") { $0?.close() },
    Action(name: "quit", title: "Quit", shortcut: "<Control>q") { _ in GtkStage.quit() },
  ]

  /// The actions in the order of the menu. An action of the application replaces the library's action of the same name.
  private var list: [Action] {
    let names = own.map(\.name)
    return first.filter { !names.contains($0.name) } + own + last.filter { !names.contains($0.name) }
  }

  func add(_ action: Action) {
    own.removeAll { $0.name == action.name }
    own.append(action)
  }

  /// Runs an action that was called over the bus. Returns whether an action with this name exists.
  func run(_ name: String) async throws -> Bool {
    guard let action = list.first(where: { $0.name == name }) else { return false }
    try await action.body(GtkStage.lastActive?.delegate as? WindowScene)
    return true
  }

  /// Gives a window the actions, their keys and a menu of them.
  func install(in window: UnsafeMutablePointer<GtkWidget>, of owner: WindowScene) -> OpaquePointer? {
    guard let group = g_simple_action_group_new(), let keys = gtk_shortcut_controller_new(), let menu = g_menu_new()
    else { return nil }
    for action in list {
      guard let entry = g_simple_action_new(action.name, nil) else { continue }
      _ = Signal.connect(entry, "activate") { [weak owner] _ in
        owner?.task(action.title) { [weak owner] in try await action.body(owner) }
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
    gtk_widget_insert_action_group(window, "stage", OpaquePointer(group))
    g_object_unref(group)
    gtk_widget_add_controller(window, keys)
    return menu
  }
}

/// An object that the closure of an action can name: the application, or a window.
///
/// ```swift
/// func count(_ owners: [any ActionOwner]) -> Int { owners.count }
/// ```
@MainActor public protocol ActionOwner: AnyObject {}
extension Application: ActionOwner {}
extension WindowScene: ActionOwner {}

extension Application {
  /// Adds an entry to the menu of each window, which the desktop can call as well, as it does for the `Actions` of a `.desktop` file.
  /// The library adds "New Window" (`new-window`), "Close Window" and "Quit".
  ///
  /// The closure gets the objects that it names: the application, the window in which the user chose the action, both, or nothing. If the desktop calls the
  /// action, the window is the one that was used last. Without a window of the named class, the action fails.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class NoteScene: WindowScene {
  ///   func addNote() {}
  /// }
  ///
  /// final class Notes: Application {
  ///   override func didFinishLaunching(with options: LaunchOptions) {
  ///     addAction("add-note", title: "Add Note", shortcut: "<Control><Shift>n") { (window: NoteScene) in window.addNote() }
  ///     addAction("count", title: "Count") { (notes: Notes) in print(notes.openSessions.count) }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name on the bus.
  ///   - title: The title in the menu.
  ///   - shortcut: The keys, in GTK's notation.
  ///   - body: Runs the action. The window shows an error; the desktop gets it.
  public func addAction<each Owner: ActionOwner>(
    _ name: String, title: String, shortcut: String? = nil,
    _ body: @escaping @MainActor (repeat each Owner) async throws -> Void
  ) {
    GtkStage.actions.add(
      Actions.Action(name: name, title: title, shortcut: shortcut) { [weak self] window in
        func owner<Kind: ActionOwner>(_: Kind.Type) throws(StagedoorError) -> Kind {
          if let owner = window as? Kind ?? self as? Kind { return owner }
          throw StagedoorError(.invalidArguments, "this action needs a window of the class \(Kind.self)")
        }
        try await body(repeat try owner((each Owner).self))
      })
  }
}
