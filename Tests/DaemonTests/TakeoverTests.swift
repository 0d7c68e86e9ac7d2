import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// `stagedoord --replace`: one service ends, another continues, and no caller notices.
@Suite struct TakeoverTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `who calls while others take over, one or several at once, loses nothing`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind, installing: Manifests.cats) { house in
      // The option also works if no service runs yet.
      var running = try await house.daemon("--replace").start()
      _ = try await house.watcher.owners(of: House.name).first { $0 != nil }
      try await house.whileDropping { droppers in
        for count in [1, 1, 1, 1, 3] {
          for dropper in droppers { try await dropper.isAnswered(5) }
          var others: [RunningCommand] = []
          for _ in 0..<count { others.append(try await house.daemon("--replace").start()) }
          #expect(try await running.ended() == .exited(0))
          let all = others
          try await eventually("all but one have ended") { all.count { $0.status == nil } == 1 }
          for other in others where other.status != nil { #expect(try await other.ended() == .exited(0)) }
          running = try #require(others.first { $0.status == nil })
        }
        for dropper in droppers { try await dropper.isAnswered(5) }
      }
      let numbers = try await house.events().map(\.sequence)
      #expect(numbers == (1...numbers.count).map { "\($0)" }, "without a gap")
      await running.stop()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `calls wait for one that takes over from another that is killed meanwhile`(kind: PrivateBus.Kind) async throws {
    try await withDaemon(kind, installing: Manifests.cats) { house, old in
      let landing = try await house.drop("viewCat", "cat1")
      try await old.freeze()
      try await house.daemon("--replace").whileRunning { _ in
        try await house.isTaken(from: old)
        let waiting = Task { try await house.drop("viewCat", "cat1") }
        old.signal(SIGKILL)
        #expect(try await waiting.value.session == landing.session)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `calls to the one before are answered, also of callers it does not know`(kind: PrivateBus.Kind) async throws {
    try await withDaemon(kind, installing: Manifests.cats) { house, old in
      try await old.freeze()
      var clients: [Connection] = []
      for _ in 0..<10 { clients.append(try await house.bus.connect()) }
      let drops = clients.map { client in
        Task { try await house.deliver(Payloads.activity("viewCat", "cat1"), over: client).session }
      }
      try await house.daemon("--replace").whileRunning { _ in
        try await house.isTaken(from: old)
        old.signal(SIGCONT)
        var sessions: Set<String> = []
        for drop in drops { sessions.insert(try await drop.value) }
        #expect(sessions.count == 1)
        #expect(try await old.ended() == .exited(0))
        #expect(try await house.deliveries().count == 10)
      }
    }
  }

  @Test(.house(installing: Manifests.cats))
  func `one that does not yield is named after a while, and who called hears of it`() async throws {
    try await house.serving { old in
      _ = try await house.drop("viewCat", "cat1")
      try await old.freeze()
      try await house.daemon("--replace").whileRunning { new in
        try await house.isTaken(from: old)
        let error = try await house.refusal("Drop", "string:viewCat", "string:cat1", "dict:string:string:")
        let sentence =
          "org.stagedoor.Interchange1 was taken over from process \(old.processIdentifier), which has not ended "
          + "15 seconds later: end it, and start stagedoord again"
        #expect(error.name == "org.stagedoor.Error.StorageFailed")
        #expect(error.message == "the service could not begin: \(sentence)")
        #expect(try await new.ended() == .exited(1))
        #expect(new.standardError == "stagedoord: \(sentence)\n")
      }
      // The old service only slept, and now ends as it was asked to.
      old.signal(SIGCONT)
      #expect(try await old.ended() == .exited(0))
    }
    #expect(try await house.serving { _ in try await house.deliveries() }.count == 1)
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a program that keeps the name is said, and nothing is touched`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      #expect(try await house.watcher.requestName(House.name) == .owned)
      let result = try await house.daemon("--replace").run()
      #expect(result.status == .exited(1))
      #expect(
        result.standardError
          == "stagedoord: org.stagedoor.Interchange1 is taken by process \(getpid()), which does not let itself be replaced\n"
      )
      #expect(!FileManager.default.fileExists(atPath: "\(house.state)/stagedoor.db"))
    }
  }

  @Test(.daemon(installing: Manifests.cats)) func `one that cannot begin ends nobody`() async throws {
    let landing = try await house.drop("viewCat", "cat1")
    let later = "\(house.state)-of-a-later-version"
    try FileManager.default.createDirectory(atPath: later, withIntermediateDirectories: false)
    // SQLite's header, with the version in its place.
    var header = [UInt8](repeating: 0, count: 4096)
    header.replaceSubrange(60..<72, with: [0, 0, 0, 99, 0, 0, 0, 0, 0x53, 0x74, 0x67, 0x44])
    try Data(header).write(to: URL(filePath: "\(later)/stagedoor.db"))
    for (state, says) in [("/proc/nope", "cannot be made"), (later, "of a later Stagedoor")] {
      let result = try await house.daemon("--replace", "--state", state).run()
      #expect(result.status == .exited(1))
      #expect(result.standardError.contains(says), "\(result)")
    }
    #expect(try await house.drop("viewCat", "cat1").session == landing.session)
  }

  @Test(.daemon(installing: Manifests.cats))
  func `who waits for a host when the service ends is told, and the delivery goes on`() async throws {
    let old = daemon
    let document = Payloads.activity("viewCat", "cat1", options: #""wait": "handled""#)
    let refusal = Task { try await house.refusal("Deliver", "string:\(document)") }
    try await eventually("it waits") { try await house.deliveries(in: "held").count == 1 }
    let delivery = try await house.deliveries()[0][0]
    try await house.daemon("--replace").whileRunning { _ in
      #expect(try await old.ended() == .exited(0))
      let error = try await refusal.value
      #expect(error.name == "org.freedesktop.DBus.Error.NoReply")
      #expect(error.message.contains(delivery))
      #expect(try await house.deliveries(in: "held").map { $0[0] } == [delivery])
    }
  }
}

extension House {
  /// Waits until another process than `old` has the name.
  fileprivate func isTaken(from old: RunningCommand) async throws {
    let watcher = watcher
    let process = UInt32(old.processIdentifier)
    try await eventually("another has the name") {
      guard let owner = try await watcher.owner(of: House.name) else { return false }
      return try await watcher.credentials(of: owner).processID != process
    }
  }
}
