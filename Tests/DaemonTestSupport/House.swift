package import DBus
package import DBusTestSupport
import FoundationEssentials
import Glibc
import Synchronization

/// A private bus and an unused home: what `stagedoord` finds when it starts for the first time.
package struct House: Sendable {
  package let bus: PrivateBus
  package let environment: [String: String]
  /// Sees when the service comes and goes.
  package let watcher: Connection

  package static let name: BusName = "org.stagedoor.Interchange1"
  package static let root = "/org/stagedoor/Interchange1"

  /// A command as somebody in this house would type it.
  package func command(_ program: String, _ arguments: String...) -> Command { command(program, arguments: arguments) }

  package func command(_ program: String, arguments: [String]) -> Command {
    Command(program, arguments: arguments, environment: environment)
  }

  /// One of `examples/shell`, as it stands.
  package func example(_ script: String, _ arguments: String...) -> Command {
    command("\(Repository.path)/examples/shell/\(script)", arguments: arguments)
  }

  package func daemon(_ arguments: String...) -> Command { daemon(arguments) }

  fileprivate func daemon(_ arguments: [String]) -> Command {
    command(Command.built("stagedoord").program, arguments: arguments)
  }

  /// Runs `body` while the service runs, as soon as the service has its name.
  package nonisolated(nonsending) func serving<Result>(
    _ arguments: String..., body: nonisolated(nonsending) (RunningCommand) async throws -> Result
  ) async throws -> Result { try await serving(daemon(arguments), body: body) }

  /// The same for a command that starts the service in another way.
  package nonisolated(nonsending) func serving<Result>(
    _ daemon: Command, body: nonisolated(nonsending) (RunningCommand) async throws -> Result
  ) async throws -> Result {
    // The bus may still list a service that was killed.
    try await gone()
    return try await daemon.whileRunning { running in
      try await begun(running)
      return try await body(running)
    }
  }

  /// Lets the bus start the service when somebody calls it.
  package func installService(_ arguments: String...) async throws {
    try await bus.install(
      House.name, executable: Command.built("stagedoord").program, arguments: arguments,
      environment: environment.filter { $0.key.hasPrefix("XDG_") || $0.key == "HOME" || $0.key == "TMPDIR" })
  }

  private func begun(_ running: RunningCommand) async throws {
    let watcher = watcher
    try await withLimit(usualLimit, "the service's name") {
      try await withThrowingTaskGroup { group in
        group.addTask { _ = try await watcher.owners(of: House.name).first { $0 != nil } }
        group.addTask {
          let status = try await running.ended()
          throw EndedTooSoon(status: status, standardError: running.standardError)
        }
        try await group.next()
        group.cancelAll()
      }
    }
  }

  struct EndedTooSoon: Error {
    let status: ExitStatus
    let standardError: String
  }

  /// Waits until nobody has the service's name.
  package func gone() async throws {
    let watcher = watcher
    try await withLimit(usualLimit, "the service to be gone") {
      _ = try await watcher.owners(of: House.name).first { $0 == nil }
    }
  }

  // MARK: Files

  package var home: String { environment["HOME"] ?? "" }
  package var state: String { "\(environment["XDG_STATE_HOME"] ?? "")/stagedoor" }
  package var applications: String { "\(environment["XDG_DATA_HOME"] ?? "")/stagedoor/applications" }
  package var systemApplications: String { "\(environment["XDG_DATA_DIRS"] ?? "")/stagedoor/applications" }
  /// The folder of the person's rules.
  package var rules: String { "\(environment["XDG_CONFIG_HOME"] ?? "")/stagedoor/rules" }

  /// Writes a file, and the folders that lead to it.
  package func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url, options: .atomic)
  }

  /// Writes a program that `sh` runs, and waits until it can run: a process that a parallel test is just starting has the descriptors of this one, and
  /// the kernel runs no file that somebody may write ("Text file busy"). It grants a lease for reading once nobody may.
  package func writeProgram(_ path: String, _ script: String) throws {
    try write("#!/bin/sh\n\(script)\n", to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    // `F_SETLEASE`, which Swift does not import.
    let setLease: Int32 = 1024
    while fcntl(file, setLease, F_RDLCK) != 0, errno == EAGAIN { usleep(1000) }
  }
}

extension Command {
  /// Looks for programs in this folder first.
  package mutating func lookFirst(in folder: String) {
    environment["PATH"] = "\(folder):\(environment["PATH"] ?? "/usr/bin:/bin")"
  }
}

/// - Parameters:
///   - limits: Limits of dbus-daemon's configuration that differ from those of a session bus.
///   - manifest: The manifest of `org.example.Cats`, if it is installed from the beginning.
package nonisolated(nonsending) func withHouse<Result>(
  _ kind: PrivateBus.Kind = .daemon, limits: [String: Int] = [:], installing manifest: String? = nil,
  _ body: nonisolated(nonsending) (House) async throws -> Result
) async throws -> Result {
  await Houses.enter()
  defer { Houses.leave() }
  return try await withPrivateBus(kind, limits: limits) { bus in
    var environment = try bus.environmentWithFreshHome()
    environment["XDG_DATA_DIRS"] = "\(environment["HOME"] ?? "")/system"
    environment["XDG_CONFIG_DIRS"] = "\(environment["HOME"] ?? "")/system-config"
    let house = House(bus: bus, environment: environment, watcher: try await bus.connect())
    if let manifest { try house.write(manifest, to: "\(house.applications)/org.example.Cats.json") }
    return try await body(house)
  }
}

extension Connection {
  /// Runs `body`, and then closes the connection, also if `body` throws.
  package nonisolated(nonsending) func whileOpen<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    try await ending(with: { await close() }, body)
  }
}

/// Runs `body` in a house with a running service, which has these arguments.
package nonisolated(nonsending) func withDaemon<Result>(
  _ kind: PrivateBus.Kind = .daemon, limits: [String: Int] = [:], installing manifest: String? = nil,
  with arguments: String..., body: nonisolated(nonsending) (House, RunningCommand) async throws -> Result
) async throws -> Result {
  try await withDaemon(kind, limits: limits, installing: manifest, with: arguments, body: body)
}

package nonisolated(nonsending) func withDaemon<Result>(
  _ kind: PrivateBus.Kind = .daemon, limits: [String: Int] = [:], installing manifest: String? = nil,
  with arguments: [String], body: nonisolated(nonsending) (House, RunningCommand) async throws -> Result
) async throws -> Result {
  try await withHouse(kind, limits: limits, installing: manifest) { house in
    try await house.serving(house.daemon(arguments)) { daemon in try await body(house, daemon) }
  }
}

/// Runs `body` in a house with a running service. The service keeps nothing on the disk unless a test asks for more.
package nonisolated(nonsending) func withService<Result>(
  _ kind: PrivateBus.Kind = .daemon, _ body: nonisolated(nonsending) (House) async throws -> Result
) async throws -> Result {
  try await withDaemon(kind, with: "--durability", "memory") { house, _ in try await body(house) }
}

/// How many houses exist at a time: more than a small machine has processors, because most of them wait for a deadline. Hundreds of services
/// at once would be so slow that their clients lose patience.
private enum Houses {
  private static let state = Mutex((free: 8, waiting: [CheckedContinuation<Void, Never>]()))

  static func enter() async {
    await withCheckedContinuation { continuation in
      let mayEnter = state.withLock { state in
        if state.free == 0 {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if mayEnter { continuation.resume() }
    }
  }

  static func leave() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.free += 1
        return CheckedContinuation<Void, Never>?.none
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
