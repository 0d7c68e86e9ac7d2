import DBus
import DBusTestSupport
import Testing

/// `Drop`, `Deliver` and `DeliverEach`: their answers, their errors, and the signals before the answers.
@Suite struct DropTests {
  struct Wrong: Sendable, CustomTestStringConvertible {
    let member: String
    let arguments: [String]
    let name: String
    /// Words that the message contains, so that the user can correct the call.
    let says: [String]

    init(member: String, arguments: [String], name: String, says: [String]) {
      (self.member, self.arguments, self.name, self.says) = (member, arguments, name, says)
    }

    init(_ member: String, _ arguments: String..., is name: String, says: String...) {
      self.member = member
      self.arguments = arguments
      self.name = name.contains(".") ? name : "org.stagedoor.Error.\(name)"
      self.says = says
    }

    var testDescription: String { "\(member) \(arguments.map { $0.prefix(80) })" }
  }

  private static let empty = "dict:string:string:"
  private static let invalidArgs = "org.freedesktop.DBus.Error.InvalidArgs"

  private static func deliver(_ document: String, is name: String, says: String...) -> [Wrong] {
    ["Deliver", "DeliverEach"].map { member in
      Wrong(member: member, arguments: ["string:\(document)"], name: "org.stagedoor.Error.\(name)", says: says)
    }
  }

  static let wrongs: [Wrong] =
    [
      Wrong("Drop", "string:", "string:cat1", empty, is: "InvalidPayload", says: "activity_type"),
      Wrong("Drop", "string:viewDog", "string:rex", empty, is: "ActivityTypeNotDeclared", says: "viewDog"),
      Wrong(
        "Drop", "string:\(String(repeating: "x", count: 10_000))", "string:", empty,
        is: "org.freedesktop.DBus.Error.LimitsExceeded", says: "activity_type", "255"),
      Wrong("Drop", "string:viewCat", "string:cat1", is: invalidArgs, says: "ssa{ss}"),
      Wrong("Drop", "int32:1", "string:cat1", empty, is: invalidArgs, says: "ssa{ss}"),
      Wrong(
        "Deliver", "string:\(Payloads.activity("viewCat", "new", options: #""session": "cat1""#))", is: "NoSuchSession",
        says: "cat1"),
      Wrong(
        "Deliver",
        "string:\(Payloads.activity("viewCat", options: #""session": "00000000-0000-4000-8000-000000000000""#))",
        is: "NoSuchSession", says: "00000000-0000-4000-8000-000000000000"),
      Wrong(
        "DeliverEach", "string:\(Payloads.items(("viewCat", "a"), options: #""wait": "handled""#))",
        is: "InvalidPayload", says: "wait"),
      Wrong(
        "DeliverEach", "string:\(Payloads.items(("viewCat", "a"), options: #""session": "x""#))",
        is: "InvalidPayload", says: "session"),
    ]
    + deliver("", is: "InvalidPayload", says: "expected")
    + deliver("{", is: "InvalidPayload", says: "expected")
    + deliver("[]", is: "InvalidPayload", says: "expected")
    + deliver("{}", is: "InvalidPayload", says: "activity", "items", "session")
    + deliver(#"{"activity": {}}"#, is: "InvalidPayload", says: "activity.activityType")
    + deliver(#"{"activity": {"activityType": 7}}"#, is: "InvalidPayload", says: "activity.activityType", "7")
    + deliver(#"{"activity": {"activityType": ""}}"#, is: "InvalidPayload", says: "activity.activityType")
    + deliver(
      #"{"activity": {"activityType": "viewCat", "activityType": "viewDog"}}"#, is: "InvalidPayload",
      says: "activityType")
    + deliver(
      #"{"items": [{"activities": [{"activityType": "viewCat", "userInfo": {"when": {"$date": "yesterday"}}}]}]}"#,
      is: "InvalidPayload", says: "items[0].activities[0].userInfo.when", "yesterday")
    + deliver(
      Payloads.activity("viewCat", options: #""strict": true, "colour": "red""#), is: "InvalidPayload", says: "colour")
    + deliver(
      Payloads.activity("viewCat", options: #""disposition": "sideways""#), is: "InvalidPayload",
      says: "options.disposition", "sideways")
    + deliver(
      Payloads.activity("viewCat", options: #""deadline": 3601"#), is: "InvalidPayload", says: "options.deadline")
    + deliver(
      #"{"activity": {"activityType": "viewCat", "expirationDate": "2001-01-01T00:00:00Z"}}"#, is: "ActivityExpired",
      says: "2001")
    + deliver(
      Payloads.activity("viewCat", options: #""application": "org.example.None""#), is: "NoSuchApplication",
      says: "org.example.None")
    + deliver(
      Payloads.activity("viewCat", options: #""application": "org.example.Player""#), is: "ActivityTypeNotDeclared",
      says: "org.example.Player", "viewCat")
    + deliver(
      Payloads.activity("viewCat", options: #""configuration": "Cat Detial""#), is: "NoSuchConfiguration",
      says: "Cat Detial")
    + deliver(
      Payloads.activity("viewCat", options: #""configuration": "Cat Detail", "role": "Other""#), is: "RoleMismatch",
      says: "Cat Detail")
    + deliver(
      Payloads.activity("viewCat", "new", options: #""disposition": "existingOnly""#), is: "NoMatchingSession",
      says: "existingOnly")
    + deliver(
      #"{"items": [{"representations": [{"type": "text/plain", "text": "hello"}]}]}"#, is: "NoActivity", says: "text")

  @Test(arguments: PrivateBus.Kind.available)
  func `what is wrong is refused by name, with a message that mends it, and leaves nothing behind`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.register(Manifests.oneScene)
      for wrong in Self.wrongs {
        let error = try await house.refusal(wrong.member, wrong.arguments)
        #expect(error.name == wrong.name, "\(wrong.testDescription): \(error.message)")
        for words in wrong.says { #expect(error.message.contains(words), "\(wrong.testDescription): \(error)") }
      }
      #expect(try await house.eventSequence() == "0")
      #expect(try await house.sessions().isEmpty)
      #expect(try await house.deliveries().isEmpty)
    }
  }

  @Test func `a megabyte of brackets is refused, and the service goes on`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      // The document is longer than a command line may be, so a program sends it.
      let brackets = String(repeating: "[", count: 1 << 20)
      let object = house.watcher.object(House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1")
      for member in ["Deliver", "DeliverEach", "Explain", "RegisterApplication"] as [MemberName] {
        let error = await #expect(throws: CallError.self) { try await object.call(member, brackets) }
        guard case .replied(let reply) = error else {
          Issue.record("\(member): \(String(describing: error))")
          continue
        }
        #expect(reply.name == .limitsExceeded || reply.name.rawValue.hasPrefix("org.stagedoor.Error.Invalid"))
        #expect(reply.description.utf8.count < 1000)
      }
      #expect(try await house.drop("viewCat", "cat1").outcome == "created")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `Drop hands on its dictionary`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let landing = try house.landing(
        try await house.call("Drop", "string:viewCat", "string:cat1", "dict:string:string:name,Tom,colour,grey"))
      let activity = try Document(try await house.property("UserActivity", of: landing.session))
      #expect(activity["activityType"]?.text == "viewCat")
      #expect(activity["targetContentIdentifier"]?.text == "cat1")
      #expect(activity["userInfo"]?.texts == ["name": "Tom", "colour": "grey"])
      // Empty text means none.
      let plain = try await house.drop("viewCat")
      #expect(plain.outcome == "created")
      #expect(
        try Document(try await house.property("UserActivity", of: plain.session)).texts == ["activityType": "viewCat"])
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
        _ = try await house.call("Destroy", "string:standard", at: landing.session, in: House.session)
        let last = try await next()
        #expect(last.prefix(2) == ["InterfacesRemoved", "SessionDiscarded"])
        #expect(last.dropFirst(2) == ["DeliveryFailed", "DeliveryFailed", "DeliveryFailed", "DeliveryFailed", "reply"])
      }
    }
  }

  /// Values are read while a new window is announced. Once, this ended the next turn in between.
  @Test func `what comes close behind a new window is told behind it`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      let shown = try await house.drop("viewCat", "cat0").session
      let connection = try await Connection.open(house.bus.address)
      let routed = try await connection.signals(
        MatchRule(interface: "org.stagedoor.Interchange1", member: "Routed"), buffering: .newest(10_000))
      let rounds = 100
      func send(_ key: String) throws {
        try connection.send(
          to: "org.stagedoor.Interchange1", at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "Drop",
          "viewCat", key, [String: String]())
      }
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

  @Test(arguments: PrivateBus.Kind.available)
  func `a private delivery shows nothing to others`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      try await house.serving("--durability", "memory", "--log-level", "debug") { daemon in
        try await house.register(Manifests.oneScene)
        var landing = try await house.drop("play", "song")
        var seen: [Watch.Message] = []
        try await house.watched { watch in
          let document =
            #"{"activity": {"activityType": "stop", "targetContentIdentifier": "secret-key", "title": "secret-title"},"#
            + #""options": {"private": true}}"#
          landing = try await house.deliver(document)
          let last = try #require(try await watch.happenings().last)
          #expect(last.arguments["delivery"] == landing.delivery)
          #expect(last.arguments["activity_type"] == "")
          #expect(last.arguments["target_content_identifier"] == "")
          seen = watch.signals
        }
        let changed = seen.filter { $0.member == "PropertiesChanged" && $0.path == landing.session }
        let invalidated = changed.flatMap { $0.arguments[2].elements.map(\.text) }
        #expect(Set(invalidated) == ["UserActivity", "TargetContentIdentifier", "Title"])
        #expect(try await house.property("UserActivity", of: landing.session) == "")
        #expect(try await house.property("TargetContentIdentifier", of: landing.session) == "")
        var said = ["\(seen)", daemon.standardError]
        said.append("\(try await Record(of: house))")
        for (member, path, interface) in [
          ("GetAll", landing.session, House.properties),
          ("GetManagedObjects", House.root, "org.freedesktop.DBus.ObjectManager"),
        ] {
          let arguments = member == "GetAll" ? ["string:\(House.session)"] : []
          said.append("\(try await house.call(member, arguments, at: path, in: interface))")
        }
        said.append("\(try await house.explain(Payloads.activity("play", "song")))")
        for text in said { #expect(!text.contains("secret"), "\(text)") }
        // Routing still knows what the window shows.
        _ = try await house.drop("play", "song")
        #expect(try await house.property("TargetContentIdentifier", of: landing.session) == "song")
      }
    }
  }
}
