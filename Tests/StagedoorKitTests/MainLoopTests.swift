import DBus
import DBusTestSupport
import StagedoorKit
import Testing

/// An application as a process of its own, under the main loops that there are.
@Suite struct MainLoopTests {
  /// Where an `async` main waits, libdispatch ends the main thread and lends its main queue others.
  @Test(arguments: [("kit-stage-async", "elsewhere"), ("kit-stage-glib", "on the main thread")])
  func `scenes live on the main actor, and nothing is polled`(program: String, place: String) async throws {
    try await withPrivateBus { bus in
      let service = try await PlayedService(on: bus, for: "org.example.Cats", sessions: [1])
      let session = try #require(SessionIdentifier("00000001-0000-4000-8000-000000000000"))
      try await Command.built(program, environment: bus.environment).whileRunning { stage in
        try await service.wait(for: "AttachHost org.example.Cats []")
        try await service.connect(session, Options.activity("cat1"))
        try await service.activate(session)
        for call in ["willConnect cat1", "willEnterForeground", "didBecomeActive"] {
          #expect(try await stage.nextLine() == "\(call) \(place)")
        }
        try await service.wait(for: "1: SetState foregroundActive")

        // Nobody wants anything of it. It has this time to show that it wakes up nonetheless.
        let before = ContextSwitches.now(ofProcess: stage.processIdentifier)
        try await ContinuousClock().sleep(for: .milliseconds(500))
        let woken = ContextSwitches.since(before, ofProcess: stage.processIdentifier)
        // What was under way may still end; who polls wakes up more often than that.
        #expect(woken.allSatisfy { $0.voluntary < 10 }, "\(woken)")

        try await service.destroy(session)
        #expect(try await stage.nextLine() == "didDisconnect \(place)")
      }
      await service.close()
    }
  }
}
