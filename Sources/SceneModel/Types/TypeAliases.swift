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
