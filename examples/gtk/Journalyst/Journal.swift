import FoundationEssentials
import StagedoorKit

/// An entry of the journal.
struct Entry: Codable, Identifiable, Equatable {
  let id: String
  let date: Date
  var text: String

  var title: String { text.split(separator: "\n").first.map(String.init) ?? "New entry" }
  var day: String { String(date.formatted(.iso8601.dateTimeSeparator(.space)).prefix(16)) }
}

extension Entry {
  static let openDetail = "org.stagedoor.examples.Journalyst.EntryOpenDetail"
  static let identifierKey = "entryID"

  /// The activity of this entry's window. It has no target identifier, so each drag to the edge opens a window.
  var openDetailActivity: UserActivity {
    UserActivity(Self.openDetail, title: title, userInfo: [Self.identifierKey: .string(id)])
  }
}

extension SceneNotification.Name {
  static let journalEntriesUpdated: Self = "JournalEntriesUpdated"
}

/// The one journal that all windows show, in one file. It announces each change that it has stored.
@MainActor final class Journal {
  private(set) var entries: [Entry]
  /// Called after each change that was stored.
  var onUpdate: @MainActor () -> Void = {}
  private let file: URL
  private var stored: [Entry]

  /// Opens the journal in a folder.
  init(in folder: URL) throws {
    file = folder.appending(path: "entries.json")
    let isThere = FileManager.default.fileExists(atPath: file.path)
    entries = isThere ? try JSONDecoder().decode([Entry].self, from: Data(contentsOf: file)) : Self.firstEntries
    stored = entries
  }

  func entry(_ id: String?) -> Entry? { entries.first { $0.id == id } }

  @discardableResult func add(_ text: String = "") throws -> Entry {
    let entry = Entry(id: UUID().uuidString.lowercased(), date: Date(), text: text)
    try change([entry] + entries)
    return entry
  }

  /// Changes the text of an entry, and does not store it yet: see ``store()``.
  func update(_ id: String, text: String) {
    if let index = entries.firstIndex(where: { $0.id == id }) { entries[index].text = text }
  }

  func remove(_ id: String) throws { try change(entries.filter { $0.id != id }) }

  private func change(_ changed: [Entry]) throws {
    let before = entries
    entries = changed
    do { try store() } catch {
      entries = before
      throw error
    }
  }

  /// Writes all changes into the file. If this fails, the next call tries again.
  func store() throws {
    if entries == stored { return }
    try JSONEncoder().encode(entries).write(to: file, options: .atomic)
    stored = entries
    onUpdate()
  }

  private static let firstEntries: [Entry] = [
    Entry(
      id: "train", date: Date(timeIntervalSince1970: 1_789_700_000),
      text: """
        Night train

        Across three borders asleep. Coffee from a paper cup with the mountains going by, pink first, then white.
        """),
    Entry(
      id: "bread", date: Date(timeIntervalSince1970: 1_789_000_000),
      text: """
        Bread, third attempt

        Less water, more patience. It rose. The crust sings when it comes out of the oven; I had thought people made that up.
        """),
    Entry(
      id: "coast", date: Date(timeIntervalSince1970: 1_788_300_000),
      text: """
        A walk along the coast

        Fog until noon. Then the whole bay at once, and two seals on the rocks by the pier, who had seen it all before.
        """),
  ]
}
