import DBus
import DBusTestSupport
import Foundation
import Glibc
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// What is done for a file, and what is left to the person.
@Suite struct ActingTests {
  /// What the understudy answers to a caller on the bus: the deed, or the error.
  private nonisolated(nonsending) func answer(
    _ desktop: PlayedDesktop, _ options: [String: Variant] = ["application": Variant("gvim")]
  ) async throws -> String {
    let client = try await desktop.bus.connect()
    let object = client.object(UnderstudyInterface.name, at: UnderstudyInterface.path, "org.stagedoor.Understudy1")
    let answer: String
    do {
      answer = try await object.call(
        "Open", desktop.url("a.txt"), options, returning: String.self, String.self, String.self
      ).0
    } catch { answer = "\(error)" }
    await client.close()
    return answer
  }

  // MARK: Displays

  /// The caller keeps its ticket, and opens the file itself.
  @Test(arguments: [false, true])
  func `while the display is away, and for a caller on another one, nothing is done`(isNew: Bool) async throws {
    try await PlayedDesktop.run(programs: ["gvim"]) { desktop async throws in
      let ticket = try OwnedFileDescriptor.pipe()
      #expect(ticket.writeEnd.withRawValue { write($0, "1", 1) } == 1)
      let options: [String: Variant] = ["ticket": Variant(ticket.readEnd), "new": Variant(isNew)]
      desktop.processes.change { $0.variables[getpid()] = ["DISPLAY": ":9999"] }
      #expect(try await answer(desktop, options).contains("another display"))
      desktop.processes.change { $0.variables = [:] }
      desktop.display.change { $0.isBroken = true }
      #expect(try await answer(desktop, options).contains("the display has gone"))
      #expect(await desktop.understudy.starts.isEmpty)
      desktop.display.change { $0.isBroken = false }
      #expect(try await answer(desktop, options) == "started")
    }
  }

  @Test(
    arguments: [
      (":0", ":0.1", nil, nil, false), (":0", ":1", nil, nil, true), ("host:10.0", "host:10", nil, nil, false),
      // A caller of a session of ssh has no display, and one without X11 may have the same compositor.
      (":0", nil, "w", nil, false), (":0", nil, "w", "w", false), (":0", nil, nil, "w", true),
      (nil, ":0", "w", nil, true),
      ("", ":0", "w", "/run/w", false), (nil, nil, "w", "/tmp/w", true), (":0", ":1", "w", "w", true),
    ] as [(String?, String?, String?, String?, Bool)])
  func `two environments name the same display, or others`(
    own: String?, theirs: String?, ownWayland: String?, theirWayland: String?, areOther: Bool
  ) {
    func displays(_ x11: String?, _ wayland: String?) -> NamedDisplays {
      let variables = ["DISPLAY": x11, "WAYLAND_DISPLAY": wayland, "XDG_RUNTIME_DIR": "/run"]
      return NamedDisplays { variables[$0].flatMap { $0 }.map { Bytes($0.utf8) } }
    }
    #expect(displays(theirs, theirWayland).areOther(than: displays(own, ownWayland)) == areOther)
  }
}
