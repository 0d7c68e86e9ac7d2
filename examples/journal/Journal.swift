import FoundationEssentials
import StagedoorKit

/// The one store, in one file, that all windows of the journal show and other processes read. The code that changes the store
/// posts a notification.
@MainActor final class Journal {
  struct Entry: Codable {
    let text: String
    /// A delivery that comes a second time adds nothing.
    let delivery: String
  }

  private(set) var entries: [Entry]
  private let file: URL

  init() throws {
    let environment = ProcessInfo.processInfo.environment
    let data = environment["XDG_DATA_HOME"] ?? "\(environment["HOME"] ?? "")/.local/share"
    let folder = URL(filePath: "\(data)/\(JournalApplication.identifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    file = folder.appending(path: "entries.json")
    entries =
      FileManager.default.fileExists(atPath: file.path)
      ? try JSONDecoder().decode([Entry].self, from: Data(contentsOf: file)) : []
  }

  func add(_ text: String, of delivery: DeliveryIdentifier) throws {
    let entry = Entry(text: text, delivery: delivery.description)
    if entries.contains(where: { $0.delivery == entry.delivery }) { return }
    try JSONEncoder().encode(entries + [entry]).write(to: file, options: .atomic)
    entries.append(entry)
  }

  var summary: String { "\(entries.count) entries, the last: \(entries.last?.text ?? "none")" }
}

extension SceneNotification.Name {
  static let entriesChanged: Self = "EntriesChanged"
}
