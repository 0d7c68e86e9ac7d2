import DBus
import DBusTestSupport
import DaemonTestSupport
import ExitTestSupport
import Glibc
import StagedoorKit
import Testing

/// An application in a process of its own, under each kind of main loop.
@Suite struct MainLoopTests {
  @Test(.ownThreads) func `a C callback in main-actor code works on the main thread, and traps on any other`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in nil }, nil)
        pthread_join(thread, nil)
      }
    }
  }

  /// When an `async` main waits, libdispatch ends the main thread, and runs the main queue on other threads.
  @Test(
    .played(sessions: [1]),
    arguments: zip(
      ["kit-stage-async", "kit-stage-plain", "kit-stage-glib"],
      ["elsewhere", "on the main thread", "on the main thread"]))
  func `scenes live on the main actor, and nothing is polled`(program: String, place: String) async throws {
    let session = PlayedService.session(1)
    try await Command.built(program, environment: bus.environment).whileRunning { stage in
      try await service.wait(for: "AttachHost org.example.Cats []")
      try await service.connect(session, Options.activity("cat1"))
      try await service.activate(session)
      for call in ["willConnect cat1", "willEnterForeground", "didBecomeActive"] {
        #expect(try await stage.nextLine() == "\(call) \(place)")
      }
      try await service.wait(for: "1: SetState foregroundActive")

      // The dropped item is loaded without any of Swift's threads.
      try await service.connect(service.addSession(2), Options.items(["text/plain"]))
      for call in ["willConnect ", "willEnterForeground", "loaded a beach"] {
        #expect(try await stage.nextLine() == "\(call) \(place)")
      }

      // The application has nothing to do. Under an `async` main, libdispatch looks after its threads once a second.
      if place != "elsewhere" { try await stage.rests() }

      try await service.destroy(session)
      #expect(try await stage.nextLine() == "didDisconnect \(place)")
    }
  }
}
