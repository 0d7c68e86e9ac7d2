import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// What the service still has after it ended, however it ended.
@Suite struct DurabilityTests {
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
