// Each option once, with its help.

import SceneModel
import ServiceSupport

extension Option {
  // MARK: Every command

  static let color = Option(
    name: "color", value: .words("WHEN", "auto", "always", "never"),
    help: "use colour always, never, or auto: on a terminal, unless NO_COLOR is set")
  static let common = [color, help]

  // MARK: Output

  static let json = Option(name: "json", letter: "j", help: "print JSON, for programs")
  static let quiet = Option(name: "quiet", letter: "q", help: "print only what is wrong")
  /// Chooses among the fields of an answer, by their keys in JSON.
  static func print(_ fields: [String] = []) -> Option {
    Option(
      name: "print", value: .list("FIELD", of: fields),
      help: "print only these, with commas between them: \(fields.listed("or"))")
  }

  // MARK: Contents

  static let type = Option(name: "type", letter: "t", value: .activityType, help: "the activity type: what to do")
  static let target = Option(name: "target", value: .key, help: "the key of the activity, such as photo-7")
  static let title = Option(name: "title", value: .text, help: "the title of the activity, for people")
  static let info = Option(
    name: "info", letter: "i", value: .pair, help: "an additional text of the activity", isRepeated: true)
  static let text = Option(name: "text", value: .text, help: "hand in a text", isRepeated: true)
  static let directory = Option(
    name: "dir", value: .directory,
    help: "where relative paths in the text or in standard input begin, for rules; otherwise the present directory")
  static let url = Option(name: "url", value: .url, help: "hand in a link", isRepeated: true)
  static let payload = Option(
    name: "payload", value: .files, help: "hand in a whole payload, a JSON document; - reads standard input")
  static let copy = Option(name: "copy", help: "hand in copies; otherwise the application opens the files themselves")
  static let contentType = Option(
    name: "content-type", value: .contentType, help: "the type of standard input or --text; otherwise it is guessed")
  static let stream = Option(
    name: "stream", help: "hand standard input over while it still comes in, however short it is")
  static let fileName = Option(name: "name", value: .name, help: "a file name for standard input")

  // MARK: Destination

  static let app = Option(name: "app", letter: "a", value: .application, help: "only to this application")
  static let configuration = Option(
    name: "configuration", letter: "c", value: .configuration, help: "only to windows of this configuration")
  static let session = Option(name: "session", letter: "s", value: .session, help: "to exactly this window")
  static let new = Option(name: "new", letter: "n", help: "to a new window; otherwise the manifest decides")
  static let existing = Option(
    name: "existing", help: "to an existing window if one fits, or else to a new one; otherwise the manifest decides")
  static let existingOnly = Option(name: "existing-only", help: "to an existing window, or nowhere")
  static let from = Option(name: "from", value: .session, help: "the window that the user acts in: it wins a tie")
  static let isPrivate = Option(name: "private", help: "show its content to the application only")

  // MARK: Waiting

  static let wait = Option(
    name: "wait", letter: "w", value: .words("UNTIL", "routed", "handled"),
    help: "return once the window is chosen (routed, the default), or once the application has it (handled)")
  static let token = Option(
    name: "token", value: .token,
    help: "your own name for this drop: if you repeat the command, it prints the first answer, and drops nothing again")
  static let deadline = Option(
    name: "deadline", value: .seconds, help: "how long the application may take; 20 seconds by default")
  static let waitDeadline = Option(
    name: "deadline", value: .seconds, help: "wait no longer than this; by default as long as the delivery may take")

  // MARK: Lists

  static let ofApp = Option(name: "app", letter: "a", value: .application, help: "only those of this application")
  static let ofFile = Option(
    name: "file", letter: "f", value: .file, help: "only those that take this file, by its type")
  static let state = Option(
    name: "state", value: .words("STATE", "held", "routed", "forwarded", "handled", "failed", "cancelled"),
    help: "only those in this state")
  static let limit = Option(name: "limit", letter: "n", value: .count, help: "show at most this many")
  static let since = Option(
    name: "since", value: .number, help: "begin after the event of this number; 0 begins with the oldest stored event")

  static let past = Option(
    name: "past", letter: "p", help: "end after the events so far; without --since, print all that are stored")

  static let unclaimed = Option(
    name: "unclaimed", help: "only those that no program took in time, and none will: their state stays \"routed\"")
  static let all = Option(name: "all", help: "every window of every application")
  static let yes = Option(name: "yes", letter: "y", help: "do not ask")

  // MARK: Others

  static let newOpening = Option(name: "new", letter: "n", help: "start the application, whatever windows there are")
  static let appOpening = Option(
    name: "app", letter: "a", value: .nonempty("NAME"),
    help: "with this application: the name of its desktop file, or its beginning or last part")
  static let explainOpening = Option(
    name: "explain",
    help: "open nothing; print every window with what speaks for and against it, as JSON where no terminal is")

  static let watchWindows = Option(
    name: "watch", help: "print the list again whenever it changes; with --json, in one line")
  static let menuOfWindows = Option(
    name: "menu",
    help: "print lines for `rofi -dmenu -show-icons` or `fuzzel --dmenu`: identifier, title, application, icon")
  static let makeDefault = Option(
    name: "make-default",
    help:
      "make it the first choice for documents in mimeapps.list, before yours, so that a double click goes through it")
  static let undoDefault = Option(name: "undo-default", help: "return mimeapps.list to the state before --make-default")

  static let define = Option(
    name: "define", letter: "D", value: .definition,
    help: "the value of $(NAME) in the manifest, such as Xcode's PRODUCT_BUNDLE_IDENTIFIER", isRepeated: true)

  static let animation = Option(
    name: "animation", value: .words("HOW", "standard", "commit", "decline"), help: "how the window closes")
  static let none = Option(name: "none", help: "leave the choice to the service again")
  static let ofDelivery = Option(
    name: "delivery", value: .delivery, help: "show the decision of this delivery, and decide nothing now")
  static let caseName = Option(
    name: "case", value: .nonempty("NAME"),
    help:
      "the name of the recorded case; one of the same name is replaced; otherwise it is made of the type, the key and the outcome"
  )
  static let once = Option(name: "once", letter: "1", help: "end after the first drop")
  static let junit = Option(
    name: "junit", value: .file,
    help: "write the results into this file, as JUnit's XML; - is standard output, and nothing else is printed")
  static let record = Option(
    name: "record", value: .file, help: "add the decision to a file of cases for `stagedoor test`")
  static let manifests = Option(
    name: "manifest", letter: "m", value: .manifest,
    help: "an application's manifest; `stagedoor test` takes the installed ones by default", isRepeated: true)
  static let rules = Option(
    name: "rules", value: .rules,
    help: "a file of rules; only these are asked, and not the installed ones", isRepeated: true)
  static let update = Option(name: "update", help: "write the new decisions into the files of cases")
  static let hostApp = Option(
    name: "app", letter: "a", value: .application,
    help: "the application whose windows these are, by its whole identifier", isRequired: true)
  static let connect = Option(name: "connect", value: .shellCommand, help: "run for each new window", isRequired: true)
  static let onContinue = Option(
    name: "continue", value: .shellCommand,
    help: "run when an existing window gets a delivery; without this option, refuse it")
  static let commandLimit = Option(
    name: "limit", value: .count,
    help: "run at most this many commands at a time, 64 by default; refuse deliveries beyond that")
  static let onClose = Option(
    name: "close", value: .shellCommand, help: "run when a window has to close; otherwise its command gets SIGTERM")
}
