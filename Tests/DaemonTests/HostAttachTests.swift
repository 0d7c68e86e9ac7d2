import DBus
import DBusTestSupport
import Glibc
import Testing

/// What a host needs to attach, what it may call meanwhile, and who may call the members marked host.
@Suite struct HostAttachTests {
  @Test func `a host without its object is refused and told what is missing, and one that is busy is not`() async throws
  {
    try await withService(registering: Manifests.cats) { house in
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
  }

  @Test func `the answer of a host that leaves right behind it counts, also if the service reads both at once`()
    async throws
  {
    try await withHouse { house in
      try await house.serving("--durability", "memory") { daemon in
        try await house.register(Manifests.cats)
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
  }

  @Test func `a host that calls the service from within its calls is answered`() async throws {
    try await withService(registering: Manifests.cats) { house in
      try await house.hosting { host in
        let ask = HostPlayer.Manner.after { host, call in
          let state: String = try await host.object(call.session).get("State")
          #expect(state == (call.member == "ConnectScene" ? "unattached" : "foregroundInactive"))
          try await host.set("Title", of: call.session, to: "\(call.member) \(state)")
          if call.member != "ActivateScene" {
            // The scene is the host's own, and the service does not keep a host waiting for itself.
            _ = try await host.deliver(
              Payloads.activity("viewCat", "from \(call.member)", options: #""wait": "handled""#))
          } else {
            try await host.setState("foregroundActive", of: call.session)
          }
        }
        host.next("ConnectScene", ask)
        // The host also gets the call for a window that it opens by itself.
        host.next("ActivateScene", ask, ask)
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await eventually("the state it set") {
          try await house.property("State", of: landing.session) == "foregroundActive"
        }
        #expect(try await house.property("Title", of: landing.session) == "ActivateScene foregroundInactive")
        try await eventually("all of it to be handled") { try await house.deliveries(in: "handled").count == 2 }
        #expect(try await house.sessions().count == 2)
      }
    }
  }

  @Test(arguments: [true, false])
  func `what is marked host is for the attached host, and without one for a shell where it was registered`(
    isInstalled: Bool
  ) async throws {
    try await withHouse { house in
      if isInstalled { try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json") }
      try await house.serving("--durability", "memory") { _ in
        if !isInstalled { try await house.register(Manifests.cats) }
        let session = try await house.hosting { host in
          let landing = try await house.hand("viewCat", "cat1")
          try await host.asked(2)
          try await house.waitUntil(landing.delivery, is: "handled")
          for error in try await trials(as: nil, landing.session, in: house) { #expect(error == .accessDenied) }
          for error in try await trials(as: host, landing.session, in: house) { #expect(error == nil) }
          return landing.session
        }
        try await eventually("the host to be gone") {
          try await house.property("HostAttached", of: House.cats, in: House.application) == "false"
        }
        // No scene is connected, so two calls now fail for another reason.
        let errors = try await trials(as: nil, session, in: house).map { $0 == .accessDenied }
        #expect(errors == Array(repeating: isInstalled, count: errors.count))
      }
    }
  }

  /// How each call that is marked host ends.
  private func trials(as host: HostPlayer?, _ session: String, in house: House) async throws -> [ErrorName?] {
    let other: HostPlayer
    if let host { other = host } else { other = try await HostPlayer("org.example.Shell", in: house) }
    var names: [ErrorName?] = []
    let texts: [MemberName: String] = [
      "Title": "A cat", "UserActivity": #"{"activityType": "viewCat"}"#, "StateRestorationActivity": "",
      "UserInfo": #"{"a": 1}"#, "CanActivatePredicate": "TRUEPREDICATE", "PrefersToActivatePredicate": "",
    ]
    for (property, text) in texts {
      names.append(try await refused { try await other.set(property, of: session, to: text) }?.name)
    }
    names.append(try await refused { try await other.setState("background", of: session) }?.name)
    let application = try house.object(House.cats, House.application, over: other.connection)
    names.append(try await refused { try await application.call("PostNotification", "changed", "{}") }?.name)
    names.append(try await refused { try await other.object(session).call("Disconnect") }?.name)
    if host == nil { await other.leave() }
    return names
  }
}
