import StagedoorGTK
import StagedoorKit

/// A journal in any number of windows.
@MainActor final class Journalyst: Application {
  static let identifier = "org.stagedoor.examples.Journalyst"
  let journal: Journal

  init() throws {
    journal = try Journal(in: GtkStage.dataFolder(of: Self.identifier))
    super.init(Self.identifier)
    journal.onUpdate = { [unowned self] in post(.journalEntriesUpdated) }
  }

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = true
    addAction("add-entry", title: "Add Entry", shortcut: "<Control><Shift>n") { [journal] window in
      let entry = try journal.add()
      (window as? JournalScene)?.show(entry.id)
    }
    addAction("delete-entry", title: "Delete Entry") { ($0 as? JournalScene)?.remove() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { JournalScene(of: self) }
}

/// A window with the list of entries, and the selected entry beside it.
@MainActor final class JournalScene: WindowScene {
  private let application: Journalyst
  private var journal: Journal { application.journal }
  private lazy var list = List<Entry> { [unowned self] in row(of: $0) }.onSelect { [unowned self] in show($0) }
  private let page = Place(Label())
  private let editor = TextArea()

  init(of application: Journalyst) { self.application = application }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (760, 460)
    leadingItems = [Button(icon: "list-add-symbolic", "Add Entry") { [unowned self] in add() }]
    trailingItems = [Button(icon: "user-trash-symbolic", "Delete Entry") { [unowned self] in remove() }]
    content = Split(Scroll(list.style("navigation-sidebar")).size(width: 220), page, at: 260)
    takesDrops(of: ["text/plain"])
    editor.onChange { [unowned self] text in update(text) }
    scene.observe(.journalEntriesUpdated) { [unowned self] _ in reload() }
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
    attempt("Adding an entry") { [self] in
      for item in items where item.itemProvider.userActivities.isEmpty {
        show(try journal.add(try await item.itemProvider.loadText()).id)
      }
    }
  }

  // MARK: Content

  private func row(of entry: Entry) -> Widget {
    let row = Column(spacing: 2, Label(entry.title).style("heading"), Label(entry.day).style("dim-label", "caption"))
    return row.padding(6).onDrag { [journal] in
      // The entry as it is when the drag begins.
      let entry = journal.entry(entry.id) ?? entry
      var provider = ItemProvider(entry.openDetailActivity)
      provider.suggestedName = "\(entry.title).txt"
      provider.registerText(entry.text)
      return [DragItem(itemProvider: provider)]
    }
    .contextMenu { [unowned self] in
      [
        MenuItem("Open in New Window") { [unowned self] in open(entry.openDetailActivity) },
        MenuItem("Delete") { [unowned self] in remove(entry.id) },
      ]
    }
  }

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

  private func add() {
    attempt("Adding an entry") { [self] in show(try journal.add().id) }
  }

  private func update(_ text: String) {
    guard let identifier = list.selection else { return }
    attempt("Storing the entry") { [self] in try journal.update(identifier, text: text) }
  }

  func remove(_ identifier: String? = nil) {
    guard let identifier = identifier ?? list.selection else { return }
    attempt("Deleting the entry") { [self] in try journal.remove(identifier) }
  }
}

@main enum Main {
  static func main() { GtkStage.run { try Journalyst() } }
}
