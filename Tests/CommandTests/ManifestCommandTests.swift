import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

/// The commands that need no service.
@Suite struct ManifestCommandTests {
  init() throws { try house.write(House.galleryManifest, to: "\(house.home)/gallery.json") }

  @Test(.house) func `check says all that is wrong at once, each with its place`() async throws {
    let path = "\(house.home)/org.example.Gallery.json"
    try house.write(
      #"{"CFBundleIdentifier": 7, "NSUserActivityTypes": "one", "UIApplicationSceneManifest": {"UISceneConfigurations": {}}}"#,
      to: path)
    let result = try await expect(["check", path], ends: 1, output: "NSUserActivityTypes: expected")
    let lines = result.standardOutput.split(separator: "\n")
    #expect(lines.count >= 2 && lines.allSatisfy { $0.hasPrefix("\(path): error: ") }, "\(result)")
  }

  @Test(.house) func `check warns of windows that nothing opens and of conditions that cannot be true`() async throws {
    let path = "\(house.home)/gallery.json"
    let detail = Manifests.configuration("Detail", types: House.openDetail)
    let shadowed = Manifests.configuration(
      "Again", types: House.openDetail, more: #", "StagedoorCanActivatePredicate": "SELF == 'a' AND SELF == 'b'""#)
    try house.write(
      Manifests.application(
        House.gallery, types: House.openDetail, "other", configurations: "\(detail), \(shadowed)"), to: path)
    let lines = try await said("check", path).split(separator: "\n").map { String($0.dropFirst(path.count + 2)) }
    #expect(
      lines == [
        "warning: the configuration \"Again\": can: no key makes this true; if that is meant, write FALSEPREDICATE",
        "warning: the configuration \"Again\": \"Detail\" above it names all that it names, and is taken first; name other types in it, or put it further up",
        "warning: no configuration names \"other\", so it opens the first one; add it to StagedoorActivityTypes of one",
      ])
  }

  @Test(.house) func `check goes on after a file that it cannot open`() async throws {
    try await expect(
      ["check", "/no/such", "gallery.json"], ends: 1, "/no/such: No such file or directory",
      output: "gallery.json: good")
  }

  @Test(.house) func `the doctor reads the manifests that the service reads, in its order`() async throws {
    try house.write(House.galleryManifest, to: "\(house.applications)/org.example.Other.json")
    let notes = House.galleryManifest.replacing("\"\(House.gallery)\"", with: "\"org.example.Notes\"")
    try house.write("{", to: "\(house.applications)/org.example.Notes.json")
    try house.write(notes, to: "\(house.systemApplications)/org.example.Notes.json")
    let lines = try await ran("doctor").standardOutput.split(separator: "\n")
    let manifests = lines.filter { $0.contains("  manifest") }
    #expect(manifests.count == 2 && manifests.allSatisfy { $0.hasPrefix("wrong") }, "\(lines)")
    #expect(manifests.contains { $0.contains("org.example.Other.json: CFBundleIdentifier") }, "\(manifests)")
  }

  @Test(.service) func `a manifest is installed under its identifier, read by the service, and removed`() async throws {
    let place = "\(house.applications)/org.example.Gallery.json"
    #expect(try await said("install-manifest", "gallery.json") == "installed\t\(House.gallery)\t\(place)")
    // The next drop finds it.
    #expect(try await house.drop(photo: "photo-7").outcome == "created")
    #expect(try await said("doctor").contains("good   manifest"))
    #expect(try await said("uninstall-manifest", House.gallery) == "uninstalled\t\(House.gallery)\t\(place)")
    #expect(!FileManager.default.fileExists(atPath: place))
    #expect(try await said("apps") == "")
    try await expect(
      ["uninstall-manifest", House.gallery], ends: 1, with: "no manifest of org.example.Gallery is installed")
  }

  @Test(.house) func `a manifest from standard input or a pipe is installed whole`() async throws {
    let place = "\(house.applications)/org.example.Gallery.json"
    let manifest = House.galleryManifest
    try await said("install-manifest", "-", input: manifest)
    #expect(try String(contentsOfFile: place, encoding: .utf8) == manifest)
    let changed = manifest.replacing("Overview", with: "Survey")
    _ = try await house.shell("\"$0\" install-manifest <(printf %s \"$1\")", in: "bash", changed).output()
    #expect(try String(contentsOfFile: place, encoding: .utf8) == changed)
    try await expect(["install-manifest", "-"], ends: 1)
    #expect(try String(contentsOfFile: place, encoding: .utf8) == changed)
  }

  @Test(.service) func `the service knows a changed manifest when the command ends`() async throws {
    let path = "\(house.home)/gallery.json"
    // No property of the application shows how its configurations open.
    let opening = House.galleryManifest.replacing(
      "\"StagedoorActivityTypes\"", with: "\"StagedoorLaunch\": \"new\", \"StagedoorActivityTypes\"")
    for round in 0..<4 {
      for (manifest, outcome) in [(opening, "created"), (House.galleryManifest, "activated")] {
        try house.write(manifest, to: path)
        try await said("install-manifest", "-q", path)
        #expect(try await house.drop(photo: "photo-7").outcome == outcome, "\(round)")
      }
    }
    // The same again changes nothing, and nothing is waited for.
    let begun = ContinuousClock.now
    #expect(try await ran("install-manifest", "-q", path).standardError == "")
    #expect(begun.duration(to: .now) < .seconds(5))
    // Nor of a file that was broken meanwhile, if the service has kept the same manifest.
    let installed = "\(house.applications)/\(House.gallery).json"
    try house.write("broken", to: installed)
    #expect(try await ran("install-manifest", "-q", path).standardError == "")
    for _ in 0..<4 {
      try await said("uninstall-manifest", "-q", House.gallery)
      #expect(try await said("apps") == "")
      try await said("install-manifest", "-q", path)
      #expect(try await house.drop(photo: "photo-7").outcome == "activated")
    }
  }

  @Test(.house) func `a named pipe is not waited for`() async throws {
    let pipe = "\(house.home)/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    for command in ["check", "install-manifest", "register", "test"] {
      try await expect([command, pipe], ends: 1, with: "is a pipe; read it as standard input: - <\(pipe)\n")
    }
  }

  @Test(.service) func `where the service looks elsewhere, installing says so`() async throws {
    var install = house.stagedoor("install-manifest", "-q", "gallery.json")
    install.environment["XDG_DATA_HOME"] = "\(house.home)/elsewhere"
    try await install.expect(
      ends: 0, "the running service does not read \(house.home)/elsewhere/stagedoor/applications; restart it")
  }

  @Test(.house) func `of several manifests none is installed where one is wrong`() async throws {
    try house.write("{}", to: "\(house.home)/bad.json")
    try await expect(["install-manifest", "gallery.json", "bad.json"], ends: 1, with: "bad.json is not installed")
    #expect(!FileManager.default.fileExists(atPath: "\(house.applications)/org.example.Gallery.json"))
  }

  @Test(.house) func `a manifest is explained without a service, and its case is kept under a name`() async throws {
    func explain(_ more: String...) -> Command {
      house.stagedoor(["explain", "-m", "gallery.json", "-t", House.openDetail, "--target", "photo-7"] + more)
    }
    #expect(try await explain().output().contains("+- configuration  Detail"))
    #expect(try await explain("--print", "outcome,configuration", "--app", "gallery").output() == "created\tDetail")
    for _ in 0..<2 { _ = try await explain("-q", "--record", "cases.json", "--case", "a photo").output() }
    for _ in 0..<2 { _ = try await explain("-q", "--record", "cases.json").output() }
    try await expect(["test", "-m", "gallery.json", "cases.json", "--print"], ends: 2)
    let names = try await said("test", "-m", "gallery.json", "cases.json").split(separator: "\n")
    let made = "\(House.openDetail) photo-7 created"
    #expect(names == ["same     a photo", "same     \(made)", "same     \(made) (2)", "3 as recorded, 0 different"])
  }

  @Test(.house) func `results of cases are JSON or JUnit's XML, an update renames, no case is a fault`() async throws {
    let explain = house.stagedoor(
      "explain", "-q", "-m", "gallery.json", "-t", House.openDetail, "--target", "<&\">", "--record", "cases.json")
    _ = try await explain.output()
    let refusing = House.galleryManifest.replacing(House.openDetail, with: "org.example.Gallery.other")
    try house.write(refusing, to: "\(house.home)/gallery.json")
    try await expect(
      ["test", "-m", "gallery.json", "cases.json", "--json", "--junit", "junit.xml"], ends: 1,
      output: #""result":"differs""#)
    let xml = try String(contentsOfFile: "\(house.home)/junit.xml", encoding: .utf8)
    #expect(xml.contains(#"tests="1" failures="1""#) && xml.contains("&lt;&amp;&quot;&gt; created"), "\(xml)")
    #expect(try await ran("test", "-m", "gallery.json", "cases.json", "--junit", "-").standardOutput == xml)
    // A device or a pipe is not replaced by a file.
    let piped = house.shell(
      "mkfifo pipe; timeout 20 cat pipe & \"$0\" test -q -m gallery.json cases.json --junit pipe >told; wait; test -p pipe"
    )
    #expect(try await piped.output() + "\n" == xml)
    try await said("test", "-q", "--update", "-m", "gallery.json", "cases.json")
    let names = try await said("test", "-m", "gallery.json", "cases.json")
    #expect(names.hasPrefix("same     \(House.openDetail)") && names.contains(" refused\n"), "\(names)")
    try house.write(#"{"cases": []}"#, to: "\(house.home)/cases.json")
    try await expect(["test", "-m", "gallery.json", "cases.json"], ends: 1, with: "there is no case in it")
    try await explain.expect(ends: 4)
    #expect(try await said("test", "-m", "gallery.json", "cases.json").hasSuffix("1 as recorded, 0 different"))
  }
}
