import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import SceneModel
import ServiceSupport
import StoreTestSupport
import Testing

/// Installed manifests, which may change while the service runs.
@Suite struct ManifestFileTests {
  // While all tests run in parallel the kernel may have no room for another watch; the service then tries again.
  private static let limit = usualLimit * 5

  private static func cats(_ name: String) -> String {
    Manifests.application(
      "org.example.Cats", types: "viewCat",
      configurations: Manifests.configuration("Default") + ", "
        + Manifests.configuration("Cat Detail", types: "viewCat"), more: #" "CFBundleName": "\#(name)","#)
  }

  private static func list(_ name: String) -> String {
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

  private func name(in house: House) async throws -> String {
    try await house.property("Name", of: House.cats, in: House.application)
  }

  @Test(.house(installing: cats("JSON")))
  func `of two files for one application the JSON counts, then the list, and then the system's`() async throws {
    let (json, list) = ("\(house.applications)/org.example.Cats.json", "\(house.applications)/org.example.Cats.plist")
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
      try await eventually("the other", within: Self.limit) {
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
      let error = try await house.refusal("RegisterApplication", "string:\(Self.cats("Mine"))")
      #expect(error.name == "org.stagedoor.Error.RequestDenied")
      #expect(error.message.contains(list))
      try FileManager.default.removeItem(atPath: list)
      daemon.signal(SIGHUP)
      try await eventually("the system's") { try await name(in: house) == "System" }
      #expect(said() == 3)
      #expect(!daemon.standardError.contains(house.systemApplications))
    }
  }

  @Test func `a directory that cannot be read for the moment keeps its manifests`() throws {
    let folder = TemporaryDirectory(in: "/tmp")
    let applications = "\(folder.path)/stagedoor/applications"
    let list = "\(applications)/org.example.Cats.json"
    try FileManager.default.createDirectory(atPath: applications, withIntermediateDirectories: true)
    try Data(Self.cats("Cats").utf8).write(to: URL(filePath: list))
    var installed = InstalledManifests(in: [folder.path], types: TypeCatalog())
    #expect(installed.read().found.keys.map(\.string) == ["org.example.Cats"])
    // As if too many files were open: the directory cannot be opened, and is not gone.
    try move(applications, to: "\(applications).aside")
    try #require(symlink("applications", applications) == 0)
    for _ in 0..<2 {
      let (found, broken, _) = installed.read()
      #expect(found.isEmpty && broken.map(\.path) == [list])
    }
    try #require(unlink(applications) == 0)
    #expect(installed.read().broken.isEmpty, "it is gone")
  }

  @Test func `a MIME database that is too large is passed over whole, and told`() throws {
    let folder = TemporaryDirectory(in: "/tmp")
    try FileManager.default.createDirectory(atPath: "\(folder.path)/mime", withIntermediateDirectories: true)
    let (files, line) = (["subclasses", "aliases", "globs2"], "image/x-one text/html\n50:text/html:*.one\n")
    let told = Lock<[String]>([])
    func read(over: Int) throws {
      let padding = String(repeating: "\n", count: Limits.typeDatabase - line.utf8.count + over)
      for file in files { try Data((line + padding).utf8).write(to: URL(filePath: "\(folder.path)/mime/\(file)")) }
      let one = try #require(ContentType("image/x-one"))
      let types = TypeCatalog.installed(in: [folder.path]) { fault in told.withLock { $0.append("\(fault)") } }
      #expect(types.conforms(one, to: try #require(ContentType("text/html"))) == (over == 0))
      let names = InstalledFileTypes(in: [folder.path]) { fault in told.withLock { $0.append("\(fault)") } }
      #expect((names.type(ofName: "a.one") != nil) == (over == 0))
    }
    try read(over: 0)
    let before = told.withLock { exchange(&$0, with: []) }
    #expect(!before.contains { $0.contains("bytes") })
    try read(over: 1)
    #expect(told.withLock(\.self) == files.map { "\(folder.path)/mime/\($0): it has more than 2097152 bytes" })
  }

  @Test func `a hidden file is no manifest`() throws {
    let folder = TemporaryDirectory(in: "/tmp")
    let applications = "\(folder.path)/stagedoor/applications"
    try FileManager.default.createDirectory(atPath: applications, withIntermediateDirectories: true)
    // Emacs makes such a link while somebody writes.
    try #require(symlink("ann@home.1:2", "\(applications)/.#org.example.Cats.json") == 0)
    var installed = InstalledManifests(in: [folder.path], types: TypeCatalog())
    #expect(installed.read().broken.isEmpty)
  }

  @Test(.house(installing: cats("First")))
  func `the last reading counts, also if a fault of an earlier one is still being reported`() async throws {
    let disk = try await Preload("slow_disk", in: house)
    try house.write("{", to: "\(house.applications)/org.example.Broken.json")
    var daemon = house.daemon("--durability", "full")
    daemon.environment.merge(disk.environment) { $1 }
    try await house.serving(daemon) { daemon in
      @Sendable func complaints() -> Int {
        daemon.standardError.components(separatedBy: "org.example.Broken.json: ").count - 1
      }
      try await eventually("the first complaint") { complaints() == 1 }
      // The service waits for the disk while it stores the drop.
      disk.put(1_500, at: 2)
      let landing = Task { try await house.drop("viewCat", "cat1") }
      try await eventually("the disk is slow") { disk[1] >= 1_500 }
      daemon.signal(SIGHUP)
      try await eventually("the second complaint") { complaints() == 2 }
      try house.write(Self.cats("Second"), to: "\(house.applications)/org.example.Cats.json")
      _ = try await landing.value
      disk.put(0, at: 2)
      try await isNamed("Second", in: house)
    }
  }

  // MARK: Nobody tells the service

  private func isNamed(_ name: String, in house: House) async throws {
    try await eventually("the version \(name)", within: Self.limit) {
      // The object does not exist until the service has read the manifest.
      (try? await self.name(in: house)) == name
    }
  }

  private func isGone(from house: House) async throws {
    try await eventually("the manifest is gone", within: Self.limit) {
      try await refused { _ = try await house.object(House.cats, House.application).get("Name", as: String.self) }?
        .name == .unknownObject
    }
  }

  private func move(_ path: String, to other: String) throws {
    try #require(rename(path, other) == 0, "\(String(cString: strerror(errno)))")
  }

  @Test(.house(installing: cats("First")))
  func `a manifest is read as it is written, replaced, broken, mended, taken away and put back`() async throws {
    let file = "\(house.applications)/org.example.Cats.json"
    try await house.serving { daemon in
      let landing = try await house.drop("viewCat", "cat1")
      #expect(try await house.property("ManifestPath", of: House.cats, in: House.application) == file)
      // Write the file in place, as some editors do; then write a new file and rename it, as others do.
      try Data(Self.cats("Second").utf8).write(to: URL(filePath: file))
      try await isNamed("Second", in: house)
      try house.write(Self.cats("Third"), to: "\(file).new")
      try move("\(file).new", to: file)
      try await isNamed("Third", in: house)

      try house.write("{", to: file)
      try await eventually("the complaint", within: Self.limit) { daemon.standardError.contains("\(file): ") }
      #expect(try await name(in: house) == "Third")
      let complaints = daemon.standardError
      // Another manifest comes, and the service does not repeat the complaint.
      let other = "\(house.applications)/org.example.Player.json"
      try house.write(Manifests.oneScene, to: other)
      try await eventually("the other", within: Self.limit) {
        try await house.explain(Payloads.activity("play"))["outcome"] != nil
      }
      #expect(daemon.standardError == complaints)
      try house.write(Self.cats("Fourth"), to: file)
      try await isNamed("Fourth", in: house)

      try move(file, to: "\(house.state)/away")
      try await isGone(from: house)
      #expect(try await house.sessions().map { $0[0] } == [landing.session], "its sessions stay")
      let error = try await house.refusal("Drop", "string:viewCat", "string:cat1", "dict:string:string:")
      #expect(error.name == "org.stagedoor.Error.ActivityTypeNotDeclared", "and are out of routing")
      try #require(symlink("\(house.state)/away", file) == 0)
      try await isNamed("Fourth", in: house)
      #expect(try await house.drop("viewCat", "cat1").session == landing.session)
    }
  }

  @Test(.house) func `directories that are not there yet are waited for, and may go and come back`() async throws {
    let data = try #require(house.environment["XDG_DATA_HOME"])
    try FileManager.default.removeItem(atPath: data)
    try await house.serving { _ in
      try house.write(Self.cats("First"), to: "\(house.applications)/org.example.Cats.json")
      try await isNamed("First", in: house)
      // Only the directory itself reports that it was moved away, for each directory above the manifest.
      for path in [house.applications, "\(data)/stagedoor", data] {
        try move(path, to: "\(path)-away")
        try await isGone(from: house)
        try move("\(path)-away", to: path)
        try await isNamed("First", in: house)
      }
      try FileManager.default.removeItem(atPath: data)
      try await isGone(from: house)
      try house.write(Self.cats("Second"), to: "\(house.systemApplications)/org.example.Cats.json")
      try await isNamed("Second", in: house)
      try house.write(Self.cats("Third"), to: "\(house.applications)/org.example.Cats.json")
      try await isNamed("Third", in: house)
    }
  }

  @Test(.house(installing: cats("Calm")))
  func `a storm of changes keeps nobody waiting, and when it is over nothing wakes the service`() async throws {
    let file = "\(house.applications)/org.example.Cats.json"
    try await house.serving("--durability", "memory") { daemon in
      try await house.watched { watch in
        // The storm also changes other files. Some of these are manifests.
        let storm = """
          cd '\(house.applications)' && while :; do
            cp org.example.Cats.json saved && mv saved org.example.Cats.json && echo '{' >org.example.Broken.json \
              && rm org.example.Broken.json && touch noise && rm noise && echo blow
          done
          """
        try await house.command("sh", "-c", storm).whileRunning { blowing in
          for _ in 0..<20 {
            for _ in 0..<10 { try await blowing.nextLine() }
            let landing = Task { try await house.drop("viewCat", "cat1") }
            try await withLimit(.seconds(5), "an answer in the storm") { _ = try await landing.value }
          }
        }
        try house.write(Self.cats("Still"), to: file)
        try await isNamed("Still", in: house)
        let changes = watch.signals.filter { $0.member == "PropertiesChanged" && $0.path.contains("/application/") }
        #expect(changes.count < 20, "most of what came and went was not even read")
      }
      try await daemon.rests(within: Self.limit)
    }
  }
}
