package import SceneModel

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

  struct Kind: Hashable, Sendable {
    let role: Text
    let configuration: Text
  }

  init(identifier: Text) { self.identifier = identifier }

  mutating func setManifest(_ manifest: Manifest?) {
    self.manifest = manifest
    index = SessionIndex(configurations: manifest?.configurations.count ?? 0)
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
  func makeRoute(_ type: RoutedType, _ role: Text, _ types: TypeCatalog) -> Route? {
    guard let configurations = manifest?.configurations else { return nil }
    let ofRole = configurations.indices.filter { configurations[$0].role == role }
    let naming = ofRole.filter { configurations[$0].names(type, types) }
    let family = ofRole.filter { configurations[$0].namesFamily(of: type, types) }
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
  /// What step 4 says of it.
  private var routes: [(application: Int, role: Text, route: Route)] = []

  mutating func add(_ type: Text, _ application: Int, _ all: [RoutedApplication], _ types: TypeCatalog) {
    let place = applications.firstIndex { all[application].identifier < all[$0].identifier } ?? applications.count
    applications.insert(application, at: place)
    for role in Set((all[application].manifest?.configurations ?? []).map(\.role)) {
      guard let route = all[application].makeRoute(.activity(type), role, types) else { continue }
      routes.append((application, role, route))
    }
  }

  mutating func forget(_ application: Int) {
    applications.removeAll { $0 == application }
    routes.removeAll { $0.application == application }
  }

  func route(of application: Int, _ role: Text) -> Route? {
    routes.first { $0.application == application && $0.role == role }?.route
  }
}

/// Places of configurations in a manifest, of which there are at most `Limits.configurations`.
struct ConfigurationSet: Sendable {
  private var bits: UInt64 = 0

  static let all = ConfigurationSet(0..<64)

  init(_ places: some Sequence<Int>) {
    for place in places { bits |= 1 << UInt64(place) }
  }

  func contains(_ place: Int16) -> Bool { place >= 0 && bits >> UInt64(place) & 1 == 1 }
}

/// What a payload is routed by: the type of an activity, or where there is none the type of something in it.
package enum RoutedType: Hashable, Sendable {
  case activity(Text)
  case content(ContentType)
}

extension SceneConfiguration {
  fileprivate func names(_ type: RoutedType, _ types: TypeCatalog) -> Bool {
    switch type {
    case .activity(let type): names(type)
    case .content(let type): contentTypes.contains { $0 == type || types.canonical($0) == types.canonical(type) }
    }
  }

  /// Of an activity type by its name, of a content type by conformance.
  fileprivate func namesFamily(of type: RoutedType, _ types: TypeCatalog) -> Bool {
    switch type {
    case .activity(let type): namesFamily(of: type)
    case .content(let type): contentTypes.contains { types.conforms(type, to: $0) }
    }
  }
}
