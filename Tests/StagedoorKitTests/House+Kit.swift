import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import StagedoorKit
import Testing

extension House {
  /// Runs `body` with a client of its own.
  nonisolated(nonsending) func withClient<Result>(
    _ body: nonisolated(nonsending) (Stagedoor) async throws -> Result
  ) async throws -> Result {
    let stagedoor = Stagedoor(on: try await bus.connect())
    do {
      let result = try await body(stagedoor)
      await stagedoor.close()
      return result
    } catch {
      await stagedoor.close()
      throw error
    }
  }

  /// The service that the bus starts when somebody calls it.
  func installService(_ arguments: String...) async throws {
    let daemon = Command.built("stagedoord")
    try await bus.install(
      House.name, executable: daemon.program, arguments: arguments,
      environment: environment.filter { $0.key.hasPrefix("XDG_") || $0.key == "HOME" || $0.key == "TMPDIR" })
  }
}

/// A service that keeps nothing, and a client that has declared an application to it.
nonisolated(nonsending) func withClient<Result>(
  _ manifest: String = Manifests.cats, _ kind: PrivateBus.Kind = .daemon,
  _ body: nonisolated(nonsending) (House, Stagedoor) async throws -> Result
) async throws -> Result {
  try await withService(kind) { house in
    try await house.withClient { stagedoor in
      try await stagedoor.register(manifest: manifest)
      return try await body(house, stagedoor)
    }
  }
}

extension Stagedoor {
  /// Opens an item. While a registered application has no host, anyone may act as its host.
  func opened(_ delivery: DeliveryIdentifier, _ item: UInt32 = 0, _ type: String) async throws -> OwnedFileDescriptor {
    try await connection.call(
      to: House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "OpenItem",
      delivery.description, item, type, returning: OwnedFileDescriptor.self, Int64.self
    ).0
  }

  /// Releases the contents of a delivery that has no host.
  func release(_ delivery: DeliveryIdentifier) async throws {
    try await connection.call(
      to: House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "ReleaseDelivery",
      delivery.description)
  }
}

extension OwnedFileDescriptor {
  /// The bytes of a memory file.
  var text: String {
    withRawValue { number in
      var buffer = [UInt8](repeating: 0, count: 1 << 10)
      return String(decoding: buffer[..<max(0, pread(number, &buffer, buffer.count, 0))], as: UTF8.self)
    }
  }
}

/// The code of the error that a call must throw.
nonisolated(nonsending) func code(
  _ body: nonisolated(nonsending) () async throws -> Void
) async -> StagedoorError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? StagedoorError)?.code
  }
}

extension DeliveryOptions {
  /// Longer than any machine is slow: at its deadline a delivery would change.
  static var lasting: DeliveryOptions {
    var options = DeliveryOptions()
    options.deadline = .seconds(3600)
    return options
  }
}

func cat(_ name: String) -> UserActivity { UserActivity("viewCat", targetContentIdentifier: name) }
