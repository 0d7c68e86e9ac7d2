import DBus
import DBusTestSupport
import Synchronization
import Testing

/// If the user's systemd is on the bus, it starts a manifest's command, outside our sandbox.
@Suite struct TransientUnitTests {
  private static let manifest = #"""
    {"CFBundleIdentifier": "org.example.Cats-2", "NSUserActivityTypes": ["viewCat"],
     "StagedoorExec": "cats --look \"at me\" $HOME",
     "UIApplicationSceneManifest": {"UIApplicationSupportsMultipleScenes": true, "UISceneConfigurations":
      {"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Cat"}]}}}
    """#

  /// Runs `body` with a service that finds a systemd on the bus, and an application that only a command can start.
  private func withSystemd(
    isSilent: Bool = false, forgets: Bool = false, _ body: (House, Systemd) async throws -> Void
  ) async throws {
    try await withHouse { house in
      try house.write(Self.manifest, to: "\(house.applications)/org.example.Cats-2.json")
      let systemd = try await Systemd(on: house.bus.connect(), isSilent: isSilent, forgets: forgets)
      try await house.serving { _ in try await body(house, systemd) }
    }
  }

  @Test func `a systemd that never says that a unit has begun has failed, and is asked again`() async throws {
    try await withSystemd(isSilent: true) { house, systemd in
      _ = try await house.hand("viewCat", "cat1")
      try await eventually("the failure", within: .seconds(90)) { try await house.deliveries(in: "failed").count == 1 }
      let first = try #require(systemd.started)
      _ = try await house.hand("viewCat", "cat1")
      try await eventually("another unit") { systemd.started?.name != first.name }
    }
  }

  @Test func `systemd is asked for a unit, and a unit that fails is a launch that failed`() async throws {
    try await withSystemd { house, systemd in
      let landing = try await house.hand("viewCat", "cat1", options: #""activationToken": "t-1""#)
      try await eventually("the unit") { systemd.started != nil }
      let unit = try #require(systemd.started)
      #expect(unit.name.hasPrefix("app-stagedoor-org.example.Cats\\x2d2@"))
      #expect(unit.name.hasSuffix(".service"))
      #expect(unit.command == ["/usr/bin/env", "--", "cats", "--look", "at me", "$$HOME"])
      #expect(unit.environment.contains("XDG_ACTIVATION_TOKEN=t-1"))
      #expect(unit.environment.contains("DBUS_SESSION_BUS_ADDRESS=\(house.bus.address)"))
      #expect(try await house.deliveries(in: "held").map { $0[0] } == [landing.delivery])
      systemd.state.value = "failed"
      try await eventually("the failure") { try await house.deliveries(in: "failed").count == 1 }
      let events = try await house.call("EventsSince", "uint64:0", "uint32:0")
      #expect("\(events)".contains("org.stagedoor.Error.LaunchFailed"))
      #expect("\(events)".contains("ended in a failure"))
    }
  }

  @Test func `a token that systemd would refuse is left out, and the application starts`() async throws {
    try await withSystemd { house, systemd in
      _ = try await house.hand("viewCat", "cat1", options: #""activationToken": "t-\u0001""#)
      try await eventually("the unit") { systemd.started != nil }
      #expect(try #require(systemd.started).environment.allSatisfy { !$0.hasPrefix("XDG_ACTIVATION_TOKEN=") })
    }
  }

  @Test func `a unit that has failed and is forgotten when its job is reported is a launch that failed`() async throws {
    try await withSystemd(forgets: true) { house, _ in
      _ = try await house.hand("viewCat", "cat1")
      try await eventually("the failure") { try await house.deliveries(in: "failed").count == 1 }
    }
  }
}

/// The part of systemd that a transient unit needs.
private final class Systemd: Sendable {
  struct Unit: Sendable {
    let name: String
    let command: [String]
    let environment: [String]
  }

  let state = StoredProperty("active")
  private let unit = Mutex<Unit?>(nil)
  private let connection: Connection

  var started: Unit? { unit.withLock(\.self) }

  /// - Parameters:
  ///   - isSilent: Whether it accepts a job, and reports nothing.
  ///   - forgets: Whether a unit fails at once, and is gone when its job is reported to be done.
  init(on connection: Connection, isSilent: Bool = false, forgets: Bool = false) async throws {
    self.connection = connection
    var manager = Interface("org.freedesktop.systemd1.Manager")
    let removed = manager.signal(
      "JobRemoved", "id", "job", "unit", "result", of: UInt32.self, ObjectPath.self, String.self, String.self)
    let job: ObjectPath = "/org/freedesktop/systemd1/job/7"
    manager.method("Subscribe") { () in }
    manager.method("StartTransientUnit", in: "name", "mode", "properties", "aux", out: "job") {
      [weak self, state]
      (
        name: String, _: String, properties: [Structure<String, Variant>],
        _: [Structure<String, [Structure<String, Variant>]>]
      ) -> ObjectPath in
      let values = Dictionary(uniqueKeysWithValues: properties.map { ($0.members.0, $0.members.1) })
      let commands = try [Structure<String, [String], Bool>](values["ExecStart"] ?? "")
      let unit = Unit(
        name: name, command: commands[0].members.1, environment: try [String](values["Environment"] ?? ""))
      self?.unit.withLock { $0 = unit }
      if isSilent { return job }
      let units: ObjectPath = "/org/freedesktop/systemd1/unit"
      let path = units.appending(label: name)
      var interface = Interface("org.freedesktop.systemd1.Unit")
      interface.property("ActiveState", stored: state)
      connection.export(interface, at: path)
      Task {
        if forgets {
          state.value = "failed"
          // The announcement leaves before this answer.
          _ = try await connection.owner(of: "org.freedesktop.systemd1")
          connection.unexport(at: path)
        }
        try connection.emit(removed, from: "/org/freedesktop/systemd1", UInt32(7), job, name, "done")
      }
      return job
    }
    connection.export(manager, at: "/org/freedesktop/systemd1")
    _ = try await connection.requestName("org.freedesktop.systemd1")
  }
}
