import StagedoorGTK
import StagedoorKit

/// A journal in any number of windows.
@MainActor final class Journalyst: Application {
  static let identifier = "org.stagedoor.examples.Journalyst"
  let journal: Journal

  init() throws {
    journal = try Journal(in: GtkStage.dataFolder(of: Self.identifier))
    super.init(Self.identifier)
    journal.onUpdate = { [weak self] in self?.post(.journalEntriesUpdated) }
  }

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = true
    addAction("add-entry", title: "Add Entry", shortcut: "<Control><Shift>n") { (window: JournalScene) in window.add() }
    addAction("delete-entry", title: "Delete Entry") { (window: JournalScene) in window.remove() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { JournalScene(journal) }
}

/// A window with the list of entries, and the selected entry beside it.
@MainActor final class JournalScene: WindowScene {
  fileprivate let journal: Journal
  private let list = List<Entry> { $0.row }.onSelect { (entry, window: JournalScene) in window.show(entry) }
  private let page = Place(Label())
  private let editor = TextArea().onChange { (text, window: JournalScene) in window.update(text) }
  /// Stores the text when the user pauses.
  private var storing: Task<Void, any Error>?

  init(_ journal: Journal) { self.journal = journal }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (760, 460)
    leadingItems = [Button(icon: "list-add-symbolic", "Add Entry") { (window: JournalScene) in window.add() }]
    trailingItems = [Button(icon: "user-trash-symbolic", "Delete Entry") { (window: JournalScene) in window.remove() }]
    content = Split(Scroll(list.style("navigation-sidebar")).size(width: 220), page, at: 260)
    takesDrops(of: ["text/plain"])
    scene.observe(.journalEntriesUpdated) { _ in self.reload() }
    reload()
    let activity = options.userActivities.first ?? session.stateRestorationActivity
    if let activity { self.scene(scene, continue: activity) } else { show(nil) }
    receive(options.items)
  }

  override func scene(_ scene: Scene, continue activity: UserActivity) {
    let identifier = activity.userInfo[Entry.identifierKey]?.string
    show(identifier)
    if journal.entry(identifier) == nil { message = "There is no entry \(identifier ?? "without a name")." }
  }

  override func scene(_ scene: Scene, receive items: [DragItem]) { receive(items) }

  /// Makes an entry from any text. The window has already shown a dropped entry, by its activity.
  private func receive(_ items: [DragItem]) {
    task("Adding an entry") { [self] in
      for item in items where item.itemProvider.userActivities.isEmpty {
        show(try journal.add(try await item.itemProvider.loadText()).id)
      }
    }
  }

  override func sceneWillResignActive(_ scene: Scene) { store() }
  override func sceneDidDisconnect(_ scene: Scene) { store() }

  // MARK: Content

  func show(_ identifier: String?) {
    list.selection = identifier
    let entry = journal.entry(identifier)
    if entry != nil { message = nil }
    editor.text = entry?.text ?? ""
    page.content = entry == nil ? Label("Select an entry, or add one.", align: .center).style("dim-label") : editor
    scene?.title = entry?.title ?? "Journalyst"
    scene?.userActivity = entry?.openDetailActivity
  }

  private func reload() {
    list.items = journal.entries
    guard let entry = journal.entry(list.selection) else { return show(nil) }
    editor.text = entry.text
    scene?.title = entry.title
  }

  // MARK: Actions

  func add() {
    attempt("Adding an entry") {
      show(try journal.add().id)
      editor.focus()
    }
  }

  /// Stores the text when nothing was written for a second.
  private func update(_ text: String) {
    guard let identifier = list.selection else { return }
    journal.update(identifier, text: text)
    storing?.cancel()
    storing = Task {
      try await GtkStage.sleep(for: .seconds(1))
      store()
    }
  }

  private func store() {
    storing?.cancel()
    attempt("Storing the journal") { try journal.store() }
  }

  func remove(_ identifier: String? = nil) {
    guard let identifier = identifier ?? list.selection else { return }
    attempt("Deleting the entry") { try journal.remove(identifier) }
  }
}

extension Entry {
  @MainActor fileprivate var row: Widget {
    Column(spacing: 2, Label(title).style("heading"), Label(day).style("dim-label", "caption")).padding(6)
      .onDrag { (window: JournalScene) in
        // The entry as it is when the drag begins.
        let entry = window.journal.entry(id) ?? self
        var provider = ItemProvider(entry.openDetailActivity)
        provider.suggestedName = "\(entry.title).txt"
        provider.registerText(entry.text)
        return [DragItem(itemProvider: provider)]
      }
      .contextMenu { (window: JournalScene) in
        [
          MenuItem("Open in New Window") { window.open(openDetailActivity) },
          MenuItem("Delete") { window.remove(id) },
        ]
      }
  }
}

@main enum Main {
  static func main() { GtkStage.run { try Journalyst() } }
}
