import DBusTestSupport
import Testing

/// Applications that are registered and listed.
@Suite struct ApplicationTests {
  @Test func `an application that registers is an object, and registering again replaces it`() async throws {
    try await withService { house in
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

  @Test func `a manifest that is wrong is refused with its places`() async throws {
    try await withService { house in
      let launch = Manifests.configuration("Main", more: #", "StagedoorLaunch": "twice""#)
      let wrong = Manifests.application("org.example.Cats", types: "viewCat", configurations: launch)
      let fault = try await house.refusal("RegisterApplication", "string:\(wrong)")
      #expect(fault.name == "org.stagedoor.Error.InvalidManifest")
      for words in ["StagedoorLaunch", "twice"] { #expect(fault.message.contains(words), "\(fault)") }
      // If only conditions are wrong, the message says so.
      let conditions = #", "StagedoorCanActivatePredicate": "SELF =~ 'x'", "StagedoorPrefersToActivatePredicate": "x""#
      let manifest = Manifests.application(
        "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main", more: conditions))
      let error = try await house.refusal("RegisterApplication", "string:\(manifest)")
      #expect(error.name == "org.stagedoor.Error.InvalidPredicate")
      for words in ["StagedoorCanActivatePredicate", "column"] { #expect(error.message.contains(words), "\(error)") }
      let objects = try await house.call("GetManagedObjects", in: House.manager)
      #expect(objects[0].elements.isEmpty)
    }
  }
}
