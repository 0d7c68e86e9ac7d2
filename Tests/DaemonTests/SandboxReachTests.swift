import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// What a program in a sandbox can reach of its own application, and of another one.
///
/// Each test begins with two registered applications, and a window of each.
@Suite(.enabled(if: House.canSandbox)) struct SandboxReachTests {
  private static let own = "org.example.Mail"
  private static let foreign = "org.example.Cats"
  private static let denied = "org.freedesktop.DBus.Error.AccessDenied"

  private static let mail = Manifests.application(
    own, types: "readMail", configurations: Manifests.configuration("Main"))

  private func withTwo(_ body: (House, _ own: Landing, _ foreign: Landing) async throws -> Void) async throws {
    try await withService(registering: Self.mail) { house in
      try await house.register(House.pictures)
      try await body(house, try await house.hand("readMail", "letter1"), try await house.hand("viewCat", "cat1"))
    }
  }

  private func expectDenied(
    _ member: String, _ arguments: [String], at path: String = House.root, in interface: String = House.interchange,
    from sandbox: String = own, _ house: House, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let refusal = try await house.refusal(member, arguments, at: path, in: interface, from: sandbox)
    #expect(refusal.name == Self.denied, "\(member) from \(sandbox): \(refusal)", sourceLocation: sourceLocation)
  }

  // MARK: The caller

  /// Owns the name of another application, and forges the sender in the header of each call.
  private static let impostor = """
    import sys
    import dbus
    from dbus.lowlevel import MethodCallMessage

    name, sender, foreign, document = sys.argv[1:]
    bus = dbus.SessionBus()
    assert bus.request_name(name) == dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER


    def answer(member, *arguments):
        message = MethodCallMessage("org.stagedoor.Interchange1", "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", member)
        message.set_sender(sender)
        message.append(*arguments)
        try:
            return bus.send_message_with_reply_and_block(message, 60).get_args_list()
        except dbus.DBusException as error:
            return error.get_dbus_name()


    print(answer("RegisterApplication", "{}"))
    print(answer("ListSessions", name, "", dbus.UInt32(0)))
    print(answer("GetDelivery", foreign))
    delivered = answer("Deliver", document)
    print(delivered[2] if isinstance(delivered, list) else delivered)
    """

  @Test func `nothing that it says of itself makes it another`() async throws {
    try await withTwo { house, own, foreign in
      let document = """
        {"items": [{"activities": [{"activityType": "readMail"}]}], "sender": "\(Self.foreign)", \
        "sourceApplication": "\(Self.foreign)", "options": {"deadline": 3600, "session": "\(own.session)", "sender": "\(Self.foreign)", \
        "sourceApplication": "\(Self.foreign)"}}
        """
      let sender = try #require(await house.watcher.uniqueName).rawValue
      var command = house.sandboxed(
        as: Self.own, "/usr/bin/python3",
        arguments: ["-B", "-c", Self.impostor, Self.foreign, sender, foreign.delivery, document])
      for name in ["FLATPAK_ID", "SNAP_NAME"] { command.environment[name] = Self.foreign }
      let said = try await command.output().split(separator: "\n").map(String.init)
      try #require(said.count == 4 && UniqueIdentifier(Text(said[3])) != nil, "\(said)")
      #expect(said.prefix(3) == [Self.denied, Self.denied, Self.denied])
      // A host learns who the sender is.
      try await house.hosting(Self.own) { host in
        let options = try #require(try await host.asked(1, "ContinueScene").first).options
        #expect(options["delivery"]?.string == said[3])
        #expect(options["sourceApplication"]?.string == Self.own)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `who has left before anyone could look at it is in a sandbox`(kind: PrivateBus.Kind) async throws {
    try await withDaemon(kind, with: "--durability", "memory") { house, daemon in
      try await daemon.freeze()
      // Without --print-reply, dbus-send leaves as soon as it has sent.
      _ = try await house.command(
        "dbus-send", "--session", "--type=method_call", "--dest=\(House.name)", House.root,
        "\(House.interchange).RegisterApplication", "string:\(Manifests.cats)"
      ).output()
      daemon.signal(SIGCONT)
      try await eventually("the refusal") {
        daemon.standardError.contains(
          "RegisterApplication was refused, because the service could not identify the caller.")
      }
      #expect(try await house.call("ListApplications")[0].elements == [])
    }
  }

  /// Root may become another user, who must still have access to the house.
  private static let asSomebodyElse = [
    "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_override,+dac_read_search",
    "--ambient-caps=+dac_override,+dac_read_search", "--",
  ]

  @Test(arguments: PrivateBus.Kind.available)
  func `another user is in a sandbox, without an application`(kind: PrivateBus.Kind) async throws {
    try await withService(kind, registering: Manifests.cats) { house in
      func asked(_ member: String, _ arguments: [String]) async throws -> Command.Result {
        let call = ["dbus-send", "--session", "--print-reply", "--dest=\(House.name)", House.root, member] + arguments
        return try await house.command("setpriv", arguments: Self.asSomebodyElse + call).run()
      }
      let drop = try await asked("\(House.interchange).Drop", ["string:viewCat", "string:cat1", "dict:string:string:"])
      #expect(drop.status.isSuccess, "\(drop)")
      let delivery = try #require(try await house.deliveries().first)[0]
      for (member, arguments) in [
        ("RegisterApplication", ["string:\(Manifests.oneScene)"]), ("GetDelivery", ["string:\(delivery)"]),
        ("CancelDelivery", ["string:\(delivery)"]), ("ListDeliveries", ["string:", "string:", "uint32:0"]),
        ("ListSessions", ["string:org.example.Cats", "string:", "uint32:0"]),
      ] {
        let answer = try await asked("\(House.interchange).\(member)", arguments)
        #expect(answer.standardError.contains(Self.denied), "\(member): \(answer)")
      }
      let objects = try await asked("\(House.manager).GetManagedObjects", [])
      #expect(objects.status.isSuccess && !objects.standardOutput.contains("cat1"), "\(objects)")
    }
  }

  // MARK: Reading

  @Test func `it lists and reads what is of its own application only`() async throws {
    try await withTwo { house, own, foreign in
      func rows(_ member: String, _ arguments: String..., from sandbox: String) async throws -> [[String]] {
        try await house.call(member, arguments, from: sandbox)[0].elements.map { $0.elements.map(\.text) }
      }
      func sessions(of application: String) -> [String] { ["string:\(application)", "string:", "uint32:0"] }
      let listed = try await house.call("ListSessions", sessions(of: Self.own), from: Self.own)[0].elements
      #expect(listed.map { $0.elements[0].text } == [own.session])
      let deliveries = try await rows("ListDeliveries", "string:", "string:", "uint32:0", from: Self.own)
      #expect(deliveries.map { $0[0] } == [own.delivery])
      let events = try await rows("EventsSince", "uint64:0", "uint32:0", from: Self.own)
      let all = try await house.events()
      #expect(events.map { $0[0] } == all.filter { $0.arguments["application"] == Self.own }.map(\.sequence))
      #expect(!events.isEmpty && events.count < all.count)
      for application in ["", Self.foreign] { try await expectDenied("ListSessions", sessions(of: application), house) }
      // A sandbox without an application has no application of its own.
      try await expectDenied("ListSessions", sessions(of: ""), from: "x y", house)
      try await expectDenied("ListDeliveries", ["string:", "string:", "uint32:0"], from: "x y", house)
      #expect(try await rows("EventsSince", "uint64:0", "uint32:0", from: "x y") == [])

      let objects = "\(try await house.call("GetManagedObjects", in: House.manager, from: Self.own))"
      for mine in [own.session, House.path(of: Self.own)] { #expect(objects.contains("\"\(mine)\""), "\(mine)") }
      for other in [foreign.session, House.path(of: Self.foreign)] { #expect(!objects.contains(other), "\(other)") }
      let nameless = "\(try await house.call("GetManagedObjects", in: House.manager, from: "x y"))"
      #expect(!nameless.contains("/session/") && !nameless.contains("/application/"), "\(nameless)")
      for (element, mine) in [("session", own.session), ("application", House.path(of: Self.own))] {
        for (sandbox, paths) in [(Self.own, [mine]), ("x y", [])] {
          let call = ["--session", "--print-reply", "--dest=\(House.name)", "\(House.root)/\(element)"]
          let tree = try await house.sandboxed(
            as: sandbox, "dbus-send", arguments: call + ["org.freedesktop.DBus.Introspectable.Introspect"]
          ).output()
          let nodes = tree.split(separator: "<node name=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
          #expect(nodes.map { "\(House.root)/\(element)/\($0)" } == paths, "\(sandbox)")
        }
      }
      for (interface, mine, other) in [
        (House.session, own.session, foreign.session),
        (House.application, House.path(of: Self.own), House.path(of: Self.foreign)),
      ] {
        let read = try await house.call("GetAll", "string:\(interface)", at: mine, in: House.properties, from: Self.own)
        #expect(!read[0].elements.isEmpty)
        try await expectDenied("GetAll", ["string:\(interface)"], at: other, in: House.properties, house)
      }
    }
  }

  // MARK: Changing

  @Test func `it neither changes nor reads what holds for the whole session`() async throws {
    try await withTwo { house, _, _ in
      let before = try await Record(of: house)
      for (member, arguments) in [
        ("RegisterApplication", [Self.mail]), ("UnregisterApplication", [Self.own]), ("ListHandlers", ["readMail"]),
        ("SetPreferredApplication", ["readMail", Self.own]), ("GetPreferredApplication", ["readMail"]),
        ("ListPreferredApplications", []), ("ListRules", []),
      ] {
        for sandbox in [Self.own, "x y"] {
          try await expectDenied(member, arguments.map { "string:\($0)" }, from: sandbox, house)
        }
      }
      #expect(try await Record(of: house) == before)
      #expect(try await house.call("GetPreferredApplication", "string:readMail")[0].text == "")
    }
  }

  // MARK: Hosts

  @Test(.daemon(installing: House.pictures))
  func `a host in a sandbox reads what it is handed, and can write to no file of it`() async throws {
    let text = String(repeating: "x", count: 100_000)
    let names = ["in place", "held", "copied"]
    let files = try names.map { try house.file($0, text) }
    var inPlace = Things.representation(
      "text/plain", "file", "file://\(files[0].replacing(" ", with: "%20"))".variant)
    inPlace["openInPlace"] = true
    let items = [
      inPlace, Things.descriptor(try .file(files[1]), "text/plain"),
      Things.representation("text/plain", "file", "file://\(files[2])".variant), Things.text(text),
      Things.text("small"),
    ].map { Things.item($0) }
    // The sources are not visible in a sandbox.
    let script = try Repository.text(of: "Tests/DaemonTests/Clients/host.py")
    let words = ["-B", "-c", script, Self.foreign, "--pry"]
    try await house.sandboxed(as: Self.foreign, "/usr/bin/python3", arguments: words).whileRunning { host in
      try await host.line { $0.hasPrefix(#"["attached""#) }
      _ = try await house.deliver(items, ["application": Self.foreign.variant], over: house.watcher)
      for number in items.indices {
        let size = number == 4 ? 5 : 100_000
        let line = try await host.line { $0.hasPrefix(#"["pried""#) }
        #expect(line == #"["pried", \#(number), \#(size), \#(size), false]"#)
      }
      for file in files { #expect(try Data(contentsOf: URL(filePath: file)) == Data(text.utf8)) }
      for name in try house.spooled.filter({ $0.contains("/") }) {
        #expect(try Data(contentsOf: URL(filePath: "\(house.state)/spool/\(name)")) == Data(text.utf8))
      }
    }
  }

  // MARK: Private deliveries

  @Test(.house(installing: House.pictures))
  func `it reads the decision of its private delivery as long as that is kept`() async throws {
    let secret = Payloads.activity("viewCat", "secret-cat", options: #""private": true"#)
    func expectToSee(_ delivery: String, as state: String) async throws {
      for (sandbox, isSender) in [(Self.own, true), (nil, false)] {
        let answer = try await house.call("GetDelivery", "string:\(delivery)", from: sandbox)
        #expect(answer[0].text == state)
        #expect(answer[1].text.contains("secret-cat") == isSender, "\(state), \(sandbox ?? "outside"): \(answer)")
      }
      for other in [Self.foreign, "x y"] {
        try await expectDenied("GetDelivery", ["string:\(delivery)"], from: other, house)
      }
    }
    let deliveries = try await house.serving { _ in
      let held = try await house.deliver(secret, from: Self.own).delivery
      try await expectToSee(held, as: "held")
      _ = try await house.call("CancelDelivery", "string:\(held)", from: Self.own)
      try await expectToSee(held, as: "cancelled")
      let handled = try await house.hosting(Self.foreign) { _ in
        let landing = try await house.deliver(secret, from: Self.own)
        try await house.waitUntil(landing.delivery, is: "handled")
        return landing.delivery
      }
      try await expectToSee(handled, as: "handled")
      return [(held, "cancelled"), (handled, "handled")]
    }
    try await house.serving { _ in
      for (delivery, state) in deliveries { try await expectToSee(delivery, as: state) }
    }
  }
}
