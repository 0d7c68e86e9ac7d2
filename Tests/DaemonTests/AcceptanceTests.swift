import DBusTestSupport
import Testing

/// The ten cases of routing, as a user plays them from a shell. A watcher from the beginning and a late one learn the same.
@Suite struct AcceptanceTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `1 new makes a window, the same again continues it, and another cat has its own`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.watched { watch in
        let first = try await house.deliver(Payloads.activity("viewCat", "cat1", options: #""disposition": "new""#))
        #expect(first.outcome == "created")
        #expect(try await house.property("Configuration", of: first.session) == "Cat Detail")
        let again = try await house.drop("viewCat", "cat1")
        #expect(again.outcome == "activated")
        #expect(again.session == first.session)
        let other = try await house.drop("viewCat", "cat2")
        #expect(other.outcome == "created")
        #expect(other.session != first.session)
        #expect(try await house.property("Configuration", of: other.session) == "Cat Detail")

        let seen = try await watch.happenings()
        #expect(seen.map(\.name) == ["Routed", "Routed", "Routed"])
        #expect(seen.map { $0.arguments["session"] } == [first.session, first.session, other.session])
        #expect(seen.map { $0.arguments["outcome"] } == ["created", "activated", "created"])
        #expect(seen.map { $0.arguments["delivery"] } == [first.delivery, again.delivery, other.delivery])
        #expect(seen.map { $0.arguments["target_content_identifier"] } == ["cat1", "cat1", "cat2"])
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `2 a main window that nobody set conditions for takes no cat, unless routing is uikit`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.mainOnly)
      try await house.watched { _ in
        let main = try await house.newSession("Main", of: "org.example.Cats")
        let landing = try await house.drop("viewCat", "cat1")
        #expect(landing.outcome == "created")
        #expect(landing.session != main)
      }
    }
    try await withService(kind) { house in
      try await house.register(Manifests.mainOnlyAsUIKit)
      try await house.watched { _ in
        let main = try await house.newSession("Main", of: "org.example.Cats")
        let landing = try await house.drop("viewCat", "cat1")
        #expect(landing.outcome == "activated")
        #expect(landing.session == main)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `3 an undeclared type is refused, and nothing is made`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.watched { _ in
        _ = try await house.drop("viewCat", "cat1")
        let before = try await (house.sessions(), house.deliveries(), house.eventSequence())
        let error = try await house.refusal("Drop", "string:viewDog", "string:rex", "dict:string:string:")
        #expect(error.name == "org.stagedoor.Error.ActivityTypeNotDeclared")
        #expect(error.message.contains("viewDog"))
        #expect(try await house.sessions() == before.0)
        #expect(try await house.deliveries() == before.1)
        #expect(try await house.eventSequence() == before.2)
      }
    }
  }

  @Test(arguments: [Manifests.cats, Manifests.mainOnly], PrivateBus.Kind.available)
  func `4 a hundred identical drops at once make one window`(manifest: String, kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(manifest)
      try await house.watched { watch in
        let drop =
          "dbus-send --session --print-reply --dest=\(House.name) \(House.root) \(House.interchange).Drop"
          + " string:viewCat string:cat1 dict:string:string:"
        let output = try await house.command(
          "sh", "-c", "i=0; while [ $i -lt 100 ]; do \(drop) & i=$((i + 1)); done; wait"
        ).output(within: .seconds(120))
        // Each dbus-send writes its answer in one piece, so no answer stands within another.
        var reader = ShownReader(output.split(separator: "\n").filter { $0.hasPrefix(" ") })
        let texts = reader.rest().map(\.text)
        try #require(texts.count == 300)
        let answers = stride(from: 0, to: 300, by: 3).map {
          Landing(session: texts[$0], outcome: texts[$0 + 1], delivery: texts[$0 + 2])
        }
        #expect(Set(answers.map(\.session)).count == 1)
        #expect(answers.filter { $0.outcome == "created" }.count == 1)
        #expect(answers.filter { $0.outcome == "activated" }.count == 99)
        #expect(Set(answers.map(\.delivery)).count == 100)
        #expect(try await house.sessions().map { $0[0] } == [answers[0].session])
        #expect(try await watch.happenings().count == 100)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `5 the order in which applications were registered changes no answer`(kind: PrivateBus.Kind) async throws {
    let manifests = ["org.example.A", "org.example.B", "org.example.C"].map { identifier in
      Manifests.application(
        identifier, types: "view", configurations: Manifests.configuration("Main"))
    }
    try await withHouse(kind) { house in
      var answers: Set<[String]> = []
      for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        try await house.serving("--durability", "memory") { _ in
          for index in order { try await house.register(manifests[index]) }
          try await house.watched { watch in
            let explained = try await house.call("Explain", "string:\(Payloads.activity("view", "one"))")
            let first = try await house.drop("view", "one")
            // From now on the order of last use counts.
            let named = Payloads.activity("view", "two", options: #""application": "org.example.B""#)
            let second = try await house.deliver(named)
            let third = try await house.drop("view", "three")
            let seen = try await watch.happenings().map { $0.arguments["application"] ?? "" }
            answers.insert([explained[0].text, first.outcome, second.outcome, third.outcome] + seen)
          }
        }
      }
      #expect(answers.count == 1)
      #expect(answers.first?.suffix(3) == ["org.example.A", "org.example.B", "org.example.B"])
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `6 a mixed batch gives every item exactly one outcome`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let items: [(type: String, key: String)] = [
        ("viewCat", "cat1"), ("viewDog", "rex"), ("viewCat", "cat2"), ("viewCat", "cat1"),
      ]
      try await house.watched { watch in
        let payload = Payloads.items(items[0], items[1], items[2], items[3], options: #""batch": "bestEffort""#)
        let results = try await house.deliverEach(payload)
        #expect(
          results.map(\.outcome) == [
            "created", "org.stagedoor.Error.ActivityTypeNotDeclared", "created", "activated",
          ])
        #expect(results[0].session == results[3].session)
        #expect(results[0].session != results[2].session)
        #expect(results[1].session == "/")
        #expect(
          try await watch.happenings().map { $0.arguments["delivery"] } == [0, 2, 3].map { results[$0].delivery })

        let before = try await house.eventSequence()
        let error = try await house.refusal(
          "DeliverEach", "string:\(Payloads.items(("viewCat", "cat3"), items[1]))")
        #expect(error.name == "org.stagedoor.Error.ActivityTypeNotDeclared")
        #expect(error.message.contains("viewDog"))
        #expect(try await house.eventSequence() == before)
        #expect(try await house.sessions().count == 2)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `7 an application with one scene gets everything in it, and new is refused`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.oneScene)
      try await house.watched { _ in
        let first = try await house.drop("play", "song")
        #expect(first.outcome == "created")
        for (type, key) in [("play", "other"), ("stop", "song"), ("stop", "")] {
          let next = try await house.drop(type, key)
          #expect(next.outcome == "activated")
          #expect(next.session == first.session)
        }
        let error = try await house.refusal(
          "Deliver", "string:\(Payloads.activity("play", "third", options: #""disposition": "new""#))")
        #expect(error.name == "org.stagedoor.Error.MultipleScenesNotSupported")
        #expect(error.message.contains("UIApplicationSupportsMultipleScenes"))
        #expect(try await house.sessions().count == 1)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `8 a placeholder in quotes is warned about, and is compared as it is`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      try await house.serving("--durability", "memory") { daemon in
        try await house.register(
          Manifests.application(
            "org.example.Cats", types: "viewCat",
            configurations: Manifests.configuration(
              "Main", more: #", "StagedoorCanActivatePredicate": "SELF ENDSWITH[c] '.%@'""#)))
        try await eventually("the warning") {
          daemon.standardError.contains("org.example.Cats: Main: can, column 18: %@ stands in quotes")
        }
        try await house.watched { _ in
          let main = try await house.newSession("Main", of: "org.example.Cats")
          #expect(try await house.drop("viewCat", "what.%@").session == main)
          #expect(try await house.drop("viewCat", "cat.png").session != main)
          // The same for a condition that is set later.
          try await house.set("PrefersToActivatePredicate", of: main, to: "SELF == '%K'")
          try await eventually("the second warning") {
            daemon.standardError.contains("prefers, column 9: %K stands in quotes")
          }
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `9 a window that prefers beats one that can, and one that cannot takes nothing`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.mainOnly)
      try await house.watched { _ in
        let willing = try await house.newSession("Main", of: "org.example.Cats")
        let eager = try await house.newSession("Main", of: "org.example.Cats")
        try await house.set("CanActivatePredicate", of: willing, to: "TRUEPREDICATE")
        try await house.set("CanActivatePredicate", of: eager, to: "SELF BEGINSWITH 'cat'")
        try await house.set("PrefersToActivatePredicate", of: eager, to: "SELF == 'cat1'")
        // So only its preference speaks for the eager one.
        _ = try await house.call("Activate", "string:", at: willing, in: House.session)
        #expect(try await house.drop("viewCat", "cat1").session == eager)
        #expect(try await house.drop("viewCat", "dog").session == willing)

        try await house.set("CanActivatePredicate", of: eager, to: "FALSEPREDICATE")
        #expect(try await house.drop("viewCat", "cat1").session == willing)
        try await house.set("CanActivatePredicate", of: willing, to: "FALSEPREDICATE")
        let landing = try await house.drop("viewCat", "cat1")
        #expect(landing.outcome == "created")
        #expect(![willing, eager].contains(landing.session))
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `10 an open inspector of the same photograph comes to the front as it is`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.gallery)
      try await house.watched { watch in
        let inspector = try await house.drop("openInspector", "photo-7")
        #expect(try await house.property("Configuration", of: inspector.session) == "Inspector")
        let shown = #"{"activityType":"openInspector","targetContentIdentifier":"photo-7","title":"Zoomed"}"#
        try await house.set("UserActivity", of: inspector.session, to: shown)
        try await house.set("UserInfo", of: inspector.session, to: #"{"zoom":2.5}"#)
        let before = try await house.call(
          "GetAll", "string:\(House.session)", at: inspector.session, in: House.properties)

        let landing = try await house.deliver(
          #"{"options": {"session": "\#(inspector.identifier)", "presentationStyle": "prominent"}}"#)
        #expect(landing.session == inspector.session)
        #expect(landing.outcome == "activated")
        #expect(try await watch.happenings().last?.arguments["activity_type"] == "")
        let after = try await house.call(
          "GetAll", "string:\(House.session)", at: inspector.session, in: House.properties)
        let (then, now) = (try #require(before.first), try #require(after.first))
        #expect(then.keys.count == 15)
        for key in then.keys where key != "LastActivated" { #expect(now[key] == then[key], "\(key)") }
        #expect(now["UserActivity"]?.text == shown)
        #expect(now["LastActivated"] != then["LastActivated"])

        #expect(try await house.drop("openInspector", "photo-7").session == inspector.session)
        #expect(try await house.drop("openInspector", "photo-8").outcome == "created")
      }
    }
  }
}
