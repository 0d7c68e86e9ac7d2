import DBus
import Interchange
import ServiceSupport
import SessionStore

/// The arguments of the command line.
struct Arguments {
  enum Action { case serve, demonstrate, help, version }

  private(set) var action = Action.serve
  var address: BusAddress?
  var durability = Durability.full
  var logLevel = Log.Level.info
  private(set) var stateDirectory: String?
  private(set) var replaces = false

  private enum Options {
    static let durability = Option(
      name: "durability", value: .words("KIND", "full", "normal", "memory"),
      help:
        "what an acknowledged drop survives: a power cut (full, the default), the end of the service's process (normal), or neither (memory)"
    )
    static let state = Option(
      name: "state", value: .nonempty("DIRECTORY"),
      help: "store everything here, and not in $XDG_STATE_HOME/stagedoor")
    static let logLevel = Option(
      name: "log-level", value: .words("LEVEL", "error", "warning", "info", "debug"),
      help: "how much to write to standard error; info by default")
    static let replace = Option(
      name: "replace", help: "take over from the stagedoord that is running; it ends, and no call is lost")
    static let address = Option(
      name: "address", value: .nonempty("ADDRESS"), help: "serve the bus at this address, and not the session bus")
    static let demo = Option(
      name: "demo",
      help: "run a small application, and show what to try and what happens; without a session bus, start one")
    static let all = [durability, state, logLevel, replace, address, demo, .version, .help]
  }

  private static let usage = Usage("stagedoord", options: Options.all)

  static var help: String {
    var page = HelpPage(usage.synopsis, Screen(color: nil))
    page.paragraph(
      "Takes items on the session bus, and finds the window that each belongs to. No configuration file is needed.")
    page.options(usage.options)
    page.paragraph(
      "Manifests are read from stagedoor/applications in $XDG_DATA_HOME and $XDG_DATA_DIRS, and again when they change or SIGHUP comes."
    )
    page.statuses([
      (0, "after SIGTERM, SIGINT or another stagedoord with --replace"), (1, "the service cannot start"),
      (2, "the command line is invalid"), (3, "the bus has gone"),
    ])
    return page.text
  }

  init(_ words: ArraySlice<String>) throws(Misuse) {
    let given = try Arguments.usage.read(words)
    switch given.ending?.name {
    case Option.help.name: action = .help
    case Option.version.name: action = .version
    default: if given.has(Options.demo) { action = .demonstrate }
    }
    address = given[Options.address].map { BusAddress($0) }
    durability = given[Options.durability].flatMap { Durability(rawValue: $0) } ?? .full
    logLevel = given[Options.logLevel].flatMap { Log.Level(rawValue: $0) } ?? .info
    stateDirectory = given[Options.state]
    replaces = given.has(Options.replace)
  }
}
