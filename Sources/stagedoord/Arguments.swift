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

    Takes items on the session bus and finds the window that each belongs to. It needs no configuration file.

      --durability full|normal|memory  what an acknowledged drop survives: a power cut (full, as it is anyway),
                                       the end of the process, or neither
      --state DIRECTORY                where it keeps what must survive, in place of $XDG_STATE_HOME/stagedoor
      --log-level error|warning|info|debug
                                       how much it says on standard error (info)
      --replace                        takes over from the stagedoord that runs on the bus, which ends; no call is lost
      --address ADDRESS                on the bus at ADDRESS rather than the session bus
      --demo                           on the session bus, or on a bus of its own where there is none: with a small
                                       application to try it on, shows what to try and what happens
      --version                        says the version
      --help                           says this

    Manifests are read from stagedoor/applications in $XDG_DATA_HOME and $XDG_DATA_DIRS, again
    as they change, and on SIGHUP.
    It ends with status 0 when it is asked to (SIGTERM, SIGINT, another with --replace), 1 when it cannot begin, 2 when it
    does not understand its arguments and 3 when the bus goes.
    """

  init(_ arguments: some Sequence<String>) throws(Misuse) {
    var rest = arguments.makeIterator()
    while let word = rest.next() {
      // A value follows its argument, or an equals sign.
      let parts = word.hasPrefix("--") ? word.split(separator: "=", maxSplits: 1).map(String.init) : [word]
      let (argument, attached) = (parts.first ?? word, parts.count > 1 ? parts[1] : nil)
      if attached != nil, !["--address", "--state", "--durability", "--log-level"].contains(argument) {
        throw Misuse(description: "there is no argument \"\(word)\"")
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
          throw Misuse(description: "--durability is full, normal or memory, and not \"\(name)\"")
        }
        self.durability = durability
      case "--log-level":
        let name = try value(of: argument, attached, &rest)
        guard let level = Log.Level(rawValue: name) else {
          throw Misuse(description: "--log-level is error, warning, info or debug, and not \"\(name)\"")
        }
        logLevel = level
      default: throw Misuse(description: "there is no argument \"\(argument)\"")
      }
      if action == .help || action == .version { return }
    }
  }

  private func value(
    of argument: String, _ attached: String?, _ rest: inout some IteratorProtocol<String>
  ) throws(Misuse) -> String {
    guard let value = attached ?? rest.next(), !value.isEmpty else {
      throw Misuse(description: "\(argument) wants a value after it")
    }
    return value
  }

  /// One sentence about wrong arguments.
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }
}
