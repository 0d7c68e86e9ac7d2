import DBus
import DBusTestSupport
import Glibc
import Testing

/// What a host writes about its sessions is used in the next decision, kept, and announced.
@Suite struct HostConditionTests {
  /// The windows take only what their host's conditions accept: the configuration names no conditions.
  private static let manifest = Manifests.mainOnly

  @Test(arguments: PrivateBus.Kind.available)
  func `what a host writes decides the next drop, survives the service, and is announced`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      try house.write(Self.manifest, to: "\(house.applications)/org.example.Cats.json")
      let written: [(MemberName, String)] = [
        ("Title", "All cats"), ("UserInfo", #"{"scroll":7}"#),
        ("StateRestorationActivity", #"{"activityType":"viewCat","targetContentIdentifier":"restored"}"#),
        ("UserActivity", #"{"activityType":"viewCat","targetContentIdentifier":"shown"}"#),
        ("CanActivatePredicate", "SELF != 'never'"), ("PrefersToActivatePredicate", "SELF BEGINSWITH 'mine-'"),
      ]
      let session = try await house.serving { daemon in
        let session = try await house.hosting { host in
          let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
          // Without conditions a window takes only an activity that it shows.
          let other = try await house.hand("viewCat", "mine-1", options: #""wait": "handled""#)
          #expect(other.session != landing.session)
          try await house.destroy(other.session)
          try await house.monitor.whileRunning { monitor in
            let watch = try await Watch(monitor, in: house)
            for (property, text) in written {
              try await host.set(property, of: landing.session, to: text)
              // Everyone can read the value back at once.
              #expect(try await house.property(property.rawValue, of: landing.session) == text)
            }
            _ = try await house.eventSequence()
            try await eventually("the last change") {
              watch.signals.contains { $0.arguments.count > 1 && $0.arguments[1]["PrefersToActivatePredicate"] != nil }
            }
            let changes = watch.signals.filter { $0.member == "PropertiesChanged" && $0.path == landing.session }
            for (property, text) in written {
              #expect(changes.compactMap { $0.arguments[1][property.rawValue]?.text } == [text])
            }
            #expect(changes.compactMap { $0.arguments[1]["TargetContentIdentifier"]?.text } == ["shown"])
          }
          for (key, goesThere) in [("mine-2", true), ("never", false), ("shown", true), ("cat1", false)] {
            let decision = try await house.explain(Payloads.activity("viewCat", key))
            let chosen = decision["chosen"]?["session"]?.text
            #expect((chosen == landing.identifier) == (goesThere || key == "cat1"), "\(key): \(decision)")
          }
          return landing.session
        }
        daemon.signal(SIGKILL)
        try await daemon.ended()
        return session
      }
      try await house.serving { _ in
        for (property, text) in written {
          #expect(try await house.property(property.rawValue, of: session) == text)
        }
        // A session that is not connected shows what it would restore.
        for (key, goesThere) in [("mine-2", true), ("never", false), ("restored", true)] {
          let chosen = try await house.explain(Payloads.activity("viewCat", key))["chosen"]?["session"]?.text
          #expect((chosen != nil) == goesThere, "\(key)")
        }
        let landing = try await house.hand("viewCat", "mine-3")
        #expect(landing.session == session && landing.outcome == "restored")
        try await house.hosting { host in
          let call = try await host.asked(1)[0]
          #expect(try call.options["stateRestorationActivity"]?["targetContentIdentifier"]?.text == "restored")
          try await house.waitUntil(landing.delivery, is: "handled")
          // "" restores the default.
          try await host.set("PrefersToActivatePredicate", of: session, to: "")
          try await host.set("CanActivatePredicate", of: session, to: "")
          let chosen = try await house.explain(Payloads.activity("viewCat", "mine-4"))["chosen"]?["session"]?.text
          #expect(chosen == nil)
        }
      }
    }
  }

  @Test func `what is wrong is refused, and what was there stays`() async throws {
    try await withService { house in
      try await house.register(Self.manifest)
      try await house.hosting { host in
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        let wrongs: [(MemberName, String, ErrorName)] = [
          ("CanActivatePredicate", "SELF BETWEEN 'x'", "org.stagedoor.Error.InvalidPredicate"),
          ("PrefersToActivatePredicate", "SELF ==", "org.stagedoor.Error.InvalidPredicate"),
          ("UserActivity", "{}", "org.stagedoor.Error.InvalidPayload"),
          ("StateRestorationActivity", "[", "org.stagedoor.Error.InvalidPayload"),
          ("UserInfo", "7", "org.stagedoor.Error.InvalidPayload"),
        ]
        for (property, text, name) in wrongs {
          let before = try await house.property(property.rawValue, of: landing.session)
          let error = try await refused { try await host.set(property, of: landing.session, to: text) }
          #expect(error?.name == name, "\(property)")
          #expect(try await house.property(property.rawValue, of: landing.session) == before)
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `of a private session its host reads what others do not`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Self.manifest)
      try await house.register(Manifests.oneScene)
      try await house.hosting { host in
        let landing = try await house.hand("viewCat", "secret", options: #""private": true, "wait": "handled""#)
        try await host.set("Title", of: landing.session, to: "A secret")
        #expect(try host.calls[0].options["userActivities"]?.elements[0]["targetContentIdentifier"]?.text == "secret")
        try await house.hosting("org.example.Player") { other in
          for (property, value) in [("Title", "A secret"), ("TargetContentIdentifier", "secret")]
            as [(MemberName, String)]
          {
            #expect(try await host.object(landing.session).get(property, as: String.self) == value)
            #expect(try await other.object(landing.session).get(property, as: String.self) == "")
            #expect(try await house.property(property.rawValue, of: landing.session) == "")
          }
          let own = try await host.object(landing.session).get("UserActivity", as: String.self)
          #expect(own.contains("secret"))
          #expect(try await other.object(landing.session).get("UserActivity", as: String.self) == "")
        }
        // Without its host, nobody reads the condition.
        await host.leave()
        #expect(try await house.property("Title", of: landing.session) == "")
      }
    }
  }
}
