import DBus
import DBusTestSupport
import Testing

/// `Drop`, `Deliver` and `DeliverEach`: their answers, their errors, and the signals before the answers.
@Suite struct DropTests {
  /// A call that is wrong, the name of its error, and words that the message contains, so that the user can correct the call.
  private struct Wrong: Sendable {
    let member: String
    let arguments: [String]
    let interface: String
    let error: String
    let says: [String]

    init(
      _ member: String, _ arguments: String..., in interface: String = House.interchange, is error: String,
      _ says: String...
    ) {
      (self.member, self.arguments, self.interface, self.error, self.says) = (member, arguments, interface, error, says)
    }
  }

  /// Calls that are wrong in a way that no other test sees; and one of each kind of those that the tests of documents, of routing and of
  /// the binding know.
  private static let wrongs: [Wrong] = {
    let (own, dbus, empty) = ("org.stagedoor.Error.", "org.freedesktop.DBus.Error.", "dict:string:string:")
    func document(_ options: String) -> String { "string:\(Payloads.activity("viewCat", "new", options: options))" }
    func manifest(_ more: String) -> String {
      let main = Manifests.configuration("Main", more: more)
      return "string:\(Manifests.application("org.example.Birds", types: "viewBird", configurations: main))"
    }
    let (nowhere, long) = ("00000000-0000-4000-8000-000000000000", String(repeating: "x", count: 1_000))
    let shown = "\"" + String(repeating: "x", count: 72) + "…\""
    let predicates = #", "StagedoorCanActivatePredicate": "SELF =~ 'x'", "StagedoorPrefersToActivatePredicate": "x""#
    return [
      Wrong("Drop", "string:", "string:cat1", empty, is: own + "InvalidPayload", "activity_type"),
      Wrong("Drop", "string:\(long)", "string:", empty, is: dbus + "LimitsExceeded", "activity_type", "255", "1000"),
      Wrong("Deliver", document(#""session": "cat1""#), is: own + "NoSuchSession", "cat1"),
      Wrong("DeliverEach", document(#""wait": "handled""#), is: own + "InvalidPayload", "wait"),
      Wrong("DeliverEach", document(#""session": "x""#), is: own + "InvalidPayload", "session"),
      Wrong("ListDeliveries", "string:", "string:\(nowhere)", "uint32:0", is: own + "NoSuchDelivery"),
      Wrong("ListDeliveries", "string:lost", "string:", "uint32:0", is: dbus + "InvalidArgs", "\"held\"", "\"lost\""),
      Wrong("ListSessions", "string:", "string:cat1", "uint32:0", is: own + "NoSuchSession"),
      Wrong(
        "RegisterApplication", manifest(#", "StagedoorLaunch": "twice""#), is: own + "InvalidManifest",
        "StagedoorLaunch", "twice"),
      // If only conditions are wrong, the message says so.
      Wrong(
        "RegisterApplication", manifest(predicates), is: own + "InvalidPredicate", "StagedoorCanActivatePredicate",
        "column"),
      // What is named wrong is repeated, as far as it is short.
      Wrong(
        "Set", "string:\(House.interchange)", "string:\(long)", "variant:string:a", in: House.properties,
        is: dbus + "UnknownProperty", "there is no property \(shown)"),
    ]
      + ["Deliver", "DeliverEach"].flatMap { member in
        [
          Wrong(member, "string:{", is: own + "InvalidPayload", "expected"),
          Wrong(
            member, #"string:{"activity": {"activityType": 7}}"#, is: own + "InvalidPayload", "activity.activityType",
            "7"
          ),
          Wrong(
            member, document(#""application": "org.example.None""#), is: own + "NoSuchApplication", "org.example.None"),
        ]
      }
      + ["GetDelivery", "CancelDelivery"].flatMap { member in
        [nowhere, "", "cat1"].map { Wrong(member, "string:\($0)", is: own + "NoSuchDelivery", "\"\($0)\"") }
      }
  }()

  @Test(.service(registering: Manifests.cats))
  func `what is wrong is refused by name, with a message that mends it, and leaves nothing`() async throws {
    for wrong in Self.wrongs {
      let error = try await house.refusal(wrong.member, wrong.arguments, in: wrong.interface)
      #expect(error.name == wrong.error, "\(wrong): \(error.message)")
      for words in wrong.says { #expect(error.message.contains(words), "\(wrong): \(error)") }
    }
    #expect(try await house.eventSequence() == "0")
    #expect(try await house.sessions().isEmpty)
    #expect(try await house.deliveries().isEmpty)
    #expect(try await house.call("ListApplications")[0].elements.count == 1)
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
          try await eventually("a reply") { watch.messages.dropFirst(begin).contains { $0.kind == "method return" } }
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
        let activity = #"string:{"activityType":"viewCat","targetContentIdentifier":"cat1","title":"Tom"}"#
        _ = try await house.call("Activate", activity, at: landing.session, in: House.session)
        #expect(try await next() == ["PropertiesChanged", "Routed", "reply"])
        try await house.destroy(landing.session)
        let last = try await next()
        #expect(last.prefix(2) == ["InterfacesRemoved", "SessionDiscarded"])
        #expect(last.dropFirst(2) == ["DeliveryFailed", "DeliveryFailed", "reply"])
      }
    }
  }

  /// Values are read while a new window is announced. Once, this ended the next turn in between.
  @Test(.service(registering: Manifests.cats))
  func `what comes close behind a new window is told behind it`() async throws {
    let shown = try await house.drop("viewCat", "cat0").session
    let connection = try await house.bus.connect()
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
  }
}
