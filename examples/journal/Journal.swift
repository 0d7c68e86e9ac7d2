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
    // An empty or a relative folder counts as none.
    let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let folder = URL(
      filePath: "\(data ?? "\(environment["HOME"] ?? "")/.local/share")/\(JournalApplication.identifier)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    file = folder.appending(path: "entries.json")
    entries =
      FileManager.default.fileExists(atPath: file.path)
      ? try JSONDecoder().decode([Entry].self, from: Data(contentsOf: file)) : []
  }

  func add(_ texts: [String], of delivery: DeliveryIdentifier) throws {
    if entries.contains(where: { $0.delivery == delivery.description }) { return }
    let all = entries + texts.map { Entry(text: $0, delivery: delivery.description) }
    try JSONEncoder().encode(all).write(to: file, options: .atomic)
    entries = all
  }

  var summary: String { "\(entries.count) entries, the last: \(entries.last?.text ?? "none")" }
}

extension SceneNotification.Name {
  static let entriesChanged: Self = "EntriesChanged"
}
