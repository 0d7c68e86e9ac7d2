import DBus
import DBusTestSupport
import DaemonTestSupport
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

/// What is thrown where something was to be refused.
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
  /// Longer than any machine is slow: at its deadline a delivery would be another one.
  static var lasting: DeliveryOptions {
    var options = DeliveryOptions()
    options.deadline = .seconds(3600)
    return options
  }
}

func cat(_ name: String) -> UserActivity { UserActivity("viewCat", targetContentIdentifier: name) }
