import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
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
      let installed = "installed\t\(House.gallery)\t\(place)"
      #expect(try await house.stagedoor("install-manifest", path).output() == installed)
      // The next drop finds it.
      #expect(try await house.drop(photo: "photo-7").outcome == "created")
      #expect(try await house.stagedoor("doctor").output().contains("good   manifest"))
      let uninstalled = "uninstalled\t\(House.gallery)\t\(place)"
      #expect(try await house.stagedoor("uninstall-manifest", House.gallery).output() == uninstalled)
      #expect(!FileManager.default.fileExists(atPath: place))
      #expect(try await house.stagedoor("apps").output() == "")
      let again = try await house.stagedoor("uninstall-manifest", House.gallery).run()
      #expect(again.status == .exited(1))
      #expect(again.standardError.contains("no manifest of org.example.Gallery is installed"))
    }
  }

  @Test func `a manifest from standard input or a pipe is installed whole`() async throws {
    try await withHouse { house async throws in
      let place = "\(house.applications)/org.example.Gallery.json"
      let manifest = House.galleryManifest
      _ = try await house.stagedoor("install-manifest", "-", input: manifest).output()
      #expect(try String(contentsOfFile: place, encoding: .utf8) == manifest)
      let changed = manifest.replacing("Overview", with: "Survey")
      let script = "\"$0\" install-manifest <(printf %s \"$1\")"
      _ = try await house.command("bash", "-c", script, Command.built("stagedoor").program, changed).output()
      #expect(try String(contentsOfFile: place, encoding: .utf8) == changed)
      let empty = try await house.stagedoor("install-manifest", "-").run()
      #expect(empty.status == .exited(1), "\(empty)")
      #expect(try String(contentsOfFile: place, encoding: .utf8) == changed)
    }
  }

  @Test func `the service knows a changed manifest when the command ends`() async throws {
    try await withService { house async throws in
      let path = "\(house.home)/gallery.json"
      // No property of the application shows how its configurations open.
      let opening = House.galleryManifest.replacing(
        "\"StagedoorActivityTypes\"", with: "\"StagedoorLaunch\": \"new\", \"StagedoorActivityTypes\"")
      for round in 0..<4 {
        for (manifest, outcome) in [(opening, "created"), (House.galleryManifest, "activated")] {
          try house.write(manifest, to: path)
          _ = try await house.stagedoor("install-manifest", "-q", path).output()
          #expect(try await house.drop(photo: "photo-7").outcome == outcome, "\(round)")
        }
      }
      // The same again changes nothing, and nothing is waited for.
      let begun = ContinuousClock.now
      #expect(try await house.stagedoor("install-manifest", "-q", path).run().standardError == "")
      #expect(begun.duration(to: .now) < .seconds(5))
      // Nor of a file that was broken meanwhile, if the service has kept the same manifest.
      let installed = "\(house.applications)/\(House.gallery).json"
      try house.write("broken", to: installed)
      #expect(try await house.stagedoor("install-manifest", "-q", path).run().standardError == "")
      for _ in 0..<4 {
        _ = try await house.stagedoor("uninstall-manifest", "-q", House.gallery).output()
        #expect(try await house.stagedoor("apps").output() == "")
        _ = try await house.stagedoor("install-manifest", "-q", path).output()
        #expect(try await house.drop(photo: "photo-7").outcome == "activated")
      }
    }
  }

  @Test func `a named pipe is not waited for`() async throws {
    try await withHouse { house async throws in
      let pipe = "\(house.home)/pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      for words in [["check", pipe], ["install-manifest", pipe], ["register", pipe], ["test", pipe]] {
        let result = try await house.stagedoor(words).run()
        #expect(result.status == .exited(1), "\(words): \(result)")
        #expect(
          result.standardError.contains("is a pipe; read it as standard input: - <\(pipe)\n"), "\(words): \(result)")
      }
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
