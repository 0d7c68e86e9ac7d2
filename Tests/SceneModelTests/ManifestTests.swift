import SceneModel
import SceneTestSupport
import Testing

@Suite struct ManifestTests {
  static let types = TypeCatalog()

  static func manifest(_ json: String, installedAs: Text? = nil) throws -> Manifest {
    try Manifest(Array(json.utf8), installedAs: installedAs, types: types)
  }

  /// The faults of a bad manifest, each on a line.
  static func faults(_ json: String, installedAs: Text? = nil) -> [String] {
    let faults = #expect(throws: Faults.self) { try manifest(json, installedAs: installedAs) }
    return faults?.all.map(\.description) ?? []
  }

  /// A manifest with one configuration, and other keys.
  static func json(
    _ more: String = "", configuration: String = "", identifier: String = #""CFBundleIdentifier":"a.b","#
  ) -> String {
    "{\(identifier)\(more)\"UIApplicationSceneManifest\":{\"UISceneConfigurations\":{"
      + "\"UIWindowSceneSessionRoleApplication\":[{\(configuration)\"UISceneConfigurationName\":\"Main\"}]}}}"
  }

  private static let everything = #"""
    {"CFBundleIdentifier":"org.example.Gallery","CFBundleDisplayName":"Gallery","CFBundleName":"gallery",
     "NSUserActivityTypes":["org.example.open","org.example.edit","org.example.open"],
     "CFBundleDocumentTypes":[{"CFBundleTypeName":"Image","LSItemContentTypes":["public.image","image/*"]},{},
      {"LSItemContentTypes":["text/plain"],"LSHandlerRank":"Alternate"}],
     "UIApplicationSceneManifest":{"UIApplicationSupportsMultipleScenes":true,"UISceneConfigurations":{
      "z":[{"UISceneConfigurationName":"Detail"}],
      "UIWindowSceneSessionRoleApplication":[
       {"UISceneConfigurationName":"Default","UISceneDelegateClassName":"a","UISceneStoryboardFile":"b","UISceneClassName":"c"},
       {"UISceneConfigurationName":"Detail","StagedoorActivityTypes":["org.example.open","org.example.*"],
        "StagedoorContentTypes":["image/png"],"StagedoorLaunch":"single","StagedoorMaximumSessions":3,
        "StagedoorCanActivatePredicate":"SELF != \"x\"","StagedoorPrefersToActivatePredicate":""}]}},
     "StagedoorDynamicConfiguration":true,"StagedoorRouting":"uikit","StagedoorUnderstudy":"org.example.Understudy",
     "StagedoorExec":"gallery --scenes"}
    """#

  @Test func `every key is read`() throws {
    let read = try Self.manifest(Self.everything, installedAs: "org.example.Gallery")
    let conditions = ActivationConditions(can: try Predicate("SELF != \"x\""))
    let expected = Manifest(
      identifier: "org.example.Gallery", displayName: "Gallery", bundleName: "gallery",
      activityTypes: ["org.example.open", "org.example.edit"],
      contentTypes: ["public.image", "image/*", "text/plain"].compactMap { ContentType($0, as: .asked) },
      handlerRanks: Dictionary(
        uniqueKeysWithValues: ["text/plain"].compactMap { ContentType($0) }.map { ($0, .alternate) }),
      supportsMultipleScenes: true,
      configurations: [
        SceneConfiguration(name: "Default", delegateClassName: "a", storyboardFile: "b", sceneClassName: "c"),
        SceneConfiguration(
          name: "Detail", activityTypes: ["org.example.open", "org.example.*"],
          contentTypes: ["image/png"].compactMap { ContentType($0) }, launch: .single, conditions: conditions,
          maximumSessions: 3),
        SceneConfiguration(name: "Detail", role: "z"),
      ], isDynamic: true, routing: .uikit, understudy: .owner("org.example.Understudy"), exec: "gallery --scenes")
    #expect(read == expected)
  }

  @Test(
    arguments: [
      ("true", .registrar), ("\"YES\"", .registrar), ("false", nil), ("\"NO\"", nil), ("null", nil),
      ("\"org.example.Understudy\"", .owner("org.example.Understudy")),
    ] as [(String, Manifest.Understudy?)])
  func `an understudy is whoever registers it, or the owner of a name`(text: String, understudy: Manifest.Understudy?)
    throws
  {
    #expect(try Self.manifest(Self.json("\"StagedoorUnderstudy\":\(text),")).understudy == understudy)
  }

  @Test func `of several ranks of one type the highest counts`() throws {
    let types = { (rank: String) in #"{"LSHandlerRank":"\#(rank)","LSItemContentTypes":["a/b"]}"# }
    for (one, other, rank) in [("Owner", "None", .owner), ("Alternate", "Default", .default), ("None", "None", .none)]
      as [(String, String, Manifest.HandlerRank)]
    {
      for list in ["\(types(one)),\(types(other))", "\(types(other)),\(types(one))"] {
        let read = try Self.manifest(Self.json(#""CFBundleDocumentTypes":[\#(list)],"#))
        #expect(read.rank(of: try #require(ContentType("a/b"))) == rank)
        #expect(read.contentTypes.count == 1)
      }
    }
  }

  @Test func `what nobody says is as the page for authors has it`() throws {
    let read = try Self.manifest(Self.json())
    #expect(read == Manifest(identifier: "a.b", configurations: [SceneConfiguration(name: "Main")]))
    #expect(!read.supportsMultipleScenes && !read.isDynamic && read.routing == .seated && read.exec == nil)
    let configuration = read.configurations[0]
    #expect(configuration.role == "UIWindowSceneSessionRoleApplication")
    #expect(configuration.launch == .automatic && configuration.maximumSessions == nil && configuration.namesNoTypes)
    #expect(configuration.conditions == ActivationConditions())
  }

  @Test func `a command to start the application counts in an installed manifest only`() throws {
    let json = Self.json(#""StagedoorExec":"rm -r ~","#)
    #expect(try Self.manifest(json).exec == nil)
    #expect(try Self.manifest(json, installedAs: "a.b").exec == "rm -r ~")
  }

  @Test(arguments: [
    ("true", true), ("false", false), (#""YES""#, true), (#""NO""#, false), ("null", false),
  ])
  func `a switch may be YES or NO, as in old property lists`(value: String, isOn: Bool) throws {
    let json = """
      {"CFBundleIdentifier":"a.b","StagedoorDynamicConfiguration":\(value),"UIApplicationSceneManifest":{
       "UIApplicationSupportsMultipleScenes":\(value),"UISceneConfigurations":{"r":[{"UISceneConfigurationName":"Main"}]}}}
      """
    let read = try Self.manifest(json)
    #expect(read.isDynamic == isOn)
    #expect(read.supportsMultipleScenes == isOn)
  }

  @Test(
    arguments: [
      (#""CFBundleDisplayName":"Display","CFBundleName":"Name","#, "Display"), (#""CFBundleName":"Name","#, "Name"),
      (#""CFBundleDisplayName":"","CFBundleName":"Name","#, "Name"), ("", "a.b"),
      (#""CFBundleDisplayName":"$(PRODUCT_NAME)","CFBundleName":"${PRODUCT_NAME}","#, "a.b"),
      (#""CFBundleDisplayName":"My $(PRODUCT_NAME)","CFBundleName":"Cost: $5","#, "Cost: $5"),
    ] as [(String, Text)])
  func `people read the first name that is one`(keys: String, name: Text) throws {
    #expect(try Self.manifest(Self.json(keys)).name == name)
  }

  @Test func `keys that mean nothing here may hold anything`() throws {
    for value in ["1", "1e999", "\"\"", "null", "true", "[1,[]]", "{\"CFBundleIdentifier\":7}"] {
      let json = """
        {"CFBundleVersion":\(value),"NSCameraUsageDescription":\(value),"CFBundleIdentifier":"a.b",
         "CFBundleDocumentTypes":[{"CFBundleTypeName":\(value),"LSTypeIsPackage":\(value)}],
         "UIApplicationSceneManifest":{"CPSupportsDashboardNavigationScene":\(value),"UISceneConfigurations":{"r":[
          {"UISceneConfigurationName":"Main","UISceneSomethingNew":\(value),"stagedoorLaunch":\(value)}]}}}
        """
      #expect(
        try Self.manifest(json)
          == Manifest(identifier: "a.b", configurations: [SceneConfiguration(name: "Main", role: "r")]))
    }
  }

  @Test func `JSON and property lists give equal manifests, however they are ordered`() throws {
    let tree = try JSON.value(Text(Self.everything))
    let expected = try Self.manifest(Self.everything, installedAs: "org.example.Gallery")
    for format in PropertyList.Format.allCases {
      let read = try Manifest(
        PropertyList.write(tree, as: format), installedAs: "org.example.Gallery", types: Self.types)
      #expect(read == expected)
    }
    let marked = [0xEF, 0xBB, 0xBF, 0x0A, 0x20] + Array(Self.everything.utf8)
    #expect(try Manifest(marked, installedAs: "org.example.Gallery", types: Self.types) == expected)
  }

  @Test(
    arguments: [
      ("com.example.*", "com.example.a", true), ("com.example.*", "com.example.a.b", true),
      ("com.example.*", "com.example", false), ("com.example.*", "com.example.", false),
      ("com.example.*", "com.exampleX.a", false), ("com.example.*", "com.example.*", true),
      ("com.example", "com.example.a", false), ("com.example*", "com.example.a", false), ("*", "a", false),
      (".*", ".a", false), ("a.*", "a.é", true), ("a.*.*", "a.b", false), ("a.*.*", "a.*.b", true),
    ] as [(Text, Text, Bool)])
  func `a family has what begins like it and goes on`(family: Text, type: Text, isOfIt: Bool) {
    #expect(ActivityTypeFamily.family(family, contains: type) == isOfIt)
    #expect(SceneConfiguration(name: "Main", activityTypes: ["x", family]).namesFamily(of: type) == isOfIt)
  }
}

/// Manifests as Xcode writes them.
@Suite struct ManifestFixtureTests {
  private func manifests(_ name: String, installedAs: Text? = nil) throws -> [Result<Manifest, Faults>] {
    try [Fixture.xml(name), Fixture.binary(name)].map { bytes in
      do throws(Faults) {
        return .success(try Manifest(bytes, installedAs: installedAs, types: ManifestTests.types))
      } catch {
        return .failure(error)
      }
    }
  }

  private static let loaded: [(String, Text?, Text, [Text])] = [
    ("Notes", nil, "eu.mackuba.Notes", ["Default Configuration", "Compose", "External Configuration"]),
    ("Gallery", nil, "com.example.apple-samplecode.Gallery", ["Default Configuration", "Inspector Configuration"]),
    ("BuiltApp", nil, "com.example.apple-samplecode.Gallery", ["Default Configuration", "Inspector Configuration"]),
    ("UIKitProject", "org.example.Project", "org.example.Project", ["Default Configuration"]),
  ]

  @Test(arguments: loaded)
  func `a project's manifest is read as it stands`(
    name: String, installedAs: Text?, identifier: Text, configurations: [Text]
  ) throws {
    for outcome in try manifests(name, installedAs: installedAs) {
      let manifest = try outcome.get()
      #expect(manifest.identifier == identifier)
      #expect(manifest.configurations.map(\.name) == configurations)
      #expect(manifest.supportsMultipleScenes == (name != "UIKitProject"))
      #expect(manifest.configurations.allSatisfy { $0.namesNoTypes && $0.launch == .automatic })
    }
  }

  private static let noWindows =
    "UIApplicationSceneManifest.UISceneConfigurations: expected at least one configuration, got none"
  private static let noName =
    "CFBundleIdentifier: expected a name on the bus such as org.example.Gallery, got "
    + "\"$(PRODUCT_BUNDLE_IDENTIFIER)\"; Xcode fills this in as it builds: write the name itself"

  private static let refused: [(String, Text?, [String])] = [
    // SwiftUI makes its windows in code, and declares none here.
    ("SwiftUIProject", "org.example.Project", [noWindows]), ("SwiftUIProject", nil, [noName, noWindows]),
    ("UIKitProject", nil, [noName]),
    (
      "EveryKind", nil,
      [
        "CFBundleIdentifier: expected a name on the bus such as org.example.Gallery, got nothing",
        "UIApplicationSceneManifest: expected UISceneConfigurations with at least one configuration, got nothing",
      ]
    ),
  ]

  @Test(arguments: refused)
  func `what has no windows, or no name, is told so`(name: String, installedAs: Text?, faults: [String]) throws {
    for outcome in try manifests(name, installedAs: installedAs) {
      let error = #expect(throws: Faults.self) { try outcome.get() }
      #expect(error?.all.map(\.description) == faults)
    }
  }

  @Test func `the built application says what it opens`() throws {
    let manifest = try Manifest(try Fixture.xml("BuiltApp"), types: ManifestTests.types)
    #expect(manifest.activityTypes == ["com.apple.gallery.openDetail", "com.apple.gallery.openInspector"])
    #expect(manifest.contentTypes.map(\.spelling) == ["public.png", "public.jpeg", "com.example.gallery.album"])
    #expect(manifest.name == "Gallery")
    #expect(manifest.configurations[1].delegateClassName == "Gallery.InspectorSceneDelegate")
  }
}
