import DBus
import DBusTestSupport
import Testing

/// `Drop`, `Deliver` and `DeliverEach`: their answers, their errors, and the signals before the answers.
@Suite struct DropTests {
  /// Calls that are wrong in a way that no other test sees; and one of each kind of those that the tests of documents and of routing know: the name of
  /// the error, and words that the message contains, so that the user can correct the call.
  private static let wrongs: [(member: String, arguments: [String], name: String, says: [String])] = {
    let (invalidArgs, empty) = ("org.freedesktop.DBus.Error.InvalidArgs", "dict:string:string:")
    let own = "org.stagedoor.Error"
    func document(_ options: String) -> String { "string:\(Payloads.activity("viewCat", "new", options: options))" }
    let documents: [(String, String, [String])] = [
      ("string:{", "\(own).InvalidPayload", ["expected"]),
      (#"string:{"activity": {"activityType": 7}}"#, "\(own).InvalidPayload", ["activity.activityType", "7"]),
      (document(#""application": "org.example.None""#), "\(own).NoSuchApplication", ["org.example.None"]),
    ]
    return [
      ("Drop", ["string:", "string:cat1", empty], "\(own).InvalidPayload", ["activity_type"]),
      ("Drop", ["string:viewDog", "string:rex", empty], "\(own).ActivityTypeNotDeclared", ["viewDog"]),
      (
        "Drop", ["string:\(String(repeating: "x", count: 10_000))", "string:", empty],
        "org.freedesktop.DBus.Error.LimitsExceeded", ["activity_type", "255"]
      ),
      ("Drop", ["string:viewCat", "string:cat1"], invalidArgs, ["ssa{ss}"]),
      ("Drop", ["int32:1", "string:cat1", empty], invalidArgs, ["ssa{ss}"]),
      ("Deliver", [document(#""session": "cat1""#)], "\(own).NoSuchSession", ["cat1"]),
      ("DeliverEach", [document(#""wait": "handled""#)], "\(own).InvalidPayload", ["wait"]),
      ("DeliverEach", [document(#""session": "x""#)], "\(own).InvalidPayload", ["session"]),
    ]
      + ["Deliver", "DeliverEach"].flatMap { member in documents.map { (member, [$0.0], $0.1, $0.2) } }
  }()

  @Test func `what is wrong is refused by name, with a message that mends it, and leaves nothing behind`()
    async throws
  {
    try await withService(registering: Manifests.cats) { house in
      for wrong in Self.wrongs {
        let error = try await house.refusal(wrong.member, wrong.arguments)
        #expect(error.name == wrong.name, "\(wrong): \(error.message)")
        for words in wrong.says { #expect(error.message.contains(words), "\(wrong): \(error)") }
      }
      #expect(try await house.eventSequence() == "0")
      #expect(try await house.sessions().isEmpty)
      #expect(try await house.deliveries().isEmpty)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what a call announces is on its way before its reply`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      // All messages of the service, in the order in which it sends them.
      try await house.command("dbus-monitor", "--session", "sender='\(House.name)'").whileRunning { monitor in
        let watch = try await Watch(monitor, in: house)
        var said = watch.messages.count
        /// The members of the messages since the last call, up to the next reply.
        func next() async throws -> [String] {
          let begin = said
          try await eventually("a reply") {
            watch.messages.dropFirst(begin).contains { $0.kind == "method return" }
          }
          let messages = watch.messages.dropFirst(begin)
          let end = try #require(messages.firstIndex { $0.kind == "method return" })
          said = end + 1
          // The service also calls the bus, to learn who calls it.
          return messages[...end].filter { $0.kind != "method call" }.map { $0.kind == "signal" ? $0.member : "reply" }
        }
        try await house.register(Manifests.cats)
        #expect(try await next() == ["InterfacesAdded", "reply"])
        let landing = try await house.drop("viewCat", "cat1")
        #expect(try await next() == ["InterfacesAdded", "Routed", "reply"])
        // The window still shows the same activity.
        _ = try await house.drop("viewCat", "cat1")
        #expect(try await next() == ["Routed", "reply"])
        let activity = #"string:{"activityType":"viewCat","targetContentIdentifier":"cat1","title":"Tom"}"#
        _ = try await house.call("Activate", activity, at: landing.session, in: House.session)
        #expect(try await next() == ["PropertiesChanged", "Routed", "reply"])
        _ = try await house.call("Refresh", at: landing.session, in: House.session)
        #expect(try await next() == ["SessionRefreshRequested", "reply"])
        try await house.set("Title", of: landing.session, to: "Tom")
        #expect(try await next() == ["PropertiesChanged", "reply"])
        _ = try await house.call("Activate", "string:", at: landing.session, in: House.session)
        #expect(try await next() == ["Routed", "reply"])
        try await house.destroy(landing.session)
        let last = try await next()
        #expect(last.prefix(2) == ["InterfacesRemoved", "SessionDiscarded"])
        #expect(last.dropFirst(2) == ["DeliveryFailed", "DeliveryFailed", "DeliveryFailed", "DeliveryFailed", "reply"])
      }
    }
  }

  /// Values are read while a new window is announced. Once, this ended the next turn in between.
  @Test func `what comes close behind a new window is told behind it`() async throws {
    try await withService(registering: Manifests.cats) { house in
      let shown = try await house.drop("viewCat", "cat0").session
      let connection = try await Connection.open(house.bus.address)
      let routed = try await connection.signals(
        MatchRule(interface: "org.stagedoor.Interchange1", member: "Routed"), buffering: .newest(10_000))
      let rounds = 100
      let service = try house.service(connection)
      func send(_ key: String) throws { try service.send("Drop", "viewCat", key, [String: String]()) }
      for round in 1...rounds {
        try send("new\(round)")
        for _ in 0..<12 { try send("cat0") }
      }
      var numbers: [UInt64] = []
      var sessions: [String] = []
      for await signal in routed {
        let (_, session, _, _, _, _, _, number) = try signal.values(
          as: String.self, ObjectPath.self, String.self, String.self, String.self, String.self, String.self, UInt64.self
        )
        numbers.append(number)
        sessions.append(session.rawValue)
        if numbers.count == 13 * rounds { break }
      }
      #expect(numbers == Array(2...UInt64(13 * rounds + 1)))
      #expect(sessions.count { $0 == shown } == 12 * rounds)
      await connection.close()
    }
  }
}

/// Deliveries after their decision.
@Suite struct DeliveryTests {
  /// The tests of StagedoorKit list and page them.
  @Test func `what names no delivery and no state is refused, and a decision is kept without its candidates`()
    async throws
  {
    try await withService(registering: Manifests.cats) { house in
      let landing = try await house.drop("viewCat", "cat1")
      let decision = try parsed(try await house.call("GetDelivery", "string:\(landing.delivery)")[1].text)
      #expect(decision["configuration"]?["chosen"]?.string == "Cat Detail")
      #expect(decision["candidates"] == nil)
      let nowhere = "00000000-0000-4000-8000-000000000000"
      for name in ["GetDelivery", "CancelDelivery"] {
        for unknown in [nowhere, "", "cat1"] {
          let error = try await house.refusal(name, "string:\(unknown)")
          #expect(error.name == "org.stagedoor.Error.NoSuchDelivery")
          #expect(error.message.contains("\"\(unknown)\""))
        }
      }
      let after = try await house.refusal("ListDeliveries", "string:", "string:\(nowhere)", "uint32:0")
      #expect(after.name == "org.stagedoor.Error.NoSuchDelivery")
      let session = try await house.refusal("ListSessions", "string:", "string:cat1", "uint32:0")
      #expect(session.name == "org.stagedoor.Error.NoSuchSession")
      let state = try await house.refusal("ListDeliveries", "string:lost", "string:", "uint32:0")
      #expect(state.name == "org.freedesktop.DBus.Error.InvalidArgs")
      #expect(state.message.contains("\"held\"") && state.message.contains("\"lost\""))
    }
  }
}
