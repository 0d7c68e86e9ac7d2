import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// Installed manifests, which may change while the service runs.
@Suite struct ManifestFileTests {
  static func cats(_ name: String) -> String {
    Manifests.application(
      "org.example.Cats", types: "viewCat",
      configurations: Manifests.configuration("Default") + ", "
        + Manifests.configuration("Cat Detail", types: "viewCat"), more: #" "CFBundleName": "\#(name)","#)
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

  static let application = "/org/stagedoor/Interchange1/application/org_2eexample_2eCats"

  func name(in house: House) async throws -> String {
    try await house.property("Name", of: Self.application, in: House.application)
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
