import SceneModel
import SceneRouting

/// The form of the keys: a string holds a short key itself, and a long key behind a pointer.
enum Keys: String {
  case short, long

  init(_ name: String) {
    guard let keys = Keys(rawValue: name) else { preconditionFailure("there are no \(name) keys") }
    self = keys
  }

  func key(_ number: Int) -> Text {
    switch self {
    case .short: Text("photo-\(number)")
    case .long: Text("file:///home/user/Pictures/2026/photo-\(number).png")
    }
  }
}

/// An application and its sessions.
struct World {
  /// The conditions of the sessions.
  enum Conditions {
    /// Each session waits for its own key.
    case own
    /// Each session waits for keys with its own beginning.
    case prefixes
    /// All sessions share the condition of the manifest, which no index can look up.
    case shared
  }

  static let application: Text = "org.stagedoor.examples.Gallery"
  static let activityType: Text = "org.stagedoor.examples.Gallery.openDetail"

  let keys: Keys
  let size: Int
  var state: State
  private(set) var now = Instant(microseconds: 1_780_000_000_000_000)
  /// The session that was activated last.
  var latest: Int?

  init(_ keys: Keys, size: Int, _ conditions: Conditions = .own) {
    self.keys = keys
    self.size = size
    state = State(types: TypeCatalog(), isComplete: true)
    state.register(World.manifest(conditions))
    for number in 0..<size {
      let condition =
        switch conditions {
        case .own: "SELF == \"\(keys.key(number))\""
        case .prefixes: "SELF BEGINSWITH \"\(keys.key(number))/\""
        case .shared: ""
        }
      add(number, shows: keys.key(number), can: condition, prefers: condition)
    }
    latest = size - 1
  }

  /// Adds a session. Each of its texts is a new one, like a text from a store.
  mutating func add(_ number: Int, shows key: Text? = nil, can: String, prefers: String = "") {
    var session = Session(
      identifier: World.identifier(number), application: World.application, configuration: "Detail", created: now,
      userActivity: key.map {
        UserActivity(activityType: Text("\(World.application).openDetail"), targetContentIdentifier: $0)
      })
    session.canActivatePredicate = Text(can)
    session.prefersToActivatePredicate = Text(prefers)
    now.microseconds += 1
    state.update(session)
  }

  private static func manifest(_ conditions: Conditions) -> Manifest {
    // A predicate of one comparison, which always parses.
    let shared = Predicate(.comparison(.contains, "photo"))
    let detail = SceneConfiguration(
      name: "Detail", activityTypes: [activityType],
      conditions: conditions == .shared ? ActivationConditions(can: shared, prefers: shared) : ActivationConditions())
    return Manifest(
      identifier: application, activityTypes: [activityType], supportsMultipleScenes: true,
      configurations: [SceneConfiguration(name: "Main"), detail])
  }

  static func identifier(_ number: Int) -> UniqueIdentifier {
    UniqueIdentifier(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number))
  }

  /// The number of a session of this world.
  static func number(_ identifier: UniqueIdentifier) -> Int { Int(identifier.low) }

  // MARK: Requests

  static func request(
    _ key: Text?, _ disposition: PayloadOptions.Disposition = .auto, newSession: UniqueIdentifier = identifier(1 << 40)
  ) -> Request {
    var options = PayloadOptions()
    options.disposition = disposition
    let activity = UserActivity(activityType: activityType, targetContentIdentifier: key, title: "Beach")
    return Request(Payload(activity, options: options), newSession: newSession)
  }

  /// Requests, each with the session that it hits.
  func hits(_ count: Int, ending: String = "", using random: inout Numbers) -> [(request: Request, session: Int)] {
    (0..<count).map { _ in
      let session = Int.random(in: 0..<size, using: &random)
      return (World.request(Text(keys.key(session).string + ending)), session)
    }
  }

  mutating func tick() -> Instant {
    now.microseconds += 1
    return now
  }
}
