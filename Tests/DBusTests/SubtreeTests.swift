import DBus
import DBusTestSupport
import Testing

/// Virtual objects, for those who may see them.
@Suite struct SubtreeTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `each caller sees its own objects, by whichever way it looks`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, owner, other in
      let (name, own) = (try #require(await service.uniqueName), try #require(await owner.uniqueName))
      var book = Interface("org.example.Book")
      book.property("Number", get: { (access: PropertyAccess) in String(access.path.lastElement) })
      book.method("Open", out: "path") { (call: Call) in call.path }
      let interfaces = [book]
      // Everyone may see "1" and, without finding it in the list, "3"; only the owner may see "2".
      let elements: @Sendable (BusName?) -> [String] = { $0 == own ? ["1", "2"] : ["1"] }
      service.export(
        Subtree(
          interfaces: { path, call in
            (elements(call?.sender) + ["3"]).contains(String(path.lastElement)) ? interfaces : nil
          },
          children: { call in elements(call.sender) }), below: "/books")
      service.exportObjectManager(at: "/books")
      // An object is not hidden by what lies below it.
      service.export(Interface("org.example.Pages"), at: "/books/1/pages")
      for client in [owner, other] {
        let mayOpen = await client.uniqueName == own
        let shelf = client.object(name, at: "/books", "org.freedesktop.DBus.ObjectManager")
        let book = client.object(name, at: "/books/2", "org.example.Book")
        #expect(try await shelf.introspect().children.map(\.name) == (mayOpen ? ["1", "2"] : ["1"]))
        let managed: [ObjectPath: [String: [String: Variant]]] = try await shelf.call("GetManagedObjects")
        #expect(
          managed.keys.sorted() == ["/books/1", "/books/1/pages"] + (mayOpen ? ["/books/2"] : []) as [ObjectPath])
        for number in ["1", "3"] {
          let everyones = client.object(name, at: try ObjectPath("/books/\(number)"), "org.example.Book")
          let path: ObjectPath = try await everyones.call("Open")
          #expect(path == everyones.path)
          #expect(try await everyones.get("Number", as: String.self) == number)
        }
        #expect(await isThere { let _: ObjectPath = try await book.call("Open") } == mayOpen)
        #expect(await isThere { _ = try await book.get("Number", as: String.self) } == mayOpen)
        #expect(await isThere { _ = try await book.properties() } == mayOpen)
        #expect(await isThere { _ = try await book.introspect() } == mayOpen)
      }
    }
  }

  private func isThere(_ body: () async throws -> Void) async -> Bool {
    let error = await refusal(body)
    #expect(error == nil || error?.name == .unknownObject)
    return error == nil
  }
}
