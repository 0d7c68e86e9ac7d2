import DBus
import DBusTestSupport
import Glibc
import Testing

/// Hosts that attach, leave or answer late in the middle of something.
@Suite struct HostInterruptionTests {
  private static let application = "\(House.root)/application/org_2eexample_2eCats"

  private func gone(in house: House) async throws {
    try await eventually("the host to be gone") {
      try await house.property("HostAttached", of: Self.application, in: House.application) == "false"
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what a host was being told when it left is told to the next, before anything else`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let session = try await house.newSession("Default", of: "org.example.Cats")
      try await house.destroy(session)
      let held = try await house.hand("viewCat", "cat1")
      try await house.hosting(connected: nil) { first in
        first.next("DidDiscardSceneSessions", .waits)
        try await first.attach()
        try await first.asked(1)
      }
      try await gone(in: house)
      #expect(try await house.deliveryState(held.delivery) == "held")
      try await house.hosting { second in
        #expect(
          try await second.asked(3).map(\.member) == ["DidDiscardSceneSessions", "ConnectScene", "ActivateScene"])
        #expect(second.calls[0].arguments == [Landing(session: session, outcome: "", delivery: "").identifier])
        // The first host never had the delivery.
        #expect(try second.calls[1].options["attempt"]?.number == 1)
        try await house.waitUntil(held.delivery, is: "handled")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a host that attaches again in the middle of something is given nothing twice`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.destroy(try await house.newSession("Default", of: "org.example.Cats"))
      var landings = [try await house.hand("viewCat", "cat1")]
      try await house.hosting(connected: nil) { host in
        host.next("DidDiscardSceneSessions", .waits)
        try await host.attach()
        try await host.asked(1)
        try await host.attach()
        landings.append(try await house.hand("viewCat", "cat1"))
        // The host has not answered the call about discarded sessions.
        #expect(host.members == ["DidDiscardSceneSessions"])
        host.next("ConnectScene", .waits)
        host.goOn()
        try await host.asked(1, "ConnectScene")
        try await host.attach()
        landings.append(try await house.hand("viewCat", "cat1"))
        host.goOn()
        for landing in landings { try await house.waitUntil(landing.delivery, is: "handled") }
        let given = host.calls.filter { ["ConnectScene", "ContinueScene"].contains($0.member) }
        #expect(given.map(\.member) == ["ConnectScene", "ContinueScene", "ContinueScene"])
        #expect(try given.map { try $0.options["delivery"]?.text } == landings.map(\.delivery))
        #expect(try given.allSatisfy { try $0.options["attempt"]?.number == 1 })
        #expect(host.calls(of: "DidDiscardSceneSessions").count == 1)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a silent window keeps its session, and shows again what it showed`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let made = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await house.watched { watch in
          host.next("ContinueScene", .waits)
          let late = Payloads.activity(
            "viewCat", "cat2", options: #""session": "\#(made.session)", "wait": "handled", "deadline": 0.4"#)
          let error = try await house.refusal("Deliver", "string:\(late)")
          #expect(error.name == "org.stagedoor.Error.HostTimeout")
          #expect(try await watch.happenings().map(\.name) == ["Routed", "DeliveryFailed"])
          #expect(try await house.property("TargetContentIdentifier", of: made.session) == "cat1")
          #expect(try await house.property("Connected", of: made.session) == "true")
          // The host's answer no longer has a meaning.
          host.goOn()
          let next = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
          #expect(next.session == made.session)
          #expect(try await watch.happenings().map(\.name) == ["Routed", "DeliveryFailed", "Routed", "Handled"])
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a service that ends while it is waited for goes on with it when it is back`(kind: PrivateBus.Kind) async throws
  {
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      let host = try await HostPlayer("org.example.Cats", in: house)
      let delivery = try await house.serving { daemon in
        try await host.attach()
        host.next("ConnectScene", .waits)
        let landing = try await house.hand("viewCat", "cat1")
        try await host.asked(1)
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
        return landing.delivery
      }
      host.goOn()
      try await house.serving { _ in
        #expect(try await house.deliveryState(delivery) == "held")
        // The host shows the window, and says so. The service therefore continues the window, and says that the host may have seen this delivery.
        let session = try #require(host.calls.first).session
        try await host.attach(connected: [session])
        let again = try await host.asked(1, "ContinueScene")[0]
        #expect(try again.options["delivery"]?.text == delivery)
        #expect(try again.options["attempt"]?.number == 2)
        try await house.waitUntil(delivery, is: "handled")
      }
      await host.leave()
    }
  }

  @Test func `what a host says of a private delivery is for nobody else`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        host.next("ConnectScene", .refuses(ErrorReply("org.example.Error.Unwilling", "no secret here")))
        let landing = try await house.hand("viewCat", "secret", options: #""private": true"#)
        try await house.waitUntil(landing.delivery, is: "failed")
        let failed = try #require(try await house.events().last { $0.name == "DeliveryFailed" })
        #expect(failed.arguments["error"] == "org.stagedoor.Error.HostRefused")
        #expect(failed.arguments["message"]?.contains("secret") == false)
      }
    }
  }

  @Test func `a batch comes item by item, those for one window in their order`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let keys = ["cat1", "cat2", "cat1", "cat1", "cat2"]
        let items = keys.map {
          #"{"activities": [{"activityType": "viewCat", "targetContentIdentifier": "\#($0)"}]}"#
        }
        let landings = try await house.deliverEach(
          #"{"items": [\#(items.joined(separator: ", "))], "options": {"deadline": 3600}}"#)
        for landing in landings { try await house.waitUntil(landing.delivery, is: "handled") }
        let given = host.calls.filter { $0.member != "ActivateScene" }
        for window in Set(landings.map(\.session)) {
          let those = given.filter { $0.session == window }
          #expect(
            try those.map { try $0.options["delivery"]?.text }
              == landings.filter { $0.session == window }.map(\.delivery))
          #expect(those.map(\.member) == ["ConnectScene"] + those.dropFirst().map { _ in "ContinueScene" })
        }
      }
    }
  }
}
