import DBus
import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import StagedoorTestSupport
import Testing

/// The service in the tests of another package.
@MainActor @Suite struct PrivateStagedoorTests {
  @Test func `an application is tested with the service, which may be killed and come back`() async throws {
    try await withPrivateStagedoor { house in
      try await house.install(manifest: Manifests.cats, of: "org.example.Cats")
      let application = PlayedApplication("org.example.Cats")
      let connection = try await house.connect()
      try await application.start(on: connection)
      let stagedoor = try #require(application.stagedoor)
      var options = DeliveryOptions.lasting
      options.wait = .handled
      let tom = try await stagedoor.deliver(cat("tom"), options)
      let tim = try await stagedoor.deliver(cat("tim"), options)
      try await house.killService()
      application.requestSceneSessionDestruction(try #require(application.scene(of: tom.session)).session)
      application.scene(of: tim.session)?.release()
      #expect(application.connectedScenes.isEmpty)
      try await house.startService()
      try await eventually("the end of tom") { await application.discardedSessions == [tom.session] }
      let left = try await stagedoor.sessions()
      #expect(left.map(\.identifier) == [tim.session])
      #expect(left.allSatisfy { !$0.isConnected })
      await application.stop()
      await connection.close()
    }
  }
}
