// Prepares states for `Benchmarks/run --only service`, which measures the service with many sessions.
//
//     service-benchmark store DIRECTORY OWN OTHERS    makes a store with OWN sessions of the desk, and OTHERS of other applications
//     service-benchmark serve MANIFEST OWN            runs the service on the session bus, with a store in memory that has OWN sessions
//
// `stagedoord --durability memory` cannot read a state from a disk, and a hundred thousand drops would take longer than the
// measurement. So `serve` is `stagedoord --durability memory` with another start. All later code is the same.

import Baggage
import DBus
import Interchange
import InterchangeWire
import SceneModel
import ServiceSupport
import SessionStore

@main
enum ServiceBenchmark {
  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("store", 4):
      let store = try SessionStore(directory: words[1], durability: .normal, rules: rules, at: Clock.now())
      try fill(store, own: number(words[2]), others: number(words[3]))
      store.close()
    case ("serve", 3): try await serve(manifest: words[1], own: number(words[2]))
    default: preconditionFailure("usage: see the first lines of this file")
    }
  }

  private static func serve(manifest file: String, own: Int) async throws {
    let manifest = try Manifest(SmallFile.read(file, limit: Limits.manifest) ?? [], types: types)
    let connection = try await Connection.session()
    let interchange = try await connection.loop.run { _ in
      let store = try SessionStore(directory: "", durability: .memory, rules: rules, at: Clock.now())
      try fill(store, own: own, others: 0)
      return try Interchange(
        on: connection, store: store, baggageStore: BaggageStore(directory: nil, isSynced: false), types: types,
        settings: Interchange.Settings(now: Clock.now), log: Log { _, _ in })
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
    let start = Clock.now()
    for first in stride(from: 0, to: own + others, by: 1000) {
      let batch = (first..<min(first + 1000, own + others)).map { number -> Record in
        let application = number < own ? "org.stagedoor.bench.Desk" : "org.stagedoor.bench.Other\(number % 100)"
        // Each session shows a document of its own, like a session that a drop has made.
        let activity = UserActivity(
          activityType: Text("\(application).show"), targetContentIdentifier: Text("document-\(number)"))
        return .session(
          Session(
            identifier: identifier(number), application: Text(application), configuration: "Desk",
            created: Instant(microseconds: start.microseconds - Int64(own + others - number)), userActivity: activity))
      }
      try store.commit(batch, at: start)
    }
    try store.writeRows()
  }

  /// The same identifiers each time, so that two runs measure the same, and spread as random ones are.
  private static func identifier(_ number: Int) -> UniqueIdentifier {
    UniqueIdentifier(high: UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number))
  }

  private static func number(_ word: String) -> Int {
    guard let number = Int(word), number >= 0 else { preconditionFailure("\(word) is no number") }
    return number
  }
}
