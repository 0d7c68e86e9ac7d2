import DBus
import DBusTestSupport
import Testing
import dbus_showcase

@Suite struct SignalTests {
  @Test(arguments: PythonClient.allCases, PrivateBus.Kind.available)
  func `a Python binding hears signals, and properties that change or are invalidated`(
    client: PythonClient, kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      try await client.command("listen", on: stage).whileRunning { listener in
        #expect(try await listener.nextLine() == "listening")
        try await stage.object.set("Mood", to: "merry")
        #expect(
          try await listener.nextLine()
            == "PropertiesChanged ('org.stagedoor.Showcase1', {'Mood': V(signature='s', value='merry')}, [])")
        #expect(try await stage.object.call("Announce", "places, please") == UInt32(0))
        #expect(try await listener.nextLine() == "PropertiesChanged ('org.stagedoor.Showcase1', {}, ['Announcements'])")
        #expect(try await listener.nextLine() == "Announced ('places, please', 0)")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `gdbus monitor hears signals, properties that change, and objects that come and go`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      try await stage.command("gdbus", "monitor", "--session", "--dest", "org.stagedoor.Showcase1").whileRunning {
        monitor in
        try await waitUntilListening(monitor, on: stage)
        try await stage.object.set("Mood", to: "merry")
        let path: ObjectPath = try await stage.object.call("CreateItem", "a fan")
        try await stage.object.call("RemoveItem", path)
        #expect(try await stage.object.call("Announce", "places, please") == UInt32(0))

        let properties = "/org/stagedoor/Showcase1: org.freedesktop.DBus.Properties.PropertiesChanged"
        let manager = "/org/stagedoor/Showcase1/items: org.freedesktop.DBus.ObjectManager"
        // The monitor first prints the rest about the calls that woke it.
        let first = try await monitor.line { $0.contains("Mood") }
        #expect(first == "\(properties) ('org.stagedoor.Showcase1', {'Mood': <'merry'>}, @as [])")
        for line in [
          "\(manager).InterfacesAdded (objectpath '\(path)', {'org.stagedoor.Showcase1.Item': {'Label': <'a fan'>}})",
          "\(manager).InterfacesRemoved (objectpath '\(path)', ['org.stagedoor.Showcase1.Item'])",
          "\(properties) ('org.stagedoor.Showcase1', @a{sv} {}, ['Announcements'])",
          "/org/stagedoor/Showcase1: org.stagedoor.Showcase1.Announced ('places, please', uint32 0)",
        ] {
          #expect(try await monitor.nextLine() == line)
        }
      }
    }
  }

  /// The monitor prints nothing when its rule is on the bus, so this calls out until the monitor hears it.
  private func waitUntilListening(_ monitor: RunningCommand, on stage: Stage) async throws {
    try await eventually("gdbus monitor hears") {
      let _: UInt32 = try await stage.object.call("Announce", "hello?")
      return monitor.standardOutput.contains("hello?")
    }
  }
}
