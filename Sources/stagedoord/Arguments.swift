import DBus
import Interchange
import SessionStore

/// The arguments of the command line.
struct Arguments {
  enum Action { case serve, demonstrate, help, version }

  var action = Action.serve
  var address: BusAddress?
  var durability = Durability.full
  var logLevel = Log.Level.info
  var stateDirectory: String?
  var replaces = false

  static let usage = """
    usage: stagedoord [OPTION]...

    Takes items on the session bus, and finds the window that each belongs to. No configuration file is needed.

      --durability full|normal|memory  what an acknowledged drop survives: a power cut (full, the default), the end of
                                       the service's process (normal), or neither (memory)
      --state DIRECTORY                store everything here, and not in $XDG_STATE_HOME/stagedoor
      --log-level error|warning|info|debug
                                       how much to write to standard error (default: info)
      --replace                        take over from the stagedoord that is running; it ends, and no call is lost
      --address ADDRESS                serve the bus at ADDRESS, and not the session bus
      --demo                           run a small application, and show what to try and what happens; without a session
                                       bus, start one
      --version                        print the version
      --help                           print this help

    Manifests are read from stagedoor/applications in $XDG_DATA_HOME and $XDG_DATA_DIRS, and again when they change or
    SIGHUP comes.

    Exit status: 0 after SIGTERM, SIGINT or another stagedoord with --replace; 1 if the service cannot start; 2 if an
    argument is wrong; 3 if the bus goes away.
    """

  init(_ arguments: some Sequence<String>) throws(Misuse) {
    var rest = arguments.makeIterator()
    while let word = rest.next() {
      // A value follows its argument, or an equals sign.
      let parts = word.hasPrefix("--") ? word.split(separator: "=", maxSplits: 1).map(String.init) : [word]
      let (argument, attached) = (parts.first ?? word, parts.count > 1 ? parts[1] : nil)
      if attached != nil, !["--address", "--state", "--durability", "--log-level"].contains(argument) {
        throw Misuse(description: "there is no option \"\(word)\"")
      }
      switch argument {
      case "--help", "-h": action = .help
      case "--version": action = .version
      case "--demo": action = .demonstrate
      case "--replace": replaces = true
      case "--address": address = BusAddress(try value(of: argument, attached, &rest))
      case "--state": stateDirectory = try value(of: argument, attached, &rest)
      case "--durability":
        let name = try value(of: argument, attached, &rest)
        guard let durability = Durability(rawValue: name) else {
          throw Misuse(description: "--durability: expected full, normal or memory, got \"\(name)\"")
        }
        self.durability = durability
      case "--log-level":
        let name = try value(of: argument, attached, &rest)
        guard let level = Log.Level(rawValue: name) else {
          throw Misuse(description: "--log-level: expected error, warning, info or debug, got \"\(name)\"")
        }
        logLevel = level
      default: throw Misuse(description: "there is no option \"\(argument)\"")
      }
      if action == .help || action == .version { return }
    }
  }

  private func value(
    of argument: String, _ attached: String?, _ rest: inout some IteratorProtocol<String>
  ) throws(Misuse) -> String {
    guard let value = attached ?? rest.next(), !value.isEmpty else {
      throw Misuse(description: "\(argument) needs a value")
    }
    return value
  }

  /// One sentence about wrong arguments.
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }
}
