import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import StagedoorKit
import Testing

/// What remains of a window when its program has ended.
@MainActor @Suite struct RestorationTests {
  @Test(.stage) func `a window that was never hidden is saved while it is open`() async throws {
    let session = service.addSession(1)
    application.restoring = { scene in cat("the end of \(scene.title)") }
    try await service.connect(session, Options.activity("cat1"))
    try await service.wait(for: written("the end of ", as: "StateRestorationActivity"))
    let scene = try #require(application.scene(of: session))
    scene.title = "a story"
    try await service.wait(for: written("the end of a story", as: "StateRestorationActivity"))
    // What the window took last.
    application.restoring = { $0.userActivity }
    try await service.resume(session, Options.activity("cat2"))
    try await service.wait(for: written("cat2", as: "StateRestorationActivity"))
    #expect(scene.activationState == .foregroundInactive)
  }

  @Test(.played(sessions: [1]))
  func `a window whose process was killed is restored with what it showed`() async throws {
    var restored: [UserActivity?] = []
    for options in [Options.activity("cat1"), Options.none, Options.activity("cat2")] {
      let application = PlayedApplication("org.example.Cats")
      application.restoring = { _ in nil }
      application.whenConnecting = { scene, options in
        restored += [scene.session.stateRestorationActivity, options.stateRestorationActivity]
        // The real service stores a delivery's activity; the played one does not.
        scene.userActivity = nil
        scene.userActivity = options.userActivities.first
      }
      let connection = try await bus.connect()
      try await application.start(on: connection)
      try await service.connect(PlayedService.session(1), options)
      // Now the application can write nothing any more, as if it had been killed.
      await connection.close()
      await application.stop()
      try await eventually("the end of its name") {
        try await service.connection.owner(of: "org.example.Cats") == nil
      }
    }
    #expect(restored == [nil, nil, cat("cat1"), cat("cat1"), nil, nil])
  }

  @Test(
    .played(sessions: [1]),
    arguments: ["kit-stage-async", "kit-stage-plain", "kit-stage-glib"], [SIGTERM, SIGINT, SIGHUP])
  func `a signal stops an application in order, and then ends its process`(program: String, signal: Int32) async throws
  {
    try await Command.built(program, environment: bus.environment).whileRunning { stage in
      try await service.wait(for: "AttachHost org.example.Cats []")
      try await service.connect(PlayedService.session(1), Options.activity("cat1"))
      for _ in 0..<2 { _ = try await stage.nextLine() }
      stage.signal(signal)
      #expect(try await stage.nextLine().hasPrefix("didDisconnect"))
      #expect(try await stage.ended() == .signalled(signal))
      #expect(service.lines.contains(written("cat1", as: "StateRestorationActivity")))
    }
  }

  @Test func `a second signal, also another one, ends an application that waits for the service`() async throws {
    try await withDaemon(installing: Manifests.cats, with: "--durability", "memory") { house, service in
      try await Command.built("kit-stage-plain", environment: house.bus.environment).whileRunning { stage in
        try await house.withClient { stagedoor in
          try await eventually("the host") { try await stagedoor.application("org.example.Cats").isHostAttached }
          _ = try await stagedoor.deliver(cat("tom"), .handled)
        }
        service.signal(SIGSTOP)
        defer { service.signal(SIGCONT) }
        stage.signal(SIGTERM)
        while try await !stage.nextLine().hasPrefix("didDisconnect") {}
        stage.signal(SIGHUP)
        #expect(try await stage.ended() == .signalled(SIGHUP))
      }
    }
  }
}
