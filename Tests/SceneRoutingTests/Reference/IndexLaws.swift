import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// What the index finds among many sessions, while sessions come, change and go.
@Suite struct IndexLaws {
  @Test func `of five thousand sessions it finds the one that asking each of them finds`() throws {
    var crowd = Crowd(random: SeededRandom(seed: 5_000))
    var state = State(types: Stage.types, isComplete: true)
    state.register(Crowd.manifest)
    var scan = PlainScan(keys: Crowd.askedKeys, type: Crowd.type)
    for number in 0..<5_000 {
      let session = crowd.session(UInt64(number))
      state.update(session)
      try scan.append(session)
    }
    #expect(crowd.conditions.count >= 3_000)
    #expect(state.sessionCount == 5_000)

    var tally = Tally()
    let lookups = rounds(500)
    for lookup in 0..<lookups {
      try crowd.change(&state, &scan, UInt64(10_000 + lookup))
      let key = crowd.random.below(Crowd.askedKeys.count)
      let request = Crowd.request(Crowd.askedKeys[key])
      let decision = decided(state, request, at: Instant(microseconds: 100))
      guard let best = scan.best(key) else {
        tally.count(Candidate.Tier.out)
        try #require(decision.outcome == .created(request.newSession), "lookup \(lookup) of \(Crowd.askedKeys[key])")
        continue
      }
      tally.count(best.tier)
      let wanted = "\(best.session.json), not \(decision.outcome)"
      try #require(
        decision.outcome.session == best.session.identifier, "lookup \(lookup) of \(Crowd.askedKeys[key]): \(wanted)")
      // A session that the index calls alone must be alone; one that is alone need not have been checked yet.
      if decision.explanation.sessionReason == .onlyInTier { #expect(best.isAlone, "lookup \(lookup)") }
      tally.count(decision.explanation.sessionReason == .onlyInTier)
    }
    #expect(state.sessionCount == scan.sessions.count)
    tally.expect(Candidate.Tier.allCases, atLeast: lookups / 20)
    tally.expect([true, false], atLeast: lookups / 20)
  }

  @Test func `what came and went, and what was undone, leaves nothing to be found`() throws {
    var crowd = Crowd(random: SeededRandom(seed: 6_000))
    var state = State(types: Stage.types, isComplete: true)
    state.register(Crowd.manifest)
    for round in 0..<3 {
      let sessions = (0..<700).map { crowd.session(UInt64(round * 1_000 + $0)) }
      var undos = sessions.map { state.update($0) }
      for session in sessions.shuffled(using: &crowd.random).prefix(350) {
        undos.append(state.discard(session.identifier))
        #expect(!state.contains(session.identifier))
      }
      #expect(state.sessionCount == 350)
      // Either a store refuses, or the sessions go one by one.
      if round == 1 {
        for undo in undos.reversed() { state.revert(undo) }
      } else {
        for session in sessions.shuffled(using: &crowd.random) { state.discard(session.identifier) }
      }
      #expect(state.sessionCount == 0)
      for key in Crowd.askedKeys {
        let request = Crowd.request(key)
        try #require(decided(state, request, at: Instant(microseconds: 100)).outcome == .created(request.newSession))
      }
    }
  }
}

/// Many sessions of one application. Most have a condition of their own.
struct Crowd {
  var random: SeededRandom
  private(set) var conditions: Set<Text> = []

  static let type: Text = "view"
  static let manifest = Manifest(
    identifier: "org.x.a", activityTypes: [type], supportsMultipleScenes: true,
    configurations: [SceneConfiguration(name: "One"), SceneConfiguration(name: "Two", activityTypes: [type])])

  /// Keys that are prefixes of each other, keys that only share a prefix, and some that hardly any session wants.
  static let askedKeys: [Text] =
    ["a", "ab", "abc", "abcd", "abd", "b", "é", "x", "zz"]
    + (0..<40).map { Text("key-\($0)") } + (0..<20).map { Text("abc/\($0)/\($0 % 7)/tail") }
    + (0..<20).map { Text("##\($0)") }

  init(random: SeededRandom) { self.random = random }

  static func request(_ key: Text) -> Request {
    Request(
      Payload(UserActivity(activityType: type, targetContentIdentifier: key)),
      newSession: UniqueIdentifier(high: 9, low: 9))
  }

  // MARK: Making sessions

  mutating func session(_ number: UInt64) -> Session {
    let shows = random.once(in: 4) ? UserActivity(activityType: Crowd.type, targetContentIdentifier: key()) : nil
    let (can, prefers) = (condition(), random.once(in: 4) ? condition() : .empty)
    for condition in [can, prefers] where !condition.isEmpty { conditions.insert(condition) }
    return Session(
      identifier: UniqueIdentifier(high: UInt64(random.below(16)) << 60, low: number),
      application: Crowd.manifest.identifier,
      configuration: random.once(in: 3) ? "One" : "Two", state: random.one(of: SceneState.allCases), isConnected: true,
      hasBeenConnected: true, created: Instant(microseconds: Int64(random.below(3))),
      lastActivated: Instant(microseconds: Int64(3 + random.below(20))), userActivity: shows,
      canActivatePredicate: can, prefersToActivatePredicate: prefers)
  }

  /// A key that may be asked for, or one of many that nobody asks for.
  private mutating func key() -> Text {
    random.once(in: 6)
      ? Crowd.askedKeys[random.below(Crowd.askedKeys.count - 20)] : Text("other-\(random.below(5_000))")
  }

  private mutating func condition() -> Text {
    let key = key()
    return switch random.below(40) {
    case 0..<16: Text("SELF == '\(key)'")
    case 16..<22: Text("SELF IN {'\(key)', '\(self.key())', 'c-\(random.below(3_000))'}")
    case 22..<26: Text("SELF BEGINSWITH '\(beginning(of: key))'")
    case 26..<28: Text("SELF LIKE '\(beginning(of: key))*'")
    case 28: Text("SELF BEGINSWITH '\(beginning(of: key))' AND SELF ENDSWITH 'tail'")
    case 29: Text("SELF == '\(key)' OR SELF BEGINSWITH '\(beginning(of: key))/'")
    case 30: Text("SELF ==[c] '\(key.string.uppercased())'")
    case 31: Text("SELF CONTAINS '\(key)'")
    case 32: Text("NOT SELF BEGINSWITH 'k' AND SELF == '\(key)'")
    case 33: "FALSEPREDICATE"
    case 34...36: Text("SELF BEGINSWITH '\(key)#\(random.below(100))'")
    default: .empty
    }
  }

  private mutating func beginning(of key: Text) -> String {
    let head = String(key.string.prefix(1 + random.below(key.string.count)))
    // Many conditions are about other keys, so that some keys remain which nobody wants.
    return random.once(in: 8) ? head : "\(head)~\(random.below(2_000))"
  }

  // MARK: Changes

  /// A session comes, changes, goes, or goes and returns.
  mutating func change(_ state: inout State, _ scan: inout PlainScan, _ number: UInt64) throws {
    let place = random.below(scan.sessions.count)
    let old = scan.sessions[place]
    switch random.below(5) {
    case 0:
      let new = session(number)
      state.update(new)
      try scan.append(new)
    case 1:
      state.discard(old.identifier)
      scan.remove(place)
    case 2: state.revert(state.discard(old.identifier))
    default:
      var new = old
      (new.state, new.lastActivated) = (
        random.one(of: SceneState.allCases), Instant(microseconds: Int64(3 + random.below(20)))
      )
      new.canActivatePredicate = condition()
      state.update(new)
      try scan.replace(place, by: new)
    }
  }
}

/// Steps 8 and 9 for one application, by asking each of its sessions about each key, without a table or an order.
struct PlainScan {
  private let keys: [Text]
  private let type: Text
  private let order = ReferenceRouter(world: ReferenceWorld(), request: Crowd.request(.empty))
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
        if let found = best, !order.comes(sessions[place], before: sessions[found]) { continue }
        best = place
      }
      if let best { return (sessions[best], count == 1, tier) }
    }
    return nil
  }
}
