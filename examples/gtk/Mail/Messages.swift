import FoundationEssentials
import StagedoorKit

/// A received or sent message.
struct Message: Identifiable, Equatable, Codable {
  let id: String
  let person: String
  let subject: String
  let text: String
  var wasSent = false

  var correspondent: String { "\(wasSent ? "to" : "from") \(person)" }

  static let open = "org.stagedoor.examples.Mail.openMessage"
  static let compose = "org.stagedoor.examples.Mail.compose"

  /// The activity of this message's window.
  var activity: UserActivity { UserActivity(Self.open, targetContentIdentifier: id, title: subject) }
  /// The activity of a window for an answer.
  var replyActivity: UserActivity {
    UserActivity(
      Self.compose, title: "Re: \(subject)", userInfo: ["to": .string(person), "subject": .string("Re: \(subject)")])
  }
  static var newActivity: UserActivity { UserActivity(compose, title: "New message") }

  /// The received messages.
  static let received = [
    Message(
      id: "lunch", person: "Ada", subject: "Lunch on Thursday?",
      text: "The place by the canal has its tables outside again. Half past twelve, before everyone else thinks of it?"),
    Message(
      id: "boat", person: "Grace", subject: "The boat is back in the water",
      text:
        "No leaks this time. We took her once around the island and the engine only stopped when we asked it to.\n\nCome on Sunday, bring something warm."
    ),
    Message(
      id: "proofs", person: "Printer's office", subject: "Proofs of the second edition",
      text: "The proofs are ready to be seen. Page 114 has one line too many; tell us which one you can do without."),
    Message(
      id: "cat", person: "Neighbour, second floor", subject: "Is this your cat?",
      text: "Orange, green eyes, very sure of himself. He has been asleep on our piano since noon."),
  ]
}

extension SceneNotification.Name {
  static let settingsUpdated: Self = "SettingsUpdated"
  static let mailboxUpdated: Self = "MailboxUpdated"
}

/// The messages: the sent ones, the newest first, and the received ones.
@MainActor final class Mailbox {
  private(set) var messages: [Message]
  private let file: URL

  init(in folder: URL) throws {
    file = folder.appending(path: "sent.json")
    let hasSent = FileManager.default.fileExists(atPath: file.path)
    let sent = hasSent ? try JSONDecoder().decode([Message].self, from: Data(contentsOf: file)) : []
    messages = sent + Message.received
  }

  func message(_ identifier: String?) -> Message? { messages.first { $0.id == identifier } }

  func send(_ draft: Draft) throws {
    let message = Message(
      id: UUID().uuidString.lowercased(), person: draft.to,
      subject: draft.subject.isEmpty ? "(no subject)" : draft.subject, text: draft.text, wasSent: true)
    let changed = [message] + messages
    try JSONEncoder().encode(changed.filter(\.wasSent)).write(to: file, options: .atomic)
    messages = changed
  }
}

/// A message that is not sent yet.
struct Draft: Codable {
  var to: String
  var subject: String
  var text: String
}

/// The drafts: a file for each window. A draft is deleted with its session, even if the session ends while the program does not run.
struct Drafts {
  let folder: URL

  init(in parent: URL) throws {
    folder = parent.appending(path: "drafts")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func file(_ session: SessionIdentifier) -> URL { folder.appending(path: "\(session).json") }

  func draft(of session: SessionIdentifier) throws -> Draft? {
    let file = file(session)
    if !FileManager.default.fileExists(atPath: file.path) { return nil }
    return try JSONDecoder().decode(Draft.self, from: Data(contentsOf: file))
  }

  func store(_ draft: Draft, of session: SessionIdentifier) throws {
    try JSONEncoder().encode(draft).write(to: file(session), options: .atomic)
  }

  func remove(_ session: SessionIdentifier) { try? FileManager.default.removeItem(at: file(session)) }
}
