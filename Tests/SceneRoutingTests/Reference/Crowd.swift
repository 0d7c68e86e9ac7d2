import SceneModel
import SceneRouting
import SceneTestSupport

/// Many sessions of one application, most of which have a condition of their own.
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
