// Each option once, with its help.

extension OptionEntry {
  // MARK: Every command

  static let help = OptionEntry(name: "help", letter: "h", help: "show this help")
  static let color = OptionEntry(
    name: "color", value: .words("WHEN", "auto", "always", "never"),
    help: "use colour always, never, or auto: on a terminal, unless NO_COLOR is set")
  static let common = [color, help]
  static let version = OptionEntry(name: "version", help: "show the version")

  // MARK: Output

  static let json = OptionEntry(name: "json", letter: "j", help: "print JSON, for programs")
  static let quiet = OptionEntry(name: "quiet", letter: "q", help: "print identifiers and nothing else")
  static let quietNothing = OptionEntry(name: "quiet", letter: "q", help: "print nothing")
  static let quietFaults = OptionEntry(name: "quiet", letter: "q", help: "print only what is wrong")
  static let quietDifferences = OptionEntry(name: "quiet", letter: "q", help: "print only what differs")
  static let quietDelivery = OptionEntry(name: "quiet", letter: "q", help: "print the delivery and nothing else")
  static let quietSession = OptionEntry(name: "quiet", letter: "q", help: "print the session and nothing else")

  // MARK: Contents

  static let type = OptionEntry(
    name: "type", letter: "t", value: .activityType, help: "the activity type: what to do")
  static let target = OptionEntry(name: "target", value: .key, help: "the key of the activity, such as photo-7")
  static let title = OptionEntry(name: "title", value: .text, help: "the title of the activity, for people")
  static let info = OptionEntry(
    name: "info", letter: "i", value: .pair, help: "a text that goes along with the activity", isRepeated: true)
  static let text = OptionEntry(name: "text", value: .text, help: "hand in a text", isRepeated: true)
  static let url = OptionEntry(name: "url", value: .url, help: "hand in a link", isRepeated: true)
  static let payload = OptionEntry(
    name: "payload", value: .files, help: "hand in a whole payload, a JSON document; - reads standard input")
  static let copy = OptionEntry(
    name: "copy", help: "hand in copies; otherwise the application opens the files themselves")
  static let contentType = OptionEntry(
    name: "content-type", value: .contentType, help: "the type of standard input or --text; otherwise it is guessed")
  static let fileName = OptionEntry(
    name: "name", value: .name, help: "a file name for standard input")

  // MARK: Destination

  static let app = OptionEntry(name: "app", letter: "a", value: .application, help: "only to this application")
  static let configuration = OptionEntry(
    name: "configuration", letter: "c", value: .configuration, help: "only to windows of this configuration")
  static let session = OptionEntry(name: "session", letter: "s", value: .session, help: "to exactly this window")
  static let new = OptionEntry(name: "new", letter: "n", help: "to a new window; otherwise the manifest decides")
  static let existing = OptionEntry(
    name: "existing", help: "to an existing window if one fits, or else to a new one; otherwise the manifest decides")
  static let existingOnly = OptionEntry(name: "existing-only", help: "to an existing window, or nowhere")
  static let from = OptionEntry(name: "from", value: .session, help: "the window that the user acts in: it wins a tie")
  static let isPrivate = OptionEntry(name: "private", help: "show its content to the application only")

  // MARK: Waiting

  static let wait = OptionEntry(
    name: "wait", letter: "w", value: .words("UNTIL", "routed", "handled"),
    help: "return once the window is chosen (routed, the default), or once the application has it (handled)")
  static let token = OptionEntry(
    name: "token", value: .token,
    help: "your own name for this drop: if you repeat the command, it prints the first answer, and drops nothing again")
  static let deadline = OptionEntry(
    name: "deadline", value: .seconds, help: "how long the application may take; 20 seconds by default")
  static let waitDeadline = OptionEntry(
    name: "deadline", value: .seconds, help: "wait no longer than this; by default as long as the delivery may take")

  // MARK: Lists

  static let ofApp = OptionEntry(name: "app", letter: "a", value: .application, help: "only those of this application")
  static let ofFile = OptionEntry(
    name: "file", letter: "f", value: .file, help: "only those that take this file, by its type")
  static let state = OptionEntry(
    name: "state", value: .words("STATE", "held", "routed", "handled", "failed", "cancelled"),
    help: "only those in this state")
  static let limit = OptionEntry(name: "limit", letter: "n", value: .count, help: "show at most this many")
  static let since = OptionEntry(
    name: "since", value: .number, help: "begin after the event of this number; 0 begins with the oldest stored event")

  static let past = OptionEntry(
    name: "past", letter: "p", help: "end after the events so far; without --since, print all that are stored")

  // MARK: Others

  static let animation = OptionEntry(
    name: "animation", value: .words("HOW", "standard", "commit", "decline"), help: "how the window closes")
  static let none = OptionEntry(name: "none", help: "leave the choice to the service again")
  static let record = OptionEntry(
    name: "record", value: .file, help: "add the decision to a file of cases for `stagedoor test`")
  static let manifests = OptionEntry(
    name: "manifest", letter: "m", value: .manifest,
    help: "an application's manifest; by default the installed ones", isRepeated: true)
  static let update = OptionEntry(name: "update", help: "write the new decisions into the files of cases")
  static let hostApp = OptionEntry(
    name: "app", letter: "a", value: .application,
    help: "the application whose windows these are, by its whole identifier",
    isRequired: true)
  static let connect = OptionEntry(
    name: "connect", value: .shellCommand, help: "run for each new window", isRequired: true)
  static let onContinue = OptionEntry(
    name: "continue", value: .shellCommand,
    help: "run when an existing window gets something; without this it is refused")
  static let commandLimit = OptionEntry(
    name: "limit", value: .count,
    help: "run at most this many commands at a time, 64 by default; refuse what would need more")
  static let onClose = OptionEntry(
    name: "close", value: .shellCommand, help: "run when a window has to close; otherwise its command gets SIGTERM")
}
