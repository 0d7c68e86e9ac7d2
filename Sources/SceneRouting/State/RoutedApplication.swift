package import SceneModel

/// An application for routing: its manifest, an index of its sessions, and which of them the state knows.
struct RoutedApplication: Sendable {
  let identifier: Text
  /// `nil` if only its sessions are left.
  private(set) var manifest: Manifest?
  /// The configurations that set conditions.
  private(set) var conditional = ConfigurationSet([])
  /// The roles and names of the configurations that its sessions have or had. A session stores its kind as a number.
  private var kinds: [Kind] = []
  private var numbers: [Kind: Int32] = [:]
  var index = SessionIndex(configurations: 0)
  var knowledge = Knowledge()
  /// The configurations by the content types that they list.
  private var naming = TypeIndex()

  struct Kind: Hashable, Sendable {
    let role: Text
    let configuration: Text
  }

  init(identifier: Text) { self.identifier = identifier }

  mutating func setManifest(_ manifest: Manifest?, _ types: TypeCatalog) {
    self.manifest = manifest
    index = SessionIndex(configurations: manifest?.configurations.count ?? 0)
    naming = TypeIndex()
    let configurations = manifest?.configurations ?? []
    conditional = ConfigurationSet(
      configurations.indices.filter { configurations[$0].conditions != ActivationConditions() })
    for (place, configuration) in configurations.enumerated() {
      for type in configuration.contentTypes { naming.insert(type, place, types) }
    }
  }

  // MARK: Kinds

  /// There may be more kinds than one manifest can have: each new manifest can bring names of its own.
  mutating func number(of kind: Kind) -> Int32 {
    if let number = numbers[kind] { return number }
    let number = Int32(kinds.count)
    kinds.append(kind)
    numbers[kind] = number
    return number
  }

  func kind(_ number: Int32) -> Kind { kinds[Int(number)] }

  /// The index of the kind's configuration in the manifest, or -1.
  func configuration(of kind: Int32) -> Int16 {
    let wanted = kinds[Int(kind)]
    let place = manifest?.configurations.firstIndex { $0.role == wanted.role && $0.name == wanted.configuration }
    return place.map(Int16.init) ?? -1
  }

  // MARK: Step 4

  /// The route of a request without a type: the first configuration of the role, and the sessions of all configurations of the role.
  func firstRoute(role: Text) -> Route? {
    let configurations = manifest?.configurations ?? []
    let ofRole = configurations.indices.filter { configurations[$0].role == role }
    return ofRole.first.map { Route(configuration: $0, because: .firstOfRole, eligible: ConfigurationSet(ofRole)) }
  }

  /// The configuration to which a type goes, and the others that may have sessions for the type.
  func makeRoute(_ type: RoutedType, _ role: Text, _ types: TypeCatalog, _ steps: inout Int) -> Route? {
    guard let configurations = manifest?.configurations else { return nil }
    let ofRole = configurations.indices.filter { configurations[$0].role == role }
    let naming: [Int]
    let family: [Int]
    switch type {
    case .activity(let type):
      naming = ofRole.filter { configurations[$0].names(type) }
      family = ofRole.filter { configurations[$0].namesFamily(of: type) }
    case .content(let type):
      // The family of a content type is everything that it conforms to.
      var (same, conforming): (Set<Int>, Set<Int>) = ([], [])
      self.naming.visit(type, types, &steps) { places, distance in
        conforming.formUnion(places.lazy.map(\.number))
        if distance.isZero { same.formUnion(places.lazy.map(\.number)) }
      }
      naming = ofRole.filter(same.contains)
      family = ofRole.filter(conforming.contains)
    }
    let open = ofRole.filter { configurations[$0].namesNoTypes }
    let because: ConfigurationReason =
      !naming.isEmpty ? .namesType : !family.isEmpty ? .namesFamily : !open.isEmpty ? .namesNoTypes : .firstOfRole
    guard let chosen = naming.first ?? family.first ?? open.first ?? ofRole.first else { return nil }
    // By Apple's rule every session of the role is a candidate.
    let eligible = manifest?.routing == .uikit ? ofRole : naming + family + open + [chosen]
    return Route(configuration: chosen, because: because, eligible: ConfigurationSet(eligible))
  }
}

extension State {
  /// The configuration of its application that takes what a session shows, by step 4; `nil` if there is none in the session's role.
  package func configuration(for session: Session) -> Text? {
    guard let number = application(session.application) else { return nil }
    var steps = Int.max
    let route =
      if let type = session.shownActivity?.activityType {
        applications[number].makeRoute(.activity(type), session.role, types, &steps)
      } else {
        applications[number].firstRoute(role: session.role)
      }
    return route.flatMap { applications[number].manifest?.configurations[$0.configuration].name }
  }
}

/// The result of step 4 for a type.
struct Route: Sendable {
  /// The index of the configuration in the manifest.
  let configuration: Int
  let because: ConfigurationReason
  /// The configurations whose sessions are candidates.
  let eligible: ConfigurationSet
}

/// An activity type in the manifests of applications, with its routes, which are worked out once.
struct DeclaredType: Sendable {
  /// The applications that declare it, in the order of their identifiers.
  private(set) var applications: [Int] = []
  /// The results of step 4, for each of these applications.
  private var routes: [Int: [(role: Text, route: Route)]] = [:]

  mutating func add(_ type: Text, _ application: Int, _ all: [RoutedApplication], _ types: TypeCatalog) {
    applications.insert(application, at: place(of: application, all))
    var ofRoles: [(Text, Route)] = []
    var steps = Int.max
    for role in Set((all[application].manifest?.configurations ?? []).map(\.role)) {
      guard let route = all[application].makeRoute(.activity(type), role, types, &steps) else { continue }
      ofRoles.append((role, route))
    }
    routes[application] = ofRoles
  }

  mutating func forget(_ application: Int, _ all: [RoutedApplication]) {
    if routes.removeValue(forKey: application) == nil { return }
    applications.remove(at: place(of: application, all))
  }

  /// The index of the application among the others, or the index that it would have.
  private func place(of application: Int, _ all: [RoutedApplication]) -> Int {
    var (low, high) = (0, applications.count)
    while low < high {
      let middle = (low + high) / 2
      if all[applications[middle]].identifier < all[application].identifier { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func isDeclared(by application: Int) -> Bool { routes[application] != nil }

  func route(of application: Int, _ role: Text) -> Route? { routes[application]?.first { $0.role == role }?.route }
}

/// Indices of configurations in a manifest, which has at most `Limits.configurations`.
struct ConfigurationSet: Sendable {
  private var bits: UInt64 = 0

  init(_ places: some Sequence<Int>) {
    for place in places { bits |= 1 << UInt64(place) }
  }

  func contains(_ place: Int16) -> Bool { place >= 0 && bits >> UInt64(place) & 1 == 1 }

  func overlaps(_ other: ConfigurationSet) -> Bool { bits & other.bits != 0 }
}

/// The type that routes a payload: the type of an activity or, without one, of a content.
enum RoutedType: Sendable {
  case activity(Text)
  case content(AskedType)
}
