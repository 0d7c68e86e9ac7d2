import DBus
import DBusTestSupport
import Testing

/// What follows from a decision: one test for each row and sentence.
@Suite struct HostDecisionTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `each target has its calls and its outcome`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let made = try await house.hand("viewCat", "cat1")
        #expect(made.outcome == "created")
        #expect(try await host.asked(2).map(\.member) == ["ConnectScene", "ActivateScene"])
        #expect(host.calls.allSatisfy { $0.session == made.session })
        #expect(host.calls[0].arguments.first == "Cat Detail")
        try await house.waitUntil(made.delivery, is: "handled")
        host.forget()

        let shown = try await house.hand("viewCat", "cat1")
        #expect(shown.outcome == "activated" && shown.session == made.session)
        #expect(try await host.asked(2).map(\.member) == ["ContinueScene", "ActivateScene"])
        host.forget()

        // The payload has neither an activity nor an item: the host continues nothing, and the return of ActivateScene acknowledges the delivery.
        host.next("ActivateScene", .waits)
        let front = try await house.call("Activate", "string:", at: made.session, in: House.session)
        #expect(front[0].text == "activated")
        #expect(try await host.asked(1).map(\.member) == ["ActivateScene"])
        #expect(try await house.deliveryState(front[1].text) == "routed")
        host.goOn()
        try await house.waitUntil(front[1].text, is: "handled")
        host.forget()

        // The host has released the window, and the delivery restores it.
        try await host.object(made.session).call("Disconnect")
        #expect(try await house.property("State", of: made.session) == "unattached")
        let restored = try await house.hand("viewCat", "cat1")
        #expect(restored.outcome == "restored" && restored.session == made.session)
        #expect(try await host.asked(2).map(\.member) == ["ConnectScene", "ActivateScene"])
      }
    }
  }

  @Test func `a session that was never connected is activated, and its host is asked to connect it`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      let first = try await house.deliver(Payloads.activity("viewCat", "cat1", options: #""deadline": 0.05"#))
      try await house.waitUntil(first.delivery, is: "routed")
      try await house.hosting { host in
        #expect(host.members.isEmpty)
        let second = try await house.hand("viewCat", "cat1")
        #expect(second.outcome == "activated" && second.session == first.session)
        #expect(try await host.asked(2).map(\.member) == ["ConnectScene", "ActivateScene"])
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `everyone is told of each step, in order`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.watched { watch in
        try await house.hosting { host in
          host.next("ConnectScene", .waits)
          let landing = try await house.hand("viewCat", "cat1")
          try await host.asked(1)
          #expect(try await house.property("State", of: landing.session) == "unattached")
          #expect(try await house.property("Connected", of: landing.session) == "false")
          // The decision made it the session's activity, before the host answered.
          #expect(try await house.property("TargetContentIdentifier", of: landing.session) == "cat1")
          #expect(try await house.deliveryState(landing.delivery) == "routed")
          // The service refuses any state of a session that is not connected yet.
          let error = try await refused { try await host.setState("foregroundActive", of: landing.session) }
          #expect(error?.name == .invalidArgs)
          host.goOn()
          try await host.asked(2)
          #expect(try await house.property("State", of: landing.session) == "foregroundInactive")
          #expect(try await house.property("Connected", of: landing.session) == "true")
          let unattached = try await refused { try await host.setState("unattached", of: landing.session) }
          #expect(unattached?.name == .invalidArgs)
          try await host.setState("foregroundActive", of: landing.session)
          let names = try await watch.happenings().map(\.name)
          #expect(
            names == ["Routed", "SessionConnected", "SessionStateChanged", "Handled", "SessionStateChanged"])
          let changes = watch.signals.filter { $0.member == "PropertiesChanged" && $0.path == landing.session }
          #expect(changes.compactMap { $0.arguments[1]["State"]?.text } == ["foregroundInactive", "foregroundActive"])
          #expect(changes.compactMap { $0.arguments[1]["Connected"]?.text } == ["true"])
        }
      }
    }
  }

  @Test func `the host is told all that a delivery has for it`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let other = try await house.hand("viewCat", "cat0")
        try await host.asked(2)
        try await house.waitUntil(other.delivery, is: "handled")
        host.forget()
        let landing = try await house.deliver(
          """
          {"items": [
            {"suggestedName": "First", "activities": [{"activityType": "org.example.unknown"}],
             "representations": [
               {"type": "text/plain", "text": "miaow"},
               {"type": "image/png", "data": "AAAA", "visibility": "application"}]},
            {"activities": [
              {"activityType": "viewCat", "targetContentIdentifier": "cat1", "userInfo": {"a": {"$uuid": "6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41"}}},
              {"activityType": "viewCat", "targetContentIdentifier": "secret", "visibility": "ownProcess"},
              {"activityType": "viewCat", "targetContentIdentifier": "cat2"}]}],
           "options": {"deadline": 3600, "presentationStyle": "prominent", "requestingSession": "\(other.session)",
                       "activationToken": "let-me-in"}}
          """)
        let calls = try await host.asked(2)
        let options = try calls[0].options
        #expect(options["delivery"]?.text == landing.delivery)
        #expect(options["attempt"]?.number == 1)
        #expect(options["role"]?.text == "UIWindowSceneSessionRoleApplication")
        #expect(options["presentationStyle"]?.text == "prominent")
        #expect(options["requestingSession"]?.text == other.identifier)
        #expect(options["sourceApplication"] == nil)
        #expect(options["stateRestorationActivity"] == nil)
        // The routing activity is first, then the others in payload order; hidden ones are absent.
        let activities = try #require(options["userActivities"]).elements
        #expect(activities.map { $0["activityType"]?.text } == ["viewCat", "org.example.unknown", "viewCat"])
        #expect(activities.map { $0["targetContentIdentifier"]?.text } == ["cat1", nil, "cat2"])
        let tagged = #""userInfo":{"a":{"$uuid":"6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41"}}"#
        #expect(calls[0].arguments[1].contains(tagged))
        let items = try #require(options["items"]).elements
        #expect(items.map { $0["activities"]?.elements.map(\.number) } == [[1], [0, 2]])
        #expect(items.map { $0["suggestedName"]?.text } == ["First", nil])
        let representations = try #require(items[0]["representations"]).elements
        #expect(representations.map { $0["type"]?.text } == ["text/plain"])
        #expect(representations[0]["size"]?.number == 5)
        // The service passes the token on unchanged.
        #expect(calls[1].member == "ActivateScene")
        #expect(calls[1].arguments == ["activation-token=let-me-in", "desktop-startup-id=let-me-in"])
      }
    }
  }

  @Test func `a host that delivers to its own application is named, and is shown what is for it alone`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.register(Manifests.oneScene)
      try await house.hosting { cats in
        let document = """
          {"items": [{"activities": [
            {"activityType": "viewCat", "targetContentIdentifier": "cat1"},
            {"activityType": "viewCat", "targetContentIdentifier": "cat2", "visibility": "application"},
            {"activityType": "viewCat", "targetContentIdentifier": "cat3", "visibility": "ownProcess"}]}],
           "options": {"deadline": 3600, "wait": "handled"}}
          """
        // The host delivers to its own scene, and is not kept waiting, even if it waits for itself.
        cats.next("ConnectScene", .waits)
        let own = try await cats.deliver(document)
        let options = try (try await cats.asked(1))[0].options
        #expect(options["sourceApplication"]?.text == "org.example.Cats")
        #expect(options["userActivities"]?.elements.count == 3)
        cats.goOn()
        try await house.waitUntil(own.delivery, is: "handled")
        try await cats.settle()

        // Another application's host sees the representations that are for all.
        try await house.hosting("org.example.Player") { player in
          let foreign = try await player.deliver(document)
          #expect(foreign.session == own.session)
          let options = try (try await cats.asked(1))[0].options
          #expect(options["sourceApplication"]?.text == "org.example.Player")
          #expect(options["userActivities"]?.elements.count == 1)
        }
      }
    }
  }

  @Test func `what is for the sender's own process alone is not for the process after it`() async throws {
    try await withService { house in
      try await house.register(Manifests.cats)
      let first = try await HostPlayer("org.example.Cats", in: house)
      try await first.attach()
      first.next("ConnectScene", .waits)
      let landing = try await first.deliver(
        """
        {"items": [{"activities": [
          {"activityType": "viewCat", "targetContentIdentifier": "cat1"},
          {"activityType": "viewCat", "targetContentIdentifier": "cat2", "visibility": "application"},
          {"activityType": "viewCat", "targetContentIdentifier": "cat3", "visibility": "ownProcess"}]}],
         "options": {"deadline": 3600}}
        """)
      #expect(try (try await first.asked(1))[0].options["userActivities"]?.elements.count == 3)
      await first.leave()
      try await house.waitUntil(landing.delivery, is: "held")
      try await house.hosting { second in
        let options = try (try await second.asked(1))[0].options
        #expect(options["attempt"]?.number == 2)
        #expect(
          options["userActivities"]?.elements.map { $0["targetContentIdentifier"]?.text } == ["cat1", "cat2"])
      }
    }
  }

  @Test func `which call is made follows the session when it is made, and the outcome when it was decided`()
    async throws
  {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let made = try await house.hand("viewCat", "cat1")
        try await host.asked(2)
        try await house.waitUntil(made.delivery, is: "handled")
        try await host.set("StateRestorationActivity", of: made.session, to: #"{"activityType": "restoreCat"}"#)
        host.forget()
        host.next("ContinueScene", .waits)
        _ = try await house.hand("viewCat", "cat1")
        try await host.asked(1)
        let behind = try await house.hand("viewCat", "cat1")
        #expect(behind.outcome == "activated")
        // The host has released the window in between.
        try await host.object(made.session).call("Disconnect")
        host.goOn()
        let calls = try await host.asked(4)
        #expect(calls.map(\.member) == ["ContinueScene", "ActivateScene", "ConnectScene", "ActivateScene"])
        #expect(try calls[2].options["delivery"]?.text == behind.delivery)
        #expect(try calls[2].options["stateRestorationActivity"]?["activityType"]?.text == "restoreCat")
        #expect(try calls[0].options["stateRestorationActivity"] == nil)
        try await house.waitUntil(behind.delivery, is: "handled")
      }
    }
  }
}
