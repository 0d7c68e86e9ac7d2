import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// Installed manifests, which may change while the service runs.
@Suite struct ManifestFileTests {
  static func cats(_ name: String, types: String = #""viewCat""#) -> String {
    """
    {
      "CFBundleIdentifier": "org.example.Cats", "CFBundleName": "\(name)",
      "NSUserActivityTypes": [\(types)],
      "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": true,
        "UISceneConfigurations": {
          "UIWindowSceneSessionRoleApplication": [
            {"UISceneConfigurationName": "Default"},
            {"UISceneConfigurationName": "Cat Detail", "StagedoorActivityTypes": ["viewCat"]}
          ]
        }
      }
    }
    """
  }

  static func list(_ name: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
      <key>CFBundleIdentifier</key><string>org.example.Cats</string>
      <key>CFBundleName</key><string>\(name)</string>
      <key>NSUserActivityTypes</key><array><string>viewCat</string></array>
      <key>UIApplicationSceneManifest</key><dict>
        <key>UIApplicationSupportsMultipleScenes</key><true/>
        <key>UISceneConfigurations</key><dict>
          <key>UIWindowSceneSessionRoleApplication</key><array>
            <dict><key>UISceneConfigurationName</key><string>Default</string></dict>
          </array>
        </dict>
      </dict>
    </dict></plist>
    """
  }

  private static let application = "/org/stagedoor/Interchange1/application/org_2eexample_2eCats"

  func name(in house: House) async throws -> String {
    try await house.property("Name", of: Self.application, in: House.application)
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a manifest is read again on SIGHUP, and a broken one keeps the version before`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      let file = "\(house.applications)/org.example.Cats.json"
      try house.write(Self.cats("First"), to: file)
      try await house.serving { daemon in
        #expect(try await name(in: house) == "First")
        #expect(
          try await house.property("ManifestPath", of: Self.application, in: House.application) == file)
        let landing = try await house.drop("viewCat", "cat1")
        try await house.watched { watch in
          try house.write(Self.cats("Second"), to: file)
          daemon.signal(SIGHUP)
          try await eventually("the second version") { try await name(in: house) == "Second" }
          // The watcher reads on its own connection, so it may see the change a moment later.
          try await eventually("the change") {
            watch.signals.contains {
              $0.member == "PropertiesChanged" && $0.path == Self.application
                && $0.arguments[1]["Name"]?.text == "Second"
            }
          }

          try house.write("{", to: file)
          daemon.signal(SIGHUP)
          try await eventually("the complaint") { daemon.standardError.contains("\(file): ") }
          #expect(try await name(in: house) == "Second")
          #expect(try await house.drop("viewCat", "cat1").session == landing.session)

          // The manifest is repaired, and another application is added.
          try house.write(Self.cats("Third", types: #""viewCat", "petCat""#), to: file)
          try house.write(Manifests.oneScene, to: "\(house.applications)/org.example.Player.json")
          daemon.signal(SIGHUP)
          try await eventually("the third version") { try await name(in: house) == "Third" }
          #expect(try await house.drop("petCat", "cat1").outcome == "created")
          try await eventually("the other") {
            try await house.command(
              "busctl", "--user", "get-property", "\(House.name)",
              "/org/stagedoor/Interchange1/application/org_2eexample_2ePlayer", House.application, "Identifier"
            ).run().standardOutput == "s \"org.example.Player\"\n"
          }
        }
      }
    }
  }

  @Test func `the user's manifest counts before the system's, and a property list is as good as JSON`() async throws {
    try await withHouse { house in
      try house.write(Self.cats("System"), to: "\(house.systemApplications)/org.example.Cats.json")
      try house.write(Self.list("User"), to: "\(house.applications)/org.example.Cats.plist")
      try await house.serving { daemon in
        #expect(try await name(in: house) == "User")
        #expect(try await house.drop("viewCat", "cat1").outcome == "created")
        let error = try await house.refusal("RegisterApplication", "string:\(Self.cats("Mine"))")
        #expect(error.name == "org.stagedoor.Error.RequestDenied")
        #expect(error.message.contains("\(house.applications)/org.example.Cats.plist"))
        try FileManager.default.removeItem(atPath: "\(house.applications)/org.example.Cats.plist")
        daemon.signal(SIGHUP)
        try await eventually("the system's") { try await name(in: house) == "System" }
      }
    }
  }

  @Test func `of two files for one application the JSON counts, and the log says which it is, once`() async throws {
    try await withHouse { house in
      let (json, list) = ("\(house.applications)/org.example.Cats.json", "\(house.applications)/org.example.Cats.plist")
      try house.write(Self.cats("JSON"), to: json)
      try house.write(Self.list("List"), to: list)
      // A file in another directory is not a second file: the user's file goes before the system's.
      try house.write(Self.list("System"), to: "\(house.systemApplications)/org.example.Cats.plist")
      try await house.serving { daemon in
        let sentence = "stagedoord: \(list): it is passed over, since \(json) counts; remove one of them\n"
        @Sendable func said() -> Int { daemon.standardError.components(separatedBy: sentence).count - 1 }
        #expect(try await name(in: house) == "JSON")
        try await eventually("it is said") { said() == 1 }
        // A change of another file does not repeat the message; a user who asks for it does.
        try house.write(Manifests.oneScene, to: "\(house.applications)/org.example.Player.json")
        try await eventually("the other", within: usualLimit * 5) {
          try await house.explain(Payloads.activity("play"))["outcome"] != nil
        }
        #expect(said() == 1)
        daemon.signal(SIGHUP)
        try await eventually("it is said again") { said() == 2 }
        // A broken file counts too: the service does not use the other one, although its author may think so.
        try house.write("{", to: json)
        daemon.signal(SIGHUP)
        try await eventually("it is said once more") { said() == 3 }
        #expect(try await name(in: house) == "JSON")

        try FileManager.default.removeItem(atPath: json)
        for version in ["Later", "Last"] {
          try house.write(Self.list(version), to: list)
          daemon.signal(SIGHUP)
          try await eventually("the version \(version) of the list") { try await name(in: house) == version }
        }
        #expect(said() == 3)
        #expect(!daemon.standardError.contains(house.systemApplications))
      }
    }
  }
}
