import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

// Manifests that change while the service runs, and nobody tells the service.
extension ManifestFileTests {
  // While all tests run in parallel the kernel may have no room for another watch; the service then tries again.
  private static let limit = usualLimit * 5

  private func isNamed(_ name: String, in house: House) async throws {
    try await eventually("the version \(name)", within: Self.limit) {
      // The object does not exist until the service has read the manifest.
      (try? await self.name(in: house)) == name
    }
  }

  private func isGone(from house: House) async throws {
    try await eventually("the manifest is gone", within: Self.limit) {
      try await house.command(
        "dbus-send", "--session", "--print-reply", "--dest=\(House.name)",
        "/org/stagedoor/Interchange1/application/org_2eexample_2eCats", "org.freedesktop.DBus.Properties.Get",
        "string:\(House.application)", "string:Name"
      ).run().standardError.contains("UnknownObject")
    }
  }

  private func move(_ path: String, to other: String) throws {
    try #require(rename(path, other) == 0, "\(String(cString: strerror(errno)))")
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a manifest is read as it is written, replaced, broken, mended, taken away and put back`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      let file = "\(house.applications)/org.example.Cats.json"
      try house.write(Self.cats("First"), to: file)
      try await house.serving { daemon in
        let landing = try await house.drop("viewCat", "cat1")
        #expect(try await house.property("ManifestPath", of: Self.application, in: House.application) == file)
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
  }

  @Test func `directories that are not there yet are waited for, and may go and come back`() async throws {
    try await withHouse { house in
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
  }

  @Test func `a storm of changes keeps nobody waiting, and when it is over nothing wakes the service`() async throws {
    try await withHouse { house in
      let file = "\(house.applications)/org.example.Cats.json"
      try house.write(Self.cats("Calm"), to: file)
      try await house.serving("--durability", "memory") { daemon in
        try await house.watched { watch in
          // The storm also changes other files, some of which are manifests.
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
        try await eventually("it rests", within: Self.limit) {
          let before = ContextSwitches.now(ofProcess: daemon.processIdentifier)
          try await ContinuousClock().sleep(for: .seconds(1))
          return ContextSwitches.since(before, ofProcess: daemon.processIdentifier).isEmpty
        }
      }
    }
  }
}
