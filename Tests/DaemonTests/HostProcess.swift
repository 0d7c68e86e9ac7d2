import DBusTestSupport
import Testing

/// `Clients/host.py`: a host in a process of its own, written from the contract alone.
extension House {
  static let hostProgram = "\(Repository.path)/Tests/DaemonTests/Clients/host.py"

  /// Debian's own Python has the bindings. The option keeps it from leaving compiled files beside the sources.
  func host(_ application: String = "org.example.Cats", _ arguments: String...) -> Command {
    command("/usr/bin/python3", arguments: ["-B", Self.hostProgram, application] + arguments)
  }
}

extension RunningCommand {
  /// The next line with this first word: (what, its arguments...)
  @discardableResult
  func told(_ what: String) async throws -> [Document] {
    try Document(try await line { $0.hasPrefix("[\"\(what)\"") }).elements
  }
}
