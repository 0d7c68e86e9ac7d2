import DBus
import DBusTestSupport
import Testing

/// Calls that ask for too much.
@Suite struct ServerLimitTests {
  @Test func `arguments with more values than a method takes are refused while they are read`() async throws {
    try await withPeers { server, client in
      let taken = Lock(0)
      var thing = Interface("org.example.Thing")
      thing.method("Any", in: "texts") { (texts: [[String: String]]) in taken.withLock { $0 = texts.count } }
      thing.method("Few", in: "texts") { (texts: [String: String]) in taken.withLock { $0 = texts.count } }
      thing.property(
        "Texts", get: nil, set: { (_: PropertyAccess, texts: [String]) in taken.withLock { $0 = texts.count } })
      thing.limit("Few", values: 7)
      server.export(thing, at: "/")
      let remote = client.object(nil, at: "/", "org.example.Thing")
      // The dictionary is one value, and so are each entry, its key and its value.
      try await remote.call("Few", ["a": "1", "b": "2"])
      #expect(taken.withLock { $0 } == 2)
      let few = await refusal { try await remote.call("Few", ["a": "1", "b": "2", "c": "3"]) }
      #expect(few == ErrorReply(.limitsExceeded, "the arguments hold more than 7 values"))
      let million = [[String: String]](repeating: [:], count: 1 << 20)
      let any = await refusal { try await remote.call("Any", million) }
      #expect(any == ErrorReply(.limitsExceeded, "the arguments hold more than 1048576 values"))
      let set = await refusal { try await remote.set("Texts", to: [String](repeating: "", count: 1 << 20)) }
      #expect(set?.name == .limitsExceeded)
      #expect(taken.withLock { $0 } == 2)
    }
  }

  @Test func `an object manager with more objects than fit says so, and what to do, and stops looking`() async throws {
    try await withPeers { server, client in
      let looked = Lock(0)
      var book = Interface("org.example.Book")
      let text = String(repeating: "x", count: 1 << 20)
      book.property(
        "Text",
        get: { (_: PropertyAccess) -> String in
          looked.withLock { $0 += 1 }
          return text
        })
      let interfaces = [book]
      server.export(
        Subtree(interfaces: { _, _ in interfaces }, children: { _ in (0..<100).map(String.init) }), below: "/books")
      server.exportObjectManager(at: "/books", advice: "ListBooks lists them page by page")
      let error = await refusal {
        try await client.call(to: nil, at: "/books", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      }
      #expect(
        error
          == ErrorReply(
            .limitsExceeded,
            "the objects below /books do not fit into 16777216 bytes: ListBooks lists them page by page"))
      #expect(looked.withLock { $0 } == 16)
    }
  }

  @Test func `an error repeats the beginning of a long path`() async throws {
    try await withPeers { server, client in
      let path = try ObjectPath("/" + String(repeating: "p", count: 60_000))
      for interface in ["org.example.Thing", nil] as [InterfaceName?] {
        let error = await refusal { try await client.call(to: nil, at: path, interface, "Any") }
        #expect(
          error == ErrorReply(.unknownObject, "there is no object at /" + String(repeating: "p", count: 71) + "…"))
      }
    }
  }
}
