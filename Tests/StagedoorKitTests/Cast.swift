import DBus
import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import Testing

/// Who plays in the test that runs. The tasks of an application that begins before its test know them too.
final class Cast: Sendable {
  @TaskLocal fileprivate static var present = Cast()

  fileprivate struct People {
    var bus: PrivateBus?
    var service: PlayedService?
    var stagedoor: Stagedoor?
    var application: PlayedApplication?
    var scene: Scene?
  }

  fileprivate let people = Lock(People())
}

extension InHouse {
  fileprivate init(
    casting enter:
      @escaping @Sendable (_ cast: Lock<Cast.People>, _ test: @Sendable () async throws -> Void) async throws -> Void
  ) {
    self.init { test in
      let cast = Cast()
      try await Cast.$present.withValue(cast) { try await enter(cast.people, test) }
    }
  }
}

extension Trait where Self == InHouse {
  /// A service that keeps nothing, and a client that has declared an application to it.
  static func client(_ manifest: String = Manifests.cats) -> Self {
    InHouse(casting: { cast, test in
      try await withClient(manifest) { house, stagedoor in
        cast.withLock { $0.stagedoor = stagedoor }
        try await InHouse.$house.withValue(house) { try await test() }
      }
    })
  }

  /// A service with an application installed, and a client.
  static func hosts(_ manifest: String = Manifests.cats) -> Self {
    InHouse(casting: { cast, test in
      try await withHosts(manifest) { house, stagedoor in
        cast.withLock { $0.stagedoor = stagedoor }
        try await InHouse.$house.withValue(house) { try await test() }
      }
    })
  }

  /// The same, while the application runs.
  static func hosted(_ manifest: String = Manifests.cats) -> Self {
    InHouse(casting: { cast, test in
      try await withHosted(manifest) { stagedoor, application in
        cast.withLock { ($0.stagedoor, $0.application) = (stagedoor, application) }
        try await test()
      }
    })
  }

  /// A client, and a service that the test plays.
  static func played(
    sessions: [Int] = [], events: [String] = [], answering answers: [MemberName: [PlayedService.Answer]] = [:]
  ) -> Self {
    InHouse(casting: { cast, test in
      try await withPlayedService(sessions: sessions, events: events, answering: answers) { bus, service, stagedoor in
        cast.withLock { ($0.bus, $0.service, $0.stagedoor) = (bus, service, stagedoor) }
        try await test()
      }
    })
  }

  /// An application, and a service that the test plays.
  static var stage: Self {
    InHouse(casting: { cast, test in
      try await withStage { bus, service, application in
        cast.withLock { ($0.bus, $0.service, $0.application) = (bus, service, application) }
        try await test()
      }
    })
  }

  /// The same with an application that has taken a delivery into its only scene.
  static func scene(_ options: String = Options.none) -> Self {
    InHouse(casting: { cast, test in
      try await withScene(options) { service, application, scene in
        cast.withLock { ($0.service, $0.application, $0.scene) = (service, application, scene) }
        try await test()
      }
    })
  }
}

private func present<One>(_ one: KeyPath<Cast.People, One?>) -> One {
  guard let one = Cast.present.people.withLock({ $0[keyPath: one] }) else {
    preconditionFailure("the test has no trait with this one")
  }
  return one
}

// The ones of the test that runs.
var bus: PrivateBus { present(\.bus) }
var service: PlayedService { present(\.service) }
var stagedoor: Stagedoor { present(\.stagedoor) }
var application: PlayedApplication { present(\.application) }
var scene: Scene { present(\.scene) }
