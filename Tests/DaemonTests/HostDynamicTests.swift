import DBus
import DBusTestSupport
import Testing

/// Applications that choose the configuration of a new session themselves.
@Suite struct HostDynamicTests {
  private static let manifest = """
    {
      "CFBundleIdentifier": "org.example.Cats", "NSUserActivityTypes": ["viewCat"],
      "StagedoorDynamicConfiguration": true,
      "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": true,
        "UISceneConfigurations": {
          "UIWindowSceneSessionRoleApplication": [
            {"UISceneConfigurationName": "Default", "StagedoorMaximumSessions": 2},
            {"UISceneConfigurationName": "Other"}],
          "UIWindowSceneSessionRoleExternalDisplayNonInteractive": [{"UISceneConfigurationName": "Screen"}]
        }
      }
    }
    """

  @Test(arguments: PrivateBus.Kind.available)
  func `the host is asked after the reply, and its answer replaces the configuration before it connects`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Self.manifest)
      try await house.hosting { host in
        host.next("ConfigurationForConnecting", .answers("Other"))
        try await house.monitor.whileRunning { monitor in
          let watch = try await Watch(monitor, in: house)
          let landing = try await house.hand("viewCat", "cat1")
          let asked = try await host.asked(1)[0]
          #expect(asked.member == "ConfigurationForConnecting" && asked.session == landing.session)
          #expect(asked.arguments[0] == "UIWindowSceneSessionRoleApplication")
          #expect(try asked.options["delivery"]?.text == landing.delivery)
          #expect(try asked.options["userActivities"]?.elements[0]["targetContentIdentifier"]?.text == "cat1")
          let calls = try await host.asked(3)
          #expect(calls[1].member == "ConnectScene" && calls[1].arguments[0] == "Other")
          #expect(try await house.property("Configuration", of: landing.session) == "Other")
          try await house.waitUntil(landing.delivery, is: "handled")
          try await eventually("the monitor to have seen it") {
            watch.messages.contains { $0.member == "ConnectScene" }
          }
          let messages = watch.messages
          let steps: [(Watch.Message) -> Bool] = [
            { $0.member == "Routed" && $0.arguments[3].text == "Default" },
            {
              $0.kind == "method return" && $0.arguments.map(\.text) == [landing.session, "created", landing.delivery]
            },
            { $0.member == "ConfigurationForConnecting" },
            { $0.member == "PropertiesChanged" && $0.arguments[1]["Configuration"]?.text == "Other" },
            { $0.member == "ConnectScene" },
          ]
          let places = steps.compactMap { messages.firstIndex(where: $0) }
          #expect(places.count == steps.count && places == places.sorted(), "\(places)")
        }
        // Only a new session is asked about: a session that is or was connected keeps its configuration.
        try await host.settle()
        let again = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await host.object(again.session).call("Disconnect")
        _ = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        #expect(host.calls(of: "ConfigurationForConnecting").isEmpty)
        #expect(host.calls(of: "ConnectScene").map { $0.arguments[0] } == ["Other"])
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `no answer, none of the role, an error or nothing within a second: the manifest's choice`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Self.manifest.replacing(#", "StagedoorMaximumSessions": 2"#, with: ""))
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

  @Test func `limits are those of the manifest's choice`() async throws {
    try await withService { house in
      try await house.register(Self.manifest)
      try await house.hosting { host in
        host.next("ConfigurationForConnecting", .answers("Other"))
        for key in ["cat1", "cat2"] { _ = try await house.hand("viewCat", key, options: #""wait": "handled""#) }
        // One of the sessions got another configuration, so there is room again.
        _ = try await house.hand("viewCat", "cat3", options: #""wait": "handled""#)
        let error = try await house.refusal("Deliver", "string:\(Payloads.patient("viewCat", "cat4"))")
        #expect(error.name == "org.stagedoor.Error.RequestDenied")
      }
    }
  }

  @Test func `a session that is gone before the host has answered is not connected`() async throws {
    try await withService { house in
      try await house.register(Self.manifest)
      try await house.hosting { host in
        host.next(
          "ConfigurationForConnecting",
          .after { host, call in try await host.object(call.session).call("Destroy", "standard") })
        let landing = try await house.hand("viewCat", "cat1")
        try await house.waitUntil(landing.delivery, is: "failed")
        #expect(
          try await host.asked(2).map(\.member) == ["ConfigurationForConnecting", "DidDiscardSceneSessions"])
        let next = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
        #expect(host.calls[2...].allSatisfy { $0.session == next.session })
      }
    }
  }
}
