import DBus
import DBusTestSupport
import Testing

/// Attacks that once stopped the service, or made it wait for ever.
@Suite struct AttackTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a message with many descriptors is a call like any other`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      let script = """
        import dbus, os
        bus = dbus.SessionBus()
        service = bus.get_object("org.stagedoor.Interchange1", "/org/stagedoor/Interchange1")
        try:
            service.Drop(*[dbus.types.UnixFd(os.open("/dev/null", os.O_RDONLY)) for _ in range(40)],
                         dbus_interface="org.stagedoor.Interchange1", signature="h" * 40)
        except dbus.DBusException as error:
            print(error.get_dbus_name())
        """
      let result = try await house.command("/usr/bin/python3", "-B", "-c", script).run()
      #expect(result.standardOutput == "org.freedesktop.DBus.Error.InvalidArgs\n", "\(result)")
      #expect(try await house.call("Ping", at: "/", in: "org.freedesktop.DBus.Peer").isEmpty)
    }
  }

  @Test func `with 32 descriptors and more callers than that, drops are taken, and all is well once they have left`()
    async throws
  {
    try await withHouse(installing: Manifests.cats) { house in
      let daemon = Command.built("stagedoord").program
      let limited = house.command("prlimit", "--nofile=32:32", daemon, "--durability", "memory")
      try await house.serving(limited) { running in
        var callers: [Connection] = []
        for number in 0..<40 {
          callers.append(try await house.bus.connect())
          let landing = try await house.deliver(Payloads.activity("viewCat", "cat1"), over: callers[number])
          #expect(landing.outcome == (number == 0 ? "created" : "activated"))
        }
        for caller in callers { await caller.close() }
        try await eventually("a caller that is known again") {
          (try? await house.call("ListHandlers", "string:viewCat")) != nil
        }
        #expect(running.status == nil)
      }
    }
  }

  @Test func `names that look the same are two broken manifests`() async throws {
    try await withHouse { house in
      for name in ["caf\u{e9}", "cafe\u{301}"] { try house.write("{", to: "\(house.applications)/\(name).json") }
      try await house.serving { _ async throws in #expect(try await house.eventSequence() == "0") }
    }
  }

  @Test func `of two keys that look the same none is lost`() async throws {
    try await withService(registering: Manifests.cats) { house in
      let info = "dict:string:string:caf\u{e9},one,cafe\u{301},two"
      let session = try house.landing(try await house.call("Drop", "string:viewCat", "string:cat1", info)).session
      let activity = try await house.property("UserActivity", of: session)
      #expect(activity.contains("one") && activity.contains("two"), "\(activity)")
    }
  }

  @Test func `what is named wrong is repeated, as far as it is short`() async throws {
    try await withService { house in
      func refusal(_ member: String, _ arguments: String...) async throws -> ShownError {
        try await house.refusal(member, arguments, at: House.root, in: House.properties)
      }
      let long = String(repeating: "x", count: 1_000)
      let shown = "\"" + String(repeating: "x", count: 72) + "…\""
      let noInterface = try await refusal("GetAll", "string:\(long)")
      #expect(noInterface.name == "org.freedesktop.DBus.Error.UnknownInterface")
      #expect(noInterface.message.hasSuffix("has no interface \(shown)"), "\(noInterface)")
      let noProperty = try await refusal("Get", "string:\(House.interchange)", "string:no property")
      #expect(noProperty.name == "org.freedesktop.DBus.Error.UnknownProperty")
      #expect(noProperty.message == "there is no property \"no property\"")
      let notSet = try await refusal("Set", "string:\(House.interchange)", "string:\(long)", "variant:string:a")
      #expect(notSet.message == "there is no property \(shown)")
      let type = try await house.refusal("SetPreferredApplication", "string:\(long)", "string:")
      #expect(type.name == "org.freedesktop.DBus.Error.LimitsExceeded")
      #expect(type.message == "activity_type: expected at most 255 bytes, got 1000")
    }
  }
}
