import DBus
import DBusTestSupport
import Glibc
import Testing

/// The effect of `ulimit -f` on a service, however it was started: the kernel sends SIGXFSZ, which by default ends the process.
@Suite struct FileSizeTests {
  @Test func `each of many callers hears that no file may grow, and all of them go on when files may`() async throws {
    try await withHouse(installing: Manifests.cats) { house in
      let callers = try await [house.bus.connect(), house.bus.connect(), house.bus.connect()]
      let kept = try await house.serving { daemon in
        let first = try await house.hand("viewCat", "cat0")
        let before = try await Record(of: house)
        // Nothing can be written, or only half of the first page of the log.
        for room in [0, 3000] {
          try await house.limitFiles(of: daemon, to: "\(room):unlimited")
          let refusals = try await house.dropAll(from: callers).compactMap(\.self)
          #expect(refusals.allSatisfy { $0.name == "org.stagedoor.Error.StorageFailed" }, "\(refusals)")
          #expect(refusals.count == 60)
          #expect(refusals.allSatisfy { $0.text.contains(house.state) }, "\(refusals)")
          #expect(daemon.status == nil)
          try await house.limitFiles(of: daemon, to: "unlimited")
          #expect(try await Record(of: house) == before)
        }
        #expect(daemon.standardError.contains("nothing was stored: "))
        let landings = try await house.dropAll(from: callers)
        #expect(landings.allSatisfy { $0 == nil })
        #expect(try await house.sessions().count == 21)
        #expect(try await house.deliveries().count == 61)
        #expect(try await house.hand("viewCat", "cat0").session == first.session)
        let kept = try await Record(of: house)
        // The service also ends properly when it can write nothing more.
        try await house.limitFiles(of: daemon, to: "0:unlimited")
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
        return kept
      }
      for caller in callers { await caller.close() }
      let after = try await house.serving { _ in try await Record(of: house) }
      #expect(after == kept)
    }
  }
}

extension House {
  /// Each caller drops twenty cats, all at once. Returns the error of each drop.
  fileprivate func dropAll(from callers: [Connection]) async throws -> [ErrorReply?] {
    try await withThrowingTaskGroup(of: ErrorReply?.self) { group in
      for caller in callers {
        for number in 1...20 {
          group.addTask {
            try await refused { _ = try await deliver(Payloads.activity("viewCat", "cat\(number)"), over: caller) }
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Limits the size of the files that it may write, in bytes: SOFT:HARD.
  fileprivate func limitFiles(of daemon: RunningCommand, to limits: String) async throws {
    _ = try await command("prlimit", "--pid", "\(daemon.processIdentifier)", "--fsize=\(limits)").output()
  }
}

/// What a user may do to the files of a running service.
@Suite struct LostStorageTests {
  @Test func `what cannot be kept any more is refused`() async throws {
    try await withDaemon(installing: Manifests.cats) { house, _ in
      _ = try await house.drop("viewCat", "cat1")
      // The store's own tests move its files.
      _ = try await house.command("mv", house.state, house.state + ".away").output()
      let error = try await house.refusal("Drop", "string:viewCat", "string:cat2", "dict:string:string:")
      #expect(error.name == "org.stagedoor.Error.StorageFailed")
      #expect(error.message.contains("was deleted, moved or replaced"))
      _ = try await house.command("mv", house.state + ".away", house.state).output()
      #expect(try await house.drop("viewCat", "cat2").outcome == "created")
    }
  }
}
