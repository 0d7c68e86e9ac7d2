/// Collects the facts about types, in the order in which they count, and makes the tables from them.
struct TypeCatalogBuilder {
  private var names = TypeNames()
  private var aliases = TypeAliases()
  private var described: [(type: TypeNames.Number, parent: TypeNames.Number)] = []
  /// The hierarchy of identifiers, which does not count as a description of a MIME type.
  private var conforming: [(type: TypeNames.Number, parent: TypeNames.Number)] = []
  private(set) var aliasParameters: [TypeNames.Number: [ContentType.Parameter]] = [:]
  private(set) var problems = TypeProblems()

  mutating func add(_ database: TypeDatabase) {
    for pair in database.pairs(in: \.subclasses, called: "subclasses", &problems) { describe(pair.first, pair.second) }
    var disagreements: [TypePair] = []
    let pairs = database.pairs(in: \.aliases, called: "aliases", &problems)
    aliases.add(layer: pairs, &names) { disagreements.append($0) }
    for pair in disagreements {
      problems.add(
        Fault(
          at: "\(database.name)/aliases, line \(pair.line)",
          "\(quoted(pair.first.string)) is said to be another type, too"))
    }
  }

  mutating func addBuiltIn() {
    for (type, parent) in BuiltInTypes.subclasses { describe(type, parent) }
    aliases.add(layer: BuiltInTypes.aliases.map { TypePair(first: $0.name, second: $0.type, line: 0) }, &names)

    var twins: [TypePair] = []
    for entry in BuiltInTypes.identifiers {
      let number = names.number(of: entry.name)
      for parent in entry.parents { conforming.append((number, names.number(of: parent))) }
      guard let twin = entry.twin else { continue }
      // A wildcard is another name of its identifier; for every other twin, the identifier is another name of the twin.
      twins.append(
        twin.form == .wildcard
          ? TypePair(first: twin.name, second: entry.name, line: 0)
          : TypePair(first: entry.name, second: twin.name, line: 0))
      if !twin.parameters.isEmpty { aliasParameters[number] = twin.parameters }
    }
    aliases.add(layer: twins, &names)
    for type in BuiltInTypes.suffixes.values { _ = names.number(of: type) }
  }

  private mutating func describe(_ type: Text, _ parent: Text) {
    described.append((names.number(of: type), names.number(of: parent)))
  }

  func built() -> (TypeNames, [TypeNames.Number], TypeAncestors, ImpliedParents) {
    let types = aliases.canonical(names)
    func typed(_ pair: (type: TypeNames.Number, parent: TypeNames.Number)) -> (TypeNames.Number, TypeNames.Number) {
      (types[Int(pair.type)], types[Int(pair.parent)])
    }
    let implied = ImpliedParents { name in
      guard let number = names.known(name) else {
        preconditionFailure("\(name) is not among the types that are built in")
      }
      return types[Int(number)]
    }

    var pairs = described.map(typed)
    var isDescribed = [Bool](repeating: false, count: names.count)
    // Whatever a database says, nobody takes links who does not ask for them.
    pairs.removeAll { ContentType.isLink(names[$0.0]) }
    for (type, parent) in pairs where type != parent { isDescribed[Int(type)] = true }
    pairs += conforming.map(typed)
    for number in 0..<TypeNames.Number(names.count) where types[Int(number)] == number {
      let name = names[number]
      // The table has the parents of an identifier.
      if MIMEHalves(name) == nil { continue }
      for parent in implied.parents(of: name, isDescribed: isDescribed[Int(number)]) { pairs.append((number, parent)) }
    }
    return (names, types, TypeAncestors(count: names.count, pairs), implied)
  }
}
