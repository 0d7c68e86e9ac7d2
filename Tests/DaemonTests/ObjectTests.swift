import DBusTestSupport
import Testing

/// Applications that are registered and listed.
@Suite struct ApplicationTests {
  @Test(.service) func `an application that registers is an object, and registering again replaces it`() async throws {
    let monitor = house.example("watch")
    try await monitor.whileRunning { monitor in
      let watch = try await Watch(monitor, in: house)
      #expect(try await house.call("RegisterApplication", "string:\(Manifests.cats)").map(\.text) == [House.cats])
      let all = try #require(
        try await house.call("GetAll", "string:\(House.application)", at: House.cats, in: House.properties).first)
      #expect(all["Identifier"]?.text == "org.example.Cats")
      #expect(all["ActivityTypes"]?.elements.map(\.text) == ["viewCat"])
      #expect(all["SupportsMultipleScenes"]?.text == "true")
      #expect(all["HostAttached"]?.text == "false")
      #expect(all["ManifestPath"]?.text == "")
      let rows = all["Configurations"]?.elements.map { $0.elements.dropLast().map(\.text) }
      #expect(
        rows == [
          ["UIWindowSceneSessionRoleApplication", "Default"], ["UIWindowSceneSessionRoleApplication", "Cat Detail"],
        ])
      #expect(all["Configurations"]?.elements.last?.elements.last?.elements.map(\.text) == ["viewCat"])
      #expect(all["Understudied"]?.text == "false")
      #expect(all.keys.count == 9)

      let more = Manifests.application(
        "org.example.Cats", types: "viewCat", "petCat", configurations: Manifests.configuration("Default"),
        more: #" "CFBundleName": "Cats","#)
      #expect(try await house.call("RegisterApplication", "string:\(more)").map(\.text) == [House.cats])
      #expect(try await house.property("Name", of: House.cats, in: House.application) == "Cats")
      try await eventually("the change is told") {
        watch.signals.contains { $0.member == "PropertiesChanged" && $0.arguments[1]["Name"]?.text == "Cats" }
      }
      let added = watch.signals.filter { $0.member == "InterfacesAdded" }
      #expect(added.map { $0.arguments[0].text } == [House.cats])
      #expect(added.first?.arguments[1][House.application]?.fields == all.fields)
    }
  }
}

/// Sessions as objects: their properties, what everyone may call, and what only their host may call.
@Suite struct SessionTests {
  @Test(.service(registering: Manifests.cats))
  func `a session has its properties, and comes and goes as an object`() async throws {
    try await house.watched { watch in
      // Two keys look the same, and are not.
      let info = "dict:string:string:caf\u{e9},one,cafe\u{301},two"
      let landing = try house.landing(try await house.call("Drop", "string:viewCat", "string:cat1", info))
      let all = try #require(
        try await house.call("GetAll", "string:\(House.session)", at: landing.session, in: House.properties).first)
      let expected = [
        "PersistentIdentifier": landing.identifier, "Application": "org.example.Cats",
        "Role": "UIWindowSceneSessionRoleApplication", "Configuration": "Cat Detail", "State": "unattached",
        "Connected": "false", "TargetContentIdentifier": "cat1", "Title": "", "StateRestorationActivity": "",
        "UserInfo": "", "CanActivatePredicate": "", "PrefersToActivatePredicate": "",
        "UserActivity":
          "{\"activityType\":\"viewCat\",\"targetContentIdentifier\":\"cat1\","
          + "\"userInfo\":{\"cafe\u{301}\":\"two\",\"caf\u{e9}\":\"one\"}}",
      ]
      for (name, text) in expected { #expect(all[name]?.text == text, "\(name)") }
      #expect(Set(all.keys) == Set(expected.keys).union(["Created", "LastActivated"]))
      let created = try #require(UInt64(all["Created"]?.text ?? ""))
      #expect(created > 1_700_000_000_000_000)
      #expect(all["LastActivated"]?.text == all["Created"]?.text)

      let objects = try #require(try await house.call("GetManagedObjects", in: House.manager).first)
      #expect(Set(objects.keys) == [landing.session, House.cats])
      #expect(objects[landing.session]?[House.session]?.fields == all.fields)

      try await house.destroy(landing.session, "commit")
      let discarded = try #require(try await watch.happenings().first { $0.name == "SessionDiscarded" })
      #expect(
        discarded.arguments == [
          "application": "org.example.Cats", "session": landing.session, "animation": "commit",
          "persistent_identifier": landing.identifier,
        ])
      let added = try #require(watch.signals.first { $0.member == "InterfacesAdded" })
      #expect(added.arguments[0].text == landing.session)
      #expect(added.arguments[1][House.session]?.fields == all.fields)
      let removed = try #require(watch.signals.first { $0.member == "InterfacesRemoved" })
      #expect(removed.arguments.map(\.text).first == landing.session)
      #expect(removed.arguments[1].elements.map(\.text) == [House.session])
    }
  }

  @Test(.service(registering: Manifests.cats))
  func `what a host writes is announced, and what is wrong refused`() async throws {
    try await house.watched { watch in
      let session = try await house.drop("viewCat", "cat1").session
      let activity = #"{"activityType":"viewCat","targetContentIdentifier":"cat5"}"#
      let values = [
        ("Title", "Tom", "Tom"), ("UserInfo", #"{"zoom": 2}"#, #"{"zoom":2}"#),
        ("StateRestorationActivity", activity, activity), ("UserActivity", activity, activity),
        ("CanActivatePredicate", "SELF == 'cat5'", "SELF == 'cat5'"), ("PrefersToActivatePredicate", "", ""),
      ]
      for (name, text, kept) in values {
        try await house.set(name, of: session, to: text)
        #expect(try await house.property(name, of: session) == kept, "\(name)")
      }
      _ = try await house.call("Refresh", at: session, in: House.session)
      _ = try await watch.happenings()
      let changes = watch.signals.filter { $0.member == "PropertiesChanged" && $0.path == session }
      for (name, _, kept) in values where !kept.isEmpty {
        #expect(changes.contains { $0.arguments[1][name]?.text == kept }, "\(name)")
      }
      #expect(changes.contains { $0.arguments[1]["TargetContentIdentifier"]?.text == "cat5" })

      let (payload, predicate) = ("org.stagedoor.Error.InvalidPayload", "org.stagedoor.Error.InvalidPredicate")
      let (long, freedesktop) = (String(repeating: "x", count: 13_000), "org.freedesktop.DBus.Error")
      let state = "StateRestorationActivity"
      let wrongs = [
        ("UserActivity", "{}", payload, "UserActivity.activityType: expected"),
        ("UserActivity", "[]", payload, "UserActivity: expected an activity, got a list"),
        (
          state, "nope", payload,
          #"StateRestorationActivity, line 1, column 1: expected an activity in JSON, got "nope""#
        ),
        ("UserInfo", "[]", payload, "UserInfo: expected a dictionary, got a list"),
        ("UserInfo", "nope", payload, #"UserInfo, line 1, column 1: expected a dictionary in JSON, got "nope""#),
        ("UserInfo", #"{"a":{"$date":3}}"#, payload, "UserInfo.a: expected"),
        (
          "CanActivatePredicate", "SELF BETWEEN 'x'", predicate, "CanActivatePredicate: column 6: there is no BETWEEN"
        ),
        ("PrefersToActivatePredicate", "SELF ==", predicate, "column"),
        ("Title", long, "\(freedesktop).LimitsExceeded", "Title: expected at most 12800 bytes, got 13000"),
        ("State", "background", "\(freedesktop).PropertyReadOnly", "State"),
      ]
      for (name, text, error, says) in wrongs {
        let refusal = try await house.refusal(
          "Set", "string:\(House.session)", "string:\(name)", "variant:string:\(text)", at: session,
          in: House.properties)
        #expect(refusal.name == error, "\(name): \(refusal)")
        #expect(says.contains(": ") ? refusal.message.hasPrefix(says) : refusal.message.contains(says), "\(refusal)")
      }
      let activate = try await house.refusal("Activate", "string:nope", at: session, in: House.session)
      #expect(activate.message == #"activity, line 1, column 1: expected an activity in JSON, got "nope""#)
      #expect(try await house.property("CanActivatePredicate", of: session) == "SELF == 'cat5'")
    }
  }
}
