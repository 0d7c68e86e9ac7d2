import SceneModel

/// Finds the best session in the highest tier with a session, among the sessions that it is shown.
struct Search: ~Copyable {
  let scope: Scope
  private(set) var key: AskedKey
  /// The type of the activity that routes; `nil` if a content type routes.
  let activityType: Text?
  let entries: [SessionEntry]
  private(set) var best: Best?

  struct Best {
    let slot: Int32
    let tier: Candidate.Tier
    /// Whether no other session is in its tier, as far as the search had to look.
    var isAlone: Bool
  }

  mutating func spend(_ steps: Int) { key.spend(steps) }

  // MARK: 8. Which of the candidates want it

  /// The tier of a candidate. A veto outweighs everything; a window without conditions takes only the content that it shows already.
  mutating func tier(_ slot: Int32) -> Candidate.Tier {
    key.spend(Steps.visit)
    guard mayTake(slot) else { return .out }
    if prefers(slot) || isShown(by: slot) { return .prefers }
    return entries[Int(slot)].can == nil ? .out : .can
  }

  /// The entry is used in its place: taking it out of the table would copy all its texts.
  mutating func mayTake(_ slot: Int32) -> Bool {
    let slot = Int(slot)
    return Int(entries[slot].application) == scope.application
      && scope.route.eligible.contains(entries[slot].configuration) && !entries[slot].flags.contains(.isUnreadable)
      && entries[slot].can?.evaluate(&key) ?? true
  }

  mutating func prefers(_ slot: Int32) -> Bool { entries[Int(slot)].prefers?.evaluate(&key) ?? false }

  mutating func holds(_ filing: Filing) -> Bool { filing.holds(for: &key) }

  /// Whether the session shows the content already. Apple's rule does not ask for this.
  private func isShown(by slot: Int32) -> Bool {
    let slot = Int(slot)
    guard scope.asksWhatIsShown, entries[slot].shownKey == key.text else { return false }
    return activityType.map { $0 == entries[slot].shownType } ?? true
  }

  // MARK: 9. The best of those

  /// Takes the best of the sessions under one filing, if it is better than the best so far.
  ///
  /// Conditions under a filing come in no particular order. So every one is evaluated, and nothing more is asked of its sessions: the same question
  /// always takes the same work.
  mutating func consider(_ interest: Interest, _ found: Found, _ filing: Filing?) {
    key.spend(Steps.visit)
    if let filing, !holds(filing) { return }
    let tier: Candidate.Tier = interest == .can ? .can : .prefers
    // A session that merely can take the key does not matter when another prefers it. A session that prefers the key is found as such as well.
    if tier == .can, best?.tier == .prefers { return }
    if let best, best.tier == tier, found.isOnly(best.slot) { return }
    guard let (slot, isAlone) = found.first(where: { filing != nil || wants($0, interest) }) else { return }
    guard let other = best, other.tier == tier else {
      best = Best(slot: slot, tier: tier, isAlone: isAlone)
      return
    }
    let isBetter = entries[Int(slot)].rank < entries[Int(other.slot)].rank
    best = Best(
      slot: isBetter ? slot : other.slot, tier: tier, isAlone: isAlone && other.isAlone && slot == other.slot)
  }

  private mutating func wants(_ slot: Int32, _ interest: Interest) -> Bool {
    key.spend(Steps.visit)
    // The decision is refused, whichever session is taken here.
    if key.stepsLeft < 0 { return true }
    guard mayTake(slot) else { return false }
    return switch interest {
    case .can: entries[Int(slot)].can != nil
    case .prefers: prefers(slot)
    case .shown: isShown(by: slot)
    }
  }
}
