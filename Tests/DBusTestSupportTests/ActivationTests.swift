import DBus
import DBusTestSupport
import Testing

@Suite struct ActivationTests {
  /// A service in Python that answers every call with the arguments of its start, and ends with its bus.
  static let service = """
    import os, sys
    from gi.repository import Gio, GLib
    loop = GLib.MainLoop()
    node = Gio.DBusNodeInfo.new_for_xml('<node><interface name="org.example.Started">'
      '<method name="With"><arg name="arguments" type="as" direction="out"/></method></interface></node>')
    def call(connection, sender, path, interface, method, parameters, invocation):
      invocation.return_value(GLib.Variant('(as)', (sys.argv[1:] + [os.environ.get('MOOD', '')],)))
    connection = Gio.bus_get_sync(Gio.BusType.SESSION)
    connection.register_object('/', node.interfaces[0], call)
    Gio.bus_own_name_on_connection(connection, 'org.example.Started', 0, None, None)
    loop.run()
    """

  @Test(arguments: PrivateBus.Kind.available)
  func `a call starts the program that was installed for its name`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let awkward = #"it's "a\b" $HOME;"#
      try await bus.install(
        "org.example.Started", executable: "/usr/bin/python3", arguments: ["-c", Self.service, awkward, ""],
        environment: ["MOOD": "merry"])
      let client = try await bus.connect()
      let started: [String] = try await client.call(to: "org.example.Started", at: "/", "org.example.Started", "With")
      #expect(started == [awkward, "", "merry"])

      // The service ends with its bus.
      let owner = try #require(try await client.owner(of: "org.example.Started"))
      let process = try #require(try await client.credentials(of: owner).processID)
      #expect(Processes.exist(Int32(process)))
      await client.close()
      await bus.stop()
      try await eventually("the service is gone") { !Processes.exist(Int32(process)) }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a program that fails lets its callers have an error at once`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      try await bus.install("org.example.Failing", executable: "/bin/false")
      let client = try await bus.connect()
      // Twice: a failure is not remembered.
      for _ in 1...2 {
        let error = try #require(
          await #expect(throws: CallError.self) {
            try await client.call(to: "org.example.Failing", at: "/", "org.example.Failing", "Do", timeout: usualLimit)
          })
        guard case .replied(let reply) = error else {
          Issue.record("the bus should have answered: \(error)")
          continue
        }
        #expect(reply.name.rawValue.hasPrefix("org.freedesktop.DBus.Error."))
        #expect(reply.name != .noReply)
      }
      await client.close()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a name can be given another program`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      try await bus.install("org.example.Started", executable: "false")
      try await bus.install(
        "org.example.Started", executable: "/usr/bin/python3", arguments: ["-c", Self.service, "second"])
      let client = try await bus.connect()
      let started: [String] = try await client.call(to: "org.example.Started", at: "/", "org.example.Started", "With")
      #expect(started == ["second", ""])
      await client.close()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `the bus takes more for its environment, and can reload its configuration`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let client = try await bus.connect()
      let driver = client.object(.bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus")
      try await driver.call("UpdateActivationEnvironment", ["MOOD": "calm"])
      try await driver.call("ReloadConfig")
      try await bus.install("org.example.Started", executable: "/usr/bin/python3", arguments: ["-c", Self.service])
      let started: [String] = try await client.call(to: "org.example.Started", at: "/", "org.example.Started", "With")
      #expect(started == ["calm"])
      await client.close()
    }
  }
}
