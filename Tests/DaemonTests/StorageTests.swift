import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// What the service still has after it ended, however it ended.
@Suite struct DurabilityTests {
  @Test(.house) func `in memory nothing stays`() async throws {
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

/// The effect of `ulimit -f` on a service, however it was started: the kernel sends SIGXFSZ, which by default ends the process.
@Suite struct FileSizeTests {
  @Test(.house(installing: Manifests.cats))
  func `each of many callers hears that no file may grow, and all of them go on when files may`() async throws {
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
      #expect(try await house.dropAll(from: callers).allSatisfy { $0 == nil })
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
    #expect(try await house.serving { _ in try await Record(of: house) } == kept)
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

/// A store that was damaged while a service used it.
@Suite struct DamageTests {
  /// The store's own tests damage it in other ways, and look at what is set aside.
  @Test(.house(installing: Manifests.cats))
  func `what is damaged while the service runs is refused, said, and set aside by the next start`() async throws {
    try house.leave((1...3000).map { .cat($0) })
    let store = "\(house.state)/stagedoor.db"
    try await house.serving { daemon in
      #expect(try await house.eventSequence() == "0")
      // The service has read the first pages of the store, and their contents.
      let file = try OwnedFileDescriptor.file(store, O_WRONLY)
      let size = try Data(contentsOf: URL(filePath: store)).count
      let bytes = [UInt8](repeating: 0xA5, count: size - 3 * 4096)
      #expect(file.withRawValue { pwrite($0, bytes, bytes.count, 3 * 4096) } == bytes.count)
      let list = try await house.refusal("ListSessions", "string:", "string:", "uint32:0")
      #expect(list.name == "org.stagedoor.Error.StorageFailed")
      #expect(list.message.contains("\(store): database disk image is malformed"), "\(list)")
      let drop = try await house.refusal("Drop", "string:viewCat", "string:lion", "dict:string:string:")
      #expect(drop.name == "org.stagedoor.Error.StorageFailed")
      let preference = try await house.refusal("SetPreferredApplication", "string:viewCat", "string:org.example.Cats")
      #expect(
        preference.message.hasSuffix(
          "\(store): is damaged, and takes nothing more: it is set aside when stagedoord is started again"),
        "\(preference)")
      daemon.signal(SIGTERM)
      #expect(try await daemon.ended() == .exited(0))
      #expect(daemon.standardError.contains("is damaged, and takes nothing more"))
    }
    try await house.serving { daemon in
      #expect(try await house.drop("viewCat", "cat1").outcome == "created")
      try await eventually("it is said") { daemon.standardError.contains(", and a new one was begun\n") }
      let reason = "\(store): database disk image is malformed"
      let sentence = "stagedoord: the store was broken (\(reason)); it is now \(store)-set-aside-"
      #expect(daemon.standardError.hasPrefix(sentence), "\(daemon.standardError)")
    }
  }
}
