import SceneModel

/// The takers of content types, found by the names of a type and of the types that it conforms to. A lookup costs the same however many types are
/// declared.
///
/// Each declared type is filed under its name and, if it has parameters, under the first of them. A type with parameters takes only types that have
/// these parameters too, so the parameters of the type in question lead to it.
struct TypeIndex: Sendable {
  private struct Place: Hashable {
    let name: Text
    let parameter: ContentType.Parameter?
  }

  struct Taker: Sendable {
    /// The number of an application, or the place of a configuration.
    let number: Int
    var rank: Manifest.HandlerRank
  }

  private struct Declared {
    let type: ContentType
    var takers: [Taker]

    /// A taker may declare a type under several of its names. The highest rank counts.
    mutating func insert(_ taker: Taker) {
      guard let place = takers.firstIndex(where: { $0.number == taker.number }) else { return takers.append(taker) }
      takers[place].rank = max(takers[place].rank, taker.rank)
    }
  }

  /// The types that are filed in a place, by their canonical names.
  private var declared: [Place: [ContentType: Declared]] = [:]
  private var withParameters = 0

  private static func place(_ canonical: ContentType) -> Place {
    Place(name: canonical.form == .everything ? "*/*" : canonical.name, parameter: canonical.parameters.first)
  }

  mutating func insert(
    _ type: ContentType, _ taker: Int, rank: Manifest.HandlerRank = .default, _ types: TypeCatalog
  ) {
    let canonical = types.canonical(type)
    let place = Self.place(canonical)
    let isNew = declared[place]?[canonical] == nil
    if isNew, place.parameter != nil { withParameters += 1 }
    declared[place, default: [:]][canonical, default: Declared(type: type, takers: [])].insert(
      Taker(number: taker, rank: rank))
  }

  mutating func remove(_ type: ContentType, _ taker: Int, _ types: TypeCatalog) {
    let canonical = types.canonical(type)
    let place = Self.place(canonical)
    guard declared[place]?[canonical] != nil else { return }
    declared[place]?[canonical]?.takers.removeAll { $0.number == taker }
    if declared[place]?[canonical]?.takers.isEmpty == false { return }
    declared[place]?[canonical] = nil
    if declared[place]?.isEmpty ?? true { declared[place] = nil }
    if place.parameter != nil { withParameters -= 1 }
  }

  /// Calls `visit` with the takers that declare a type to which `asked` conforms, and with the distance of that type. A taker that declares several such
  /// types is visited for each.
  ///
  /// - Parameter steps: Pays for the work.
  func visit(_ asked: AskedType, _ types: TypeCatalog, _ steps: inout Int, _ visit: ([Taker], TypeDistance) -> Void) {
    func look(_ place: Place, _ distance: TypeDistance) {
      steps -= place.parameter == nil ? Steps.lookup : Steps.lookup + Steps.parameter
      for (canonical, declared) in declared[place] ?? [:] {
        steps -= Steps.conformance
        if steps < 0 { return }
        guard types.conforms(asked.type, to: declared.type) else { continue }
        steps -= declared.takers.count
        var distance = distance
        distance.lostParameters = asked.canonical.parameters.count - canonical.parameters.count
        visit(declared.takers, distance)
      }
    }
    for (name, distance) in asked.kinds {
      look(Place(name: name, parameter: nil), distance)
      if withParameters == 0 { continue }
      for parameter in asked.canonical.parameters { look(Place(name: name, parameter: parameter), distance) }
    }
  }
}

/// A content type in question, with all types that it conforms to, which are found once for all lookups.
struct AskedType: Sendable {
  let type: ContentType
  let canonical: ContentType
  let kinds: [(name: Text, distance: TypeDistance)]

  init(_ type: ContentType, _ types: TypeCatalog) {
    self.type = type
    canonical = types.canonical(type)
    kinds = types.kinds(of: type)
  }
}
