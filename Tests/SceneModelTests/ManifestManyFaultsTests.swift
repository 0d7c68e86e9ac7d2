import SceneModel
import SceneTestSupport
import Testing

/// All faults are reported at once, in the order of the document.
@Suite struct ManifestManyFaultsTests {
  private static let tenFaults = #"""
    {"CFBundleName":7,
     "UIApplicationSceneManifest":{"UIApplicationSupportsMultipleScenes":"maybe","UISceneConfigurations":{
      "UIWindowSceneSessionRoleApplication":[
       {"UISceneConfigurationName":"Main","StagedoorLaunch":"once"},
       {"UISceneConfigurationName":"Main"},
       {"StagedoorCanActivatePredicate":"SELF =="},
       {"UISceneConfigurationName":"Other","StagedoorActivityTypes":["a","b"],"StagedoorContentTypes":["a/b"]}],
      "other":"Main"}},
     "NSUserActivityTypes":["a"],
     "CFBundleIdentifier":"gallery"}
    """#

  @Test func `ten faults of ten kinds are told in one go`() {
    let roles = "UIApplicationSceneManifest.UISceneConfigurations"
    let main = "\(roles).UIWindowSceneSessionRoleApplication"
    #expect(
      ManifestTests.faults(Self.tenFaults) == [
        "CFBundleName: expected text, got 7",
        "UIApplicationSceneManifest.UIApplicationSupportsMultipleScenes: expected true or false, got \"maybe\"",
        "\(main)[0].StagedoorLaunch: expected \"automatic\", \"new\" or \"single\", got \"once\"",
        "\(main)[1].UISceneConfigurationName: expected each name once in a role, got \"Main\"",
        "\(main)[2].StagedoorCanActivatePredicate: column 8: expected a text in quotes, got the end",
        "\(main)[2].UISceneConfigurationName: expected a configuration's name, got nothing",
        "\(main)[3].StagedoorActivityTypes[1]: expected a type that NSUserActivityTypes declares, got \"b\"",
        "\(main)[3].StagedoorContentTypes[0]: expected a type that CFBundleDocumentTypes declare, got \"a/b\"",
        "\(roles).other: expected a list of configurations, got \"Main\"",
        "CFBundleIdentifier: expected a name on the bus such as org.example.Gallery, got \"gallery\"",
      ])
  }

  /// Apple's forms have no order of their own; their faults come in the order of the keys.
  @Test func `a property list with them has the same ones`() throws {
    let tree = try JSON.value(Text(Self.tenFaults))
    let places = ManifestTests.faults(Self.tenFaults).map { $0.prefix { $0 != ":" } }
    for format in PropertyList.Format.allCases {
      let faults = #expect(throws: Faults.self) {
        try Manifest(PropertyList.write(tree, as: format), types: ManifestTests.types)
      }
      #expect(faults?.all.map { $0.description.prefix { $0 != ":" } }.sorted() == places.sorted())
    }
  }

  @Test func `a text that cannot be taken apart has one fault`() {
    func fault(_ text: String) -> [String] { ManifestTests.faults(text) }
    #expect(fault("{\"CFBundleIdentifier\": }") == ["line 1, column 24: expected a value, got \"}\""])
    #expect(fault("{\"a\":1,\"a\":2}") == ["line 1, column 8: the key \"a\" stands here twice"])
    #expect(fault("") == ["expected JSON, or a property list in XML or binary, got nothing"])
    #expect(fault(" \n") == ["expected JSON, or a property list in XML or binary, got nothing"])
    #expect(fault("[]") == ["expected a manifest, got a list"])
    #expect(fault("<plist><array/></plist>") == ["expected a manifest, got an array"])
    #expect(
      fault("CFBundleIdentifier=a.b") == ["expected JSON, or a property list in XML or binary, got something else"])
    let notUTF8 = #expect(throws: Faults.self) { try Manifest([0x7B, 0xFF, 0x7D], types: ManifestTests.types) }
    #expect(notUTF8?.description == "expected JSON in UTF-8, got other bytes")
  }

  @Test func `more than a hundred faults are not counted`() {
    func faults(_ count: Int) -> [String] {
      let elements = [String](repeating: "7", count: count).joined(separator: ",")
      return ManifestTests.faults(ManifestTests.json("\"NSUserActivityTypes\":[\(elements)],"))
    }
    #expect(faults(Limits.faults).count == Limits.faults)
    #expect(faults(Limits.faults).last == "NSUserActivityTypes[99]: expected an activity type, got 7")
    #expect(faults(Limits.faults + 1) == faults(Limits.faults) + ["there is more wrong than these 100 faults"])
    #expect(faults(Limits.faults + 200) == faults(Limits.faults + 1))
  }

  private static let hostile: [@Sendable (Int) -> String] = [
    { "{\"NSUserActivityTypes\":[\(list("7", $0))]}" }, { "{\"CFBundleDocumentTypes\":[\(list("7", $0))]}" },
    { "{\"CFBundleDocumentTypes\":[\(list("{\"LSItemContentTypes\":[7]}", $0 / 4))]}" },
    { "{\"CFBundleDocumentTypes\":[\(list("{\"LSItemContentTypes\":7}", $0))]}" },
    { count in
      "{\"UIApplicationSceneManifest\":{\"UISceneConfigurations\":{\((0..<count).map { "\"\($0)\":7" }.joined(separator: ","))}}}"
    },
    { ManifestTests.json(configuration: "\"StagedoorActivityTypes\":[\(list("\"a.*\"", $0))],") },
    { count in
      ManifestTests.json("\"NSUserActivityTypes\":[\((0..<count).map { "\"\($0)\"" }.joined(separator: ","))],")
    },
    { "{\"UIApplicationSceneManifest\":{\"UISceneConfigurations\":{\"r\":[\(list("{}", $0))]}}}" },
  ]

  private static func list(_ element: String, _ count: Int) -> String {
    [String](repeating: element, count: count).joined(separator: ",")
  }

  @Test(arguments: hostile.indices)
  func `many faults cost little more than few`(index: Int) {
    let (small, large) = (Array(Self.hostile[index](1_000).utf8), Array(Self.hostile[index](4_000).utf8))
    #expect(growth(from: small, to: large) { _ = try? Manifest($0, types: ManifestTests.types) } < 9)
  }
}
