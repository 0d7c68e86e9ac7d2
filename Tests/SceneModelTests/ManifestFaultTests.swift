import SceneModel
import SceneTestSupport
import Testing

@Suite struct ManifestFaultTests {
  private static let scenes = "UIApplicationSceneManifest.UISceneConfigurations"
  private static let main = "\(scenes).UIWindowSceneSessionRoleApplication[0]"

  private static let atTop: [(String, String, String)] = triples(
    #"""
    | CFBundleDisplayName | 7 | : expected text, got 7 |
    | CFBundleName | ["a"] | : expected text, got a list |
    | CFBundleName | "a\u0000" | : expected text without NUL |
    | NSUserActivityTypes | "a" | : expected a list of activity types, got "a" |
    | NSUserActivityTypes | ["a",""] | [1]: expected an activity type, got "" |
    | NSUserActivityTypes | [{}] | [0]: expected an activity type, got a dictionary |
    | CFBundleDocumentTypes | [{"LSHandlerRank":"owner"}] | [0].LSHandlerRank: expected "Owner", "Default", "Alternate" or "None", got "owner" |
    | StagedoorUnderstudy | "me" | : expected true, or the name on the bus of the program that stands in, got "me" |
    | CFBundleDocumentTypes | {} | : expected a list of document types, got a dictionary |
    | CFBundleDocumentTypes | ["public.image"] | [0]: expected a document type, got "public.image" |
    | CFBundleDocumentTypes | [{"LSItemContentTypes":"public.image"}] | [0].LSItemContentTypes: expected a list of content types, got "public.image" |
    | CFBundleDocumentTypes | [{},{"LSItemContentTypes":["image/*","png"]}] | [1].LSItemContentTypes[1]: expected a content type such as image/png or public.png, got "png": there is neither a slash nor a dot |
    | CFBundleDocumentTypes | [{"LSItemContentTypes":[1]}] | [0].LSItemContentTypes[0]: expected a MIME type or a uniform type identifier, got 1 |
    | StagedoorDynamicConfiguration | "yes" | : expected true or false, got "yes" |
    | StagedoorRouting | "UIKit" | : expected "seated" or "uikit", got "UIKit" |
    | StagedoorExec | ["gallery"] | : expected a command line, got a list |
    | StagedoorExec | "" | : expected a command line, got "" |
    | StagedoorExec | " " | : expected a command line, got " " |
    | StagedoorExec | "sh -c 'unclosed" | : expected a command line, got "sh -c 'unclosed", which has a quotation mark without its other |
    """#)

  @Test(arguments: atTop)
  func `of an application`(key: String, value: String, fault: String) {
    #expect(ManifestTests.faults(ManifestTests.json("\"\(key)\":\(value),")) == [key + fault])
  }

  private static let inConfiguration: [(String, String, String)] = triples(
    #"""
    | UISceneDelegateClassName | 1 | : expected text, got 1 |
    | UISceneStoryboardFile | [] | : expected text, got a list |
    | UISceneClassName | true | : expected text, got true |
    | StagedoorActivityTypes | "a" | : expected a list of activity types, got "a" |
    | StagedoorActivityTypes | [1] | [0]: expected an activity type, or a family such as com.example.*, got 1 |
    | StagedoorActivityTypes | ["a.b","a.c"] | [1]: expected a type that NSUserActivityTypes declares, got "a.c" |
    | StagedoorActivityTypes | ["a.*","b.*"] | [1]: expected a type that NSUserActivityTypes declares, got "b.*" |
    | StagedoorActivityTypes | ["a.b.*"] | [0]: expected a type that NSUserActivityTypes declares, got "a.b.*" |
    | StagedoorContentTypes | {} | : expected a list of content types, got a dictionary |
    | StagedoorContentTypes | ["image/png","text/plain"] | [1]: expected a type that CFBundleDocumentTypes declare, got "text/plain" |
    | StagedoorContentTypes | ["com.example.unheard-of"] | [0]: expected a type that CFBundleDocumentTypes declare, got "com.example.unheard-of" |
    | StagedoorLaunch | "once" | : expected "automatic", "new" or "single", got "once" |
    | StagedoorMaximumSessions | 0 | : expected a whole number from 1 to 2147483647, got 0 |
    | StagedoorMaximumSessions | 2147483648 | : expected a whole number from 1 to 2147483647, got 2147483648 |
    | StagedoorMaximumSessions | 1.0 | : expected a whole number from 1 to 2147483647, got 1.0 |
    | StagedoorMaximumSessions | "3" | : expected a whole number from 1 to 2147483647, got "3" |
    | StagedoorCanActivatePredicate | true | : expected a predicate, got true |
    | StagedoorCanActivatePredicate | "SELF == 7" | : column 9: expected a text in quotes, got "7"; SELF is a text, and a number that stands in one is put in quotes as well |
    | StagedoorPrefersToActivatePredicate | "SELF LIKE 'a' AND" | : column 18: expected a condition, such as SELF == "…", got the end |
    """#)

  @Test(arguments: inConfiguration)
  func `of a configuration`(key: String, value: String, fault: String) {
    let declared = #""NSUserActivityTypes":["a.b"],"CFBundleDocumentTypes":[{"LSItemContentTypes":["public.image"]}],"#
    let json = ManifestTests.json(declared, configuration: "\"\(key)\":\(value),")
    #expect(ManifestTests.faults(json) == ["\(Self.main).\(key)\(fault)"])
  }

  @Test(arguments: [
    "image/png", "public.png", "image/*", "public.image", "public.data", "*/*", "image/x-unheard-of", "public.content",
  ])
  func `a configuration may take less than its application, or more than that of a kind`(type: String) throws {
    let declared = #""CFBundleDocumentTypes":[{"LSItemContentTypes":["public.image"]}],"#
    _ = try ManifestTests.manifest(
      ManifestTests.json(declared, configuration: "\"StagedoorContentTypes\":[\"\(type)\"],"))
  }

  @Test(
    arguments: pairs(
      #"""
      | {} | : expected at least one configuration, got none |
      | {"r":[],"s":[]} | : expected at least one configuration, got none |
      | [] | : expected roles with configurations, such as UIWindowSceneSessionRoleApplication, got a list |
      | {"r":{}} | .r: expected a list of configurations, got a dictionary |
      | {"r":["Main"]} | .r[0]: expected a configuration, got "Main" |
      | {"r":[{}]} | .r[0].UISceneConfigurationName: expected a configuration's name, got nothing |
      | {"r":[{"UISceneConfigurationName":""}]} | .r[0].UISceneConfigurationName: expected a configuration's name, got "" |
      """#))
  func `an application without windows is told what is missing`(configurations: String, fault: String) {
    let scenes = "{\"UISceneConfigurations\":\(configurations)}"
    let json = "{\"CFBundleIdentifier\":\"a.b\",\"UIApplicationSceneManifest\":\(scenes)}"
    #expect(ManifestTests.faults(json) == [Self.scenes + fault])
  }

  @Test func `one without a scene manifest is told so, once`() {
    func faults(_ more: String) -> [String] { ManifestTests.faults("{\"CFBundleIdentifier\":\"a.b\"\(more)}") }
    let missing =
      "UIApplicationSceneManifest: expected UISceneConfigurations with at least one configuration, got nothing"
    #expect(faults("") == [missing])
    #expect(faults(#","UIApplicationSceneManifest":null"#) == [missing])
    let list = faults(#","UIApplicationSceneManifest":[]"#)
    #expect(list == ["UIApplicationSceneManifest: expected a scene manifest, got a list"])
    let none = "\(Self.scenes): expected at least one configuration, got nothing"
    #expect(faults(#","UIApplicationSceneManifest":{}"#) == [none])
    #expect(
      faults(#","UIApplicationSceneManifest":{"UIApplicationSupportsMultipleScenes":1}"#) == [
        "UIApplicationSceneManifest.UIApplicationSupportsMultipleScenes: expected true or false, got 1", none,
      ])
  }

  @Test(arguments: ["", "$(ROLE)", "a\\u0000", "a\\nb", "\\uffff"])
  func `a role is a name`(role: String) throws {
    let scenes = "{\"UISceneConfigurations\":{\"\(role)\":[{\"UISceneConfigurationName\":\"Main\"}]}}"
    let faults = ManifestTests.faults("{\"CFBundleIdentifier\":\"a.b\",\"UIApplicationSceneManifest\":\(scenes)}")
    #expect(faults.count == 1)
    #expect(faults[0].contains(": expected a session role such as UIWindowSceneSessionRoleApplication, got \""))
  }

  @Test func `a name stands once in a role`() {
    let name = #"{"UISceneConfigurationName":"Main"}"#
    let other = #"{"UISceneConfigurationName":"Other"}"#
    let json = """
      {"CFBundleIdentifier":"a.b","UIApplicationSceneManifest":{"UISceneConfigurations":{
       "r":[\(name),\(other),\(name),\(name)],"s":[\(name)]}}}
      """
    #expect(
      ManifestTests.faults(json)
        == [2, 3].map {
          "\(Self.scenes).r[\($0)].UISceneConfigurationName: expected each name once in a role, got \"Main\""
        })
  }

  @Test func `what cannot be declared is not held against what is taken`() {
    let taking = #""StagedoorActivityTypes":["x"],"StagedoorContentTypes":["a/b"],"#
    let json = ManifestTests.json(#""NSUserActivityTypes":7,"CFBundleDocumentTypes":7,"#, configuration: taking)
    #expect(
      ManifestTests.faults(json) == [
        "NSUserActivityTypes: expected a list of activity types, got 7",
        "CFBundleDocumentTypes: expected a list of document types, got 7",
      ])
  }
}

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
