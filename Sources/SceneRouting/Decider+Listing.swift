import SceneModel

/// The number of candidates in an explanation: a person reads no more, and a document cannot hold all.
private let maximumListed = 100

extension Decider {
  /// Lists the candidates of step 8 for an explanation: the best first, and the number of the others.
  ///
  /// It looks only at the sessions that it lists: it finds those that want the key as the decision does, and takes the others from the front of each
  /// configuration's row.
  mutating func listCandidates(_ scope: Scope, _ state: State) {
    var search = search(in: scope, state, within: steps)
    let rows = state.applications[scope.application].index.ofConfiguration
    let eligible = rows.indices.filter { isCandidate(configuration: $0, scope) }
    var listed: [Int32: Candidate.Tier] = [:]
    if !key.isEmpty, steps >= 0 {
      state.applications[scope.application].index.visit(key, hash: keyHash, of: scope.route.eligible) {
        interest, found, filing in
        if let filing, !search.holds(filing) { return search.key.stepsLeft >= 0 }
        let wanted: Candidate.Tier = interest == .can ? .can : .prefers
        for slot in found.prefix(maximumListed, where: { search.tier($0) == wanted || search.key.stepsLeft < 0 }) {
          listed[slot] = wanted
        }
        return search.key.stepsLeft >= 0
      }
      if let requesting {
        let tier = search.tier(requesting)
        if tier != .out { listed[requesting] = tier }
      }
    }
    for place in eligible where listed.count < maximumListed {
      var others = 0
      for slot in rows[place].places.lazy.map(\.slot) where listed[slot] == nil {
        if others == maximumListed { break }
        listed[slot] = key.isEmpty ? .can : search.tier(slot)
        others += 1
      }
    }
    let requesting = requesting
    let best = listed.sorted { one, other in
      if one.value != other.value { return one.value < other.value }
      if (one.key == requesting) != (other.key == requesting) { return one.key == requesting }
      return state.entries[Int(one.key)].rank < state.entries[Int(other.key)].rank
    }
    var candidates: [Candidate] = []
    for (slot, tier) in best.prefix(maximumListed) where search.key.stepsLeft >= 0 {
      candidates.append(candidate(slot, tier, &search, state))
    }
    // If the conditions take too long, nobody knows their values.
    explanation.candidates = search.key.stepsLeft < 0 ? [] : candidates
    explanation.candidatesLeftOut = eligible.reduce(0) { $0 + rows[$1].count } - explanation.candidates.count
  }

  /// Without a key only the sessions of step 4's configuration count.
  private func isCandidate(configuration place: Int, _ scope: Scope) -> Bool {
    key.isEmpty ? place == scope.route.configuration : scope.route.eligible.contains(Int16(place))
  }

  private func candidate(
    _ slot: Int32, _ tier: Candidate.Tier, _ search: inout Search, _ state: State
  ) -> Candidate {
    let entry = state.entries[Int(slot)]
    if key.isEmpty {
      return Candidate(
        session: entry.identifier, tier: tier, can: nil, prefers: nil,
        because: "there is no key, so its conditions are not asked")
    }
    if let why = state.unreadable[entry.identifier] {
      return Candidate(
        session: entry.identifier, tier: tier, can: nil, prefers: nil,
        because: "a stored predicate of it does not parse: \(why)")
    }
    let prefers = search.prefers(slot)
    let because = reason(entry, tier, prefers)
    search.spend(Steps.printed * because.utf8.count)
    return Candidate(
      session: entry.identifier, tier: tier, can: search.mayTake(slot), prefers: prefers, because: because)
  }

  private func reason(_ entry: SessionEntry, _ tier: Candidate.Tier, _ isPreferred: Bool) -> String {
    let shows = "it shows \(quoted(entry.shownKey.string))"
    switch tier {
    case .prefers:
      guard let prefers = entry.prefers, isPreferred else { return shows }
      return "\(prefers.condition) is true"
    case .can: return entry.can.map { "\($0.condition) is true" } ?? ""
    case .out:
      if let can = entry.can { return "\(can.condition) is false" }
      return "nobody set conditions for it, and " + (entry.shownKey.isEmpty ? "it shows nothing with a key" : shows)
    }
  }
}
