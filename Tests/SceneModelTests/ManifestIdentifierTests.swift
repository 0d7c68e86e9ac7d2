import SceneModel
import Testing

@Suite struct ManifestIdentifierTests {
  private static let expected = "CFBundleIdentifier: expected a name on the bus such as org.example.Gallery, got "

  private func json(_ identifier: String?) -> String {
    ManifestTests.json(identifier: identifier.map { "\"CFBundleIdentifier\":\"\($0)\"," } ?? "")
  }

  @Test(arguments: [
    "a.b", "org.example.Gallery", "com.example.apple-samplecode.Gallery", "_a._b", "-a.-b", "a.B9.c-d_e",
  ])
  func `an identifier is a name on the bus`(identifier: String) throws {
    #expect(try ManifestTests.manifest(json(identifier)).identifier == Text(identifier))
    #expect(ApplicationIdentifier.isValid(Text(identifier)))
  }

  @Test(arguments: ["a", "a.", ".a", "a..b", ".", "a b.c", "a.9b", "9a.b", "a.é", "a.b/c", "a.b*", ":1.7"])
  func `what is no name on the bus is none`(identifier: String) {
    #expect(ManifestTests.faults(json(identifier)) == ["\(Self.expected)\"\(identifier)\""])
    #expect(!ApplicationIdentifier.isValid(Text(identifier)))
  }

  @Test(arguments: ["org.freedesktop.DBus", "org.stagedoor.Interchange1"])
  func `what another has on the bus is no application's`(identifier: String) {
    #expect(
      ManifestTests.faults(json(identifier)) == [
        "\(Self.expected)\"\(identifier)\", which is no application's: another has it on the bus"
      ])
    #expect(!ApplicationIdentifier.isValid(Text(identifier)))
  }

  @Test func `an identifier has at most 255 bytes`() throws {
    let longest = "a." + String(repeating: "b", count: 253)
    _ = try ManifestTests.manifest(json(longest))
    #expect(ManifestTests.faults(json(longest + "b")) == ["CFBundleIdentifier: expected at most 255 bytes, got 256"])
  }

  @Test func `one has to be there`() {
    #expect(ManifestTests.faults(json(nil)) == ["\(Self.expected)nothing"])
    #expect(ManifestTests.faults(json("")) == ["\(Self.expected)\"\""])
    #expect(ManifestTests.faults(ManifestTests.json(identifier: "\"CFBundleIdentifier\":7,")) == ["\(Self.expected)7"])
    #expect(
      ManifestTests.faults(ManifestTests.json(identifier: "\"CFBundleIdentifier\":null,")) == [
        "\(Self.expected)nothing"
      ])
  }

  // MARK: Placeholders of Xcode

  @Test(arguments: ["$(PRODUCT_BUNDLE_IDENTIFIER)", "${PRODUCT_BUNDLE_IDENTIFIER}", nil])
  func `an installed file says by its name what Xcode would have filled in`(identifier: String?) throws {
    #expect(
      try ManifestTests.manifest(json(identifier), installedAs: "org.example.Gallery").identifier
        == "org.example.Gallery")
  }

  /// Only the whole identifier is filled in.
  @Test(
    arguments: [
      ("$(PRODUCT_BUNDLE_IDENTIFIER)", nil), ("com.example.$(PRODUCT_NAME:rfc1034identifier)", nil), ("${BUNDLE}", nil),
      ("com.example.$(PRODUCT_NAME)", "a.b"), ("$(PRODUCT_BUNDLE_IDENTIFIER).test", "a.b"),
    ] as [(String, Text?)])
  func `where nothing says it, the author has to`(identifier: String, installedAs: Text?) {
    let hint = "; Xcode fills this in as it builds: write the name itself"
    let faults = ManifestTests.faults(json(identifier), installedAs: installedAs)
    #expect(faults == ["\(Self.expected)\"\(identifier)\"\(hint)"])
  }

  @Test func `an installed file is called by its identifier`() throws {
    #expect(try ManifestTests.manifest(json("a.b"), installedAs: "a.b").identifier == "a.b")
    #expect(
      ManifestTests.faults(json("a.b"), installedAs: "a.c") == [
        "CFBundleIdentifier: expected \"a.c\", as its file is called, got \"a.b\""
      ])
    #expect(
      ManifestTests.faults(json("a.b"), installedAs: "A.b") == [
        "CFBundleIdentifier: expected \"A.b\", as its file is called, got \"a.b\""
      ])
  }

  @Test(arguments: ["$(PRODUCT_BUNDLE_IDENTIFIER)", nil])
  func `a file whose name is no identifier does not give one`(identifier: String?) {
    #expect(
      ManifestTests.faults(json(identifier), installedAs: "gallery") == [
        "\(Self.expected)\"gallery\", as its file is called"
      ])
  }

  @Test(arguments: [nil, "org.example.Gallery"] as [Text?])
  func `activity types may begin with the identifier that Xcode fills in`(installedAs: Text?) throws {
    let json = ManifestTests.json(
      #""CFBundleIdentifier":"org.example.Gallery","NSUserActivityTypes":["$(PRODUCT_BUNDLE_IDENTIFIER).openDetail","#
        + #""${PRODUCT_BUNDLE_IDENTIFIER}","x.$(PRODUCT_BUNDLE_IDENTIFIER)","$(PRODUCT_BUNDLE_IDENTIFIER)\#u{301}"],"#,
      configuration: #""StagedoorActivityTypes":["org.example.Gallery.openDetail","$(PRODUCT_BUNDLE_IDENTIFIER).*"],"#,
      identifier: "")
    let read = try ManifestTests.manifest(json, installedAs: installedAs)
    #expect(
      read.activityTypes == [
        "org.example.Gallery.openDetail", "org.example.Gallery", "x.$(PRODUCT_BUNDLE_IDENTIFIER)",
        "org.example.Gallery\u{301}",
      ])
    #expect(read.configurations[0].activityTypes == ["org.example.Gallery.openDetail", "org.example.Gallery.*"])
  }

  @Test func `the identifier is known before it stands there`() throws {
    let json = #"""
      {"NSUserActivityTypes":["$(PRODUCT_BUNDLE_IDENTIFIER).open"],"UIApplicationSceneManifest":{"UISceneConfigurations":{
       "r":[{"UISceneConfigurationName":"Main","StagedoorActivityTypes":["a.b.open"]}]}},"CFBundleIdentifier":"a.b"}
      """#
    #expect(try ManifestTests.manifest(json).activityTypes == ["a.b.open"])
  }
}
