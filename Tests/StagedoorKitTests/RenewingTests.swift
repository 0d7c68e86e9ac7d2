import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import StagedoorKit
import Testing

/// Promises with a token, while services come and go: a service that may know a delivery is told who keeps the promises of it.
@Suite struct RenewingTests {
  private static let letter = Payload(
    items: [DragItem(promising: "text/plain") { _ in Data("a beach".utf8) }], .lasting.with(\.token, "letter"))

  /// Runs `body` with a sender, and with the number of objects that it exports.
  private func withSender(
    _ body: (PrivateBus, Stagedoor, _ objects: @escaping @Sendable () async throws -> Int) async throws -> Void
  ) async throws {
    try await withPrivateBus { bus in
      let stagedoor = Stagedoor(on: try await bus.connect())
      let observer = try await bus.connect()
      try await body(bus, stagedoor) { try await PromisedItemTests.objects(of: stagedoor, observer) }
    }
  }

  /// Hands in the letter to a service that ends before it answers, and returns where the promise is.
  private func deliverInVain(_ bus: PrivateBus, _ stagedoor: Stagedoor) async throws -> ObjectPath {
    let service = try await PlayedService(on: bus, answering: ["DeliverItems": [.later]])
    let delivering = Task { await code { try await stagedoor.deliver(Self.letter) } }
    try await service.wait(for: "DeliverItems")
    await service.close()
    #expect(await delivering.value == .noReply)
    return service.path
  }

  /// Expects that the sender still provides the letter, once.
  private func expectKept(
    _ service: PlayedService, _ stagedoor: Stagedoor, at path: ObjectPath, _ objects: () async throws -> Int
  ) async throws {
    #expect(try await service.load(from: stagedoor.connection, at: path) == "a beach")
    #expect(try await objects() == 1)
  }

  @Test func `a call whose service ended before it answered may have been carried out, so its promises are renewed`()
    async throws
  {
    try await withSender { bus, stagedoor, objects in
      let path = try await deliverInVain(bus, stagedoor)
      let second = try await PlayedService(on: bus)
      try await second.wait(for: "RenewPromises")
      try await expectKept(second, stagedoor, at: path, objects)
    }
  }

  @Test(
    arguments: [
      "org.stagedoor.Error.NoSuchDelivery", "org.stagedoor.Error.NoSuchItem",
      "org.freedesktop.DBus.Error.UnknownMethod",
    ] as [ErrorName])
  func `promises that the next service does not know are forgotten`(error: ErrorName) async throws {
    try await withSender { bus, stagedoor, objects in
      _ = try await deliverInVain(bus, stagedoor)
      let second = try await PlayedService(on: bus, answering: ["RenewPromises": [.refused(error)]])
      try await eventually("no object") { try await objects() == 0 }
      #expect(second.count(of: "RenewPromises") == 1)
    }
  }

  @Test func `a service that ends or fails before it has renewed promises does not end them`() async throws {
    try await withSender { bus, stagedoor, objects in
      let first = try await PlayedService(on: bus)
      try await stagedoor.deliver(Self.letter)
      await first.close()
      // The next one ends at once.
      let second = try await PlayedService(on: bus, answering: ["RenewPromises": [.later]])
      try await second.wait(for: "RenewPromises")
      await second.close()
      // The third one has a full disk, then a slow one, and then the application has not attached.
      let third = try await PlayedService(
        on: bus,
        answering: [
          "RenewPromises": [
            "org.stagedoor.Error.StorageFailed", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.AccessDenied",
          ]
        ])
      try await third.wait(for: "RenewPromises", 4)
      try await expectKept(third, stagedoor, at: first.path, objects)
    }
  }

  @Test func `a service that ends as soon as it has answered leaves the promises to the next one`() async throws {
    try await withSender { bus, stagedoor, objects in
      let first = try await PlayedService(on: bus, answering: ["DeliverItems": [.later]])
      let delivering = Task { try await stagedoor.deliver(Self.letter) }
      try await first.wait(for: "DeliverItems")
      first.answerNow("DeliverItems")
      await first.close()
      _ = try await delivering.value
      let second = try await PlayedService(on: bus)
      try await second.wait(for: "RenewPromises")
      try await expectKept(second, stagedoor, at: first.path, objects)
    }
  }

  /// The next service answers the repeated call from its store, and asks nobody yet.
  @Test func `a call that is repeated at the next service is renewed there`() async throws {
    try await withSender { bus, stagedoor, objects in
      _ = try await deliverInVain(bus, stagedoor)
      let second = try await PlayedService(
        on: bus, answering: ["RenewPromises": ["org.freedesktop.DBus.Error.AccessDenied", .later]])
      try await stagedoor.deliver(Self.letter)
      try await second.wait(for: "RenewPromises", 2)
      second.answerNow("RenewPromises")
      try await expectKept(second, stagedoor, at: second.path, objects)
    }
  }

  @Test func `promises that a repeated call is just handing in are not forgotten`() async throws {
    try await withSender { bus, stagedoor, objects in
      _ = try await deliverInVain(bus, stagedoor)
      // It has not stored the first call, and takes its time with the second.
      let unknown: PlayedService.Answer = "org.stagedoor.Error.NoSuchDelivery"
      let second = try await PlayedService(
        on: bus, answering: ["RenewPromises": [.later, unknown], "DeliverItems": [.later]])
      try await second.wait(for: "RenewPromises")
      let again = Task { try await stagedoor.deliver(Self.letter) }
      try await second.wait(for: "DeliverItems")
      second.answerNow("RenewPromises", unknown)
      try await second.wait(for: "RenewPromises", 2)
      second.answerNow("DeliverItems")
      _ = try await again.value
      try await second.wait(for: "RenewPromises", 3)
      try await expectKept(second, stagedoor, at: second.path, objects)
    }
  }

  @Test func `a call that was given up may still be carried out, and its promises are kept`() async throws {
    try await withSender { bus, stagedoor, objects in
      let unknown: PlayedService.Answer = "org.stagedoor.Error.NoSuchDelivery"
      let first = try await PlayedService(on: bus, answering: ["DeliverItems": [.later], "RenewPromises": [unknown]])
      let delivering = Task { await code { try await stagedoor.deliver(Self.letter) } }
      try await first.wait(for: "DeliverItems")
      delivering.cancel()
      #expect(await delivering.value == .taskCancelled)
      // Now the service carries it out.
      first.answerNow("DeliverItems")
      #expect(try await first.load(from: stagedoor.connection, at: first.path) == "a beach")
      await first.close()
      let second = try await PlayedService(on: bus)
      try await second.wait(for: "RenewPromises")
      try await expectKept(second, stagedoor, at: first.path, objects)
    }
  }

  /// A retry would start a service that somebody has just stopped.
  @Test(.house) func `nobody starts a service to renew promises`() async throws {
    try await house.installService("--durability", "memory")
    let stagedoor = Stagedoor(on: try await house.bus.connect())
    let first = try await PlayedService(on: house.bus)
    try await stagedoor.deliver(Self.letter)
    await first.close()
    let second = try await PlayedService(
      on: house.bus, answering: ["RenewPromises": ["org.stagedoor.Error.StorageFailed"]])
    try await second.wait(for: "RenewPromises")
    await second.close()
    // Longer than the first pauses.
    try await ContinuousClock().sleep(for: .milliseconds(400))
    #expect(try await stagedoor.connection.owner(of: House.name) == nil)
    let third = try await PlayedService(on: house.bus)
    try await third.wait(for: "RenewPromises")
  }
}
