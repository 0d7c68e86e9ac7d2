import SceneModel

/// Looks for the best session in the highest tier that is not empty, among those that are shown to it.
struct Search: ~Copyable {
  let scope: Scope
  let key: Text
  /// The type of the activity that routes; `nil` where it is routed by content.
  let activityType: Text?
  let entries: [SessionEntry]
  private(set) var best: Best?

  struct Best {
    let slot: Int32
    let tier: Candidate.Tier
    /// No other session is in its tier, as far as anyone had to look.
    var isAlone: Bool
  }

  init(_ scope: Scope, _ key: Text, _ activityType: Text?, _ entries: [SessionEntry]) {
    self.scope = scope
    self.key = key
    self.activityType = activityType
    self.entries = entries
  }

  // MARK: 8. Which of the candidates want it

  /// Where a candidate stands. A veto outweighs everything; a window that nobody set conditions for takes only what it already shows.
  ///
  /// The entry is asked where it stands: to take it out of the table would copy all of its texts.
  func tier(_ slot: Int32) -> Candidate.Tier {
    let slot = Int(slot)
    guard Int(entries[slot].application) == scope.application,
      scope.route.eligible.contains(entries[slot].configuration),
      !entries[slot].flags.contains(.isUnreadable), entries[slot].can?.evaluate(key) ?? true
    else { return .out }
    if entries[slot].prefers?.evaluate(key) ?? false || isShown(by: slot) { return .prefers }
    return entries[slot].can == nil ? .out : .can
  }

  /// It is already open there. Apple's rule does not ask for it.
  private func isShown(by slot: Int) -> Bool {
    guard scope.asksWhatIsShown, entries[slot].shownKey == key else { return false }
    return activityType.map { $0 == entries[slot].shownType } ?? true
  }

  // MARK: 9. The best of those

  /// Takes the best of those that were found under one filing, if it is better than the best so far.
  mutating func consider(_ interest: Interest, _ found: Found) {
    let wanted: Candidate.Tier = interest == .can ? .can : .prefers
    // Who only can take it is of no use where somebody prefers it, be he found already or found here: then he is found again as one of
    // those who prefer it. To look for one who only can would mean to go past all of them.
    if wanted == .can, best?.tier == .prefers { return }
    if let best, found.isOnly(best.slot) { return }
    guard let (slot, isAlone) = found.first(where: { tier($0) <= wanted }) else { return }
    if wanted == .can, tier(slot) == .prefers { return }
    guard let other = best, other.tier == wanted else {
      best = Best(slot: slot, tier: wanted, isAlone: isAlone)
      return
    }
    let isBetter = entries[Int(slot)].rank < entries[Int(other.slot)].rank
    best = Best(
      slot: isBetter ? slot : other.slot, tier: wanted, isAlone: isAlone && other.isAlone && slot == other.slot)
  }
}
