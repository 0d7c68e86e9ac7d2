import DBus
import DBusTestSupport
import Testing

/// What users see when they look around on the bus with busctl and gdbus.
@Suite struct IntrospectionToolTests {
  private static let zoomed = #"{"activityType":"viewCat","targetContentIdentifier":"cat1"}"#

  @Test func `busctl tree shows every object, and nothing else`() async throws {
    try await withObjects { house, session in
      let other = try await house.drop("viewCat", "cat2").session
      let folders =
        ["/", "/org", "/org/stagedoor", House.root] + ["application", "drag", "session"].map { "\(House.root)/\($0)" }
      let tree = try await house.command("busctl", "--user", "tree", "--list", "\(House.name)").output()
      #expect(
        tree.split(separator: "\n").map(String.init).sorted() == (folders + [House.cats, session, other]).sorted())
      try await house.destroy(other)
      let after = try await house.command("busctl", "--user", "tree", "--list", "\(House.name)").output()
      #expect(!after.contains(other))
    }
  }

  @Test func `where there is nothing yet, nothing is wrong either`() async throws {
    try await withService { house in
      for command in [
        house.command("busctl", "--user", "tree", "\(House.name)"),
        house.command("gdbus", "introspect", "--session", "--dest", "\(House.name)", "--object-path", "/", "--recurse"),
      ] {
        let result = try await command.run()
        #expect(result.status.isSuccess)
        #expect(result.standardError.isEmpty, "\(result.standardError)")
        #expect(!result.standardOutput.contains("Error"), "\(result.standardOutput)")
      }
    }
  }

  @Test func `gdbus introspect reads every object from the top down, with its values`() async throws {
    try await withObjects { house, session in
      let all = try await house.command(
        "gdbus", "introspect", "--session", "--dest", "\(House.name)", "--object-path", "/", "--recurse"
      ).output()
      for path in [House.root, House.cats, session] { #expect(all.contains("node \(path) {")) }
      for line in [
        "readonly u Version = 1;", "readonly t EventSequence = 1;", "readonly s Identifier = 'org.example.Cats';",
        "readonly as ActivityTypes = ['viewCat'];", "readonly b HostAttached = false;", "readwrite s Title = '';",
        "readwrite s UserActivity = '\(Self.zoomed)';", "Refresh();", "Destroy(in  s animation);",
      ] {
        #expect(all.contains("  \(line)\n"), "\(line)")
      }
      for (path, name) in [
        (House.root, House.interchange), (House.cats, House.application), (session, House.session),
      ] {
        let xml = try await house.command(
          "gdbus", "introspect", "--session", "--dest", "\(House.name)", "--object-path", path, "--xml"
        ).output()
        let own = try house.object(path, name)
        let declared = try #require(try await own.introspect().interface(own.interface))
        #expect(try Introspection.Node(xml: xml).interface(own.interface) == declared, "\(path)")
      }
    }
  }

  @Test func `busctl reads and writes properties, and answers as JSON`() async throws {
    try await withObjects { house, session in
      func busctl(_ arguments: String...) async throws -> String {
        try await house.command("busctl", arguments: ["--user"] + arguments).output()
      }
      _ = try await busctl("set-property", "\(House.name)", session, House.session, "Title", "s", "Tom, grüßend")
      #expect(
        try await busctl("get-property", "\(House.name)", session, House.session, "Title", "Connected")
          == #"s "Tom, gr\303\274\303\237end""# + "\nb false")
      let listed = try Document(
        try await busctl(
          "--json=short", "call", "\(House.name)", House.root, House.interchange, "ListSessions", "ssu", "", "", "0"))
      #expect(listed["type"]?.text == "a(ossssst)")
      let row = try #require(listed["data"]?.elements.first?.elements.first).elements
      #expect(
        row.prefix(6).map(\.text) == [session, "org.example.Cats", "Cat Detail", "unattached", "cat1", "Tom, grüßend"])
    }
  }

  @Test func `gdbus call shows an error with its name, and waits for what takes long`() async throws {
    try await withObjects { house, session in
      func gdbus(_ method: String, _ arguments: String...) -> Command {
        house.command(
          "gdbus",
          arguments: ["call", "-e", "-d", "\(House.name)", "-o", House.root, "-m", "\(House.interchange).\(method)"]
            + arguments)
      }
      let refused = try await gdbus("Drop", "viewDog", "rex", "{}").run()
      #expect(refused.status == .exited(1))
      #expect(
        refused.standardError.hasPrefix(
          #"Error: GDBus.Error:org.stagedoor.Error.ActivityTypeNotDeclared: no application declares "viewDog""#))
      // gdbus reads the signature from the introspection, so a document needs no types.
      let delivered = try await gdbus("Deliver", Payloads.activity("viewCat", "cat1")).output()
      #expect(delivered.hasPrefix("(objectpath '\(session)', 'activated', '"))
      let mixed = Payloads.items(("viewCat", "cat1"), ("viewDog", "rex"), options: #""batch": "bestEffort""#)
      let batch = try await gdbus("DeliverEach", mixed).output()
      #expect(batch.hasPrefix("([(objectpath '\(session)', 'activated', '"))
      #expect(batch.contains("('/', 'org.stagedoor.Error.ActivityTypeNotDeclared', \"no application declares"))
      let waited = try await gdbus(
        "Deliver", Payloads.activity("viewCat", "cat1", options: #""wait": "handled", "deadline": 0.1"#)
      ).run()
      #expect(waited.standardError.contains("org.stagedoor.Error.HostTimeout"))
    }
  }

  /// A service with an application, and a session of it.
  private nonisolated(nonsending) func withObjects(
    _ body: nonisolated(nonsending) (House, _ session: String) async throws -> Void
  ) async throws {
    try await withService(registering: Manifests.cats) { house in
      try await body(house, try await house.drop("viewCat", "cat1").session)
    }
  }
}
