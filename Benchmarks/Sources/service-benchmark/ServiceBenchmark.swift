// Prepares states for `Benchmarks/run --only service`, which measures the service with many sessions.
//
//     service-benchmark store DIRECTORY OWN OTHERS    makes a store with OWN sessions of the desk, and OTHERS of other applications
//     service-benchmark serve MANIFEST OWN            runs the service on the session bus, with a store in memory that has OWN sessions
//
// `stagedoord --durability memory` cannot read a state from a disk, and a hundred thousand drops would take longer than the
// measurement. So `serve` is `stagedoord --durability memory` with another start. All later code is the same.

import Baggage
import DBus
import Glibc
import Interchange
import InterchangeWire
import SceneModel
import SessionStore

@main
enum ServiceBenchmark {
  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("store", 4):
      let store = try SessionStore(directory: words[1], durability: .normal, rules: rules, at: now())
      try fill(store, own: number(words[2]), others: number(words[3]))
      store.close()
    case ("serve", 3): try await serve(manifest: words[1], own: number(words[2]))
    default: preconditionFailure("usage: see the first lines of this file")
    }
  }

  private static func serve(manifest file: String, own: Int) async throws {
    let manifest = try Manifest(read(file), types: types)
    let connection = try await Connection.session()
    let interchange = try await connection.loop.run { _ in
      let store = try SessionStore(directory: "", durability: .memory, rules: rules, at: now())
      try fill(store, own: own, others: 0)
      return try Interchange(
        on: connection, store: store, baggageStore: BaggageStore(directory: nil, isSynced: false), types: types,
        settings: Interchange.Settings(now: now), log: Log { _, _ in })
    }
    await interchange.declare(manifest)
    await interchange.export()
    guard try await connection.requestName(InterchangeNames.bus, .doNotQueue) == .owned else {
      preconditionFailure("\(InterchangeNames.bus) is taken")
    }
    await connection.closed()
  }

  private static let types = TypeCatalog()
  private static let rules = ReadingRules(types: types)

  // MARK: Sessions

  private static func fill(_ store: SessionStore, own: Int, others: Int) throws {
    var random = Numbers()
    let start = now()
    for first in stride(from: 0, to: own + others, by: 1000) {
      let batch = (first..<min(first + 1000, own + others)).map { number -> Record in
        let application = number < own ? "org.stagedoor.bench.Desk" : "org.stagedoor.bench.Other\(number % 100)"
        // Each session shows a document of its own, like a session that a drop has made.
        let activity = UserActivity(
          activityType: Text("\(application).show"), targetContentIdentifier: Text("document-\(number)"))
        return .session(
          Session(
            identifier: UniqueIdentifier(using: &random), application: Text(application), configuration: "Desk",
            created: Instant(microseconds: start.microseconds - Int64(own + others - number)), userActivity: activity))
      }
      try store.commit(batch, at: start)
    }
    try store.writeRows()
  }

  // MARK: Helpers

  private static func number(_ word: String) -> Int {
    guard let number = Int(word), number >= 0 else { preconditionFailure("\(word) is no number") }
    return number
  }

  private static func read(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { preconditionFailure("\(path) cannot be read") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
  }

  @Sendable private static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// Generates the same numbers each time, so that two runs measure the same.
private struct Numbers: RandomNumberGenerator {
  private var state: UInt64 = 2026

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}
