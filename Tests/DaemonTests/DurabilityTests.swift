import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// What the service still has after it ended, however it ended.
@Suite struct DurabilityTests {
  @Test(arguments: ["full", "normal"])
  func `what was acknowledged is there after a kill, once`(durability: String) async throws {
    try await withHouse(installing: Manifests.cats) { house in
      let (landings, before) = try await house.serving("--durability", durability) { daemon in
        var landings: [Landing] = []
        for key in ["cat1", "cat2", "cat1", "cat3"] { landings.append(try await house.hand("viewCat", key)) }
        try await house.destroy(landings[1].session)
        let record = try await Record(of: house)
        daemon.signal(SIGKILL)
        #expect(try await daemon.ended() == .signalled(SIGKILL))
        return (landings, record)
      }
      #expect(before.sessions.count == 2)
      #expect(before.deliveries.count == 4)
      for _ in 0..<2 {
        try await house.serving("--durability", durability) { daemon in
          #expect(try await Record(of: house) == before)
          #expect(try await house.property("TargetContentIdentifier", of: landings[0].session) == "cat1")
          let error = try await house.refusal(
            "Get", "string:\(House.session)", "string:State", at: landings[1].session, in: House.properties)
          #expect(error.name == "org.freedesktop.DBus.Error.UnknownObject")
          daemon.signal(SIGKILL)
          try await daemon.ended()
        }
      }
      try await house.serving("--durability", durability) { _ in
        let again = try await house.drop("viewCat", "cat1")
        #expect(again.session == landings[0].session)
        #expect(again.outcome == "activated")
        // The numbers continue.
        let newest = try #require(UInt64(before.sequence))
        #expect(try await house.eventSequence() == "\(newest + 1)")
      }
    }
  }

  @Test func `in memory nothing stays`() async throws {
    try await withHouse { house in
      for _ in 0..<2 {
        try await house.serving("--durability", "memory") { daemon in
          #expect(try await house.eventSequence() == "0")
          try await house.register(Manifests.cats)
          #expect(try await house.drop("viewCat", "cat1").outcome == "created")
          daemon.signal(SIGTERM)
          #expect(try await daemon.ended() == .exited(0))
        }
      }
      #expect(!FileManager.default.fileExists(atPath: house.state))
    }
  }

  @Test func `when nothing happens for a while, the file itself has everything`() async throws {
    try await withDaemon(installing: Manifests.cats) { house, _ in
      _ = try await house.drop("viewCat", "a-cat-that-is-kept")
      try await eventually("the file has it") {
        let file = try Data(contentsOf: URL(filePath: "\(house.state)/stagedoor.db"))
        return file.firstRange(of: Data("a-cat-that-is-kept".utf8)) != nil
      }
    }
  }
}

/// Everything that the service says about what it keeps.
struct Record: Hashable {
  let sequence: String
  let sessions: [[String]]
  let deliveries: [[String]]
  let decisions: [[Shown]]
  let events: [Happening]

  init(of house: House) async throws {
    sequence = try await house.eventSequence()
    sessions = try await house.sessions()
    deliveries = try await house.deliveries()
    events = try await house.events()
    var decisions: [[Shown]] = []
    for delivery in deliveries { decisions.append(try await house.call("GetDelivery", "string:\(delivery[0])")) }
    self.decisions = decisions
  }
}
