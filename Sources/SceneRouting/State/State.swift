package import SceneModel

/// Everything that a decision looks at: the applications, their sessions, the user's preferences.
///
/// Only the calls below change the state, one after another. It holds some or all sessions, and knows which: see `Knowledge`.
package struct State: Sendable {
  package let types: TypeCatalog
  var applications: [RoutedApplication] = []
  private var numbers: [Text: Int] = [:]
  /// Places in `applications` that are free.
  private var freeNumbers: [Int] = []
  /// Applications that may have neither a manifest nor sessions.
  private var emptied: Set<Int> = []
  private var preferred: [Text: Text] = [:]
  /// The same for content types, by their canonical names.
  private var preferredForContent: [ContentType: Text] = [:]
  /// The activity types that applications declare.
  private var declaredNumbers: [Text: Int] = [:]
  var declared: [DeclaredType] = []
  /// Places in `declared` that are free.
  private var freeDeclared: [Int] = []
  /// The applications by the content types that they take.
  private var takers = TypeIndex()

  var entries: [SessionEntry] = []
  var freeSlots: [Int32] = []
  var slotTable = SlotTable()
  /// The reason why a stored predicate of a session does not parse.
  var unreadable: [UniqueIdentifier: Text] = [:]

  /// Whether the state holds every session of every application.
  let isComplete: Bool
  /// Sessions that were looked for and do not exist, or that were discarded.
  var absent = Recent<UniqueIdentifier>()

  /// - Parameter isComplete: Whether there are no sessions except those that the state is given. Otherwise it learns of sessions in a store.
  package init(types: TypeCatalog, isComplete: Bool = false) {
    self.types = types
    self.isComplete = isComplete
  }

  // MARK: Applications

  /// Registers an application, or replaces its manifest. Its sessions stay, and are routed by the new manifest.
  ///
  /// The manifest has at most `Limits.configurations`, as every manifest that was read.
  package mutating func register(_ manifest: Manifest) {
    precondition(manifest.configurations.count <= Limits.configurations, "a manifest has too many configurations")
    setManifest(manifest, of: manifest.identifier)
  }

  /// Its sessions stay, but take no part in routing.
  package mutating func unregister(_ identifier: Text) { setManifest(nil, of: identifier) }

  private mutating func setManifest(_ manifest: Manifest?, of identifier: Text) {
    let number = number(of: identifier)
    let before = applications[number].manifest
    for type in before?.routedActivityTypes ?? [] {
      guard let declared = declaredNumbers[type] else { continue }
      self.declared[declared].forget(number, applications)
      if self.declared[declared].applications.isEmpty {
        declaredNumbers[type] = nil
        freeDeclared.append(declared)
      }
    }
    for type in before?.routedContentTypes ?? [] { takers.remove(type, number, types) }
    for type in manifest?.routedContentTypes ?? [] {
      takers.insert(type, number, rank: manifest?.rank(of: type) ?? .default, types)
    }
    let slots = applications[number].index.slots
    applications[number].setManifest(manifest, types)
    for type in manifest?.routedActivityTypes ?? [] {
      self.declared[placeOfDeclared(type)].add(type, number, applications, types)
    }
    if manifest == nil { emptied.insert(number) }
    for slot in slots {
      var entry = entries[Int(slot)]
      resolveConfiguration(of: &entry)
      entries[Int(slot)] = entry
      applications[number].index.insert(slot, entries)
    }
  }

  private mutating func placeOfDeclared(_ type: Text) -> Int {
    if let place = declaredNumbers[type] { return place }
    let place = freeDeclared.popLast() ?? declared.count
    if place == declared.count { declared.append(DeclaredType()) } else { declared[place] = DeclaredType() }
    declaredNumbers[type] = place
    return place
  }

  mutating func number(of identifier: Text) -> Int {
    if let number = numbers[identifier] { return number }
    let number = freeNumbers.popLast() ?? applications.count
    let application = RoutedApplication(identifier: identifier)
    if number == applications.count { applications.append(application) } else { applications[number] = application }
    numbers[identifier] = number
    emptied.insert(number)
    return number
  }

  /// The last session of the application may have gone.
  mutating func noteEmptied(_ number: Int) { if applications[number].manifest == nil { emptied.insert(number) } }

  /// Forgets applications without a manifest and without sessions: a program may register and unregister as many as it likes.
  ///
  /// No change may be undone afterwards that was made before.
  package mutating func forgetEmptied() {
    if emptied.isEmpty { return }
    for number in emptied where applications[number].manifest == nil && applications[number].index.slots.isEmpty {
      numbers[applications[number].identifier] = nil
      // Its names are freed with it.
      applications[number] = RoutedApplication(identifier: .empty)
      freeNumbers.append(number)
    }
    emptied = []
  }

  package func manifest(of identifier: Text) -> Manifest? { numbers[identifier].flatMap { applications[$0].manifest } }

  func knowledge(of identifier: Text) -> Knowledge? { numbers[identifier].map { applications[$0].knowledge } }

  func application(_ identifier: Text) -> Int? {
    numbers[identifier].flatMap { applications[$0].manifest == nil ? nil : $0 }
  }

  func declares(_ type: Text, _ application: Int) -> Bool {
    if applications[application].manifest?.forwards ?? false {
      return applications[application].manifest?.activityTypes.contains(type) ?? false
    }
    return declaredNumbers[type].map { declared[$0].isDeclared(by: application) } ?? false
  }

  /// An application that declares the type and that no type leads to.
  func forwarder(of type: Text) -> Text? {
    applications.first { $0.manifest.map { $0.forwards && $0.activityTypes.contains(type) } ?? false }?.identifier
  }

  func declared(_ type: Text) -> Int? { declaredNumbers[type] }

  /// The copy of the type that its declaration keeps, so that a million sessions share one text.
  func shared(_ type: Text) -> Text { declaredNumbers.index(forKey: type).map { declaredNumbers[$0].key } ?? type }

  /// The applications that take the type, in the order of their identifiers.
  func applications(taking type: AskedType, _ steps: inout Int) -> [Taking] {
    var found: [Int: Taking] = [:]
    takers.visit(type, types, &steps) { takers, distance in
      for taker in takers {
        let taking = Taking(application: taker.number, distance: distance, rank: taker.rank)
        if let known = found[taker.number], !taking.comes(before: known) { continue }
        found[taker.number] = taking
      }
    }
    // Sorting compares each identifier with a dozen others.
    steps -= found.count * 4 * Steps.lookup
    return found.values.sorted { applications[$0.application].identifier < applications[$1.application].identifier }
  }

  /// Sets the application for a type that several declare; `nil` clears it.
  package mutating func setPreferredApplication(_ identifier: Text?, for type: Text) {
    preferred[type] = identifier
    if let content = ContentType(type, as: .asked) { preferredForContent[types.canonical(content)] = identifier }
  }

  package func preferredApplication(for type: Text) -> Text? { preferred[type] }

  func preferredApplication(for type: RoutedType) -> Text? {
    switch type {
    case .activity(let type): preferred[type]
    case .content(let type): preferredForContent.isEmpty ? nil : preferredForContent[type.canonical]
    }
  }
}

extension Manifest {
  /// The types that lead to the application. No type leads to one that forwards: its sessions are named.
  fileprivate var routedActivityTypes: [Text] { forwards ? [] : activityTypes }
  fileprivate var routedContentTypes: [ContentType] { forwards ? [] : contentTypes }
}

/// How an application takes a content type: by the nearest of the types that it declares, and the rank that its manifest gives to that type.
struct Taking: Sendable {
  let application: Int
  var distance = TypeDistance()
  var rank = Manifest.HandlerRank.default

  func comes(before other: Taking) -> Bool {
    distance != other.distance ? distance < other.distance : rank > other.rank
  }
}
