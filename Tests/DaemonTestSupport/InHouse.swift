package import DBusTestSupport
package import Testing

/// The house in which a test runs, and the service in it.
package struct InHouse: SuiteTrait, TestTrait, TestScoping {
  @TaskLocal package static var house: House?
  @TaskLocal package static var daemon: RunningCommand?

  private let enter: @Sendable (@Sendable () async throws -> Void) async throws -> Void
  package var isRecursive: Bool { true }

  /// - Parameter enter: Makes what a test needs, and runs the test.
  package init(_ enter: @escaping @Sendable (_ test: @Sendable () async throws -> Void) async throws -> Void) {
    self.enter = enter
  }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await enter(function)
  }
}

extension Trait where Self == InHouse {
  /// A private bus and an unused home.
  package static var house: Self { house(installing: nil) }

  package static func house(installing manifest: String?) -> Self {
    InHouse { test in
      try await withHouse(installing: manifest) { house in
        try await InHouse.$house.withValue(house) { try await test() }
      }
    }
  }

  /// The same with a running service, which has these arguments.
  package static func daemon(
    limits: [String: Int] = [:], installing manifest: String? = nil, with arguments: String...
  ) -> Self {
    InHouse { test in
      try await withDaemon(limits: limits, installing: manifest, with: arguments) { house, daemon in
        try await InHouse.$house.withValue(house) {
          try await InHouse.$daemon.withValue(daemon) { try await test() }
        }
      }
    }
  }

  /// The same with a service that keeps nothing on the disk.
  package static var service: Self { daemon(with: "--durability", "memory") }
}

/// The house of the test that runs.
package var house: House {
  guard let house = InHouse.house else { preconditionFailure("the test has no trait of a house") }
  return house
}

/// The service of the test that runs.
package var daemon: RunningCommand {
  guard let daemon = InHouse.daemon else { preconditionFailure("the test has no trait of a service") }
  return daemon
}
