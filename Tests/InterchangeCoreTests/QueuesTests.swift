import SceneTestSupport
import Testing

@testable import InterchangeCore

/// Elements in order for each key, held against a set.
@Suite struct QueuesTests {
  private static let keys = ["first", "second"]

  /// The rows, and sets with the same elements: now, when the cue began, and when the turn began.
  private struct Pair {
    var rows = Queues<String, Int>()
    var now: [String: Set<Int>] = [:]
    var atCue: [String: Set<Int>] = [:]
    var atTurn: [String: Set<Int>] = [:]

    mutating func insert(_ element: Int, _ key: String) -> Bool {
      rows.insert(element, for: key) == now[key, default: []].insert(element).inserted
    }

    mutating func remove(_ element: Int, _ key: String) -> Bool {
      rows.remove(element, for: key) == (now[key]?.remove(element) != nil)
    }

    mutating func settle(_ settlement: Settlement) {
      rows.settle(settlement)
      switch settlement {
      case .beginCue: atCue = now
      case .rollBackCue: now = atCue
      case .rollBackTurn: now = atTurn
      case .commitTurn: atTurn = now
      }
    }

    var isSame: Bool {
      QueuesTests.keys.allSatisfy { key in
        let wanted = (now[key] ?? []).sorted()
        return rows[key].elementsEqual(wanted) && rows.first(of: key) == wanted.first
          && rows.count(of: key) == wanted.count && rows.keys.contains(key) == !wanted.isEmpty
      }
    }
  }

  /// A new element is usually the last, and the first usually goes first, so each history prefers these.
  @Test(arguments: 0..<40)
  func `elements are in order and once, whatever comes and goes and is taken back`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var pair = Pair()
    for step in 0..<600 {
      let key = Self.keys[random.below(2)]
      // Queues grow and shrink again, to nothing and beyond the size at which places are freed.
      let grows = step / 150 % 2 == 0
      var isRight = true
      switch random.below(20) {
      case 0..<10:
        let first = pair.rows.first(of: key) ?? 0
        isRight = grows ? pair.insert(step, key) : pair.remove(first, key)
      case 10..<13: isRight = pair.insert(random.below(600), key)
      case 13..<16: isRight = pair.remove(random.below(600), key)
      case 16: pair.settle(.rollBackCue)
      case 17:
        pair.settle(.rollBackTurn)
        pair.settle(.beginCue)
      case 18:
        pair.settle(.commitTurn)
        pair.settle(.beginCue)
      default: pair.settle(.beginCue)
      }
      #expect(isRight && pair.isSame, "step \(step)")
    }
  }

  @Test func `what is read of a row stays while its elements go`() {
    var rows = Queues<String, Int>()
    for element in 0..<100 { rows.insert(element, for: "first") }
    var seen: [Int] = []
    for element in rows["first"] {
      rows.remove(element, for: "first")
      seen.append(element)
    }
    #expect(seen == Array(0..<100))
    #expect(rows.keys.isEmpty)
  }
}
