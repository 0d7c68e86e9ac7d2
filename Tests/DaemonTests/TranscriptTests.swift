import DBus
import DBusTestSupport
import Foundation
import Testing

/// The theatre plays the core and its turns without a bus. Here the real program gets the same calls over a real bus, and real hosts give the answers
/// of the play: every caller, listener and host hears the same.
@Suite struct TranscriptTests {
  /// Seed 4 is left out: in its play one call makes two sessions, and the next call chooses between them. Of two sessions of the same moment the
  /// smaller identifier wins, and the identifiers differ here.
  @Test(arguments: [1, 2, 3, 5, 6, 7, 8])
  func `a play comes out on the bus as in the theatre`(seed: Int) async throws {
    let printed = try await Command.built("theatre", "--transcript", "--seed", "\(seed)", "--acts", "100").output()
    let lines = try printed.split(separator: "\n").map { try JSONDecoder().decode([String].self, from: Data($0.utf8)) }
    try await withService { house in
      let troupe = try await Troupe(in: house)
      var act: [[String]] = []
      for line in lines {
        if line[0] == "act" {
          try await troupe.play(act)
          act = []
        }
        act.append(line)
      }
      try await troupe.play(act)
      try await troupe.compareEvents(lines.filter { $0[0] == "event" })
      #expect(troupe.comparedLines > 100, "a play in which something happens")
    }
  }
}

/// Everyone who has a part in a play, on the bus.
private final class Troupe {
  private let house: House
  /// The results that were not compared yet.
  private let heard: Heard
  private var callers: [String: Connection] = [:]
  private var hosts: [String: HostPlayer] = [:]
  /// The identifiers of this run, by those of the play.
  private var identifiers: [String: String] = [:]
  private var ours = Canon()
  private var theirs = Canon()
  private(set) var comparedLines = 0

  private struct Heard: Sendable {
    let signals = Lock<[[String]]>([])
    let replies = Lock<[String: [String]]>([:])
  }

  init(in house: House) async throws {
    self.house = house
    let heard = Heard()
    self.heard = heard
    let signals = try await house.watcher.signals(MatchRule(sender: House.name), buffering: .newest(100_000))
    Task {
      for await signal in signals {
        let line = Line.signal(signal)
        heard.signals.withLock { $0.append(line) }
      }
    }
  }

  // MARK: An act

  nonisolated(nonsending) func play(_ lines: [[String]]) async throws {
    guard let act = lines.first else { return }
    for line in lines where line[0] == "program" {
      hosts[line[1]] = try await HostPlayer(line[2], in: house, isOwner: false)
    }
    for line in lines where line[0] == "answers" { hosts[line[1]]?.next(line[2], try manner(Array(line.dropFirst(3)))) }
    for line in lines { try await perform(line) }
    let expected = Expected(lines)
    let (heard, hosts) = (heard, hosts)
    do {
      try await eventually("what the play hears", within: .seconds(20)) {
        heard.signals.withLock { $0.count } >= expected.signals.count
          && expected.replies.allSatisfy { reply in heard.replies.withLock { $0[reply[1]] != nil } }
          && expected.asked.allSatisfy { name, asked in hosts[name].map { $0.calls.count >= asked.count } ?? false }
      }
    } catch {
      Issue.record("\(act): \(error)")
    }
    try await comeToPause(with: Array(expected.asked.keys))
    compare(expected, act)
  }

  /// Returns when the service has done everything that follows from an answer.
  private nonisolated(nonsending) func comeToPause(with names: [String]) async throws {
    let connections = [house.watcher] + names.compactMap { hosts[$0]?.connection }
    for connection in connections {
      // The service finishes what a message starts before it reads another message that was sent after its answer.
      for _ in 0..<3 {
        let _: Variant = try await connection.call(
          to: House.name, at: try ObjectPath(House.root), "org.freedesktop.DBus.Properties", "Get", House.interchange,
          "EventSequence")
      }
    }
  }

  private nonisolated(nonsending) func perform(_ line: [String]) async throws {
    switch line[0] {
    case "own":
      let outcome = try await connection(line[1]).requestName(
        try BusName(line[2]), [.allowReplacement, .replaceExisting, .doNotQueue])
      #expect([.owned, .alreadyOwned].contains(outcome))
    case "release": _ = try await connection(line[1]).releaseName(try BusName(line[2]))
    case "leave":
      let leaving = try await connection(line[1])
      let name = try #require(await leaving.uniqueName)
      await leaving.close()
      let watcher = house.watcher
      try await eventually("\(name) to be gone") { try await watcher.owner(of: name) == nil }
      (callers[line[1]], hosts[line[1]]) = (nil, nil)
    case "call": try await call(line)
    default: break
    }
  }

  private nonisolated(nonsending) func connection(_ name: String) async throws -> Connection {
    if let connection = hosts[name]?.connection ?? callers[name] { return connection }
    let connection = try await house.bus.connect()
    callers[name] = connection
    return connection
  }

  private nonisolated(nonsending) func call(_ line: [String]) async throws {
    let connection = try await connection(line[2])
    let (path, interface) = (try ObjectPath(here(line[3])), try InterfaceName(line[4]))
    let call = try message(path, interface, try MemberName(line[5]), line.dropFirst(6).map(here))
    let (replies, number) = (heard.replies, line[1])
    Task {
      let reply: [String]
      do {
        reply = Line.flat(try await connection.reply(to: call(), timeout: nil).variants())
      } catch CallError.replied(let error) {
        reply = ["error", error.name.rawValue, error.text]
      } catch {
        reply = ["no reply", "\(error)"]
      }
      replies.withLock { $0[number] = reply }
    }
  }

  private func message(
    _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ arguments: [String]
  ) throws -> @Sendable () throws -> Message {
    let types = arguments.map { $0.prefix { $0 != ":" } }.joined(separator: " ")
    let values = arguments.map { String($0.drop { $0 != ":" }.dropFirst()) }
    func call<each Argument: BusValue>(_ arguments: repeat each Argument) -> @Sendable () throws -> Message {
      let arguments = (repeat each arguments)
      return { try .methodCall(to: House.name, at: path, interface, member, repeat each arguments) }
    }
    func paths() throws -> [ObjectPath] { try values[1].split(separator: " ").map { try ObjectPath(String($0)) } }
    switch types {
    case "": return call()
    case "s": return call(values[0])
    case "s s": return call(values[0], values[1])
    case "s o": return call(values[0], try ObjectPath(values[1]))
    case "s s v": return call(values[0], values[1], Variant.string(values[2]))
    case "s ao": return call(values[0], try paths())
    case "s ao b": return call(values[0], try paths(), [values[2]: Variant.boolean(true)])
    default: throw UnknownArguments(types: types)
    }
  }

  private struct UnknownArguments: Error { let types: String }

  private func manner(_ words: [String]) throws -> HostPlayer.Manner {
    switch words[0] {
    case "configuration": .answers(words[1])
    case "refused": .refuses(ErrorReply(try ErrorName(words[1]), words[2]))
    default: .accepts
    }
  }

  /// A text of the play with the identifiers of this run.
  private func here(_ text: String) -> String {
    text.replacing(Canon.identifier) { match in
      let name = Canon.plain(match.output)
      let separator = match.output.contains("_") ? "_" : "-"
      return (identifiers[name] ?? name).replacing("-", with: separator)
    }
  }

  // MARK: Comparing

  private func compare(_ expected: Expected, _ act: [String]) {
    let found = Expected(
      replies: expected.replies.map { reply in
        ["reply", reply[1]] + (heard.replies.withLock { $0.removeValue(forKey: reply[1]) } ?? ["none"])
      },
      asked: Dictionary(
        uniqueKeysWithValues: hosts.map { name, host in
          (name, host.calls.map { ["asked", name, $0.member, $0.session] + $0.arguments })
        }
      ).filter { !$0.value.isEmpty },
      signals: heard.signals.withLock { lines in
        defer { lines = [] }
        return lines
      })
    for host in hosts.values { host.forget() }
    let (wanted, got) = (theirs.lines(of: expected), ours.lines(of: found))
    #expect(got == wanted, "\(act)")
    comparedLines += got.count
    // From now on, things that have a name in both runs are asked for by that name.
    for (name, number) in theirs.numbers { identifiers[name] = ours.names[number] }
  }

  nonisolated(nonsending) func compareEvents(_ lines: [[String]]) async throws {
    let rows = try await house.service(house.watcher).call(
      "EventsSince", UInt64(0), UInt32(0),
      returning: [Structure<UInt64, String, String>].self)
    let found = rows.map { row in
      ["event", row.members.1, row.members.2.replacing(#/,?"time":"[^"]*"/#, with: "")]
    }
    #expect(rows.map { $0.members.0 } == (0..<rows.count).map { UInt64($0 + 1) })
    #expect(ours.bySession(found) == theirs.bySession(lines))
  }
}

/// What the participants hear in an act.
private struct Expected {
  let replies: [[String]]
  let asked: [String: [[String]]]
  let signals: [[String]]
}

extension Expected {
  init(_ lines: [[String]]) {
    func those(_ kind: String) -> [[String]] { lines.filter { $0[0] == kind } }
    self.init(replies: those("reply"), asked: Dictionary(grouping: those("asked")) { $0[1] }, signals: those("signal"))
  }
}

/// Numbers identifiers in the order of their first mention.
private struct Canon {
  static var identifier: Regex<Substring> {
    #/[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}/#
  }
  private(set) var numbers: [String: Int] = [:]
  private(set) var names: [Int: String] = [:]

  static func plain(_ identifier: Substring) -> String { String(identifier.replacing("_", with: "-")) }

  /// What each listener hears, in order.
  mutating func lines(of heard: Expected) -> [[String]] {
    let lines = heard.replies.sorted { $0[1] < $1[1] } + heard.asked.sorted { $0.key < $1.key }.flatMap(\.value)
    // The last value of a signal of the root is its number, which would repeat the order.
    let signals = heard.signals.map { $0[1] == House.root ? $0.dropLast() : $0 }
    return canonical(lines) + bySession(signals)
  }

  /// The lines about each session in order, and the sessions in the order of their first mention. Results of several sessions at once come in the
  /// order of the identifiers, which differ here.
  mutating func bySession(_ lines: [[String]]) -> [[String]] {
    var groups: [(session: String, lines: [[String]])] = []
    for line in lines {
      let text = line.joined(separator: " ")
      let session = text.firstMatch(of: #/session/([0-9a-f_]{36})/#).map { Canon.plain($0.output.1) } ?? ""
      if let place = groups.firstIndex(where: { $0.session == session }) {
        groups[place].lines.append(line)
      } else {
        groups.append((session, [line]))
      }
    }
    func place(_ group: Int) -> (Int, Int) { (numbers[groups[group].session] ?? .max, group) }
    return groups.indices.sorted { place($0) < place($1) }.flatMap { canonical(groups[$0].lines) }
  }

  private mutating func canonical(_ lines: [[String]]) -> [[String]] {
    lines.map { line in line.map { canonical($0) } }
  }

  private mutating func canonical(_ text: String) -> String {
    for match in text.matches(of: Canon.identifier) {
      let name = Canon.plain(match.output)
      if numbers[name] != nil { continue }
      names[numbers.count] = name
      numbers[name] = numbers.count
    }
    return text.replacing(Canon.identifier) { "#\(numbers[Canon.plain($0.output)] ?? -1)" }
      // The play has its own clock.
      .replacing(#/"deadline":"[^"]*"/#, with: #""deadline":"a time""#)
  }
}

private enum Line {
  /// A signal as the play writes it: its path, its name and its values. For changed properties, only the names.
  static func signal(_ signal: ReceivedSignal) -> [String] {
    let values = (try? signal.variants()) ?? []
    switch signal.member.rawValue {
    case "InterfacesAdded", "InterfacesRemoved":
      return ["signal", flat(Array(values.prefix(1)))[0], signal.member.rawValue]
    case "PropertiesChanged":
      var names = Set(flat(Array(values.dropFirst(2))))
      if values.count > 1, case .dictionary(_, _, let changed) = values[1] {
        names.formUnion(flat(Array(changed.keys)))
      }
      return ["signal", signal.path.rawValue, "PropertiesChanged"] + names.sorted()
    default: return ["signal", signal.path.rawValue, signal.member.rawValue] + flat(values)
    }
  }

  static func flat(_ values: [Variant]) -> [String] {
    values.flatMap { value -> [String] in
      switch value {
      case .string(let text): [text]
      case .objectPath(let path): [path.rawValue]
      case .uint64(let number): ["\(number)"]
      case .array(_, let elements), .structure(let elements): flat(elements)
      case let other: ["\(other)"]
      }
    }
  }
}
