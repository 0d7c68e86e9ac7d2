import DBus
import DBusTestSupport
import DaemonTestSupport
import Testing

/// Code, documents and the introspection of the running service agree. The service generates an object's introspection from the tables that dispatch
/// its calls, so the code cannot differ from it.
@Suite struct InterfaceTests {
  @Test func `what the service says of itself is what its document says`() async throws {
    let documented = InterfaceLines(try document().interfaces)
    let served = InterfaceLines(try await introspections().values.flatMap(\.interfaces).filter(\.isStagedoors))
    #expect(served.names.subtracting(documented.names).sorted() == [], "these have no documentation")
    #expect(documented.names.subtracting(served.names).sorted() == [], "nobody serves these")
    for name in served.names.sorted() { #expect(served[name] == documented[name], "\(name)") }
  }

  @Test func `each object has its own interface, and D-Bus's`() async throws {
    let standard = ["Introspectable", "Peer", "Properties"].map { "org.freedesktop.DBus.\($0)" }
    let manager = "org.freedesktop.DBus.ObjectManager"
    for (object, node) in try await introspections() {
      let own =
        switch object {
        case .root: [House.interchange, manager]
        case .application: [House.application]
        case .session: [House.session]
        case .drag: ["\(InterfaceTests.drag)"]
        }
      #expect(node.interfaces.map(\.name.rawValue).sorted() == (standard + own).sorted(), "\(object)")
    }
  }

  @Test func `properties have the values that they are said to have`() async throws {
    try await withObjects { house, objects in
      for (object, path) in objects {
        let remote = house.watcher.object(House.name, at: path, object.interface)
        let declared = try #require(try await remote.introspect().interface(object.interface)).properties
        let values = try await remote.properties()
        #expect(
          values.mapValues { $0.contentSignature.rawValue }
            == Dictionary(uniqueKeysWithValues: declared.map { ($0.name.rawValue, $0.type.rawValue) }), "\(object)")
      }
    }
  }

  @Test func `what is called at a host or at a source is no part of the service`() async throws {
    let host = try Introspection.Node(xml: Repository.text(of: "dbus/org.stagedoor.SceneHost1.xml"))
    let names = Set(host.interfaces.map(\.name))
    #expect(names == ["org.stagedoor.SceneHost1", "org.stagedoor.ItemProvider1"])
    for (object, node) in try await introspections() {
      #expect(names.isDisjoint(with: node.interfaces.map(\.name)), "\(object)")
    }
  }

  // MARK: Objects

  private enum Object: CaseIterable {
    case root, application, session, drag

    var interface: InterfaceName {
      switch self {
      case .root: "org.stagedoor.Interchange1"
      case .application: "org.stagedoor.Application1"
      case .session: "org.stagedoor.SceneSession1"
      case .drag: InterfaceTests.drag
      }
    }
  }

  private static let drag: InterfaceName = "org.stagedoor.DragSession1"

  private func document() throws -> Introspection.Node {
    try Introspection.Node(xml: Repository.text(of: "dbus/org.stagedoor.Interchange1.xml"))
  }

  /// One object of each kind, of a running service.
  private nonisolated(nonsending) func withObjects<Result>(
    _ body: nonisolated(nonsending) (House, [Object: ObjectPath]) async throws -> Result
  ) async throws -> Result {
    try await withService(registering: Manifests.cats) { house in
      let session = try await house.drop("viewCat", "cat1").session
      let application = "\(House.root)/application/org_2eexample_2eCats"
      // A drag exists for its source, which looks at it in these tests.
      let root = try house.service(house.watcher)
      let payload = #"{"items":[{"representations":[{"type":"text/plain","text":"A cat"}]}]}"#
      let (drag, _) = try await root.call("BeginDrag", payload, returning: ObjectPath.self, String.self)
      let paths: [Object: String] = [.root: House.root, .application: application, .session: session]
      return try await body(house, try paths.mapValues { try ObjectPath($0) }.merging([.drag: drag]) { $1 })
    }
  }

  private func introspections() async throws -> [Object: Introspection.Node] {
    try await withObjects { house, objects in
      var nodes: [Object: Introspection.Node] = [:]
      for (object, path) in objects {
        nodes[object] = try await house.watcher.object(House.name, at: path, object.interface).introspect()
      }
      return nodes
    }
  }
}
