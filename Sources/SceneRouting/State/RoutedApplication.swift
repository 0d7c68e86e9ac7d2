import SceneModel

/// An application as routing sees it: its manifest, an index of its sessions, and which of them are known.
struct RoutedApplication: Sendable {
  let identifier: Text
  /// `nil` where only its sessions are left.
  private(set) var manifest: Manifest?
  /// The roles and names of the configurations that its sessions have or had. A session knows its own as a number.
  private var kinds: [Kind] = []
  private var numbers: [Kind: Int32] = [:]
  var index = SessionIndex(configurations: 0)
  var knowledge = Knowledge()
  /// The configurations by the content types that they name.
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
    for (place, configuration) in (manifest?.configurations ?? []).enumerated() {
      for type in configuration.contentTypes { naming.insert(type, place, types) }
    }
  }

  // MARK: Kinds

  /// There may be more of them than fit into one manifest: each new one can bring names of its own.
  mutating func number(of kind: Kind) -> Int32 {
    if let number = numbers[kind] { return number }
    let number = Int32(kinds.count)
    kinds.append(kind)
    numbers[kind] = number
    return number
  }

  func kind(_ number: Int32) -> Kind { kinds[Int(number)] }

  /// The place of its configuration in the manifest, or -1.
  func configuration(of kind: Int32) -> Int16 {
    let wanted = kinds[Int(kind)]
    let place = manifest?.configurations.firstIndex { $0.role == wanted.role && $0.name == wanted.configuration }
    return place.map(Int16.init) ?? -1
  }

  // MARK: Step 4

  /// Of a request that has no type: the first of the role, and the sessions of all of them.
  func firstRoute(role: Text) -> Route? {
    let configurations = manifest?.configurations ?? []
    let ofRole = configurations.indices.filter { configurations[$0].role == role }
    return ofRole.first.map { Route(configuration: $0, because: .firstOfRole, eligible: ConfigurationSet(ofRole)) }
  }

  /// Which configuration a type goes to, and which others may have sessions for it.
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
      // Of a content type a family is whatever it conforms to.
      var (same, conforming): (Set<Int>, Set<Int>) = ([], [])
      self.naming.visit(type, types, &steps) { places, isSame in
        conforming.formUnion(places)
        if isSame { same.formUnion(places) }
      }
      naming = ofRole.filter(same.contains)
      family = ofRole.filter(conforming.contains)
    }
    let open = ofRole.filter { configurations[$0].namesNoTypes }
    let because: ConfigurationReason =
      !naming.isEmpty ? .namesType : !family.isEmpty ? .namesFamily : !open.isEmpty ? .namesNoTypes : .firstOfRole
    guard let chosen = naming.first ?? family.first ?? open.first ?? ofRole.first else { return nil }
    // By Apple's rule every session of the role is one.
    let eligible = manifest?.routing == .uikit ? ofRole : naming + family + open + [chosen]
    return Route(configuration: chosen, because: because, eligible: ConfigurationSet(eligible))
  }
}

/// What step 4 says of a type.
struct Route: Sendable {
  /// The place of the configuration in the manifest.
  let configuration: Int
  let because: ConfigurationReason
  /// The configurations whose sessions are candidates.
  let eligible: ConfigurationSet
}

/// An activity type, as the manifests of applications have it: worked out once for each of them.
struct DeclaredType: Sendable {
  /// Who declares it, in the order of their identifiers.
  private(set) var applications: [Int] = []
  /// What step 4 says of it, for each of these applications.
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

  /// Where the application stands among the others, or would.
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

/// Places of configurations in a manifest, of which there are at most `Limits.configurations`.
struct ConfigurationSet: Sendable {
  private var bits: UInt64 = 0

  init(_ places: some Sequence<Int>) {
    for place in places { bits |= 1 << UInt64(place) }
  }

  func contains(_ place: Int16) -> Bool { place >= 0 && bits >> UInt64(place) & 1 == 1 }
}

/// What a payload is routed by: the type of an activity, or where there is none the type of something in it.
enum RoutedType: Sendable {
  case activity(Text)
  case content(AskedType)
}
