import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import StagedoorKit
import Testing

/// Items whose data this program promises: which load handler the service calls, and how long the program keeps it.
@Suite struct PromisedItemTests {
  private static let manifest = Manifests.application(
    "org.example.Pictures", types: "show", configurations: Manifests.configuration("Main"),
    more: #""CFBundleDocumentTypes": [{"LSItemContentTypes": ["public.data"]}],"#)

  private static func promise(_ text: String, as types: String...) -> DragItem {
    var provider = ItemProvider()
    for type in types.isEmpty ? ["text/plain"] : types {
      provider.registerDataRepresentation(as: type) { _ in Data(text.utf8) }
    }
    return DragItem(itemProvider: provider)
  }

  /// The number of objects that a program exports for its promises.
  static func objects(of stagedoor: Stagedoor, _ observer: Connection) async throws -> Int {
    let owner = try #require(await stagedoor.connection.uniqueName)
    let document: String? = try? await observer.call(
      to: owner, at: "/org/stagedoor/items", "org.freedesktop.DBus.Introspectable", "Introspect")
    return document?.matches(of: /<node name="/).count ?? 0
  }

  /// Runs `body` with a client, and with another one that sees the objects of the first.
  private func withPromiser(
    _ body: (Stagedoor, _ objects: @escaping @Sendable () async throws -> Int) async throws -> Void
  ) async throws {
    try await withClient(Self.manifest) { house, stagedoor in
      let observer = try await house.bus.connect()
      try await body(stagedoor) { try await Self.objects(of: stagedoor, observer) }
    }
  }

  @Test func `items that could not be added to a drag change nothing about those that can`() async throws {
    try await withPromiser { stagedoor, objects in
      let drag = try await stagedoor.beginDrag([Self.promise("first")], .lasting)
      let wrong = Self.promise("wrong", as: "text/plain", "text/plain")
      #expect(await code { try await drag.add([wrong]) } == .invalidPayload)
      #expect(try await objects() == 1)
      try await drag.add([Self.promise("second"), Self.promise("third")])
      let delivery = try await drag.drop().identifier
      for (index, text) in ["first", "second", "third"].enumerated() {
        #expect(try await stagedoor.opened(delivery, UInt32(index), "text/plain").data.text == text)
      }
      try await stagedoor.release(delivery)
      try await eventually("no object") { try await objects() == 0 }
    }
  }

  @Test func `items that are added to a drag at the same time are not mistaken for each other`() async throws {
    try await withPromiser { stagedoor, _ in
      let drag = try await stagedoor.beginDrag([Self.promise("0", as: "text/plain")], .lasting)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...20 {
          group.addTask {
            var item = Self.promise("\(number)")
            item.itemProvider.suggestedName = "\(number)"
            try await drag.add([item])
          }
        }
        try await group.waitForAll()
      }
      let names = try await drag.items.map { $0.itemProvider.suggestedName ?? "0" }
      #expect(names.count == 21)
      let delivery = try await drag.drop().identifier
      for (index, name) in names.enumerated() {
        #expect(try await stagedoor.opened(delivery, UInt32(index), "text/plain").data.text == name)
      }
    }
  }

  @Test func `a drag that promises nothing has no object, and its data is not dropped yet`() async throws {
    try await withPromiser { stagedoor, objects in
      let drag = try await stagedoor.beginDrag([DragItem(text: "a beach")], .lasting)
      #expect(try await objects() == 0)
      let item = try #require(try await drag.items.first).itemProvider
      #expect(await code { _ = try await item.loadText() } == .notDropped)
      try await drag.cancel()
    }
  }

  @Test func `what was promised in a drag is forgotten when the drag is cancelled`() async throws {
    try await withPromiser { stagedoor, objects in
      let drag = try await stagedoor.beginDrag([Self.promise("first")], .lasting)
      try await drag.add([Self.promise("second")])
      #expect(try await objects() == 2)
      try await drag.cancel()
      try await eventually("no object") { try await objects() == 0 }
    }
  }

  @Test(.client(manifest), arguments: [false, true])
  func `a call with a promise can be repeated with its token`(isAnotherProcess: Bool) async throws {
    let options = DeliveryOptions.lasting.with(\.token, String(repeating: "é", count: 127))
    let payload = Payload(items: [Self.promise("a beach"), Self.promise("a sea")], options)
    let first = try await stagedoor.deliver(payload)
    let observer = try await house.bus.connect()
    let other = isAnotherProcess ? Stagedoor(on: observer) : stagedoor
    #expect(try await other.deliver(payload) == first)
    // The same token cannot be used for another payload, and the earlier promises stay.
    let different = Payload(items: [Self.promise("a hill", as: "text/html")], options)
    #expect(await code { try await stagedoor.deliver(different) } == .invalidPayload)
    for (index, text) in ["a beach", "a sea"].enumerated() {
      #expect(try await stagedoor.opened(first.identifier, UInt32(index), "text/plain").data.text == text)
    }
    try await stagedoor.release(first.identifier)
    try await eventually("no object") { try await Self.objects(of: stagedoor, observer) == 0 }
  }

  @Test func `what was promised is forgotten when the service begins anew`() async throws {
    final class Picture: Sendable {}
    struct Kept: Sendable { weak let picture: Picture? }
    try await withHouse { house in
      try house.write(Self.manifest, to: "\(house.applications)/org.example.Pictures.json")
      try await house.withClient { stagedoor in
        let kept = try await house.serving("--durability", "normal") { _ in
          let picture = Picture()
          let item = DragItem(promising: "image/png") { [picture] _ in withExtendedLifetime(picture) { Data() } }
          try await stagedoor.deliver([item], .lasting)
          return Kept(picture: picture)
        }
        try await house.serving("--durability", "normal") { _ in
          try await eventually("the promise to be forgotten") { kept.picture == nil }
        }
      }
    }
  }

  @Test(.house) func `an application's promises outlive the service, and the application itself`() async throws {
    let mail = Manifests.application(
      "org.example.Mail", types: "write", configurations: Manifests.configuration("Main"))
    try house.write(mail, to: "\(house.applications)/org.example.Mail.json")
    let sender = try await Sender(on: house)
    try await house.withClient { host in
      let options = DeliveryOptions.lasting.with(\.token, "letter").with(\.application, "org.example.Pictures")
      let letter = Payload(items: [Self.promise("a beach")], options)
      let delivery = try await house.serving("--durability", "normal") { _ in
        try await host.register(manifest: Self.manifest)
        try await sender.start()
        return try await sender.stagedoor.deliver(letter).identifier
      }
      try await house.serving("--durability", "normal") { _ in
        // The application may not have attached yet, and whoever repeats a call with its token need not know.
        #expect(try await sender.stagedoor.deliver(letter).identifier == delivery)
        try await host.register(manifest: Self.manifest)
        #expect(try await host.opened(delivery, 0, "text/plain").data.text == "a beach")
        await sender.stop()
        let waiting = Task { try await host.opened(delivery, 0, "text/plain").data.text }
        let next = try await Sender(on: house)
        let early = await code {
          try await next.stagedoor.renewPromises(of: [Self.promise("a sea")], token: "letter")
        }
        #expect(early == .accessDenied)
        try await next.start()
        try await next.stagedoor.renewPromises(of: [Self.promise("a sea")], token: "letter")
        #expect(try await waiting.value == "a sea")
        await next.stop()
      }
    }
  }

  /// An application that promises something.
  @MainActor private final class Sender {
    private let application = PlayedApplication("org.example.Mail")
    private let connection: Connection
    var stagedoor: Stagedoor { Stagedoor(on: connection) }

    init(on house: House) async throws { connection = try await house.bus.connect() }

    func start() async throws { try await application.start(on: connection) }

    func stop() async {
      await application.stop()
      await connection.close()
    }
  }

  @Test func `a drag whose end cannot be heard is cancelled`() async throws {
    try await withPrivateBus { bus in
      let service = try await bus.connect()
      // A match rule with this path is longer than the bus accepts.
      let path = ObjectPath(unchecked: "/" + String(repeating: "a", count: 2_000))
      let (cancelled, isCancelled) = AsyncStream<Void>.makeStream()
      var root = Interface("org.stagedoor.Interchange1")
      root.method("BeginDragItems", in: "items", "options", out: "drag", "ticket") {
        (_: [[String: Variant]], _: [String: Variant]) in (path, "ticket")
      }
      var drag = Interface("org.stagedoor.DragSession1")
      drag.method("Cancel") { () in isCancelled.yield() }
      service.export(root, at: "/org/stagedoor/Interchange1")
      service.export(drag, at: path)
      #expect(try await service.requestName(House.name) == .owned)
      let stagedoor = Stagedoor(on: try await bus.connect())
      await #expect(throws: StagedoorError.self) { _ = try await stagedoor.beginDrag([Self.promise("a beach")]) }
      #expect(try await collect(1, from: cancelled).count == 1)
    }
  }
}
