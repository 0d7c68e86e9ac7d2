import DBus
import DBusTestSupport
import Glibc
import Testing

/// Promised data: fetched when somebody opens it, cancelled when nobody waits, and gone with its source.
@Suite struct PromiseTests {
  private static let sourceGone: ErrorName = "org.stagedoor.Error.SourceGone"

  /// Runs `body` with a service, a host and a source.
  private func withSource(
    durability: String = "normal", _ body: (House, HostPlayer, SourcePlayer, RunningCommand) async throws -> Void
  ) async throws {
    try await withHost(durability: durability) { house, host, daemon in
      try await house.sourcing { try await body(house, host, $0, daemon) }
    }
  }

  /// The same with one delivery of two promises.
  private func promising(
    _ options: [String: Variant] = [:], durability: String = "normal",
    _ body: (House, HostPlayer, SourcePlayer, Landing) async throws -> Void
  ) async throws {
    try await withSource(durability: durability) { house, host, source, _ in
      let landing = try await source.deliver(
        Things.item(Things.text("words"), Things.promise()), Things.item(Things.promise("text/html")), options: options)
      try await host.asked(1, "ConnectScene")
      try await body(house, host, source, landing)
    }
  }

  @Test func `what it hands out is no more trusted than what anybody hands in`() async throws {
    try await promising { house, host, source, landing in
      for (path, flags, fault) in [
        ("/tmp", O_RDONLY, "a directory"), ("/dev/null", O_RDONLY, "a device"), ("/dev/null", O_WRONLY, "not open"),
      ] {
        source.next(.hands({ try .file(path, flags) }, size: -1))
        let error = try await refused { _ = try await host.open(landing.delivery, 0, "image/png") }
        #expect(error?.name == Self.sourceGone, "\(path) \(error as Any)")
        #expect(
          error?.text.hasPrefix("the descriptor from the source of image/png: is \(fault)") ?? false, "\(error as Any)")
      }
      // A size that makes no sense counts as unknown.
      source.next(.hands({ try .pipe(of: [7]) }, size: -7))
      #expect(try await host.open(landing.delivery, 0, "image/png").size == -1)
      #expect(try await host.text(landing.delivery, 0, "image/png") == "promised 0 image/png")
      // Of a file the host gets a descriptor of its own, read-only, from the start.
      let file = try OwnedFileDescriptor.file(try house.file("photo.png", "a photo"), O_RDWR)
      _ = file.withRawValue { lseek($0, 3, SEEK_SET) }
      source.next(.hands({ file }, size: 7))
      let opened = try await host.open(landing.delivery, 0, "image/png")
      #expect(opened.size == 7)
      #expect(opened.data.withRawValue { fcntl($0, F_GETFL) } & O_ACCMODE == O_RDONLY)
      #expect(try await opened.text() == "a photo")
      #expect(file.withRawValue { lseek($0, 0, SEEK_CUR) } == 3)
    }
  }

  @Test func `a source that has left before, or leaves while it is asked, is gone`() async throws {
    try await promising { house, host, source, landing in
      source.next(.waits)
      let delivery = landing.delivery
      async let error = refused { _ = try await host.open(delivery, 0, "image/png") }
      try await source.isAsked("Load 0 image/png")
      await source.leave()
      #expect(try await error?.name == Self.sourceGone)
      try await expectError(Self.sourceGone) { _ = try await host.open(delivery, 1, "text/html") }
      // Contents that were not promised are still there.
      #expect(try await host.text(delivery, 0, "text/plain") == "words")
      try await host.release(delivery)
    }
  }

  @Test func `the source hears that its host has left while it was asked`() async throws {
    try await promising { house, host, source, landing in
      source.next(.waits)
      let delivery = landing.delivery
      let opening = Task { try await host.open(delivery, 0, "image/png") }
      try await source.isAsked("Load 0 image/png")
      await host.leave()
      try await source.isAsked("CancelLoad 0 image/png")
      _ = await opening.result
      // The late answer harms nobody.
      try source.goOn("late")
      let next = try await HostPlayer("org.example.Cats", in: house)
      try await next.attach()
      #expect(try await next.text(delivery, 0, "image/png") == "promised 0 image/png")
    }
  }

  // MARK: keepPromises

  @Test(arguments: ["normal", "memory"])
  func `what is kept at the drop outlives its source`(durability: String) async throws {
    try await promising(["keepPromises": true], durability: durability) { house, host, source, landing in
      // The service fetches the promises in order before it answers the call, and then releases them.
      try await source.isAsked("Release")
      #expect(source.asked == ["Load 0 image/png", "Load 1 text/html", "Release"])
      await source.leave()
      if durability == "memory" { #expect(try house.spooled.isEmpty) }
      let options = try #require(try await host.asked(1, "ConnectScene").first).options
      let size = "promised 0 image/png".utf8.count
      #expect(options["items"]?.elements.first?["representations"]?.elements[1]["size"]?.number == Int64(size))
      for _ in 0..<2 {
        #expect(try await host.text(landing.delivery, 0, "image/png") == "promised 0 image/png")
        #expect(try await host.text(landing.delivery, 1, "") == "promised 1 text/html")
      }
      try await host.release(landing.delivery)
      try await house.spoolIsEmptied()
    }
  }

  @Test func `what exceeds the rest of its sender's space is refused, and ends nobody`() async throws {
    try await withSource { house, _, source, _ in
      for _ in 0..<25 { source.next(.waits) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<25 {
          group.addTask {
            _ = try await source.deliver(Things.item(Things.promise()), options: ["keepPromises": true])
          }
        }
        try await source.isAsked("Load 0 image/png", 25)
        // They share the space: of what is left for the next call, this is too much.
        let long = Things.representation("text/plain", "data", Variant.bytes([UInt8](repeating: 7, count: 15 << 20)))
        try await expectError(.limitsExceeded) {
          _ = try await source.deliver(Things.item(long, Things.promise()), options: ["keepPromises": true])
        }
        try source.goOn("promised")
        try await group.waitForAll()
      }
    }
  }

  /// The manners of a source in which it does not hand out what it promised, and the errors that the drop gets.
  private static let failures: [(what: String, announced: Int64?, manner: SourcePlayer.Manner, error: ErrorName)] = [
    ("it refuses", nil, .refuses(.unwilling), ErrorReply.unwilling.name),
    ("it ends before its size", nil, .hands({ try .pipe(of: Array("half".utf8)) }, size: 8), sourceGone),
    ("it ends before the announced size", 8, .hands({ try .pipe(of: Array("half".utf8)) }, size: -1), sourceGone),
    ("it has another size than announced", 8, .hands({ try .pipe(of: Array("half".utf8)) }, size: 4), sourceGone),
    ("it is no data", nil, .hands({ try .file("/tmp") }, size: -1), "org.stagedoor.Error.InvalidPayload"),
    ("it is longer than anyone may have", nil, .hands({ try .sparse(of: 20 << 30) }, size: -1), .limitsExceeded),
  ]

  @Test func `a promise to be kept that its source does not keep refuses the drop, and nothing is left`() async throws {
    try await withSource { house, host, source, _ in
      let sequence = try await house.eventSequence()
      for (what, announced, manner, name) in Self.failures {
        source.next(manner)
        let error = try await refused {
          _ = try await source.deliver(
            Things.item(Things.text("words"), Things.promise(size: announced)), options: ["keepPromises": true])
        }
        #expect(error?.name == name, "\(what): \(error as Any)")
        if name == Self.sourceGone {
          #expect(error?.text.contains("items[0].representations[1].provider: ") ?? false, "\(error as Any)")
        }
      }
      #expect(try await house.deliveries().isEmpty)
      #expect(try await house.eventSequence() == sequence)
      #expect(host.calls.isEmpty)
      try await house.spoolIsEmptied()
    }
  }

  // MARK: Large

  @Test func `what goes through a promise never goes through the service`() async throws {
    try await withSource { house, host, source, daemon in
      let size = getenv("STAGEDOOR_STRESS") == nil ? 64 << 20 : 512 << 20
      let landing = try await source.deliver(Things.item(Things.promise()))
      let (readEnd, writeEnd) = try OwnedFileDescriptor.pipe()
      source.next(.hands({ readEnd }, size: Int64(size)))
      let opened = try await host.open(landing.delivery, 0, "image/png")
      readEnd.close()
      let before = try daemon.memory("VmHWM")
      writeEnd.end(with: [UInt8](repeating: 7, count: size))
      #expect(try await opened.data.everything().count == size)
      let after = try daemon.memory("VmHWM")
      #expect(after <= before + (1 << 20), "\(before) \(after)")
    }
  }
}
