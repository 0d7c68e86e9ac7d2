import SceneModel
import SceneRouting

/// Steps 8 and 9 for one application, by asking each of its sessions about each key, without a table or an order.
struct PlainScan {
  private let keys: [Text]
  private let type: Text
  private(set) var sessions: [Session] = []
  /// For each key, the tier of each session.
  private var tiers: [[Candidate.Tier]]

  init(keys: [Text], type: Text) {
    self.keys = keys
    self.type = type
    tiers = Array(repeating: [], count: keys.count)
  }

  mutating func append(_ session: Session) throws {
    sessions.append(session)
    for key in keys.indices { tiers[key].append(.out) }
    try ask(sessions.count - 1)
  }

  mutating func replace(_ place: Int, by session: Session) throws {
    sessions[place] = session
    try ask(place)
  }

  mutating func remove(_ place: Int) {
    sessions.remove(at: place)
    for key in keys.indices { tiers[key].remove(at: place) }
  }

  private mutating func ask(_ place: Int) throws {
    let session = sessions[place]
    let can = session.canActivatePredicate.isEmpty ? nil : try Predicate(session.canActivatePredicate)
    let prefers = session.prefersToActivatePredicate.isEmpty ? nil : try Predicate(session.prefersToActivatePredicate)
    for (number, key) in keys.enumerated() {
      let shows = session.shownActivity?.referenceKey == key && session.shownActivity?.activityType == type
      if let can, !can.evaluate(key) {
        tiers[number][place] = .out
      } else if shows || prefers?.evaluate(key) ?? false {
        tiers[number][place] = .prefers
      } else {
        tiers[number][place] = can == nil ? .out : .can
      }
    }
  }

  /// The best session for a key, and whether it is alone in its tier.
  func best(_ key: Int) -> (session: Session, isAlone: Bool, tier: Candidate.Tier)? {
    for tier in [Candidate.Tier.prefers, .can] {
      var best: Int?
      var count = 0
      for (place, other) in tiers[key].enumerated() where other == tier {
        count += 1
        if let found = best, !sessions[place].precedes(sessions[found]) { continue }
        best = place
      }
      if let best { return (sessions[best], count == 1, tier) }
    }
    return nil
  }
}

extension Session {
  /// Step 9.
  fileprivate func precedes(_ other: Session) -> Bool {
    if self.state != other.state { return self.state < other.state }
    if self.lastActivated != other.lastActivated { return self.lastActivated > other.lastActivated }
    if self.created != other.created { return self.created < other.created }
    return self.identifier < other.identifier
  }
}
