import Baggage
import DBus
import DBusTestSupport
import Glibc
import Interchange
import InterchangeCore
import SessionStore
import StoreTestSupport
import Testing
import TextRules

/// A disk that cannot be read for a moment, while a service that has just started reads its store. The service runs in this process, where the test
/// controls its disk.
@Suite struct ReadErrorTests {
  /// The theatre shows what becomes of the drops and of the windows themselves.
  @Test func `what cannot be read is said, and nobody is told of some windows only`() async throws {
    var (inBackground, inForeground) = (0, 0)
    // This number of reads succeeds first: the fault hits what the first drop needs, or what is read after it.
    for readable in [0, 20, 60] {
      try await withHouse { house in
        try house.leave((1...1000).map { .cat($0) } + (1001...1005).map { .cat($0, configuration: "Lost") })
        func drop(_ number: Int) async throws {
          let landing = try await house.deliver(Payloads.activity("viewCat", "cat\(number)"), over: house.watcher)
          #expect((landing.session, landing.outcome) == (Session.path(ofCat: number), "activated"))
        }
        func isStored(_ body: () async throws -> Void) async throws -> Bool {
          let error = try await refused(body)
          #expect([nil, "org.stagedoor.Error.StorageFailed"].contains(error?.name), "\(error as Any)")
          return error == nil
        }
        try await house.servingHere { log in
          DiskFaults.begin([.read], in: house.state, error: EIO, after: readable)
          if try await isStored({ try await drop(7) }) {
            try await eventually("the warning") {
              log.lines.contains { $0.contains("its sessions cannot be read for the moment") }
            }
            #expect(log.lines.allSatisfy { $0.contains("disk I/O error") }, "\(log.lines)")
            inBackground += 1
          } else {
            inForeground += 1
          }
          _ = try await isStored {
            let shown = try await house.shownSessions(to: house.watcher)
            #expect(shown >= 1000)
          }
          DiskFaults.end(in: house.state)
          for number in [7, 990] { try await drop(number) }
          // The service reads the sessions that nobody asks for later.
          try await eventually("the last are read") { try await house.sessions().count == 1000 }
          #expect(try await house.shownSessions(to: house.watcher) == 1000)
        }
      }
    }
    #expect(inBackground > 0 && inForeground > 0, "\(inBackground) in the background, \(inForeground) not")
  }

  @Test(.house)
  func `a question that comes with a drop shows nothing of the drop that the disk refuses`() async throws {
    try await house.servingHere { _ in
      let caller = try await house.bus.connect()
      func drop(_ key: String) throws { try house.service(caller).send("Deliver", Payloads.activity("viewCat", key)) }
      func shown() async throws -> Int { try await house.shownSessions(to: caller) }
      try drop("cat1")
      #expect(try await shown() == 1)
      DiskFaults.begin([.write, .sync], in: house.state, error: ENOSPC)
      for number in 2...20 {
        try drop("cat\(number)")
        let sessions = try? await shown()
        #expect(sessions == 1 || sessions == nil)
      }
      DiskFaults.end(in: house.state)
      try drop("cat21")
      #expect(try await shown() == 2)
    }
  }

  @Test(.house) func `the deliveries to thirty windows that cannot be read are one line in the log`() async throws {
    let long = String(repeating: "x", count: 20_000)
    try await house.servingHere { _ in
      for number in 1...30 {
        _ = try await house.deliver(
          #"{"activity": {"activityType": "viewCat", "targetContentIdentifier": "cat\#(number)", "#
            + #""userInfo": {"long": "\#(long)"}}, "options": {"deadline": 3600}}"#)
      }
    }
    try await house.servingHere { log in
      // The sessions are read before the host attaches.
      #expect(try await house.sessions().count == 30)
      let host = try await HostPlayer("org.example.Cats", in: house)
      try await house.register(
        Manifests.application("org.example.Dogs", types: "viewDog", configurations: Manifests.configuration("Main")))
      // It expires before the service is idle for three seconds, writes it to its row, and would have to read it.
      let expiring = try await house.deliver(Payloads.activity("viewDog", "rex", options: #""deadline": 2"#))
      DiskFaults.begin([.read], in: house.state, error: EIO)
      try await host.attach()
      @Sendable func errors() -> [String] { log.lines.filter { $0.contains("deliveries cannot be read") } }
      try await eventually("the error") { !errors().isEmpty }
      // The service tries each again after a second.
      try await house.waitUntil(expiring.delivery, is: "routed")
      #expect(errors().count == 1, "\(log.lines)")
      #expect(host.calls(of: "ConnectScene").count < 30)
      DiskFaults.end(in: house.state)
      try await host.asked(30, "ConnectScene")
    }
  }
}

/// The log of a service.
final class LogLines: Sendable {
  private let content = Lock<[String]>([])

  var lines: [String] { content.withLock { $0 } }
  func add(_ line: String) { content.withLock { $0.append(line) } }
}

extension House {
  /// The number of sessions among the managed objects.
  fileprivate func shownSessions(to caller: Connection) async throws -> Int {
    let objects = try await object(House.root, House.manager, over: caller).call(
      "GetManagedObjects", returning: [ObjectPath: [String: [String: Variant]]].self)
    return objects.keys.count { $0.rawValue.contains("/session/") }
  }

  /// Runs `body` while the service runs in this process, with the cats.
  func servingHere(
    rules: String = "", askDisk: (@Sendable (Text) -> DiskAnswer)? = nil,
    _ body: nonisolated(nonsending) (LogLines) async throws -> Void
  ) async throws {
    _ = DiskFaults.install
    let lines = LogLines()
    let state = state
    let connection = try await bus.connect()
    connection.identifyCallers(admittingStrangers: true)
    let interchange = try await connection.loop.run { _ in
      @Sendable func now() -> Instant { Instant(microseconds: 1_777_636_800_000_000) }
      let store = try SessionStore(
        directory: state, durability: .normal, rules: ReadingRules(types: TypeCatalog()), at: now())
      var settings = Interchange.Settings(now: now)
      if let askDisk { settings.askDisk = askDisk }
      return try Interchange(
        on: connection, store: store, baggageStore: BaggageStore(directory: nil, isSynced: false), types: TypeCatalog(),
        settings: settings, log: Log(.warning) { lines.add($1) })
    }
    try await interchange.declare(Manifest(Array(Manifests.cats.utf8), types: TypeCatalog()))
    await interchange.setRules(RuleSet([("/rules", try RuleFile(Array(rules.utf8)))]), home: .empty)
    await interchange.export()
    // The bus may still list the service before it.
    try await gone()
    #expect(try await connection.requestName(House.name) == .owned)
    try await ending(with: {
      DiskFaults.end(in: state)
      await interchange.close()
      await connection.close()
    }) { try await body(lines) }
  }
}
