import DBus
import DBusTestSupport
import Testing

/// Drags over the bus: begun, looked at, proposed, dropped, ended.
@Suite struct DragTests {
  /// A connection that takes part in drags, and the signals that it got.
  private final class Participant: Sendable {
    let connection: Connection
    private let house: House
    private let heard = Lock<[String]>([])

    /// - Parameter connection: A connection to use; `nil` for a new one.
    init(in house: House, _ connection: Connection? = nil) async throws {
      self.house = house
      if let connection { self.connection = connection } else { self.connection = try await house.bus.connect() }
      self.connection.observeAddressedSignals { [heard] signal in
        guard signal.interface != "org.freedesktop.DBus" else { return }
        let ended = try? signal.values(as: String.self, ObjectPath.self)
        let changed = try? signal.values(as: String.self, [String: Variant].self, [String].self)
        let text =
          ended.map { "Ended \($0) \($1)" } ?? changed.map { "changed \($2.joined(separator: " "))" }
          ?? "\(signal.member)"
        heard.withLock { $0.append(text) }
      }
      // The connection observes from here on.
      _ = try await self.connection.owner(of: House.name)
    }

    /// The signals: `changed State Operation`, `Ended copy /…/session/…`
    var told: [String] { heard.withLock { $0 } }

    func isTold(_ text: String) async throws {
      do {
        try await eventually("to be told \(text)") { self.told.contains(text) }
      } catch {
        throw LimitExceeded(what: "to be told \(text)", limit: usualLimit, details: "\(told)")
      }
    }

    func drag(_ path: String) throws -> RemoteObject { try house.object(path, House.drag, over: connection) }

    func begin() async throws -> (drag: String, ticket: String) {
      try await house.beginDrag([DragTests.picture], ["allowedOperations": ["copy", "move"].variant], over: connection)
    }

    func open(_ ticket: String) async throws -> String {
      try await house.service(connection).call("OpenDrag", ticket, returning: ObjectPath.self).rawValue
    }

    func propose(_ drag: String, on session: String) async throws -> String {
      try await self.drag(drag).call("Propose", try ObjectPath(session), returning: String.self)
    }

    func drop(_ drag: String, on session: String) async throws -> Landing {
      Landing(
        try await self.drag(drag).call(
          "DropOn", try ObjectPath(session), "copy", returning: ObjectPath.self, String.self, String.self))
    }

    func state(_ drag: String) async throws -> String { try await self.drag(drag).get("State", as: String.self) }
  }

  @Test(.daemon(installing: House.pictures)) func `a drag whose source leaves at once does not stay`() async throws {
    var pipes: [OwnedFileDescriptor] = []
    for _ in 0..<20 {
      let source = try await house.bus.connect()
      let (readEnd, writeEnd) = try OwnedFileDescriptor.pipe()
      try house.service(source).send(
        "BeginDragItems", [Things.item(Things.descriptor(readEnd, "image/png"))], [String: Variant]())
      await source.close()
      readEnd.close()
      pipes.append(writeEnd)
    }
    _ = try await house.eventSequence()
    // When the service has let go of a pipe, nobody reads from it.
    let all = pipes
    try await eventually("the drags are over") { all.allSatisfy(\.hasNoReader) }
    #expect(daemon.status == nil)
  }

  private static let picture = Things.item(
    Things.text("the sea", "image/png"), Things.promise("text/plain"), name: "Beach.png")

  /// Runs `body` with a service, a host that shows a window, a source of promises and a program that drops.
  private func dragging(
    _ kind: PrivateBus.Kind = .daemon,
    _ body: (House, HostPlayer, SourcePlayer, _ source: Participant, _ dropper: Participant, _ window: String)
      async throws -> Void
  ) async throws {
    try await withHost(kind) { house, host, _ in
      try await house.sourcing { source in
        let window = try await host.deliver(Payloads.activity("viewCat", "cat1")).session
        try await host.asked(1, "ConnectScene")
        try await host.settle()
        let participant = try await Participant(in: house, source.connection)
        let dropper = try await Participant(in: house)
        try await body(house, host, source, participant, dropper, window)
      }
    }
  }

  // MARK: The whole way

  @Test(arguments: PrivateBus.Kind.available)
  func `what is picked up is looked at, proposed, dropped, opened and told of`(kind: PrivateBus.Kind) async throws {
    try await dragging(kind) { house, host, promiser, source, dropper, window in
      let (drag, ticket) = try await source.begin()
      #expect(ticket.count >= 16 && ticket.allSatisfy(\.isLetter))
      let asHost = try await Participant(in: house, host.connection)
      // Before the connection brings the ticket, the drag does not exist for it.
      #expect(try await refused { _ = try await dropper.state(drag) }?.name == .unknownObject)
      #expect(try await dropper.open(ticket) == drag)
      #expect(try await dropper.state(drag) == "dragging")
      let items = try await dropper.drag(drag).get("Items", as: [[String: Variant]].self)
      #expect(items.map { shown($0) } == ["Beach.png: image/png (all), text/plain (all); "])
      #expect(try await dropper.drag(drag).get("AllowedOperations", as: [String].self) == ["copy", "move"])

      #expect(try await dropper.propose(drag, on: window) == "copy")
      let asked = try #require(host.calls(of: "ProposeDrop").first)
      #expect(asked.session == window)
      #expect(asked.arguments == ["Beach.png: image/png (all), text/plain (all); ", "copy move"])
      // The host sees only types and metadata: nobody has asked for data.
      #expect(promiser.asked.isEmpty)
      // A host that does not know the question leaves it to the source, and silence forbids.
      host.next("ProposeDrop", .refuses(ErrorReply(.unknownMethod, "no such thing")), .waits)
      for expected in ["copy", "forbidden"] { #expect(try await dropper.propose(drag, on: window) == expected) }
      host.goOn("ProposeDrop")

      let more = [Things.item(Things.descriptor(try .pipe(of: Array("two".utf8))))]
      try await source.drag(drag).call("AddItems", more)
      try await dropper.isTold("changed Items")
      let landing = try await dropper.drop(drag, on: window)
      #expect(landing.session == window)
      #expect(landing.outcome == "activated")
      let options = try #require(try await host.asked(1, "ContinueScene").last).options
      #expect(options["delivery"]?.string == landing.delivery)
      #expect(try await host.text(landing.delivery, 0, "image/*") == "the sea")
      #expect(try await host.text(landing.delivery, 0, "text/plain") == "promised 0 text/plain")
      #expect(try await host.text(landing.delivery, 1, "image/png") == "two")
      for participant in [source, asHost] { try await participant.isTold("Ended copy \(window)") }
      // The dropping connection knows the delivery, so it hears only of the state.
      try await dropper.isTold("changed State Operation")
      #expect(!dropper.told.contains { $0.hasPrefix("Ended") })
      #expect(try await source.state(drag) == "ended")
      try await expectError("org.stagedoor.Error.RequestDenied") { _ = try await dropper.drop(drag, on: window) }
      try await host.release(landing.delivery)
      try await promiser.isAsked("Release")
      #expect(source.told.count { $0.hasPrefix("Ended") } == 1)
    }
  }

  // MARK: Access

  @Test func `others find no drag, in no list, and are told nothing`() async throws {
    try await dragging { house, host, promiser, source, dropper, window in
      let other = try await Participant(in: house)
      // This connection hears everything that is said about drags.
      let ears = try await other.connection.signals(MatchRule(interface: "org.stagedoor.DragSession1"))
      let changes = try await other.connection.signals(
        MatchRule(interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged"))
      let overheard = Lock<[String]>([])
      for stream in [ears, changes] {
        Task { for await signal in stream { overheard.withLock { $0.append("\(signal.path)") } } }
      }
      let (drag, ticket) = try await source.begin()
      func isUnknown(_ body: () async throws -> Void) async throws -> Bool {
        try await refused(body)?.name == .unknownObject
      }
      #expect(try await isUnknown { _ = try await other.state(drag) })
      #expect(try await isUnknown { _ = try await other.drag(drag).properties() })
      for wrong in ["", "x", String(ticket.dropLast()), ticket + "a", ticket.uppercased()] {
        #expect(try await refused { _ = try await other.open(wrong) }?.name == .unknownObject, "\(wrong)")
      }
      // The host does not know the ticket either.
      let asHost = try await Participant(in: house, host.connection)
      #expect(try await refused { _ = try await asHost.state(drag) }?.name == .unknownObject)
      let identifier = try #require(drag.split(separator: "/").last)
      for path in [House.root, "\(House.root)/drag", drag] {
        let node = try? await house.object(path, House.drag).introspect()
        #expect(!"\(node as Any)".contains(identifier) && !"\(node as Any)".contains("DragSession1"), "\(path)")
      }
      #expect(try await !"\(house.call("GetManagedObjects", in: House.manager))".contains(identifier))
      try await source.drag(drag).call("Cancel")
      try await source.isTold("Ended cancel /")
      _ = try await other.connection.call(to: House.name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
      #expect(overheard.withLock { $0 }.allSatisfy { !$0.contains("/drag/") })
      #expect(other.told.isEmpty)
    }
  }
}
