import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import StagedoorKit
import Testing

/// Promises with a token, while services come and go: a service that may know a delivery is told who keeps the promises of it.
@Suite struct RenewingTests {
  /// A service that takes deliveries, and answers as a test wishes.
  private final class Taker: Sendable {
    enum Answer: Sendable {
      case done
      case refused(ErrorName)
      /// The call gets no answer until the test says so.
      case none
    }

    let connection: Connection
    private let answers: Lock<[String: [Answer]]>
    private let record = Lock<[String]>([])
    private let held = Lock<[String: @Sendable (Answer) -> Void]>([:])
    private let provided = Lock<ObjectPath?>(nil)

    /// - Parameter answers: The next answers to each method; the others are "done".
    init(on bus: PrivateBus, _ answers: [String: [Answer]] = [:]) async throws {
      self.answers = Lock(answers)
      connection = try await bus.connect()
      var root = Interface("org.stagedoor.Interchange1")
      root.method("DeliverItems", in: "items", "options", out: "session", "outcome", "delivery") {
        [weak self]
        (reply: Reply<ObjectPath, String, String>, items: [[String: Variant]], _: [String: Variant]) in
        let rows = items.first?["representations"].flatMap { try? [[String: Variant]]($0) }
        if case .objectPath(let path)? = rows?.first?["provider"] { self?.provided.withLock { $0 = path } }
        self?.answer("DeliverItems", reply.fail) {
          reply.send(PlayedService.newSession.path, "created", PlayedService.delivery.description)
        }
      }
      root.method("RenewPromises", in: "token") { [weak self] (reply: Reply<>, token: String) in
        self?.answer("RenewPromises", reply.fail) { reply.send() }
      }
      connection.export(root, at: PlayedService.root)
      // The bus may not have noticed yet that the service before this one has left.
      let connection = connection
      try await eventually("the name") { try await connection.requestName(House.name, .doNotQueue) == .owned }
    }

    private func answer(
      _ method: String, _ fail: @escaping @Sendable (any Error) -> Bool, _ send: @escaping @Sendable () -> Void
    ) {
      let body = { @Sendable (answer: Answer) in
        switch answer {
        case .done: send()
        case .refused(let name): _ = fail(ErrorReply(name, "not now"))
        case .none: break
        }
      }
      let answer = answers.withLock { $0[method]?.isEmpty == false ? $0[method]?.removeFirst() : nil } ?? .done
      if case .none = answer { held.withLock { $0[method] = body } } else { body(answer) }
      record.withLock { $0.append(method) }
    }

    /// Answers the held call of a method.
    func answerNow(_ method: String, _ answer: Answer = .done) {
      held.withLock { $0.removeValue(forKey: method) }?(answer)
    }

    func count(of method: String) -> Int { record.withLock { $0.count { $0 == method } } }

    func wait(for method: String, _ count: Int = 1) async throws {
      try await eventually("\(count) \(method)") { self.count(of: method) >= count }
    }

    /// Loads what the sender has promised, as for a host.
    func load(from sender: Connection, at path: ObjectPath) async throws -> String {
      let name = try #require(await sender.uniqueName)
      return try await connection.call(
        to: name, at: path, "org.stagedoor.ItemProvider1", "Load", UInt32(0), "text/plain",
        returning: OwnedFileDescriptor.self, Int64.self
      ).0.text
    }

    var path: ObjectPath { provided.withLock { $0 } ?? "/nothing" }

    func close() async { await connection.close() }
  }

  private static let letter: Payload = {
    var options = DeliveryOptions.lasting
    options.token = "letter"
    return Payload(items: [DragItem(promising: "text/plain") { _ in Data("a beach".utf8) }], options)
  }()

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
    let service = try await Taker(on: bus, ["DeliverItems": [.none]])
    let delivering = Task { await code { try await stagedoor.deliver(Self.letter) } }
    try await service.wait(for: "DeliverItems")
    await service.close()
    #expect(await delivering.value == .noReply)
    return service.path
  }

  @Test func `a call whose service ended before it answered may have been carried out, so its promises are renewed`()
    async throws
  {
    try await withSender { bus, stagedoor, objects in
      let path = try await deliverInVain(bus, stagedoor)
      let second = try await Taker(on: bus)
      try await second.wait(for: "RenewPromises")
      #expect(try await second.load(from: stagedoor.connection, at: path) == "a beach")
      #expect(try await objects() == 1)
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
      let second = try await Taker(on: bus, ["RenewPromises": [.refused(error)]])
      try await eventually("no object") { try await objects() == 0 }
      #expect(second.count(of: "RenewPromises") == 1)
    }
  }

  @Test func `a service that ends or fails before it has renewed promises does not end them`() async throws {
    try await withSender { bus, stagedoor, objects in
      let first = try await Taker(on: bus)
      try await stagedoor.deliver(Self.letter)
      await first.close()
      // The next one ends at once.
      let second = try await Taker(on: bus, ["RenewPromises": [.none]])
      try await second.wait(for: "RenewPromises")
      await second.close()
      // The third one has a full disk, then a slow one, and then the application has not attached.
      let third = try await Taker(
        on: bus,
        [
          "RenewPromises": [
            .refused("org.stagedoor.Error.StorageFailed"), .refused("org.freedesktop.DBus.Error.Timeout"),
            .refused("org.freedesktop.DBus.Error.AccessDenied"),
          ]
        ])
      try await third.wait(for: "RenewPromises", 4)
      #expect(try await third.load(from: stagedoor.connection, at: first.path) == "a beach")
      #expect(try await objects() == 1)
    }
  }

  @Test func `a service that ends as soon as it has answered leaves the promises to the next one`() async throws {
    try await withSender { bus, stagedoor, objects in
      let first = try await Taker(on: bus, ["DeliverItems": [.none]])
      let delivering = Task { try await stagedoor.deliver(Self.letter) }
      try await first.wait(for: "DeliverItems")
      first.answerNow("DeliverItems")
      await first.close()
      _ = try await delivering.value
      let second = try await Taker(on: bus)
      try await second.wait(for: "RenewPromises")
      #expect(try await second.load(from: stagedoor.connection, at: first.path) == "a beach")
      #expect(try await objects() == 1)
    }
  }

  /// The next service answers the repeated call from its store, and asks nobody yet.
  @Test func `a call that is repeated at the next service is renewed there`() async throws {
    try await withSender { bus, stagedoor, objects in
      _ = try await deliverInVain(bus, stagedoor)
      let second = try await Taker(
        on: bus, ["RenewPromises": [.refused("org.freedesktop.DBus.Error.AccessDenied"), .none]])
      try await stagedoor.deliver(Self.letter)
      try await second.wait(for: "RenewPromises", 2)
      second.answerNow("RenewPromises")
      #expect(try await second.load(from: stagedoor.connection, at: second.path) == "a beach")
      #expect(try await objects() == 1)
    }
  }

  @Test func `promises that a repeated call is just handing in are not forgotten`() async throws {
    try await withSender { bus, stagedoor, objects in
      _ = try await deliverInVain(bus, stagedoor)
      // It has not stored the first call, and takes its time with the second.
      let unknown = Taker.Answer.refused("org.stagedoor.Error.NoSuchDelivery")
      let second = try await Taker(on: bus, ["RenewPromises": [.none, unknown], "DeliverItems": [.none]])
      try await second.wait(for: "RenewPromises")
      let again = Task { try await stagedoor.deliver(Self.letter) }
      try await second.wait(for: "DeliverItems")
      second.answerNow("RenewPromises", unknown)
      try await second.wait(for: "RenewPromises", 2)
      second.answerNow("DeliverItems")
      _ = try await again.value
      try await second.wait(for: "RenewPromises", 3)
      #expect(try await second.load(from: stagedoor.connection, at: second.path) == "a beach")
      #expect(try await objects() == 1)
    }
  }

  @Test func `a call that was given up may still be carried out, and its promises are kept`() async throws {
    try await withSender { bus, stagedoor, objects in
      let unknown = Taker.Answer.refused("org.stagedoor.Error.NoSuchDelivery")
      let first = try await Taker(on: bus, ["DeliverItems": [.none], "RenewPromises": [unknown]])
      let delivering = Task { await code { try await stagedoor.deliver(Self.letter) } }
      try await first.wait(for: "DeliverItems")
      delivering.cancel()
      #expect(await delivering.value == .taskCancelled)
      // Now the service carries it out.
      first.answerNow("DeliverItems")
      #expect(try await first.load(from: stagedoor.connection, at: first.path) == "a beach")
      await first.close()
      let second = try await Taker(on: bus)
      try await second.wait(for: "RenewPromises")
      #expect(try await second.load(from: stagedoor.connection, at: first.path) == "a beach")
      #expect(try await objects() == 1)
    }
  }

  /// A retry would start a service that somebody has just stopped.
  @Test func `nobody starts a service to renew promises`() async throws {
    try await withHouse { house in
      try await house.installService("--durability", "memory")
      let stagedoor = Stagedoor(on: try await house.bus.connect())
      let first = try await Taker(on: house.bus)
      try await stagedoor.deliver(Self.letter)
      await first.close()
      let second = try await Taker(
        on: house.bus, ["RenewPromises": [.refused("org.stagedoor.Error.StorageFailed")]])
      try await second.wait(for: "RenewPromises")
      await second.close()
      // Longer than the first pauses.
      try await ContinuousClock().sleep(for: .milliseconds(400))
      #expect(try await stagedoor.connection.owner(of: House.name) == nil)
      let third = try await Taker(on: house.bus)
      try await third.wait(for: "RenewPromises")
    }
  }
}
