import DBus
import DBusTestSupport
import Glibc
import Testing

/// Discarded sessions: how a host closes their scenes, and hears that they are gone for good.
@Suite struct HostDiscardTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `destroying says so, answers, closes the scene, and then tells that it is gone`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await host.settle()
        host.next("DestroyScene", .waits)
        try await house.monitor.whileRunning { monitor in
          let watch = try await Watch(monitor, in: house)
          try await house.destroy(landing.session, "commit")
          let call = try await host.asked(1)[0]
          #expect(call == HostCall(member: "DestroyScene", session: landing.session, arguments: ["commit"]))
          host.goOn()
          let calls = try await host.asked(2)
          #expect(calls[1].member == "DidDiscardSceneSessions" && calls[1].arguments == [landing.identifier])
          try await eventually("the monitor to have seen it") {
            watch.messages.contains { $0.member == "DidDiscardSceneSessions" }
          }
          let messages = watch.messages
          let asked = try #require(messages.firstIndex { $0.member == "Destroy" })
          // The service asks the bus who calls, and gets an answer.
          let rest = messages[asked...].dropFirst().map { message in
            message.kind == "method return" && message.arguments.isEmpty ? "reply" : message.member
          }
          let places = try ["InterfacesRemoved", "SessionDiscarded", "reply", "DestroyScene"].map { member in
            try #require(rest.firstIndex(of: member), "\(member)")
          }
          #expect(places == places.sorted(), "\(rest)")
        }
        let late = try await refused { try await host.setState("background", of: landing.session) }
        #expect(late?.name == "org.freedesktop.DBus.Error.UnknownObject")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what is destroyed while it is being connected is closed after that, and its deliveries fail`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        try await house.watched { watch in
          host.next("ConnectScene", .waits)
          let landing = try await house.hand("viewCat", "cat1")
          let behind = try await house.hand("viewCat", "cat1")
          try await host.asked(1)
          try await house.destroy(landing.session)
          for delivery in [landing.delivery, behind.delivery] {
            #expect(try await house.deliveryState(delivery) == "failed")
          }
          #expect(host.members == ["ConnectScene"])
          host.goOn()
          try await host.asked(3)
          #expect(
            host.members.filter { $0 != "ActivateScene" } == [
              "ConnectScene", "DestroyScene", "DidDiscardSceneSessions",
            ])
          let seen = try await watch.happenings()
          #expect(seen.map(\.name) == ["Routed", "Routed", "SessionDiscarded", "DeliveryFailed", "DeliveryFailed"])
          #expect(seen[3...].allSatisfy { $0.arguments["error"] == "org.stagedoor.Error.NoSuchSession" })
        }
      }
    }
  }

  @Test func `what the host refused to connect is not closed, and what waited is neither`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        // The session was never connected: there is nothing to close.
        let early = try await house.deliver(Payloads.activity("viewCat", "cat1", options: #""deadline": 3600"#))
        try await house.waitUntil(early.delivery, is: "handled")
        try await host.object(early.session).call("Disconnect")
        try await host.settle()
        host.next("ConnectScene", .waits)
        _ = try await house.hand("viewCat", "cat1")
        try await host.asked(1)
        try await house.destroy(early.session)
        host.goOn(nil, .failure(ErrorReply.unwilling))
        try await host.asked(2)
        #expect(host.members == ["ConnectScene", "DidDiscardSceneSessions"])
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what goes while the application is away is told once, as one set, also after restarts of the service`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      let file = "\(house.applications)/org.example.Cats.json"
      try house.write(Manifests.cats, to: file)
      var gone: Set<String> = []
      for round in 0..<2 {
        let destroyed = try await house.serving { daemon in
          var destroyed: [String] = []
          if round == 0 {
            try await house.hosting { host in
              for key in ["cat1", "cat2", "cat3"] {
                let landing = try await house.hand("viewCat", key, options: #""wait": "handled""#)
                destroyed.append(landing.identifier)
              }
              _ = host
            }
          }
          try await eventually("none to be connected") {
            try await house.sessions().allSatisfy { $0[3] == "unattached" }
          }
          let session = try #require(try await house.sessions().first)[0]
          try await house.destroy(session)
          let extra = try await house.newSession("Default", of: "org.example.Cats")
          try await house.destroy(extra)
          daemon.signal(SIGKILL)
          try await daemon.ended()
          return [session, extra].map { Landing(session: $0, outcome: "", delivery: "").identifier }
        }
        gone.formUnion(destroyed)
      }
      try await house.serving { daemon in
        // When the manifest no longer has a configuration, the configuration's sessions are discarded.
        let left = try await house.sessions().map { Landing(session: $0[0], outcome: "", delivery: "").identifier }
        #expect(left.count == 1)
        gone.formUnion(left)
        try house.write(Manifests.mainOnly, to: file)
        daemon.signal(SIGHUP)
        try await eventually("it to be discarded") { try await house.sessions().isEmpty }
        let held = try await house.hand("viewCat", "cat9")
        try await house.hosting { host in
          try await host.asked(3)
          try await house.waitUntil(held.delivery, is: "handled")
          #expect(host.members == ["DidDiscardSceneSessions", "ConnectScene", "ActivateScene"])
          #expect(host.calls[0].arguments.count == 5)
          #expect(Set(host.calls[0].arguments) == gone)
          try await host.attach(connected: [held.session])
          _ = try await house.hand("viewCat", "cat9", options: #""wait": "handled""#)
          #expect(host.calls(of: "DidDiscardSceneSessions").count == 1)
        }
      }
      try await house.serving { _ in
        try await house.hosting { host in
          _ = try await house.hand("viewCat", "cat8", options: #""wait": "handled""#)
          #expect(host.calls(of: "DidDiscardSceneSessions").isEmpty)
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a configuration that goes closes its windows, and they are told as one set`(kind: PrivateBus.Kind) async throws
  {
    try await withHouse(kind) { house in
      let file = "\(house.applications)/org.example.Cats.json"
      try house.write(Manifests.cats, to: file)
      try await house.serving { daemon in
        try await house.hosting { host in
          var gone: [Landing] = []
          for key in ["cat1", "cat2", "cat3"] {
            gone.append(try await house.hand("viewCat", key, options: #""wait": "handled""#))
          }
          // A session that no longer has a window.
          try await host.object(gone[2].session).call("Disconnect")
          try await host.settle()
          host.next("DestroyScene", .waits, .accepts)
          try house.write(Manifests.mainOnly, to: file)
          daemon.signal(SIGHUP)
          try await host.asked(2, "DestroyScene")
          #expect(host.calls(of: "DidDiscardSceneSessions").isEmpty)
          #expect(Set(host.calls.map(\.session)) == Set(gone[..<2].map(\.session)))
          host.goOn()
          try await host.asked(3)
          // Nothing else follows.
          _ = try await house.hand("viewCat", "cat9", options: #""wait": "handled""#)
          let told = host.calls(of: "DidDiscardSceneSessions")
          #expect(told.count == 1)
          #expect(Set(told[0].arguments) == Set(gone.map(\.identifier)))
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a refresh is passed on in the background only, and once for all who asked`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        func refresh() async throws { _ = try await house.call("Refresh", at: landing.session, in: House.session) }
        try await host.setState("foregroundActive", of: landing.session)
        try await house.watched { watch in
          for _ in 0..<3 { try await refresh() }
          #expect(try await watch.happenings().map(\.name) == Array(repeating: "SessionRefreshRequested", count: 3))
        }
        #expect(host.calls(of: "RefreshScene").isEmpty)
        host.next("RefreshScene", .waits)
        try await host.setState("background", of: landing.session)
        #expect(try await host.asked(1, "RefreshScene")[0].session == landing.session)
        // While the host draws, more calls ask it to: it draws once more for all of them.
        for _ in 0..<5 { try await refresh() }
        host.goOn()
        try await host.asked(2, "RefreshScene")
        try await host.setState("foregroundActive", of: landing.session)
        try await refresh()
        _ = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        #expect(host.calls(of: "RefreshScene").count == 2)
        // A later request for the same session is a new one.
        try await host.setState("background", of: landing.session)
        try await host.asked(3, "RefreshScene")
        try await refresh()
        try await host.asked(4, "RefreshScene")
        // A session without a scene does not draw, and a restored scene is drawn anyway.
        try await host.object(landing.session).call("Disconnect")
        try await refresh()
        _ = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await host.setState("background", of: landing.session)
        _ = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        #expect(host.calls(of: "RefreshScene").count == 4)
      }
    }
  }
}
