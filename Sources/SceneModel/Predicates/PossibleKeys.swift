/// Which keys a condition may still be true for: never fewer than there are, often more.
///
/// So a condition with none left is never true, and that is all that is concluded from it. Keys are looked at in four ways, as
/// comparisons with each kind of options see them, from their beginning and from their end; each way is kept for itself.
/// Where few enough are left to be listed, they are asked one by one, which is exact.
private struct PossibleKeys {
  private var fromBeginning: [Comparison.Options: ByteIntervals]
  private var fromEnd: [Comparison.Options: ByteIntervals]
  /// What is known to hold, or not to hold, of those comparisons that intervals do not describe.
  private var holding: Set<Comparison> = []
  private var failing: Set<Comparison> = []

  /// Any text: an empty key is none. What consists of marks may still be empty once it is folded.
  static let all = PossibleKeys(
    fromBeginning: [[]: .nonempty, .ignoringCase: .nonempty], fromEnd: [[]: .nonempty, .ignoringCase: .nonempty])

  private init(
    fromBeginning: [Comparison.Options: ByteIntervals], fromEnd: [Comparison.Options: ByteIntervals]
  ) {
    self.fromBeginning = fromBeginning
    self.fromEnd = fromEnd
  }

  /// All of them, where they can be listed.
  var listed: [Text]? { fromBeginning[[]]?.points?.map { Text(String(decoding: $0, as: UTF8.self)) } }

  /// Those for which the comparison comes out as `outcome`; `nil` where there are none.
  func narrowed(to comparison: Comparison, _ outcome: Bool) -> PossibleKeys? {
    var left = self
    let options = comparison.options
    let seen = comparison.relation.seen
    let beginning = (fromBeginning[options] ?? .all).intersection(seen.fromBeginning.among(outcome))
    let end = (fromEnd[options] ?? .all).intersection(seen.fromEnd.among(outcome))
    if beginning.isEmpty || end.isEmpty { return nil }
    left.fromBeginning[options] = beginning
    left.fromEnd[options] = end
    if outcome { left.holding.insert(comparison) } else { left.failing.insert(comparison) }
    if !left.holding.isDisjoint(with: left.failing) { return nil }
    if let listed = left.listed {
      let still = listed.filter { Condition.comparison(comparison).evaluate($0) == outcome }
      if still.isEmpty { return nil }
      left.fromBeginning[[]] = .only(still.map { $0.withBytes { Array($0) } })
    }
    return left
  }

  /// Those of either.
  func union(_ other: PossibleKeys) -> PossibleKeys {
    var both = self
    both.fromBeginning = fromBeginning.joined(other.fromBeginning)
    both.fromEnd = fromEnd.joined(other.fromEnd)
    both.holding.formIntersection(other.holding)
    both.failing.formIntersection(other.failing)
    return both
  }
}

extension Condition {
  /// Whether no key makes it true. Where this says no, there may still be none.
  ///
  /// It takes at most the square of the predicate's length: every part is gone through once, whatever it stands in.
  package var isNeverTrue: Bool {
    guard let possible = narrowed(.all, to: true) else { return true }
    return possible.listed.map { keys in !keys.contains { evaluate($0) } } ?? false
  }

  /// Those of `keys` for which it may come out as `outcome`; `nil` where there are none.
  private func narrowed(_ keys: PossibleKeys, to outcome: Bool) -> PossibleKeys? {
    var (single, alternatives): ([Narrowing], [Narrowing]) = ([], [])
    collect(outcome, &single, &alternatives)
    // What leaves the fewest comes first: an alternative that contradicts anything else is then seen to.
    var left = keys
    for narrowing in single + alternatives {
      guard let narrowed = narrowing.applied(to: left) else { return nil }
      left = narrowed
    }
    return left
  }

  /// Something that must hold, among others.
  private enum Narrowing {
    case impossible
    case comparison(Comparison, Bool)
    case oneOf([Condition], Bool)

    func applied(to keys: PossibleKeys) -> PossibleKeys? {
      switch self {
      case .impossible: return nil
      case .comparison(let comparison, let outcome): return keys.narrowed(to: comparison, outcome)
      case .oneOf(let parts, let outcome):
        var union: PossibleKeys?
        for part in parts {
          guard let possible = part.narrowed(keys, to: outcome) else { continue }
          union = union.map { $0.union(possible) } ?? possible
        }
        return union
      }
    }
  }

  /// Takes apart what must hold all at once, through any number of ANDs, and of ORs that are negated.
  private func collect(_ outcome: Bool, _ single: inout [Narrowing], _ alternatives: inout [Narrowing]) {
    switch (self, outcome) {
    case (.always, true), (.never, false): break
    case (.always, false), (.never, true): single.append(.impossible)
    case (.comparison(let comparison), _): single.append(.comparison(comparison, outcome))
    case (.not(let part), _): part.collect(!outcome, &single, &alternatives)
    case (.and(let parts), true), (.or(let parts), false):
      for part in parts { part.collect(outcome, &single, &alternatives) }
    case (.or(let parts), true), (.and(let parts), false): alternatives.append(.oneOf(parts, outcome))
    }
  }
}

extension [Comparison.Options: ByteIntervals] {
  /// What one of them does not mention, it does not restrict.
  fileprivate func joined(_ other: Self) -> Self {
    var joined: Self = [:]
    for (options, intervals) in self { joined[options] = other[options].map { intervals.union($0) } }
    return joined
  }
}

// MARK: - What a comparison says of a text's order

/// The texts that a relation holds for.
private struct Extent {
  /// All that it may hold for.
  let may: ByteIntervals
  /// All that it does hold for, if they are described to the last.
  let isExact: Bool

  static func exactly(_ intervals: ByteIntervals) -> Extent { Extent(may: intervals, isExact: true) }
  static func atMost(_ intervals: ByteIntervals) -> Extent { Extent(may: intervals, isExact: false) }
  static let unknown = atMost(.all)

  func among(_ outcome: Bool) -> ByteIntervals { outcome ? may : isExact ? may.complement : .all }
}

extension Comparison.Relation {
  fileprivate var seen: (fromBeginning: Extent, fromEnd: Extent) {
    func bytes(_ text: Text) -> [UInt8] { text.withBytes { Array($0) } }
    func reversed(_ text: Text) -> [UInt8] { text.withBytes { $0.reversed() } }
    switch self {
    case .equal(let text): return (.exactly(.only(bytes(text))), .exactly(.only(reversed(text))))
    case .notEqual(let text):
      return (.exactly(.only(bytes(text)).complement), .exactly(.only(reversed(text)).complement))
    case .less(let text): return (.exactly(.before(bytes(text))), .unknown)
    case .lessOrEqual(let text): return (.exactly(.before(bytes(text) + [0])), .unknown)
    case .greater(let text): return (.exactly(.from(bytes(text) + [0])), .unknown)
    case .greaterOrEqual(let text): return (.exactly(.from(bytes(text))), .unknown)
    case .beginsWith(let text): return (.exactly(.beginning(with: bytes(text))), .unknown)
    case .endsWith(let text): return (.unknown, .exactly(.beginning(with: reversed(text))))
    case .contains(let text): return (text.isEmpty ? .exactly(.all) : .unknown, .unknown)
    case .oneOf(let texts): return (.exactly(.only(texts.map(bytes))), .exactly(.only(texts.map(reversed))))
    case .like(let pattern):
      let isWild: (UInt8) -> Bool = { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
      let (start, end) = (bytes(pattern).prefix { !isWild($0) }, reversed(pattern).prefix { !isWild($0) })
      if start.count == pattern.count { return Comparison.Relation.equal(pattern).seen }
      if start.isEmpty, bytes(pattern).allSatisfy({ $0 == UInt8(ascii: "*") }) { return (.exactly(.all), .unknown) }
      return (.atMost(.beginning(with: Array(start))), .atMost(.beginning(with: Array(end))))
    }
  }
}
