import DBus
import DBusTestSupport
import Testing

/// The service's calls to hosts: what they say, their order, and what their answers mean.
@Suite struct HostDecisionTests {
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

  @Test(arguments: PrivateBus.Kind.available)
  func `a host that calls the service from within its calls is answered`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let ask = HostPlayer.Manner.after { host, call in
          let state: String = try await host.object(call.session).get("State")
          #expect(state == (call.member == "ConnectScene" ? "unattached" : "foregroundInactive"))
          try await host.set("Title", of: call.session, to: "\(call.member) \(state)")
          if call.member != "ActivateScene" {
            // The scene is the host's own, and the service does not keep a host waiting for itself.
            _ = try await host.deliver(
              Payloads.patient("viewCat", "from \(call.member)", options: #""wait": "handled""#))
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

  @Test(arguments: PrivateBus.Kind.available)
  func `a hundred drops that come with the host arrive once each, those of a session in their order`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let sender = try await house.bus.connect()
      let object = sender.object(House.name, at: try ObjectPath(House.root), "org.stagedoor.Interchange1")
      let host = try await HostPlayer("org.example.Cats", in: house)
      // The calls of one connection are decided in the order in which they are sent; the host attaches somewhere in between.
      async let attached: Void = { _ = try await host.attach() }()
      var sent: [String] = []
      for number in 0..<100 {
        let document = Payloads.patient("viewCat", "cat\(number % 3)")
        let (_, _, delivery) = try await object.call(
          "Deliver", document, returning: ObjectPath.self, String.self, String.self)
        sent.append(delivery)
      }
      try await attached
      try await eventually("all to be handled") { try await house.deliveries(in: "handled").count == 100 }
      let given = try host.calls.filter { $0.member != "ActivateScene" }.map {
        ($0.session, try $0.options["delivery"]?.text)
      }
      #expect(Set(given.map(\.1)).count == 100 && given.count == 100)
      for (session, deliveries) in Dictionary(grouping: given, by: \.0) {
        let numbers = deliveries.compactMap { delivery in sent.firstIndex { $0 == delivery.1 } }
        #expect(numbers == numbers.sorted(), "\(session)")
      }
      await host.leave()
      await sender.close()
    }
  }

  /// An application that chooses the configuration of a new session itself.
  private static let dynamic = """
    {
      "CFBundleIdentifier": "org.example.Cats", "NSUserActivityTypes": ["viewCat"],
      "StagedoorDynamicConfiguration": true,
      "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": true,
        "UISceneConfigurations": {
          "UIWindowSceneSessionRoleApplication": [
            {"UISceneConfigurationName": "Default"},
            {"UISceneConfigurationName": "Other"}],
          "UIWindowSceneSessionRoleExternalDisplayNonInteractive": [{"UISceneConfigurationName": "Screen"}]
        }
      }
    }
    """

  @Test(arguments: PrivateBus.Kind.available)
  func `no answer, none of the role, an error or nothing within a second: the manifest's choice`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Self.dynamic)
      try await house.hosting { host in
        let manners: [HostPlayer.Manner] = [
          .answers(""), .answers("Default"), .answers("Screen"), .answers("Nowhere"), .refuses(.unwilling), .waits,
        ]
        for (number, manner) in manners.enumerated() {
          host.forget()
          host.next("ConfigurationForConnecting", manner)
          let began = ContinuousClock.now
          let landing = try await house.hand("viewCat", "cat\(number)", options: #""wait": "handled""#)
          #expect(host.calls(of: "ConnectScene").map { $0.arguments[0] } == ["Default"])
          #expect(try await house.property("Configuration", of: landing.session) == "Default")
          if case .waits = manner { #expect(began.duration(to: .now) >= .milliseconds(990)) }
        }
        // A late answer changes nothing.
        host.goOn(nil, .success("Other"))
        let landing = try await house.hand("viewCat", "cat5", options: #""wait": "handled""#)
        #expect(try await house.property("Configuration", of: landing.session) == "Default")
      }
    }
  }
}
