import DBus
import DBusTestSupport
import Testing

/// Code, documents and the introspection of the running service agree. The service generates an object's introspection from the tables that dispatch
/// its calls, so the code cannot differ from it.
@Suite struct InterfaceTests {
  @Test func `each object has its own interface, as its document says it, and D-Bus's`() async throws {
    let standard = ["Introspectable", "Peer", "Properties"].map { "org.freedesktop.DBus.\($0)" }
    let document = try Introspection.Node(xml: Repository.text(of: "dbus/org.stagedoor.Interchange1.xml"))
    try await withService(registering: Manifests.cats) { house in
      let session = try await house.drop("viewCat", "cat1").session
      // A drag exists for its source, which looks at it here.
      let drag = try await house.beginDrag([Things.item(Things.text("A cat"))], over: house.watcher).drag
      var all: [Introspection.Interface] = []
      for (path, own) in [
        (House.root, [House.interchange, House.manager]), (House.cats, [House.application]), (session, [House.session]),
        (drag, [House.drag]),
      ] {
        let interfaces = try await house.object(path, own[0]).introspect().interfaces
        #expect(interfaces.map(\.name.rawValue).sorted() == (standard + own).sorted(), "\(path)")
        all += interfaces.filter(\.isStagedoors)
      }
      let (documented, served) = (InterfaceLines(document.interfaces).lines, InterfaceLines(all).lines)
      #expect(served.subtracting(documented).sorted() == [], "these are not documented")
      #expect(documented.subtracting(served).sorted() == [], "nobody serves these")
    }
  }

  @Test(.service) func `busctl tree shows every object, and nothing else`() async throws {
    func tree() async throws -> Set<String> {
      let result = try await house.command("busctl", "--user", "tree", "--list", "\(House.name)").run()
      #expect(result.status.isSuccess && result.standardError.isEmpty, "\(result)")
      return Set(result.standardOutput.split(separator: "\n").map(String.init))
    }
    let folders: Set = ["/", "/org", "/org/stagedoor", House.root]
    let all = folders.union(["application", "drag", "session"].map { "\(House.root)/\($0)" })
    // Where there is nothing yet, nothing is wrong either.
    #expect(try await tree() == all)
    try await house.register(Manifests.cats)
    let sessions = [try await house.drop("viewCat", "cat1").session, try await house.drop("viewCat", "cat2").session]
    #expect(try await tree() == all.union([House.cats] + sessions))
    try await house.destroy(sessions[1])
    #expect(try await tree() == all.union([House.cats, sessions[0]]))
  }
}
