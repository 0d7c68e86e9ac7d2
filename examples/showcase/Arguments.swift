import DBus

/// The arguments of the command line.
enum Arguments: Equatable {
  case serve(BusAddress?)
  case demo
  case help
  case version

  static let usage = """
    usage: dbus-showcase [--session | --address ADDRESS | --demo]

    Serves an object for every D-Bus type and every way to answer, until it gets SIGINT or SIGTERM.

      --session          on the session bus (this is what it does anyway)
      --address ADDRESS  on the bus at ADDRESS
      --demo             on the session bus, or on a bus of its own where there is none; shows what to try,
                         and each call as it comes
      --version          says the version
      --help             says this

    It ends with status 0 when it is asked to, 1 when it cannot begin, 2 when it does not understand its arguments,
    and 3 when the bus goes.
    """

  init(_ arguments: some Sequence<String>) throws(Misuse) {
    var chosen: Arguments?
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      let next: Arguments
      switch argument {
      case "--help", "-h": next = .help
      case "--version": next = .version
      case "--demo": next = .demo
      case "--session": next = .serve(nil)
      case "--address":
        guard let address = rest.next(), !address.isEmpty else {
          throw Misuse(description: "--address wants the address of a bus after it")
        }
        next = .serve(BusAddress(address))
      default: throw Misuse(description: "there is no argument \"\(argument)\"")
      }
      if let chosen, chosen != next { throw Misuse(description: "\(argument) does not go with what stands before it") }
      chosen = next
    }
    self = chosen ?? .serve(nil)
  }

  /// One sentence about wrong arguments.
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }
}
