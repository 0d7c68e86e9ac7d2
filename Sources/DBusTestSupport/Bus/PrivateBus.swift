public import DBus

/// A message bus that only this process knows, and that ends when this process does.
///
/// ```swift
/// import DBus
///
/// try await withPrivateBus(.daemon) { bus in
///   let service = try await bus.connect()
///   let client = try await bus.connect()
///   try await service.requestName("org.example.Greeter")
///   let owner = try await client.owner(of: "org.example.Greeter")
///   print(owner ?? "nobody")
/// }
/// ```
///
/// A test that takes the kind as its argument runs on each broker that is installed:
///
/// ```swift
/// import DBus
/// import Testing
///
/// @Suite struct BusTests {}
///
/// extension BusTests {
///   @Test(arguments: PrivateBus.Kind.available)
///   func `the bus has a name of its own`(kind: PrivateBus.Kind) async throws {
///     try await withPrivateBus(kind) { bus in
///       let connection = try await bus.connect()
///       #expect(try await connection.owner(of: .bus) == .bus)
///     }
///   }
/// }
/// ```
///
/// After ``stop()``, or when this process is killed, no process, socket or file of the bus is left. The programs that the bus
/// started for an activation end too.
public final class PrivateBus: Sendable {
  /// The program that runs as the bus.
  public let kind: Kind
  /// The address of the bus.
  public let address: BusAddress

  let folder: PrivateFolder
  let backend: any BusBackend
  private let connections = Lock<[Opened]>([])

  private struct Opened: Sendable { weak let connection: Connection? }

  private init(kind: Kind, folder: PrivateFolder, backend: any BusBackend) {
    self.kind = kind
    self.folder = folder
    self.backend = backend
    address = backend.address
  }

  /// Starts a bus. Call ``stop()`` at the end, or use ``withPrivateBus(_:_:)``, which stops the bus.
  public static func start(_ kind: Kind = .daemon) async throws -> PrivateBus { try await start(kind, limits: [:]) }

  /// - Parameter limits: Limits of dbus-daemon's configuration that differ from those of a session bus.
  package static func start(_ kind: Kind, limits: [String: Int]) async throws -> PrivateBus {
    let folder = try PrivateFolder()
    do {
      let backend: any BusBackend =
        switch kind {
        case .daemon: try await DaemonBus(in: folder, limits: limits)
        case .broker: try await BrokerBus(in: folder)
        }
      return PrivateBus(kind: kind, folder: folder, backend: backend)
    } catch {
      folder.remove()
      throw error
    }
  }

  /// The bus's process.
  public var processIdentifier: Int32 { backend.process.pid }

  /// The output of the bus so far.
  public var log: String { backend.process.output }

  /// Opens a connection to the bus: on `loop`, and then the caller closes it; or on a loop of its own, and then ``stop()`` closes it, if nobody has done
  /// so by then.
  public func connect(on loop: EventLoop? = nil) async throws(ConnectionError) -> Connection {
    let connection = try await Connection.open(address, on: loop)
    // A loop of the caller may have been stopped by then.
    if loop == nil { connections.withLock { $0.append(Opened(connection: connection)) } }
    return connection
  }

  /// Lets the bus start `executable` when somebody calls `name` and nobody owns the name. When this returns, the bus knows the program.
  ///
  /// ```swift
  /// import DBus
  ///
  /// try await withPrivateBus { bus in
  ///   try await bus.install("org.example.Greeter", executable: "/usr/libexec/greeter", arguments: ["--quiet"])
  ///   let client = try await bus.connect()
  ///   let greeting: String = try await client.call(
  ///     to: "org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann")
  ///   print(greeting)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name that the program takes.
  ///   - executable: The program: a path, or a name on PATH.
  ///   - arguments: The program's arguments.
  ///   - environment: Variables of the program's environment in addition to those of the bus.
  public func install(
    _ name: BusName, executable: String, arguments: [String] = [], environment: [String: String] = [:]
  ) async throws {
    let path = try Programs.required(executable)
    try await backend.install(ActivatableService(name: name, command: [path] + arguments, environment: environment))
  }

  /// Kills the bus with SIGKILL and waits until it has ended. Its connections notice this like the end of any bus. The programs that it
  /// started, and its files, stay until ``stop()``.
  public func kill() async { await backend.process.kill() }

  /// Closes the connections that ``connect(on:)`` opened on loops of their own, ends the bus and all programs that it started, and removes its files. A second call does
  /// nothing.
  public func stop() async {
    for opened in connections.withLock(\.self) { await opened.connection?.close() }
    await backend.stop()
  }
}

/// Runs `body` with a private bus, which has ended when this returns or throws.
///
/// ```swift
/// import DBus
///
/// let names = try await withPrivateBus { bus in
///   let connection = try await bus.connect()
///   return try await connection.call(
///     to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames", returning: [String].self)
/// }
/// print(names)  // the bus, and the connection
/// ```
public nonisolated(nonsending) func withPrivateBus<Result>(
  _ kind: PrivateBus.Kind = .daemon, _ body: nonisolated(nonsending) (PrivateBus) async throws -> Result
) async throws -> Result { try await withPrivateBus(kind, limits: [:], body) }

/// - Parameter limits: Limits of dbus-daemon's configuration that differ from those of a session bus.
package nonisolated(nonsending) func withPrivateBus<Result>(
  _ kind: PrivateBus.Kind, limits: [String: Int], _ body: nonisolated(nonsending) (PrivateBus) async throws -> Result
) async throws -> Result {
  let bus = try await PrivateBus.start(kind, limits: limits)
  return try await ending(with: { await bus.stop() }) { try await body(bus) }
}

/// A failure of a private bus, with the output of the bus.
///
/// ```swift
/// do {
///   let bus = try await PrivateBus.start(.broker)
///   await bus.stop()
/// } catch let error as BusFailure {
///   print(error.reason, error.log)
/// }
/// ```
public struct BusFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong.
  public let reason: String
  /// The output of the bus.
  public let log: String

  init(_ reason: String, log: String = "") {
    self.reason = reason
    self.log = log
  }

  /// Both.
  public var description: String { log.isEmpty ? reason : "\(reason); it said:\n\(log)" }
}

/// One of the programs that can run as the bus.
protocol BusBackend: Sendable {
  var address: BusAddress { get }
  var process: Supervised { get }
  func install(_ service: ActivatableService) async throws
  func stop() async
}

/// A program that the bus starts when somebody calls its name.
struct ActivatableService: Sendable {
  var name: BusName
  /// The words of the command, the program first.
  var command: [String]
  var environment: [String: String]
}
