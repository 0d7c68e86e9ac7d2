import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// The contents of deliveries when the service ends, when it is killed, and when its process may open few files.
@Suite struct ItemKillTests {
  private static let large = String(repeating: "0123456789abcdef", count: 8192)
  private static let rounds = getenv("STAGEDOOR_STRESS") == nil ? 3 : 200

  @Test(.house(installing: House.pictures))
  func `killed at any moment, it has all that it acknowledged, and nothing that no delivery has`() async throws {
    var acknowledged: [String: String] = [:]
    for round in 0..<Self.rounds {
      let answers = Lock<[String: String]>([:])
      try await house.serving("--durability", "normal") { daemon in
        let tasks = (0..<4).map { number in
          Task {
            let connection = try await house.bus.connect()
            var count = 0
            while true {
              let text = "\(round) \(number) \(count) " + Self.large
              let landing = try await house.deliver(
                [Things.item(Things.text(text), Things.text("small", "text/html"))], ["deadline": 3600.variant],
                over: connection)
              answers.withLock { $0[landing.delivery] = text }
              count += 1
            }
          }
        }
        try await eventually("some answers") { answers.withLock { $0.count } >= 5 + round % 7 }
        daemon.signal(SIGKILL)
        try await daemon.ended()
        for task in tasks { _ = await task.result }
      }
      acknowledged.merge(answers.withLock { $0 }) { first, _ in first }
    }
    try await house.serving("--durability", "normal") { _ in
      try await house.hosting { host in
        for (delivery, text) in acknowledged { #expect(try await host.text(delivery, 0, "text/plain") == text) }
        let kept = Set(try await house.deliveries().map { $0[0] })
        #expect(Set(acknowledged.keys).subtracting(kept).isEmpty)
        #expect(Set(try house.spooled.map { String($0.prefix { $0 != "/" }) }).subtracting(kept).isEmpty)
        for delivery in kept { try await host.release(delivery) }
        try await house.spoolIsEmptied()
      }
    }
  }

  // MARK: Descriptors

  private static let calls = getenv("STAGEDOOR_STRESS") == nil ? 2_000 : 100_000

  @Test(.host(durability: "memory")) func `thousands of calls with descriptors leave none behind`() async throws {
    func round(_ number: Int) async throws {
      let descriptor = try OwnedFileDescriptor.file("/dev/null", O_RDWR)
      let (readEnd, _) = try OwnedFileDescriptor.pipe()
      switch number % 6 {
      case 0:
        // The service refuses the item, which also has a good descriptor.
        let item = Things.item(Things.descriptor(readEnd), Things.descriptor(descriptor, "image/gif"))
        try await expectError("org.stagedoor.Error.InvalidPayload") {
          _ = try await house.deliver([item], over: house.watcher)
        }
      case 1:
        // Two descriptors that no representation names, beside one that a representation does.
        let item: [String: Variant] = [
          "more": descriptor.variant, "representations": [Things.descriptor(readEnd)].variant,
        ]
        let landing = try await house.deliver([item], over: house.watcher)
        try await host.release(landing.delivery)
      case 2:
        let drag = try await house.beginDrag([Things.item(Things.descriptor(readEnd))], over: house.watcher).drag
        try await house.object(drag, House.drag).call("Cancel")
      case 3:
        try await expectError(.invalidArgs) {
          try await house.service(house.watcher).call("CancelDelivery", descriptor)
        }
      case 4:
        try await expectError("org.stagedoor.Error.NoSuchApplication") {
          _ = try await house.deliver(
            [Things.item(Things.descriptor(readEnd))], ["application": "org.example.Nobody"], over: house.watcher)
        }
      default:
        let landing = try await house.deliver([Things.item(Things.descriptor(readEnd))], over: house.watcher)
        _ = try await host.open(landing.delivery)
        try await host.release(landing.delivery)
      }
      host.forget()
    }
    // The first calls of each kind make threads and tables.
    for number in 0..<50 { try await round(number) }
    let before = OpenDescriptors.of(process: daemon.processIdentifier).count
    for number in 0..<Self.calls { try await round(number) }
    try await eventually("as many descriptors as before") {
      OpenDescriptors.of(process: daemon.processIdentifier).count <= before
    }
  }

  @Test(.host(durability: "memory"))
  func `calls that wait bring so many descriptors, and each sender leaves as many as it has`() async throws {
    // A source that never returns what it promised, with descriptors behind it: libdbus sends sixteen at once.
    let source = try await SourcePlayer(in: house)
    @Sendable func call() async throws -> ErrorReply? {
      let items =
        try [Things.item(Things.promise())]
        + (0..<16).map { _ in Things.item(Things.descriptor(try .pipe(of: []))) }
      return try await refused {
        _ = try await house.deliver(items, ["keepPromises": true], over: source.connection)
      }
    }
    let before = OpenDescriptors.of(process: daemon.processIdentifier).count
    var calls: [Task<ErrorReply?, any Error>] = []
    for number in 1...16 {
      source.next(.waits)
      calls.append(Task { try await call() })
      try await source.isAsked("Load 0 image/png", number)
    }
    let more = try await call()
    #expect(more?.name == .limitsExceeded && more?.text.contains("512 descriptors") ?? false, "\(more as Any)")
    #expect(try await house.drop("viewCat", "cat1").outcome == "created")
    await source.leave()
    for call in calls { _ = try? await call.value }
    try await eventually("as many descriptors as before") {
      OpenDescriptors.of(process: daemon.processIdentifier).count <= before + 8
    }
  }

  @Test(arguments: ["normal", "memory"])
  func `a service that may open few files refuses what it cannot hold, and goes on`(durability: String) async throws {
    try await withHost(durability: durability) { house, host, daemon in
      _ = try await house.command("prlimit", "--pid", "\(daemon.processIdentifier)", "--nofile=32:32").output()
      var (held, refusals) = ([String](), [ErrorReply]())
      for number in 0..<60 {
        do {
          let item =
            number.isMultiple(of: 2)
            ? Things.item(Things.descriptor(try .pipe(of: Array("\(number)".utf8))))
            : Things.item(Things.text("\(number) " + Self.large))
          held.append(try await house.deliver([item], over: house.watcher).delivery)
        } catch CallError.replied(let error) {
          refusals.append(error)
        }
      }
      #expect(!refusals.isEmpty)
      for error in refusals {
        #expect(error.name == .limitsExceeded || error.name == "org.stagedoor.Error.StorageFailed", "\(error)")
      }
      // The service answers every call that needs no descriptor, even for new callers.
      #expect(try await house.deliveries().count == held.count)
      for delivery in held { try await host.release(delivery) }
      try await eventually("room for more") {
        let text = "again " + Self.large
        do {
          let landing = try await house.deliver([Things.item(Things.text(text))], over: house.watcher)
          let opened = try await host.text(landing.delivery)
          try await host.release(landing.delivery)
          return opened == text
        } catch CallError.replied {
          return false
        }
      }
    }
  }
}
