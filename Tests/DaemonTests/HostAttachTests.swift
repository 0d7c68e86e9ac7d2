import DBus
import DBusTestSupport
import Glibc
import Testing

/// What a host needs to attach.
@Suite struct HostAttachTests {
  @Test(.service(registering: Manifests.cats))
  func `a host without its object is refused and told what is missing, and one that is busy is not`() async throws {
    let connection = try await house.bus.connect()
    #expect(try await connection.requestName("org.example.Cats", .doNotQueue) == .owned)
    func attach() async throws -> ErrorReply? {
      try await refused {
        _ = try await house.service(connection).call(
          "AttachHost", "org.example.Cats", [ObjectPath](), returning: ObjectPath.self, [ObjectPath].self)
      }
    }
    let nothing = try await attach()
    #expect(nothing?.name == "org.stagedoor.Error.NotHost")
    #expect(
      nothing?.text == "there is no object at /org/example/Cats: export the host's object first, and then attach")
    connection.export(Interface("org.example.Other"), at: "/org/example/Cats")
    let other = try await attach()
    #expect(
      other?.text
        == "the object at /org/example/Cats has no org.stagedoor.SceneHost1: export the host's object first, and then attach"
    )
    connection.unexport(at: "/org/example/Cats")
    connection.export(Interface("org.stagedoor.SceneHost1"), at: "/org/example/Cats")
    #expect(try await attach() == nil)
    await connection.close()
    // The client asks, and reads nothing else until it has the answer.
    let script = """
      import dbus
      bus = dbus.SessionBus()
      bus.request_name("org.example.Cats")
      service = bus.get_object("\(House.name)", "\(House.root)")
      print(service.AttachHost("org.example.Cats", dbus.Array([], "o"), dbus_interface="org.stagedoor.Interchange1"))
      """
    let output = try await house.command("/usr/bin/python3", "-c", script).output()
    #expect(output.contains(House.cats), "\(output)")
  }

  @Test(.service(registering: Manifests.cats))
  func `a host that attaches again without its object is the host until it gives the name back`() async throws {
    try await house.hosting { host in
      host.connection.unexport(at: "/org/example/Cats")
      try await host.attach()
      _ = try await host.connection.releaseName("org.example.Cats")
      try await eventually("the host to be gone") {
        try await house.property("HostAttached", of: House.cats, in: House.application) == "false"
      }
    }
  }

  @Test(.daemon(installing: Manifests.cats, with: "--durability", "memory"))
  func `the answer of a host that leaves right behind it counts, also if both are read at once`() async throws {
    let host = try await HostPlayer("org.example.Cats", in: house)
    try await host.attach()
    host.next("ConnectScene", .waits)
    let landing = try await house.hand("viewCat", "cat1")
    try await host.asked(1)
    try await daemon.freeze()
    host.goOn("ConnectScene")
    // The bus has the answer.
    _ = try await host.connection.owner(of: .bus)
    await host.leave()
    daemon.signal(SIGCONT)
    try await eventually("the host to be gone") {
      try await house.property("HostAttached", of: House.cats, in: House.application) == "false"
    }
    #expect(try await house.deliveryState(landing.delivery) == "handled")
  }
}
