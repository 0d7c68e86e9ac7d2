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

/// Numbers for names, so that the facts about types are tables of small numbers.
struct TypeNames: Sendable {
  typealias Number = UInt32

  private var all: [Text] = []
  private var numbers: [Text: Number] = [:]

  var count: Int { all.count }

  mutating func number(of name: Text) -> Number {
    if let number = numbers[name] { return number }
    let number = Number(all.count)
    numbers[name] = number
    all.append(name)
    return number
  }

  func known(_ name: Text) -> Number? { numbers[name] }

  subscript(number: Number) -> Text { all[Int(number)] }
}

/// The parents that a type's name implies.
struct ImpliedParents: Sendable {
  private let plainText: TypeNames.Number
  let data: TypeNames.Number
  private let item: TypeNames.Number
  /// By the part before the slash: `image` of `image/*`.
  private let kinds: [Text: TypeNames.Number]
  /// The same without their names.
  let allKinds: Set<TypeNames.Number>
  /// By the part after the last plus sign.
  private let suffixes: [Text: TypeNames.Number]

  /// `canonical` returns the number of a name's type.
  init(_ canonical: (Text) -> TypeNames.Number) {
    plainText = canonical("text/plain")
    data = canonical("application/octet-stream")
    item = canonical("public.item")
    var kinds: [Text: TypeNames.Number] = [:]
    for kind in BuiltInTypes.identifiers {
      guard let twin = kind.twin, twin.form == .wildcard, let halves = MIMEHalves(twin.name) else { continue }
      kinds[halves.type] = canonical(twin.name)
    }
    self.kinds = kinds
    allKinds = Set(kinds.values)
    suffixes = BuiltInTypes.suffixes.mapValues(canonical)
  }

  /// `isDescribed`: whether somebody has named a parent. Then the suffix does not count, because it may be wrong: the drawings of one office suite
  /// are called `…+xml`, and are zip archives.
  func parents(of name: Text, isDescribed: Bool) -> [TypeNames.Number] {
    guard let halves = MIMEHalves(name) else { return [data] }
    if ContentType.isLink(name) { return [] }
    if halves.type == "inode" { return [item] }
    var parents = [data]
    if let kind = kinds[halves.type] { parents.append(kind) }
    if halves.type == "text" { parents.append(plainText) }
    if !isDescribed, let suffix = halves.suffix, let type = suffixes[suffix] { parents.append(type) }
    return parents
  }
}

/// The parts before and after the slash of a MIME type; `nil` for an identifier, which has no slash.
struct MIMEHalves {
  let type: Text
  /// `xml` of `image/svg+xml`.
  let suffix: Text?

  init?(_ name: Text) {
    let bytes = name.string.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    type = Text(String(name.string[..<slash]))
    suffix = bytes[slash...].lastIndex(of: UInt8(ascii: "+")).map {
      Text(String(name.string[bytes.index(after: $0)...]))
    }
  }
}

/// The names that are other names of a type.
///
/// An earlier layer counts before the later ones: the user's directory before the system's, and the built-in table last.
struct TypeAliases {
  private var targets: [TypeNames.Number: TypeNames.Number] = [:]

  /// Adds the aliases of one directory. If two lines disagree, the one with the lesser name counts, in any order.
  mutating func add(layer pairs: [TypePair], _ names: inout TypeNames, disagreement: (TypePair) -> Void = { _ in }) {
    let numbered = pairs.map { (pair: $0, alias: names.number(of: $0.first), type: names.number(of: $0.second)) }
    let above = canonical(names)
    var said: [TypeNames.Number: TypeNames.Number] = [:]
    for entry in numbered {
      // A database that takes the other of two names for the type's own is right; together with the built-in table it would form a circle.
      if targets[entry.alias] != nil || above[Int(entry.type)] == entry.alias { continue }
      guard let other = said[entry.alias], other != entry.type else {
        said[entry.alias] = entry.type
        continue
      }
      disagreement(entry.pair)
      if names[entry.type] < names[other] { said[entry.alias] = entry.type }
    }
    targets.merge(said) { one, _ in one }
  }

  /// The name of its type for each name: itself unless it is an alias. In a circle of aliases it is the least name.
  func canonical(_ names: TypeNames) -> [TypeNames.Number] {
    let unknown = TypeNames.Number.max
    var found = [TypeNames.Number](repeating: unknown, count: names.count)
    // The position on the present path, from 1.
    var step = [Int](repeating: 0, count: names.count)
    var path: [TypeNames.Number] = []
    for start in 0..<TypeNames.Number(names.count) where found[Int(start)] == unknown {
      path.removeAll(keepingCapacity: true)
      var name = start
      // Each name is entered on one path only, so this is linear in the number of names.
      while found[Int(name)] == unknown, step[Int(name)] == 0 {
        path.append(name)
        step[Int(name)] = path.count
        guard let target = targets[name] else { break }
        name = target
      }
      let type: TypeNames.Number
      if found[Int(name)] != unknown {
        type = found[Int(name)]
      } else {
        let circle = path[(step[Int(name)] - 1)...]
        type = circle.min { names[$0] < names[$1] } ?? name
      }
      for member in path { found[Int(member)] = type }
    }
    return found
  }
}
