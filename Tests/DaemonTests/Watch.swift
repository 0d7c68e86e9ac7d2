import DBus
import DBusTestSupport
import Testing

/// A signal of the service to everyone.
struct Happening: Hashable, Sendable {
  let sequence: String
  let name: String
  /// The arguments by name, without the number.
  let arguments: [String: String]
}

/// Runs `examples/shell/watch`, which starts dbus-monitor.
struct Watch: Sendable {
  private let monitor: RunningCommand
  private let house: House

  init(_ monitor: RunningCommand, in house: House) async throws {
    self.monitor = monitor
    self.house = house
    // A connection that becomes a monitor loses its name, and hears of it. From then on it hears everything.
    try await monitor.line { $0.contains("member=NameLost") }
  }

  /// A message as the monitor printed it. A field that the header lacks is "".
  struct Message: Hashable, Sendable {
    /// "signal", "method call", "method return" or "error"
    let kind: String
    let path: String
    let interface: String
    let member: String
    let arguments: [Shown]
  }

  var signals: [Message] { messages.filter { $0.kind == "signal" } }

  /// The messages so far.
  var messages: [Message] {
    var messages: [Message] = []
    var header: Substring?
    var body: [Substring] = []
    func end() {
      guard let header, let kind = header.firstRange(of: " time=") else { return }
      var reader = ShownReader(body)
      messages.append(
        Message(
          kind: String(header[..<kind.lowerBound]), path: field("path", header), interface: field("interface", header),
          member: field("member", header), arguments: reader.rest()))
    }
    for line in monitor.standardOutput.split(separator: "\n") {
      if line.hasPrefix(" ") {
        body.append(line)
      } else {
        end()
        (header, body) = (line, [])
      }
    }
    end()
    return messages
  }

  private func field(_ name: String, _ header: Substring) -> String {
    header.split(separator: " ").first { $0.hasPrefix("\(name)=") }.map { part in
      String(part.dropFirst(name.count + 1).filter { $0 != ";" })
    } ?? ""
  }

  /// The service's own signals, up to the newest one.
  func happenings() async throws -> [Happening] {
    let sequence = try await house.eventSequence()
    if sequence == "0" { return [] }
    let (monitor, house) = (monitor, house)
    // The watcher may not have read the signal yet. Each signal ends with its number.
    try await eventually("the signal of number \(sequence)") {
      monitor.standardOutput.contains("\n   uint64 \(sequence)\n")
    }
    let names = try await house.signalArguments()
    return try signals.filter { $0.interface == House.interchange }.map { signal in
      let names = try #require(names[signal.member])
      let texts = signal.arguments.map(\.text)
      try #require(texts.count == names.count)
      let arguments = Dictionary(uniqueKeysWithValues: zip(names, texts))
      return Happening(
        sequence: try #require(arguments["sequence"]), name: signal.member,
        arguments: arguments.filter { $0.key != "sequence" })
    }
  }
}

extension House {
  /// The names of each signal's arguments, as the service declares them.
  fileprivate func signalArguments() async throws -> [String: [String]] {
    let interface = try #require(try await service(watcher).introspect().interface("org.stagedoor.Interchange1"))
    return Dictionary(
      uniqueKeysWithValues: interface.signals.map { ($0.name.rawValue, $0.arguments.map { $0.name ?? "" }) })
  }

  /// Runs `body` with a watcher. At the end the watcher must have seen exactly what a late reader learns.
  nonisolated(nonsending) func watched<Result>(
    _ body: nonisolated(nonsending) (Watch) async throws -> Result
  ) async throws -> Result {
    try await example("watch").whileRunning { monitor in
      let watch = try await Watch(monitor, in: self)
      let before = try await eventSequence()
      let result = try await body(watch)
      let seen = try await watch.happenings()
      let late = try await events(since: before)
      #expect(seen == late)
      #expect(!seen.isEmpty, "something happened")
      // The numbers are consecutive, without a gap.
      let first = try #require(UInt64(before)) + 1
      #expect(late.map(\.sequence) == (first..<(first + UInt64(late.count))).map { "\($0)" })
      return result
    }
  }
}
