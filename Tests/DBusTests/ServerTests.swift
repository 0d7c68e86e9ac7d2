import DBus
import DBusTestSupport
import Testing

/// The answer to a call, whatever the handler and the caller do. The tests need no bus.
@Suite struct ServerTests {
  @Test func `each form of handler answers with what it returns`() async throws {
    try await withThing { thing in
      thing.method("Nothing") {}
      thing.method("One", in: "a", out: "b") { (a: Int32) in a + 1 }
      thing.method("Two", in: "a", out: "b", "c") { (a: Int32) in (a, "\(a)") }
      thing.method("Path", out: "path") { (call: Call) in call.path }
      thing.method("Later", in: "a", out: "b") { (a: Int32) in
        await Task.yield()
        return a * 2
      }
      thing.method("LaterPath", out: "path") { (call: Call) in
        await Task.yield()
        return call.path
      }
      thing.method("Deferred", in: "a", out: "b") { (reply: Reply<Int32>, a: Int32) in
        Task { reply.send(a * 3) }
      }
    } _: { thing, _ in
      try await thing.call("Nothing")
      #expect(try await thing.call("One", Int32(1), returning: Int32.self) == 2)
      let (number, text) = try await thing.call("Two", Int32(7), returning: Int32.self, String.self)
      #expect(number == 7 && text == "7")
      #expect(try await thing.call("Path", returning: ObjectPath.self) == Thing.path)
      #expect(try await thing.call("Later", Int32(2), returning: Int32.self) == 4)
      #expect(try await thing.call("LaterPath", returning: ObjectPath.self) == Thing.path)
      #expect(try await thing.call("Deferred", Int32(3), returning: Int32.self) == 9)
    }
  }

  @Test func `what is not there is refused by its name`() async throws {
    try await withThing { thing in
      thing.method("Here", in: "a") { (_: Int32) in }
    } _: { thing, server in
      let client = thing.connection
      let noMethod = await refusal { try await thing.call("Gone") }
      #expect(noMethod == ErrorReply(.unknownMethod, "org.example.Thing has no method Gone"))
      let noInterface = await refusal { try await client.call(to: nil, at: Thing.path, "org.example.Other", "Here") }
      #expect(
        noInterface
          == ErrorReply(.unknownInterface, "the object /org/example/Thing has no interface org.example.Other"))
      let noObject = await refusal { try await client.call(to: nil, at: "/nowhere", Thing.name, "Here") }
      #expect(noObject == ErrorReply(.unknownObject, "there is no object at /nowhere"))
      let wrongTypes = await refusal { try await thing.call("Here", "text", "more") }
      #expect(wrongTypes == ErrorReply(.invalidArgs, "org.example.Thing.Here takes \"i\", not \"ss\""))
      let nothing = await refusal { try await thing.call("Here") }
      #expect(nothing == ErrorReply(.invalidArgs, "org.example.Thing.Here takes \"i\", not no arguments"))
      let noProperty = await refusal { _ = try await thing.get("Gone", as: String.self) }
      #expect(noProperty == ErrorReply(.unknownProperty, "org.example.Thing has no property Gone"))
      let noName = await refusal {
        let _: Variant = try await client.call(
          to: nil, at: Thing.path, "org.freedesktop.DBus.Properties", "Get", "no \"interface\"\n\u{202E}", "Gone")
      }
      #expect(
        noName
          == ErrorReply(
            .unknownInterface, #"the object /org/example/Thing has no interface "no \"interface\"\n\u{202E}""#))
    }
  }

  @Test func `a method is found without its interface`() async throws {
    try await withThing { thing in
      thing.method("Here", out: "a") { "here" }
    } _: { thing, _ in
      let answer: String = try await thing.connection.call(to: nil, at: Thing.path, nil, "Here")
      #expect(answer == "here")
      let missing = await refusal { try await thing.connection.call(to: nil, at: Thing.path, nil, "Gone") }
      #expect(missing?.name == .unknownMethod)
    }
  }

  enum ThingError: Error, NamedOnBus {
    case broken
    var errorReply: ErrorReply { ErrorReply("org.example.Error.Broken", "it is broken") }
  }

  struct Unnamed: Error, CustomStringConvertible { let description = "no name for this" }

  @Test func `a handler that throws refuses the call`() async throws {
    try await withThing { thing in
      thing.method("Named") { throw ThingError.broken }
      thing.method("Unnamed") { throw Unnamed() }
      thing.method("Later") {
        await Task.yield()
        throw ThingError.broken
      }
      thing.method("Cancelled") {
        await Task.yield()
        throw CancellationError()
      }
      thing.method("NUL") { throw ErrorReply("org.example.Error.NUL", "one\0two") }
    } _: { thing, _ in
      #expect(await refusal { try await thing.call("Named") } == ThingError.broken.errorReply)
      #expect(await refusal { try await thing.call("Unnamed") } == ErrorReply(.failed, "no name for this"))
      #expect(await refusal { try await thing.call("Later") } == ThingError.broken.errorReply)
      #expect(await refusal { try await thing.call("Cancelled") } == ErrorReply(.failed, "the call was cancelled"))
      #expect(await refusal { try await thing.call("NUL") } == ErrorReply("org.example.Error.NUL", "onetwo"))
    }
  }

  @Test func `a call gets one answer, however often its handler gives one`() async throws {
    let answered = StoredProperty<[Bool]>([])
    try await withThing { thing in
      thing.method("Twice", out: "n") { (reply: Reply<Int32>) in
        answered.value = [reply.send(1), reply.send(2), reply.fail(ThingError.broken)]
      }
      thing.method("SentAndThrown", out: "n") { (reply: Reply<Int32>) in
        reply.send(1)
        throw ThingError.broken
      }
    } _: { thing, _ in
      let first: Int32 = try await thing.call("Twice")
      #expect(first == 1 && answered.value == [true, false, false])
      #expect(try await thing.call("SentAndThrown", returning: Int32.self) == 1)
      // A second answer would arrive before this one, and would belong to no call.
      #expect(try await thing.call("Twice", returning: Int32.self) == 1)
    }
  }

  @Test func `a call that is let go unanswered is answered with an error`() async throws {
    try await withThing { thing in
      thing.method("Forget", out: "n") { (_: Reply<Int32>) in }
    } _: { thing, _ in
      let error = await refusal { _ = try await thing.call("Forget", returning: Int32.self) }
      #expect(error == ErrorReply(.noReply, "the service let the call go without an answer"))
    }
  }

  @Test func `a reply that does not fit into a message is an error instead`() async throws {
    try await withThing { thing in
      thing.method("Long", out: "bytes") { [UInt8](repeating: 0, count: MessageWriter.maximumArrayLength + 1) }
      thing.method("NUL", out: "text") { "one\0two" }
    } _: { thing, _ in
      #expect(await refusal { _ = try await thing.call("Long", returning: [UInt8].self) }?.name == .limitsExceeded)
      #expect(await refusal { _ = try await thing.call("NUL", returning: String.self) }?.name == .invalidArgs)
    }
  }

  @Test func `a check refuses before the arguments are looked at`() async throws {
    try await withThing { thing in
      thing.method("Guarded", in: "a") { (_: Int32) in Issue.record("the handler was reached") }
      thing.restrict("Guarded") { _ in throw ErrorReply(.accessDenied, "not for you") }
    } _: { thing, _ in
      // The types are wrong as well, but the error does not mention that.
      #expect(await refusal { try await thing.call("Guarded", "text") } == ErrorReply(.accessDenied, "not for you"))
    }
  }

  @Test func `a check of the whole interface covers its properties`() async throws {
    try await withThing { thing in
      thing.property("Secret", constant: "hidden")
      thing.restrict { _ in throw ErrorReply(.accessDenied, "not for you") }
    } _: { thing, server in
      server.exportObjectManager(at: "/")
      #expect(await refusal { _ = try await thing.get("Secret", as: String.self) }?.name == .accessDenied)
      #expect(await refusal { _ = try await thing.properties() }?.name == .accessDenied)
      let managed = try await thing.connection.call(
        to: nil, at: "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
        returning: [ObjectPath: [String: [String: Variant]]].self)
      #expect(managed.isEmpty)
    }
  }

  @Test func `properties are read and written`() async throws {
    let mood = StoredProperty("calm")
    try await withThing { thing in
      thing.property("Mood", stored: mood, writable: true)
      thing.property("Kind", constant: UInt32(7))
      thing.property("Broken", get: { () throws -> String in throw ThingError.broken })
      thing.property("Sink", get: nil, set: { (_: PropertyAccess, _: Int32) in })
    } _: { thing, _ in
      #expect(try await thing.get("Mood", as: String.self) == "calm")
      try await thing.set("Mood", to: "merry")
      #expect(mood.value == "merry")
      #expect(try await thing.properties() == ["Mood": "merry", "Kind": .uint32(7)])
      #expect(await refusal { try await thing.set("Kind", to: UInt32(8)) }?.name == .propertyReadOnly)
      #expect(await refusal { try await thing.set("Mood", to: Int32(8)) }?.name == .invalidArgs)
      #expect(await refusal { _ = try await thing.get("Broken", as: String.self) } == ThingError.broken.errorReply)
      #expect(await refusal { _ = try await thing.get("Sink", as: Int32.self) }?.name == .accessDenied)
      try await thing.set("Sink", to: Int32(1))
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a text that only looks like the one before is a change, and soon told`()
    async throws
  {
    let mood = StoredProperty("caf\u{E9}")
    try await withThing { thing in
      thing.property("Mood", stored: mood, writable: true)
    } _: { thing, _ in
      let changes = try await thing.propertyChanges()
      let values = ["cafe\u{301}", endlessLetter, "\(endlessLetter)\u{301}"]
      for value in values { try await thing.set("Mood", to: value) }
      for (value, change) in zip(values, try await collect(values.count, from: changes)) {
        let (_, changed, _) = try change.values(as: String.self, [String: Variant].self, [String].self)
        let text = try #require(try changed["Mood"].map { try String($0) })
        #expect(text.utf8.elementsEqual(value.utf8))
      }
    }
  }

  @Test func `changes of a turn are told once, and before the reply that follows them`() async throws {
    let first = StoredProperty(0 as Int32)
    let second = StoredProperty("")
    try await withThing { thing in
      thing.property("First", stored: first)
      thing.property("Second", stored: second)
      let happened = thing.signal("Happened")
      thing.method("Change") { (call: Call) in
        for number in 1...10 as ClosedRange<Int32> { first.value = number }
        second.value = "changed"
        try call.connection.emit(happened, from: call.path)
      }
    } _: { thing, _ in
      // One rule for everything, so that the order is the order on the wire.
      let signals = try await thing.connection.signals(MatchRule(path: Thing.path))
      try await thing.call("Change")
      signals.cancel()
      var seen: [MemberName] = []
      for await signal in signals {
        seen.append(signal.member)
        guard signal.member == "PropertiesChanged" else { continue }
        let (name, changed, invalidated) = try signal.values(as: String.self, [String: Variant].self, [String].self)
        #expect(name == Thing.name.rawValue)
        #expect(changed == ["First": .int32(10), "Second": "changed"])
        #expect(invalidated.isEmpty)
      }
      // Everything had arrived when the reply arrived.
      #expect(seen == ["PropertiesChanged", "Happened"])
    }
  }

  @Test func `a value that not everyone may see is announced without it`() async throws {
    try await withThing { thing in
      thing.property("Loud", get: { "heard" })
      thing.property("Quiet", emits: .invalidates, get: { "unheard" })
      thing.property("Silent", emits: .false, get: { "never" })
      thing.method("Change") { (call: Call) in
        for property in ["Loud", "Quiet", "Silent"] as [MemberName] {
          call.connection.propertyChanged(property, of: Thing.name, at: call.path)
        }
      }
      thing.method("Hide") { (call: Call) in
        call.connection.propertyInvalidated("Loud", of: Thing.name, at: call.path)
      }
    } _: { thing, _ in
      let changes = try await thing.propertyChanges().makeAsyncIterator()
      try await thing.call("Change")
      let shown = try #require(await changes.next())
      let (_, changed, invalidated) = try shown.values(as: String.self, [String: Variant].self, [String].self)
      #expect(changed == ["Loud": "heard"] && invalidated == ["Quiet"])
      try await thing.call("Hide")
      let hidden = try #require(await changes.next())
      let (_, none, loud) = try hidden.values(as: String.self, [String: Variant].self, [String].self)
      #expect(none.isEmpty && loud == ["Loud"])
    }
  }

  @Test func `an object manager lists what lies below it, and tells what comes and goes`() async throws {
    try await withThing { thing in
      thing.property("Kind", constant: "root")
    } _: { thing, server in
      server.exportObjectManager(at: "/org/example")
      let client = thing.connection
      let signals = try await client.signals(MatchRule(interface: "org.freedesktop.DBus.ObjectManager"))
      let iterator = signals.makeAsyncIterator()
      var child = Interface("org.example.Child")
      child.property("Age", constant: UInt32(3))
      server.export(child, at: "/org/example/Thing/child")
      let added = try #require(await iterator.next())
      #expect(added.member == "InterfacesAdded" && added.path == "/org/example")
      let (path, interfaces) = try added.values(as: ObjectPath.self, [String: [String: Variant]].self)
      #expect(path == "/org/example/Thing/child" && interfaces == ["org.example.Child": ["Age": .uint32(3)]])

      let managed = try await client.call(
        to: nil, at: "/org/example", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
        returning: [ObjectPath: [String: [String: Variant]]].self)
      #expect(
        managed == [
          Thing.path: [Thing.name.rawValue: ["Kind": "root"]],
          "/org/example/Thing/child": ["org.example.Child": ["Age": .uint32(3)]],
        ])

      server.unexport(at: "/org/example/Thing/child")
      let removed = try #require(await iterator.next())
      #expect(removed.member == "InterfacesRemoved")
      let (gone, names) = try removed.values(as: ObjectPath.self, [String].self)
      #expect(gone == "/org/example/Thing/child" && names == ["org.example.Child"])
      let error = await refusal { _ = try await client.call(to: nil, at: gone, "org.example.Child", "Anything") }
      #expect(error?.name == .unknownObject)
    }
  }

  @Test func `introspection says what was declared`() async throws {
    var declared = Interface(Thing.name)
    try await withThing { thing in
      thing.method("Take", in: "text", "numbers", out: "taken") { (_: String, _: [Int32]) in true }
      thing.method("Send", in: "file") { (_: OwnedFileDescriptor) in }
      thing.property("Kind", constant: "x")
      thing.signal("Happened", "what", of: String.self)
      declared = thing
    } _: { thing, _ in
      let node = try await thing.introspect()
      #expect(node.interface(Thing.name) == declared.introspection)
      #expect(declared.introspection.method("Send")?.carriesUnixFD == true)
      #expect(node.interface("org.freedesktop.DBus.Properties") != nil)
      let parent = try await thing.connection.object(nil, at: "/org/example", "org.example.Any").introspect()
      #expect(parent.children.map(\.name) == ["Thing"])
    }
  }

  @Test func `a caller that waits for no answer gets none`() async throws {
    let calls = StoredProperty(0 as Int32)
    try await withThing { thing in
      thing.method("Count") { calls.value += 1 }
      thing.method("Throw") { throw ThingError.broken }
    } _: { thing, _ in
      let client = thing.connection
      for _ in 0..<100 {
        try client.send(to: nil, at: Thing.path, Thing.name, "Count")
        try client.send(to: nil, at: Thing.path, Thing.name, "Throw")
        try client.send(to: nil, at: "/nowhere", Thing.name, "Count")
      }
      try await thing.call("Count")
      #expect(calls.value == 101)
    }
  }

  // MARK: Limits

  @Test func `arguments with more values than a method takes are refused while they are read`() async throws {
    let taken = Lock(0)
    try await withThing { thing in
      thing.method("Any", in: "texts") { (texts: [[String: String]]) in taken.withLock { $0 = texts.count } }
      thing.method("Few", in: "texts") { (texts: [String: String]) in taken.withLock { $0 = texts.count } }
      thing.property(
        "Texts", get: nil, set: { (_: PropertyAccess, texts: [String]) in taken.withLock { $0 = texts.count } })
      thing.limit("Few", values: 7)
    } _: { thing, _ in
      // The dictionary is one value, and so are each entry, its key and its value.
      try await thing.call("Few", ["a": "1", "b": "2"])
      #expect(taken.withLock { $0 } == 2)
      let few = await refusal { try await thing.call("Few", ["a": "1", "b": "2", "c": "3"]) }
      #expect(few == ErrorReply(.limitsExceeded, "the arguments hold more than 7 values"))
      let million = [[String: String]](repeating: [:], count: 1 << 20)
      let any = await refusal { try await thing.call("Any", million) }
      #expect(any == ErrorReply(.limitsExceeded, "the arguments hold more than 1048576 values"))
      let set = await refusal { try await thing.set("Texts", to: [String](repeating: "", count: 1 << 20)) }
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

  // MARK: Actors

  @Test func `an actor on the loop serves without leaving it`() async throws {
    try await withPeers { server, client in
      server.export(Counter(loop: server.loop).interface, at: Thing.path)
      let thing = client.object(nil, at: Thing.path, "org.example.Counter")
      let two: Int32 = try await thing.call("Add", Int32(2))
      #expect(two == 2)
      #expect(try await thing.call("AddLater", Int32(3), returning: Int32.self) == 5)
      #expect(try await thing.get("Value", as: Int32.self) == 5)
    }
  }

  actor Counter {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var value: Int32 = 0

    init(loop: EventLoop) { self.loop = loop }

    nonisolated var interface: Interface {
      var interface = Interface("org.example.Counter")
      interface.method("Add", in: "amount", out: "value", on: self) { (counter, _: Call, amount: Int32) -> Int32 in
        counter.value += amount
        return counter.value
      }
      interface.method("AddLater", in: "amount", out: "value", on: self) {
        (counter, _: Call, amount: Int32) async -> Int32 in
        await Task.yield()
        counter.loop.checkIsolated()
        counter.value += amount
        return counter.value
      }
      interface.property("Value", on: self, get: { (counter, _: PropertyAccess) in counter.value })
      return interface
    }
  }
}
