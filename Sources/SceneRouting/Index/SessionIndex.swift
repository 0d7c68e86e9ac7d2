import SceneModel

/// The sessions of one application by configuration: all of them in the order of step 9, and those that may be concerned with a key.
///
/// Each configuration has an index of its own, so that a decision never passes the sessions of one to find a session of another.
struct SessionIndex: Sendable {
  private(set) var ofConfiguration: [Ranking]
  /// The sessions whose configuration the manifest does not have. They take no part in routing.
  private var others = Ranking()
  private var conditions: [ConditionIndex]
  private var pool = Members.Pool()

  init(configurations: Int) {
    ofConfiguration = Array(repeating: Ranking(), count: configurations)
    conditions = Array(repeating: ConditionIndex(), count: configurations)
  }

  // MARK: Sessions

  /// Whether there are sessions whose configuration the manifest does not have.
  var hasOthers: Bool { others.count > 0 }

  var slots: [Int32] { (ofConfiguration + [others]).flatMap { $0.places.map(\.slot) } }

  mutating func insert(_ slot: Int32, _ entries: [SessionEntry]) {
    let configuration = Int(entries[Int(slot)].configuration)
    guard configuration >= 0 else {
      others.insert(slot, entries)
      return
    }
    ofConfiguration[configuration].insert(slot, entries)
    conditions[configuration].insert(slot, &pool, entries)
  }

  /// Its entry must still be what it was at the insertion.
  mutating func remove(_ slot: Int32, _ entries: [SessionEntry]) {
    let configuration = Int(entries[Int(slot)].configuration)
    guard configuration >= 0 else {
      others.remove(slot, entries)
      return
    }
    ofConfiguration[configuration].remove(slot, entries)
    conditions[configuration].remove(slot, &pool, entries)
  }

  // MARK: Finding the concerned sessions

  /// The cost of looking up a key, without the sessions that are found.
  func cost(of key: Text, _ eligible: ConfigurationSet) -> Int {
    conditions.indices.reduce(0) { cost, place in
      eligible.contains(Int16(place)) ? cost + Steps.lookup + conditions[place].prefixes.cost(of: key) : cost
    }
  }

  /// Calls `visit` with the sessions that may be concerned with `key`, those of one kind at a time. For sessions that share conditions, it passes the
  /// conditions that must still be evaluated. These come in no particular order, and the visit ends early when `visit` returns false for them.
  ///
  /// Each part of a configuration's index is used in its place, because taking out the whole would copy its references.
  @inline(__always)
  func visit(
    _ key: Text, hash: UInt64, of eligible: ConfigurationSet, _ visit: (Interest, Found, Filing?) -> Bool
  ) {
    func tell(_ interest: Interest, _ members: Members) {
      if let found = members.found(in: pool) { _ = visit(interest, found, nil) }
    }
    for place in conditions.indices where eligible.contains(Int16(place)) {
      conditions[place].keys.visit(hash, tell)
      if !conditions[place].prefixes.isEmpty { conditions[place].prefixes.visit(key, tell) }
      if !conditions[place].rest.isEmpty {
        for (filing, members) in conditions[place].rest {
          if let found = members.found(in: pool), !visit(filing.interest, found, filing) { return }
        }
      }
    }
  }
}
