import SceneModel
import SceneRouting
import SceneTestSupport

/// Small worlds in which everything collides: few names, few types, few keys, few moments.
struct WorldGenerator {
  var random: SeededRandom
  var pool: Pool { Self.pool }

  init(seed: Int) { random = SeededRandom(seed: UInt64(seed)) }

  /// Made once, since much of it is parsed.
  private static let pool = Pool()

  /// The parts of all worlds.
  struct Pool {
    /// Some of these have another order by letters than by bytes.
    let applications: [Text] = ["org.x.a", "org.x.B", "org.x.a.b", "org.x.A"]
    let roles: [Text] = [PayloadOptions.defaultRole, "Beside"]
    let configurations: [Text] = ["One", "Two", "Three", "Four"]
    let activityTypes: [Text] = ["view.a", "view.a.b", "view", "edit.c"]
    let undeclaredType: Text = "nobody.declares"
    let families: [Text] = ["view.*", "view.a.*", "edit.*"]
    let keys: [Text] = ["a", "ab", "abc", "B", "b", "file:///a", "http://b/", "é", "ÉA"]
    let carried: [ContentType]
    let asked: [ContentType]
    let predicates: [Predicate]
    /// Spellings of one type.
    let spellings: [Text] = ["image/png", "public.png", "Image/PNG"]
    let unreadable: [Text] = ["SELF BETWEEN 'a'", "SELF ==", "name == 'a'"]

    init() {
      carried = [
        "image/png", "public.png", "image/jpeg", "text/plain", "text/plain;charset=utf-8", "text/markdown",
        "text/uri-list", "public.url", "x-scheme-handler/http", "x/none",
      ].map(contentType)
      asked = [
        "image/png", "public.png", "image/*", "public.image", "text/plain", "text/plain;charset=utf-8",
        "text/markdown", "text/*", "public.data", "public.url", "x-scheme-handler/http", "x/*", "*/*",
      ].map(askedType)
      var generator = PredicateGenerator(seed: 0x5EED, about: keys)
      predicates = (0..<240).map { Predicate(generator.condition(depth: $0 % 3)) }
    }
  }

  mutating func world() -> ReferenceWorld {
    var world = ReferenceWorld()
    for application in pool.applications.shuffled(using: &random).prefix(1 + random.below(4)) {
      world.manifests.append(manifest(application))
    }
    var numbers = Set<UInt64>()
    for _ in 0..<random.below(13) { numbers.insert(UInt64(random.below(64))) }
    // The order is sorted, because a set has a random order.
    for number in numbers.sorted() { world.sessions.append(session(number, world)) }
    for type in pool.activityTypes + [random.one(of: pool.spellings), "text/plain"] where random.once(in: 6) {
      world.preferences.append(ReferencePreference(type: type, application: random.one(of: pool.applications)))
    }
    return world
  }

  // MARK: Manifests

  mutating func manifest(_ identifier: Text) -> Manifest {
    let roles = random.once(in: 3) ? pool.roles : [pool.roles[0]]
    var configurations: [SceneConfiguration] = []
    for role in roles {
      for name in pool.configurations.shuffled(using: &random).prefix(1 + random.below(3)) {
        configurations.append(configuration(name, role))
      }
    }
    let contentTypes = some(of: pool.asked, in: 4)
    var ranks: [ContentType: Manifest.HandlerRank] = [:]
    for type in contentTypes where random.once(in: 3) { ranks[type] = random.one(of: Manifest.HandlerRank.allCases) }
    return Manifest(
      identifier: identifier, activityTypes: pool.activityTypes.filter { _ in !random.once(in: 3) },
      contentTypes: contentTypes, handlerRanks: ranks, supportsMultipleScenes: !random.once(in: 6),
      configurations: configurations, isDynamic: random.once(in: 4), routing: random.once(in: 4) ? .uikit : .seated,
      understudy: random.once(in: 8) ? .registrar : nil)
  }

  private mutating func configuration(_ name: Text, _ role: Text) -> SceneConfiguration {
    var configuration = SceneConfiguration(name: name, role: role)
    if random.once(in: 2) { configuration.activityTypes = some(of: pool.activityTypes + pool.families, in: 4) }
    if random.once(in: 3) { configuration.contentTypes = some(of: pool.asked, in: 4) }
    if random.once(in: 6) { configuration.launch = random.once(in: 2) ? .new : .single }
    if random.once(in: 3) { configuration.conditions.can = random.one(of: pool.predicates) }
    if random.once(in: 4) { configuration.conditions.prefers = random.one(of: pool.predicates) }
    if random.once(in: 5) { configuration.maximumSessions = 1 + random.below(3) }
    return configuration
  }

  // MARK: Sessions

  /// A session of an application that exists, or of one that has lost its manifest or the session's configuration.
  mutating func session(_ number: UInt64, _ world: ReferenceWorld) -> Session {
    // Most of them belong to one application, so that they meet.
    let manifest = random.once(in: 2) ? world.manifests[0] : random.one(of: world.manifests)
    var (role, configuration) = (random.one(of: pool.roles), random.one(of: pool.configurations))
    if !random.once(in: 8) {
      let known = random.one(of: manifest.configurations)
      (role, configuration) = (known.role, known.name)
    }
    return session(
      number, of: random.once(in: 10) ? random.one(of: pool.applications) : manifest.identifier, role, configuration)
  }

  mutating func session(_ number: UInt64, of application: Text, _ role: Text, _ configuration: Text) -> Session {
    let (isConnected, hasBeenConnected) = (random.once(in: 2), random.once(in: 2))
    return Session(
      identifier: identifier(number),
      application: application, role: role, configuration: configuration,
      state: isConnected ? random.one(of: SceneState.allCases) : .unattached, isConnected: isConnected,
      hasBeenConnected: isConnected || hasBeenConnected, created: Instant(microseconds: Int64(random.below(2))),
      lastActivated: Instant(microseconds: Int64(2 + random.below(3))),
      userActivity: random.once(in: 2) ? activity() : nil,
      stateRestorationActivity: random.once(in: 4) ? activity() : nil,
      openedContent: random.once(in: 3) ? random.one(of: pool.keys) : .empty, canActivatePredicate: predicate(in: 2),
      prefersToActivatePredicate: predicate(in: 4))
  }

  /// Some identifiers are beyond the range of a signed number.
  func identifier(_ number: UInt64) -> UniqueIdentifier {
    UniqueIdentifier(high: number % 3 == 0 ? number << 60 : 1, low: number)
  }

  private mutating func predicate(in times: Int) -> Text {
    guard random.once(in: times) else { return .empty }
    return random.once(in: 20) ? random.one(of: pool.unreadable) : random.one(of: pool.predicates).source
  }

  mutating func some<Element>(of elements: [Element], in times: Int) -> [Element] {
    elements.shuffled(using: &random).filter { _ in random.once(in: times) }
  }

  // MARK: Activities

  mutating func activity() -> UserActivity {
    var activity = UserActivity(activityType: random.one(of: pool.activityTypes))
    if random.once(in: 8) { activity.activityType = pool.undeclaredType }
    if !random.once(in: 4) { activity.targetContentIdentifier = random.one(of: pool.keys) }
    if random.once(in: 10) { activity.targetContentIdentifier = .empty }
    if random.once(in: 5) { activity.webpageURL = random.once(in: 8) ? .empty : "http://b/" }
    return activity
  }
}
