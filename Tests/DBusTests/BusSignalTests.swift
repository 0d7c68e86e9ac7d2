import DBus
import DBusTestSupport
import Testing

/// Signals through a bus: who hears them, who does not, and which are kept.
@Suite struct BusSignalTests {
  private static let rule = MatchRule(interface: "org.example.Meter", member: "Read")

  private func emit(_ numbers: Range<Int32>, from connection: Connection) throws {
    for number in numbers { try connection.emit(from: "/meter", "org.example.Meter", "Read", number) }
  }

  private func number(_ iterator: SignalStream.Iterator) async throws -> Int32 {
    let signal = try #require(await iterator.next())
    return try signal.values(as: Int32.self)
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `nothing that is emitted after listening began is missed`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, meter, watcher in
      for _ in 0..<50 {
        let signals = try await watcher.signals(Self.rule)
        try emit(7..<8, from: meter)
        let signal = try #require(try await collect(1, from: signals).first)
        let number = try signal.values(as: Int32.self)
        let sender = await meter.uniqueName
        #expect(number == 7 && signal.sender == sender && signal.path == "/meter")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `equal rules are told to the bus once, and kept while one listens`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, meter, watcher in
      let first = try await watcher.signals(Self.rule)
      let second = try await watcher.signals(Self.rule)
      try emit(0..<1, from: meter)
      // A rule that was added twice would still deliver once; the fault would show when it is removed once.
      for stream in [first, second] { #expect(try await collect(1, from: stream).count == 1) }
      first.cancel()
      try emit(1..<2, from: meter)
      let left = try #require(try await collect(1, from: second).first)
      #expect(try left.values(as: Int32.self) == 1)
      #expect(await first.makeAsyncIterator().next() == nil)
      second.cancel()
      // The bus no longer knows the rule: removing it by hand is an error.
      let error = await refusal {
        try await watcher.call(to: .bus, at: .bus, .bus, "RemoveMatch", Self.rule.description)
      }
      #expect(error?.name == "org.freedesktop.DBus.Error.MatchRuleNotFound")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `rules whose texts only look alike are two rules`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, menu, watcher in
      let names = ["caf\u{E9}", "cafe\u{301}"]
      let rules = names.map { MatchRule(interface: "org.example.Menu", arguments: [0: $0]) }
      #expect(rules[0] != rules[1])
      #expect(Set(rules).count == 2)
      let streams = [try await watcher.signals(rules[0]), try await watcher.signals(rules[1])]
      for name in names.reversed() + names { try menu.emit(from: "/menu", "org.example.Menu", "Ordered", name) }
      for (name, stream) in zip(names, streams) {
        for signal in try await collect(2, from: stream) {
          #expect(Array(try signal.values(as: String.self).utf8) == Array(name.utf8))
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a rule for a name follows its owner and believes nobody else`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { bus, old, new, watcher in
      let impostor = try await bus.connect()
      let name: BusName = "org.example.Meter"
      _ = try await old.requestName(name, .allowReplacement)
      let unique = try #require(await watcher.uniqueName)
      let signals = try await watcher.signals(MatchRule(sender: name, interface: "org.example.Meter"))
      let iterator = signals.makeAsyncIterator()

      // This signal is sent to the watcher alone, so it arrives whatever the rules say.
      try impostor.emit(from: "/meter", "org.example.Meter", "Read", 66 as Int32, to: unique)
      await impostor.flush()
      _ = try await impostor.owner(of: name)
      try emit(1..<2, from: old)
      #expect(try await number(iterator) == 1)

      _ = try await new.requestName(name, .replaceExisting)
      try emit(2..<3, from: new)
      #expect(try await number(iterator) == 2)
      // The earlier owner of the name no longer counts.
      try old.emit(from: "/meter", "org.example.Meter", "Read", 67 as Int32, to: unique)
      _ = try await old.owner(of: name)
      try emit(3..<4, from: new)
      #expect(try await number(iterator) == 3)
      await impostor.close()
    }
  }

  @Test func `over the bound, the policy says what is kept`() async throws {
    try await withConnections { _, meter, watcher in
      let newest = try await watcher.signals(Self.rule, buffering: .newest(10))
      let oldest = try await watcher.signals(Self.rule, buffering: .oldest(10))
      let all = try await watcher.signals(Self.rule, buffering: .oldest(100))
      try emit(0..<100, from: meter)
      // When the last signal is here, all are.
      #expect(try await collect(100, from: all).count == 100)
      func numbers(_ stream: SignalStream) async throws -> [Int32] {
        var numbers: [Int32] = []
        for signal in try await collect(10, from: stream) {
          numbers.append(try signal.values(as: Int32.self))
        }
        return numbers
      }
      #expect(try await numbers(newest) == Array(90..<100))
      #expect(try await numbers(oldest) == Array(0..<10))
      #expect(newest.dropped == 90 && oldest.dropped == 90 && all.dropped == 0)
    }
  }

  @Test func `arguments and namespaces are matched`() async throws {
    try await withConnections { _, sender, watcher in
      func listen(_ rule: MatchRule) async throws -> SignalStream { try await watcher.signals(rule) }
      let quoted = try await listen(MatchRule(interface: "org.example.Log", arguments: [0: "it's", 1: "here, 'now'"]))
      let below = try await listen(MatchRule(pathNamespace: "/log", member: "Said"))
      let family = try await listen(MatchRule(interface: "org.example.Log", argument0Namespace: "org.example"))
      let last = try await listen(MatchRule(member: "Last"))
      func say(_ path: ObjectPath, _ first: String, _ second: String) throws {
        try sender.emit(from: path, "org.example.Log", "Said", first, second)
      }
      try say("/log", "it's", "here, 'now'")
      try say("/log/deep", "it's", "there")
      try say("/logbook", "org.example.a", "")
      try say("/logbook", "org.exampleb", "")
      try sender.emit(from: "/", "org.example.Log", "Last")
      #expect(try await collect(1, from: last).count == 1)
      for stream in [quoted, below, family] { stream.cancel() }
      func count(_ stream: SignalStream) async -> Int { await stream.reduce(0) { count, _ in count + 1 } }
      #expect(await count(quoted) == 1)
      #expect(await count(below) == 2)
      #expect(await count(family) == 1)
    }
  }
}
