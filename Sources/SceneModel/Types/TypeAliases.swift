/// Which names are other names of which.
///
/// What a layer says counts before what the layers after it say: the user's directory before the system's, and what is built
/// in last.
struct TypeAliases {
  private var targets: [TypeNames.Number: TypeNames.Number] = [:]

  /// Adds what one directory says. Of two lines that disagree the one with the lesser name counts, whichever comes first.
  mutating func add(layer pairs: [TypePair], _ names: inout TypeNames, disagreement: (TypePair) -> Void = { _ in }) {
    let numbered = pairs.map { (pair: $0, alias: names.number(of: $0.first), type: names.number(of: $0.second)) }
    let above = canonical(names)
    var said: [TypeNames.Number: TypeNames.Number] = [:]
    for entry in numbered {
      // A database that took the other of two names for its type's own is right; it would be a circle with what is built in.
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

  /// For each name that of its type: its own where it is no alias. Where aliases go in a circle it is the least of them.
  func canonical(_ names: TypeNames) -> [TypeNames.Number] {
    let unknown = TypeNames.Number.max
    var found = [TypeNames.Number](repeating: unknown, count: names.count)
    // On the present path, counted from 1.
    var step = [Int](repeating: 0, count: names.count)
    var path: [TypeNames.Number] = []
    for start in 0..<TypeNames.Number(names.count) where found[Int(start)] == unknown {
      path.removeAll(keepingCapacity: true)
      var name = start
      // Each name is entered on one path only, so that this is linear in all of them.
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
