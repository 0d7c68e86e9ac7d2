import SceneModel
import Testing

@Suite struct ManifestFaultTests {
  private static let scenes = "UIApplicationSceneManifest.UISceneConfigurations"
  private static let main = "\(scenes).UIWindowSceneSessionRoleApplication[0]"

  private static let atTop: [(String, String)] = [
    (#""CFBundleDisplayName":7,"#, "CFBundleDisplayName: expected text, got 7"),
    (#""CFBundleName":["a"],"#, "CFBundleName: expected text, got a list"),
    (#""CFBundleName":"a\u0000","#, "CFBundleName: expected text without NUL"),
    (#""NSUserActivityTypes":"a","#, "NSUserActivityTypes: expected a list of activity types, got \"a\""),
    (#""NSUserActivityTypes":["a",""],"#, "NSUserActivityTypes[1]: expected an activity type, got \"\""),
    (#""NSUserActivityTypes":[{}],"#, "NSUserActivityTypes[0]: expected an activity type, got a dictionary"),
    (
      #""CFBundleDocumentTypes":[{"LSHandlerRank":"owner"}],"#,
      "CFBundleDocumentTypes[0].LSHandlerRank: expected \"Owner\", \"Default\", \"Alternate\" or \"None\", got \"owner\""
    ),
    (
      #""StagedoorUnderstudy":"me","#,
      "StagedoorUnderstudy: expected true, or the name on the bus of the program that stands in, got \"me\""
    ),
    (#""CFBundleDocumentTypes":{},"#, "CFBundleDocumentTypes: expected a list of document types, got a dictionary"),
    (
      #""CFBundleDocumentTypes":["public.image"],"#,
      "CFBundleDocumentTypes[0]: expected a document type, got \"public.image\""
    ),
    (
      #""CFBundleDocumentTypes":[{"LSItemContentTypes":"public.image"}],"#,
      "CFBundleDocumentTypes[0].LSItemContentTypes: expected a list of content types, got \"public.image\""
    ),
    (
      #""CFBundleDocumentTypes":[{},{"LSItemContentTypes":["image/*","png"]}],"#,
      "CFBundleDocumentTypes[1].LSItemContentTypes[1]: expected a content type such as image/png or public.png, "
        + "got \"png\": there is neither a slash nor a dot"
    ),
    (
      #""CFBundleDocumentTypes":[{"LSItemContentTypes":[1]}],"#,
      "CFBundleDocumentTypes[0].LSItemContentTypes[0]: expected a MIME type or a uniform type identifier, got 1"
    ),
    (#""StagedoorDynamicConfiguration":"yes","#, "StagedoorDynamicConfiguration: expected true or false, got \"yes\""),
    (#""StagedoorRouting":"UIKit","#, "StagedoorRouting: expected \"seated\" or \"uikit\", got \"UIKit\""),
    (#""StagedoorExec":["gallery"],"#, "StagedoorExec: expected a command line, got a list"),
    (#""StagedoorExec":"","#, "StagedoorExec: expected a command line, got \"\""),
  ]

  @Test(arguments: atTop.indices)
  func `of an application`(index: Int) {
    #expect(ManifestTests.faults(ManifestTests.json(Self.atTop[index].0)) == [Self.atTop[index].1])
  }

  private static let inConfiguration: [(String, String)] = [
    (#""UISceneDelegateClassName":1,"#, ".UISceneDelegateClassName: expected text, got 1"),
    (#""UISceneStoryboardFile":[],"#, ".UISceneStoryboardFile: expected text, got a list"),
    (#""UISceneClassName":true,"#, ".UISceneClassName: expected text, got true"),
    (#""StagedoorActivityTypes":"a","#, ".StagedoorActivityTypes: expected a list of activity types, got \"a\""),
    (
      #""StagedoorActivityTypes":[1],"#,
      ".StagedoorActivityTypes[0]: expected an activity type, or a family such as com.example.*, got 1"
    ),
    (
      #""StagedoorActivityTypes":["a.b","a.c"],"#,
      ".StagedoorActivityTypes[1]: expected a type that NSUserActivityTypes declares, got \"a.c\""
    ),
    (
      #""StagedoorActivityTypes":["a.*","b.*"],"#,
      ".StagedoorActivityTypes[1]: expected a type that NSUserActivityTypes declares, got \"b.*\""
    ),
    (
      #""StagedoorActivityTypes":["a.b.*"],"#,
      ".StagedoorActivityTypes[0]: expected a type that NSUserActivityTypes declares, got \"a.b.*\""
    ),
    (#""StagedoorContentTypes":{},"#, ".StagedoorContentTypes: expected a list of content types, got a dictionary"),
    (
      #""StagedoorContentTypes":["image/png","text/plain"],"#,
      ".StagedoorContentTypes[1]: expected a type that CFBundleDocumentTypes declare, got \"text/plain\""
    ),
    (
      #""StagedoorContentTypes":["com.example.unheard-of"],"#,
      ".StagedoorContentTypes[0]: expected a type that CFBundleDocumentTypes declare, got \"com.example.unheard-of\""
    ),
    (#""StagedoorLaunch":"once","#, ".StagedoorLaunch: expected \"automatic\", \"new\" or \"single\", got \"once\""),
    (
      #""StagedoorMaximumSessions":0,"#,
      ".StagedoorMaximumSessions: expected a whole number from 1 to 2147483647, got 0"
    ),
    (
      #""StagedoorMaximumSessions":2147483648,"#,
      ".StagedoorMaximumSessions: expected a whole number from 1 to 2147483647, got 2147483648"
    ),
    (
      #""StagedoorMaximumSessions":1.0,"#,
      ".StagedoorMaximumSessions: expected a whole number from 1 to 2147483647, got 1.0"
    ),
    (
      #""StagedoorMaximumSessions":"3","#,
      ".StagedoorMaximumSessions: expected a whole number from 1 to 2147483647, got \"3\""
    ),
    (#""StagedoorCanActivatePredicate":true,"#, ".StagedoorCanActivatePredicate: expected a predicate, got true"),
    (
      #""StagedoorCanActivatePredicate":"SELF == 7","#,
      ".StagedoorCanActivatePredicate: column 9: expected a text in quotes, got \"7\"; SELF is a text, and a number "
        + "that stands in one is put in quotes as well"
    ),
    (
      #""StagedoorPrefersToActivatePredicate":"SELF LIKE 'a' AND","#,
      ".StagedoorPrefersToActivatePredicate: column 18: expected a condition, such as SELF == \"…\", got the end"
    ),
  ]

  @Test(arguments: inConfiguration.indices)
  func `of a configuration`(index: Int) {
    let declared = #""NSUserActivityTypes":["a.b"],"CFBundleDocumentTypes":[{"LSItemContentTypes":["public.image"]}],"#
    let json = ManifestTests.json(declared, configuration: Self.inConfiguration[index].0)
    #expect(ManifestTests.faults(json) == [Self.main + Self.inConfiguration[index].1])
  }

  @Test(arguments: [
    "image/png", "public.png", "image/*", "public.image", "public.data", "*/*", "image/x-unheard-of", "public.content",
  ])
  func `a configuration may take less than its application, or more than that of a kind`(type: String) throws {
    let declared = #""CFBundleDocumentTypes":[{"LSItemContentTypes":["public.image"]}],"#
    _ = try ManifestTests.manifest(
      ManifestTests.json(declared, configuration: "\"StagedoorContentTypes\":[\"\(type)\"],"))
  }

  private static let withoutConfigurations: [(String, [String])] = [
    ("", ["UIApplicationSceneManifest: expected UISceneConfigurations with at least one configuration, got nothing"]),
    (
      #","UIApplicationSceneManifest":null"#,
      ["UIApplicationSceneManifest: expected UISceneConfigurations with at least one configuration, got nothing"]
    ),
    (#","UIApplicationSceneManifest":[]"#, ["UIApplicationSceneManifest: expected a scene manifest, got a list"]),
    (#","UIApplicationSceneManifest":{}"#, ["\(scenes): expected at least one configuration, got nothing"]),
    (
      #","UIApplicationSceneManifest":{"UIApplicationSupportsMultipleScenes":1}"#,
      [
        "UIApplicationSceneManifest.UIApplicationSupportsMultipleScenes: expected true or false, got 1",
        "\(scenes): expected at least one configuration, got nothing",
      ]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":{}}"#,
      ["\(scenes): expected at least one configuration, got none"]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":{"r":[],"s":[]}}"#,
      ["\(scenes): expected at least one configuration, got none"]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":[]}"#,
      ["\(scenes): expected roles with configurations, got a list"]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":{"r":{}}}"#,
      ["\(scenes).r: expected a list of configurations, got a dictionary"]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":{"r":["Main"]}}"#,
      ["\(scenes).r[0]: expected a configuration, got \"Main\""]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":{"r":[{}]}}"#,
      ["\(scenes).r[0].UISceneConfigurationName: expected a configuration's name, got nothing"]
    ),
    (
      #","UIApplicationSceneManifest":{"UISceneConfigurations":{"r":[{"UISceneConfigurationName":""}]}}"#,
      ["\(scenes).r[0].UISceneConfigurationName: expected a configuration's name, got \"\""]
    ),
  ]

  @Test(arguments: withoutConfigurations.indices)
  func `an application without windows is told what is missing, once`(index: Int) {
    let (scenes, faults) = Self.withoutConfigurations[index]
    #expect(ManifestTests.faults("{\"CFBundleIdentifier\":\"a.b\"\(scenes)}") == faults)
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
