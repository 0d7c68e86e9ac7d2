import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// The commands that need no service.
@Suite struct ManifestCommandTests {
  @Test func `check says all that is wrong at once, each with its place`() async throws {
    try await withHouse { house async throws in
      let path = "\(house.home)/org.example.Gallery.json"
      try house.write(
        #"{"CFBundleIdentifier": 7, "NSUserActivityTypes": "one", "UIApplicationSceneManifest": {"UISceneConfigurations": {}}}"#,
        to: path)
      let result = try await house.stagedoor("check", path).run()
      #expect(result.status == .exited(1))
      let lines = result.standardOutput.split(separator: "\n")
      #expect(lines.count >= 2)
      #expect(lines.allSatisfy { $0.hasPrefix("\(path): error: ") }, "\(result)")
      #expect(lines.contains { $0.contains("NSUserActivityTypes: expected") })
    }
  }

  @Test func `check warns of windows that nothing opens and of conditions that cannot be true`() async throws {
    try await withHouse { house async throws in
      let path = "\(house.home)/gallery.json"
      let detail = Manifests.configuration("Detail", types: House.openDetail)
      let shadowed = Manifests.configuration(
        "Again", types: House.openDetail, more: #", "StagedoorCanActivatePredicate": "SELF == 'a' AND SELF == 'b'""#)
      try house.write(
        Manifests.application(
          House.gallery, types: House.openDetail, "other", configurations: "\(detail), \(shadowed)"), to: path)
      let lines = try await house.stagedoor("check", path).output().split(separator: "\n").map {
        String($0.dropFirst(path.count + 2))
      }
      #expect(
        lines == [
          "warning: the configuration \"Again\": can: no key makes this true; if that is meant, write FALSEPREDICATE",
          "warning: the configuration \"Again\": \"Detail\" above it names all that it names, and is taken first; name other types in it, or put it further up",
          "warning: no configuration names \"other\", so it opens the first one; add it to StagedoorActivityTypes of one",
        ])
    }
  }

  @Test func `check goes on after a file that it cannot open`() async throws {
    try await withHouse { house async throws in
      try house.write(House.galleryManifest, to: "\(house.home)/gallery.json")
      let result = try await house.stagedoor("check", "/no/such", "\(house.home)/gallery.json").run()
      #expect(result.status == .exited(1))
      #expect(result.standardError == "stagedoor check: /no/such: No such file or directory\n")
      #expect(result.standardOutput.contains("gallery.json: good"))
    }
  }

  @Test func `the doctor reads the manifests that the service reads, in its order`() async throws {
    try await withHouse { house async throws in
      try house.write(House.galleryManifest, to: "\(house.applications)/org.example.Other.json")
      let notes = House.galleryManifest.replacing("\"\(House.gallery)\"", with: "\"org.example.Notes\"")
      try house.write("{", to: "\(house.applications)/org.example.Notes.json")
      try house.write(notes, to: "\(house.systemApplications)/org.example.Notes.json")
      let lines = try await house.stagedoor("doctor").run().standardOutput.split(separator: "\n")
      let manifests = lines.filter { $0.contains("  manifest") }
      #expect(manifests.count == 2 && manifests.allSatisfy { $0.hasPrefix("wrong") }, "\(lines)")
      #expect(manifests.contains { $0.contains("org.example.Other.json: CFBundleIdentifier") }, "\(manifests)")
    }
  }

  @Test func `a manifest is installed under its identifier, read by the service, and removed`() async throws {
    try await withService { house async throws in
      let path = "\(house.home)/gallery.json"
      try house.write(House.galleryManifest, to: path)
      let place = "\(house.applications)/org.example.Gallery.json"
      #expect(try await house.stagedoor("install-manifest", path).output() == place)
      // The next drop finds it.
      #expect(try await house.drop(photo: "photo-7").outcome == "created")
      #expect(try await house.stagedoor("doctor").output().contains("good   manifest"))
      #expect(try await house.stagedoor("uninstall-manifest", House.gallery).output() == "")
      #expect(!FileManager.default.fileExists(atPath: place))
      try await eventually("the service to forget it") { try await house.stagedoor("apps", "-q").output() == "" }
      let again = try await house.stagedoor("uninstall-manifest", House.gallery).run()
      #expect(again.status == .exited(1))
      #expect(again.standardError.contains("no manifest of org.example.Gallery is installed"))
    }
  }

  @Test func `where the service looks elsewhere, installing says so`() async throws {
    try await withService { house async throws in
      try house.write(House.galleryManifest, to: "\(house.home)/gallery.json")
      var install = house.stagedoor("install-manifest", "-q", "\(house.home)/gallery.json")
      install.environment["XDG_DATA_HOME"] = "\(house.home)/elsewhere"
      let result = try await install.run()
      #expect(result.status.isSuccess)
      #expect(
        result.standardError
          == "stagedoor install-manifest: the running service does not read \(house.home)/elsewhere/stagedoor/applications; restart it\n"
      )
    }
  }

  @Test func `of several manifests none is installed where one is wrong`() async throws {
    try await withHouse { house async throws in
      try house.write(House.galleryManifest, to: "\(house.home)/good.json")
      try house.write("{}", to: "\(house.home)/bad.json")
      let result = try await house.stagedoor("install-manifest", "\(house.home)/good.json", "\(house.home)/bad.json")
        .run()
      #expect(result.status == .exited(1))
      #expect(result.standardError.contains("bad.json is not installed"))
      #expect(!FileManager.default.fileExists(atPath: "\(house.applications)/org.example.Gallery.json"))
    }
  }
}
