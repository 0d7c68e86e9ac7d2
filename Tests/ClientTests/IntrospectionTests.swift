import DBus
import DBusTestSupport
import Testing
import dbus_showcase

@Suite struct IntrospectionTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `every client reads the introspection that was declared`(kind: PrivateBus.Kind) async throws {
    let declared = try await declaration()
    try await withStage(kind) { stage in
      let own = try await stage.object.introspect()
      #expect(own.interface("org.stagedoor.Showcase1") == declared)
      #expect(own.children.map(\.name) == ["items", "numbers"])
      let number = stage.client.object(
        Showcase.busName, at: "/org/stagedoor/Showcase1/numbers/7", "org.stagedoor.Showcase1.Number")
      #expect(try await number.introspect().interface(number.interface) == Number.interface.introspection)
      // Also an object manager, its objects, and objects that are made up.
      for place in ["", "/items", "/items/item1", "/numbers", "/numbers/7"] {
        let object = stage.client.object(
          Showcase.busName, at: try ObjectPath("\(Showcase.path)\(place)"), "org.stagedoor.Showcase1")
        let own = try await object.introspect()
        for (client, xml) in try await documents(of: object.path.rawValue, on: stage) {
          #expect(try Introspection.Node(xml: xml) == own, "\(client) at \(object.path)")
        }
      }
    }
  }

  private func documents(of path: String, on stage: Stage) async throws -> [(client: String, xml: String)] {
    var documents: [(String, String)] = []
    for client in CommandLineClient.allCases {
      let output = try await stage.command(client.rawValue, arguments: client.words(introspecting: path)).output()
      documents.append((client.rawValue, String(output.drop { $0 == " " })))
    }
    for client in PythonClient.allCases {
      documents.append((client.rawValue, try await client.command("introspect", path, on: stage).output()))
    }
    return documents
  }
}
