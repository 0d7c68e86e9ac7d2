import DBusTestSupport
import Testing

/// Applications that are registered, preferred, and asked for a window; and the kept events.
@Suite struct ApplicationTests {
  private static let path = "\(House.root)/application/org_2eexample_2eCats"

  @Test(arguments: PrivateBus.Kind.available)
  func `an application that registers is an object, and registering again replaces it`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      let monitor = house.example("watch")
      try await monitor.whileRunning { monitor in
        let watch = try await Watch(monitor, in: house)
        #expect(try await house.call("RegisterApplication", "string:\(Manifests.cats)").map(\.text) == [Self.path])
        let all = try #require(
          try await house.call("GetAll", "string:\(House.application)", at: Self.path, in: House.properties).first)
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
        #expect(try await house.call("RegisterApplication", "string:\(more)").map(\.text) == [Self.path])
        #expect(try await house.property("Name", of: Self.path, in: House.application) == "Cats")
        try await eventually("the change is told") {
          watch.signals.contains { $0.member == "PropertiesChanged" && $0.arguments[1]["Name"]?.text == "Cats" }
        }
        let added = watch.signals.filter { $0.member == "InterfacesAdded" }
        #expect(added.map { $0.arguments[0].text } == [Self.path])
        #expect(added.first?.arguments[1][House.application]?.fields == all.fields)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a manifest that is wrong is refused with its places`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      let wrongs: [(manifest: String, says: [String])] = [
        ("", ["empty"]), ("{", ["expected"]), ("{}", ["CFBundleIdentifier"]),
        (#"{"CFBundleIdentifier": "cats"}"#, ["CFBundleIdentifier", "cats"]),
        (
          Manifests.application(
            "org.example.Cats", types: "viewCat",
            configurations: Manifests.configuration("Main", more: #", "StagedoorLaunch": "twice""#)),
          ["StagedoorLaunch", "twice"]
        ),
        (
          Manifests.application(
            "org.example.Cats", types: "viewCat",
            configurations: Manifests.configuration("Main") + "," + Manifests.configuration("Main")), ["Main"]
        ),
        (
          Manifests.application(
            "cats", types: "viewCat",
            configurations: Manifests.configuration("Main", more: #", "StagedoorCanActivatePredicate": "SELF =~ 'x'""#)),
          ["CFBundleIdentifier"]
        ),
      ]
      for (manifest, says) in wrongs {
        let error = try await house.refusal("RegisterApplication", "string:\(manifest)")
        #expect(error.name == "org.stagedoor.Error.InvalidManifest", "\(manifest): \(error)")
        for words in says where words != "empty" { #expect(error.message.contains(words), "\(error)") }
      }
      // If only conditions are wrong, the message says so.
      let conditions = #", "StagedoorCanActivatePredicate": "SELF =~ 'x'", "StagedoorPrefersToActivatePredicate": "x""#
      let manifest = Manifests.application(
        "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main", more: conditions))
      let error = try await house.refusal("RegisterApplication", "string:\(manifest)")
      #expect(error.name == "org.stagedoor.Error.InvalidPredicate")
      for words in ["StagedoorCanActivatePredicate", "column"] { #expect(error.message.contains(words), "\(error)") }
      let objects = try await house.call("GetManagedObjects", in: "org.freedesktop.DBus.ObjectManager")
      #expect(objects[0].elements.isEmpty)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `NewSession makes a window of the configuration that is named, or of the default one`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.register(Manifests.oneScene)
      func new(_ configuration: String) async throws -> Landing {
        try house.landing(
          try await house.call("NewSession", "string:\(configuration)", at: Self.path, in: House.application))
      }
      let (plain, named, again) = try await (new(""), new("Cat Detail"), new("Cat Detail"))
      #expect([plain, named, again].map(\.outcome) == ["created", "created", "created"])
      #expect(Set([plain, named, again].map(\.session)).count == 3)
      #expect(try await house.property("Configuration", of: plain.session) == "Default")
      #expect(try await house.property("Configuration", of: named.session) == "Cat Detail")
      let unknown = try await house.refusal("NewSession", "string:Dog", at: Self.path, in: House.application)
      #expect(unknown.name == "org.stagedoor.Error.NoSuchConfiguration")
      #expect(unknown.message.contains("Dog"))
      _ = try await house.newSession("", of: "org.example.Player")
      let second = try await house.refusal(
        "NewSession", "string:", at: "\(House.root)/application/org_2eexample_2ePlayer", in: House.application)
      #expect(second.name == "org.stagedoor.Error.MultipleScenesNotSupported")
      let nobody = try await house.refusal(
        "NewSession", "string:", at: "\(House.root)/application/org_2eexample_2eNone", in: House.application)
      #expect(nobody.name == "org.freedesktop.DBus.Error.UnknownObject")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `the preferred application takes what several declare, until that is cleared, also after a restart`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      for identifier in ["org.example.A", "org.example.B"] {
        let manifest = Manifests.application(identifier, types: "view", configurations: Manifests.configuration("Main"))
        try house.write(manifest, to: "\(house.applications)/\(identifier).json")
      }
      func preferred() async throws -> String? {
        try await house.call("GetPreferredApplication", "string:view").first?.text
      }
      func taker() async throws -> String? {
        try await house.explain(Payloads.activity("view", "one"))["application"]?["chosen"]?.text
      }
      try await house.serving { _ in
        #expect(try await preferred() == "")
        #expect(try await taker() == "org.example.A")
        #expect(try await house.call("SetPreferredApplication", "string:view", "string:org.example.B").isEmpty)
        #expect(try await preferred() == "org.example.B")
        #expect(try await taker() == "org.example.B")
        let unknown = try await house.refusal("SetPreferredApplication", "string:view", "string:org.example.None")
        #expect(unknown.name == "org.stagedoor.Error.NoSuchApplication")
        let undeclared = try await house.refusal("SetPreferredApplication", "string:sing", "string:org.example.A")
        #expect(undeclared.name == "org.stagedoor.Error.ActivityTypeNotDeclared")
        #expect(undeclared.message.contains(#""sing": add it to NSUserActivityTypes"#))
        let content = try await house.refusal("SetPreferredApplication", "string:text/plain", "string:org.example.A")
        #expect(content.message.contains(#""text/plain": add it to CFBundleDocumentTypes"#))
      }
      try await house.serving { _ in
        #expect(try await preferred() == "org.example.B")
        _ = try await house.call("SetPreferredApplication", "string:view", "string:")
        #expect(try await preferred() == "")
        #expect(try await taker() == "org.example.A")
      }
    }
  }

  @Test func `the application that would take a type is the first of those that take it`() async throws {
    try await withService { house in
      for (identifier, name) in [("org.example.A", "Album"), ("org.example.B", "Book")] {
        let manifest = """
          {"CFBundleIdentifier": "\(identifier)", "CFBundleName": "\(name)", "NSUserActivityTypes": ["view"],
           "CFBundleDocumentTypes": [{"LSItemContentTypes": ["image/*"]}],
           "UIApplicationSceneManifest": {"UIApplicationSupportsMultipleScenes": true, "UISceneConfigurations":
            {"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Main"}]}}}
          """
        try await house.register(manifest)
      }
      func handlers(of type: String) async throws -> [[String?]] {
        try await house.call("ListHandlers", "string:\(type)").first?.elements.map { $0.elements.map(\.text) } ?? []
      }
      #expect(try await handlers(of: "view") == [["org.example.A", "Album"], ["org.example.B", "Book"]])
      _ = try await house.newSession("", of: "org.example.B")
      #expect(try await handlers(of: "view") == [["org.example.B", "Book"], ["org.example.A", "Album"]])
      #expect(try await handlers(of: "image/png") == [["org.example.B", "Book"], ["org.example.A", "Album"]])
      _ = try await house.call("SetPreferredApplication", "string:view", "string:org.example.A")
      #expect(try await handlers(of: "view") == [["org.example.A", "Album"], ["org.example.B", "Book"]])
      #expect(try await handlers(of: "sing").isEmpty)
    }
  }

  @Test func `of sessions without a scene as many are kept as the manifest says, those that were used last`()
    async throws
  {
    try await withService { house in
      let manifest = """
        {"CFBundleIdentifier": "org.example.Cats", "NSUserActivityTypes": ["view"], "StagedoorKeepSessions": 2,
         "UIApplicationSceneManifest": {"UIApplicationSupportsMultipleScenes": true, "UISceneConfigurations":
          {"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Main"}]}}}
        """
      try await house.register(manifest)
      // Nobody takes these deliveries. A session counts once its delivery is over.
      for key in ["cat1", "cat2", "cat3"] {
        let payload =
          #"{"activity": {"activityType": "view", "targetContentIdentifier": "\#(key)"}, "#
          + #""options": {"wait": "handled", "deadline": 0.01}}"#
        #expect(try await house.refusal("Deliver", "string:\(payload)").name == "org.stagedoor.Error.HostTimeout")
      }
      _ = try await house.drop("view", "cat4")
      let keys = try await house.call("ListSessions", "string:org.example.Cats", "string:", "uint32:0")
      #expect(keys.first?.elements.map { $0.elements[4].text } == ["cat3", "cat4"])
      let discarded = try await house.events().filter { $0.name == "SessionDiscarded" }
      #expect(discarded.count == 2)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `events are kept by number, and read page by page`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      #expect(try await house.eventSequence() == "0")
      #expect(try await house.events().isEmpty)
      for key in ["cat1", "cat2", "cat3"] { _ = try await house.drop("viewCat", key) }
      #expect(try await house.eventSequence() == "3")
      let all = try await house.events()
      #expect(all.map(\.sequence) == ["1", "2", "3"])
      #expect(all.map { $0.arguments["target_content_identifier"] } == ["cat1", "cat2", "cat3"])
      #expect(try await house.events(limit: 2) == Array(all.prefix(2)))
      #expect(try await house.events(since: "2") == Array(all.suffix(1)))
      #expect(try await house.events(since: "3").isEmpty)
      for sequence in ["4", "18446744073709551615"] {
        let error = try await house.refusal("EventsSince", "uint64:\(sequence)", "uint32:0")
        #expect(error.name == "org.stagedoor.Error.EventsGone")
        #expect(error.message.contains("go on from"))
      }
    }
  }
}
