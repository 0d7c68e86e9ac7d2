import DBus
import DBusTestSupport
import Synchronization
import Testing

/// A client that drops repeatedly over one connection, each drop after the answer to the previous one, and remembers the answers.
final class Dropper: Sendable {
  /// The answer to one drop.
  struct Answer: Hashable, Sendable {
    let token: String
    let delivery: String
  }

  private let house: House
  private let connection: Connection
  private let name: String
  /// Whether the payloads have tokens. Each token is then used twice.
  private let hasTokens: Bool
  private let answers = Lock<[Answer]>([])
  private let isOver = Atomic(false)

  init(_ name: String, hasTokens: Bool, in house: House) async throws {
    self.name = name
    self.hasTokens = hasTokens
    self.house = house
    connection = try await house.bus.connect()
  }

  var answered: [Answer] { answers.withLock { $0 } }

  /// Drops until it is stopped. It throws the error of a call that failed.
  func run() async throws {
    var number = 0
    while !isOver.load(ordering: .relaxed) {
      number += 1
      let token = hasTokens ? "\(name)-\(number / 2)" : ""
      let document = Payloads.activity(
        "viewCat", "cat\(number / 2 % 7)", options: hasTokens ? #""token": "\#(token)""# : "")
      let delivery = try await house.deliver(document, over: connection).delivery
      answers.withLock { $0.append(Answer(token: token, delivery: delivery)) }
    }
  }

  /// Waits until it has this many more answers.
  func isAnswered(_ count: Int) async throws {
    let wanted = answered.count + count
    try await eventually("\(count) more answers for \(name)") { self.answered.count >= wanted }
  }

  func stop() { isOver.store(true, ordering: .relaxed) }
}

extension House {
  /// Runs `body` while clients drop, with tokens and without. None of their calls fails, and afterwards the service has each of their deliveries
  /// once.
  nonisolated(nonsending) func whileDropping(_ body: nonisolated(nonsending) ([Dropper]) async throws -> Void)
    async throws
  {
    var droppers: [Dropper] = []
    for number in 0..<4 {
      droppers.append(try await Dropper("dropper\(number)", hasTokens: number.isMultiple(of: 2), in: self))
    }
    let runs = droppers.map { dropper in Task { try await dropper.run() } }
    try await ending(with: { for dropper in droppers { dropper.stop() } }) { try await body(droppers) }
    for run in runs { try await run.value }
    try await expect(droppers.flatMap(\.answered))
  }

  private func expect(_ answers: [Dropper.Answer]) async throws {
    let answered = Set(answers.map(\.delivery))
    #expect(try await deliveries().map { $0[0] }.sorted() == answered.sorted())
    let byToken = Dictionary(grouping: answers.filter { $0.token != "" }, by: \.token)
    for (token, answers) in byToken {
      let deliveries = Set(answers.map(\.delivery))
      #expect(deliveries.count == 1, "\(token): \(answers)")
    }
    #expect(answered.count < answers.count, "tokens were used twice")
  }
}
