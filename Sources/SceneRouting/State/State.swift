package import SceneModel

/// All that a decision looks at: the applications, their sessions, the user's preferences.
///
/// The state changes only by the calls below, one after the other. It holds some sessions or all of them, and knows which: see
/// `Knowledge`.
package struct State: Sendable {
  package let types: TypeCatalog
  var applications: [RoutedApplication] = []
  private var numbers: [Text: Int] = [:]
  private var preferred: [Text: Text] = [:]
  /// The same for what is a content type, by the name that all names of the type have in common.
  private var preferredForContent: [ContentType: Text] = [:]
  /// The activity types that applications declare, or declared once.
  private var declaredNumbers: [Text: Int] = [:]
  var declared: [DeclaredType] = []
  /// The applications by the content types that they take.
  private var takers = TypeIndex()

  var entries: [SessionEntry] = []
  var freeSlots: [Int32] = []
  var slotTable = SlotTable()
  /// Why the stored predicate of a session does not parse.
  var unreadable: [UniqueIdentifier: Text] = [:]

  /// There are no sessions but those that the state holds, of any application.
  let isComplete: Bool
  /// Sessions that were asked for and do not exist, or that were discarded.
  var absent = Recent<UniqueIdentifier>()

  /// - Parameter isComplete: whether there are no sessions but those that the state is given. Otherwise it learns of those that a store has.
  package init(types: TypeCatalog, isComplete: Bool = false) {
    self.types = types
    self.isComplete = isComplete
  }

  // MARK: Applications

  /// Registers an application, in place of what it was before. Its sessions stay, and are routed by the new manifest.
  ///
  /// It has at most `Limits.configurations`, as every manifest that was read.
  package mutating func register(_ manifest: Manifest) {
    precondition(manifest.configurations.count <= Limits.configurations, "a manifest has too many configurations")
    setManifest(manifest, of: manifest.identifier)
  }

  /// Its sessions stay, out of routing.
  package mutating func unregister(_ identifier: Text) { setManifest(nil, of: identifier) }

  private mutating func setManifest(_ manifest: Manifest?, of identifier: Text) {
    let number = number(of: identifier)
    for type in applications[number].manifest?.activityTypes ?? [] {
      if let declared = declaredNumbers[type] { self.declared[declared].forget(number, applications) }
    }
    for type in applications[number].manifest?.contentTypes ?? [] { takers.remove(type, number, types) }
    for type in manifest?.contentTypes ?? [] { takers.insert(type, number, types) }
    let slots = applications[number].index.slots
    applications[number].setManifest(manifest, types)
    for type in manifest?.activityTypes ?? [] {
      let declared = declaredNumbers[type] ?? self.declared.count
      if declared == self.declared.count {
        declaredNumbers[type] = declared
        self.declared.append(DeclaredType())
      }
      self.declared[declared].add(type, number, applications, types)
    }
    for slot in slots {
      resolveConfiguration(slot)
      applications[number].index.insert(slot, entries)
    }
  }

  mutating func number(of identifier: Text) -> Int {
    if let number = numbers[identifier] { return number }
    numbers[identifier] = applications.count
    applications.append(RoutedApplication(identifier: identifier))
    return applications.count - 1
  }

  package func manifest(of identifier: Text) -> Manifest? { numbers[identifier].flatMap { applications[$0].manifest } }

  func knowledge(of identifier: Text) -> Knowledge? { numbers[identifier].map { applications[$0].knowledge } }

  /// The number of an application that has a manifest.
  func application(_ identifier: Text) -> Int? {
    numbers[identifier].flatMap { applications[$0].manifest == nil ? nil : $0 }
  }

  /// The place of an activity type among those that are declared.
  func declared(_ type: Text) -> Int? { declaredNumbers[type] }

  /// The type as those who declare it keep it, so that a million sessions which show something of it share one text.
  func shared(_ type: Text) -> Text { declaredNumbers.index(forKey: type).map { declaredNumbers[$0].key } ?? type }

  /// Those that take the type, in the order of their identifiers.
  func applications(taking type: AskedType, _ steps: inout Int) -> [Int] {
    var found: Set<Int> = []
    takers.visit(type, types, &steps) { takers, _ in found.formUnion(takers) }
    // To put them in order compares each identifier with a dozen others.
    steps -= found.count * 4 * Steps.lookup
    return found.sorted { applications[$0].identifier < applications[$1].identifier }
  }

  /// Which application takes a type that several declare; `nil` clears it.
  package mutating func setPreferredApplication(_ identifier: Text?, for type: Text) {
    preferred[type] = identifier
    if let content = ContentType(type, as: .asked) { preferredForContent[types.canonical(content)] = identifier }
  }

  func preferredApplication(for type: RoutedType) -> Text? {
    switch type {
    case .activity(let type): preferred[type]
    case .content(let type): preferredForContent.isEmpty ? nil : preferredForContent[type.canonical]
    }
  }
}

extension State {
  package func preferredApplication(for type: Text) -> Text? { preferred[type] }
}
