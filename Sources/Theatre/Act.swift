/// An event in the world. All its details follow from its bits and from the state of the world, so an act has a meaning even if the acts before it
/// were left out.
package struct Act: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    // Acts of callers.
    case deliver, deliverEach, newSession, activate, cancel, redirect, register, unregister, prefer, refresh, destroy,
      post
    case callerComes, callerLeaves, dropsText
    // Acts of programs, which show the windows of an application.
    case programComes, programAttaches, programReads, programAnswers, programWorks, programWrites, programSetsState
    case programDisconnects, programLosesName, programLeaves, programAdopts
    case programDefers, programFinishes
    // Acts about contents: the baggage store packs and opens them, and callers drag.
    case carries, carriesUnderToken, promises, renews, baggageWorks, opens, releases, dragBegins, dragGoesOn
    // Acts of the bus and the system.
    case busSpeaks, startGoesOn, manifestsChange, rulesChange, timeGoesOn, clockJumps, turnEnds, readsOn, rests
    case diskFails, readsFail, readsStop, diskHeals, killed, crashes, stops
  }

  package let kind: Kind
  package let bits: UInt64

  package init(_ kind: Kind, _ bits: UInt64) { (self.kind, self.bits) = (kind, bits) }
}

extension Act: CustomStringConvertible {
  package var description: String { "\(kind.rawValue) \(String(bits, radix: 16))" }

  package init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 2, let kind = Kind(rawValue: String(words[0])), let bits = UInt64(words[1], radix: 16) else {
      return nil
    }
    self.init(kind, bits)
  }
}

/// The script of a play: its setting, and its acts.
package struct Script: Sendable {
  package let seed: UInt64
  package var acts: [Act]

  package init(seed: UInt64, acts: [Act]) { (self.seed, self.acts) = (seed, acts) }

  /// Each play has its own share of each kind of act: what is rare in one play is frequent in another.
  package init(seed: UInt64, length: Int) {
    var chance = Chance(seed, 1)
    var wheel: [Act.Kind] = []
    for (kind, weight) in Script.weights {
      let emphasis = [0, 1, 1, 1, 2, 4][chance.below(6)]
      let isNeeded = Script.needed.contains(kind)
      // A restart takes as long as a hundred steps.
      let share = Script.faults.contains(kind) ? weight : 3 * weight
      wheel += Array(repeating: kind, count: share * (isNeeded ? max(1, emphasis) : emphasis))
    }
    self.init(seed: seed, acts: (0..<length).map { _ in Act(chance.one(of: wheel), chance.next()) })
  }

  private static let needed: Set<Act.Kind> = [
    .deliver, .programComes, .programWorks, .busSpeaks, .timeGoesOn, .turnEnds, .diskHeals, .startGoesOn,
  ]

  private static let faults: Set<Act.Kind> = [.diskFails, .readsFail, .readsStop, .killed, .crashes, .stops, .rests]

  private static let weights: [(Act.Kind, Int)] = [
    (.deliver, 60), (.deliverEach, 8), (.newSession, 8), (.activate, 12), (.cancel, 8), (.redirect, 14), (.register, 3),
    (.unregister, 1), (.prefer, 3), (.refresh, 6), (.destroy, 8), (.post, 2), (.callerComes, 4), (.callerLeaves, 4),
    (.programComes, 10), (.programAttaches, 8), (.programReads, 20), (.programAnswers, 20), (.programWorks, 60),
    (.programWrites, 14), (.programSetsState, 16), (.programDisconnects, 5), (.programLosesName, 2),
    (.programLeaves, 4), (.busSpeaks, 50), (.startGoesOn, 12), (.manifestsChange, 2), (.timeGoesOn, 30),
    (.clockJumps, 1), (.turnEnds, 40), (.carries, 10), (.carriesUnderToken, 4), (.promises, 6), (.renews, 6),
    (.baggageWorks, 30), (.opens, 12), (.releases, 4), (.dragBegins, 4), (.dragGoesOn, 16), (.readsOn, 6), (.rests, 6),
    (.diskFails, 2), (.readsFail, 2), (.readsStop, 1), (.diskHeals, 4), (.killed, 1), (.crashes, 1), (.stops, 1),
    (.programAdopts, 6), (.programDefers, 8), (.programFinishes, 8), (.dropsText, 12), (.rulesChange, 3),
  ]
}
