/// The keys for which a condition may still be true: never fewer than there are, and often more.
///
/// So a condition without any such key is never true, and no other conclusion is drawn. Keys are seen in four ways, one for each combination of
/// options, and each from their beginning and from their end; each way is kept by itself. If few enough keys are left to be listed, the condition is
/// evaluated for each, which is exact.
private struct PossibleKeys {
  private var fromBeginning: [Comparison.Options: ByteIntervals]
  private var fromEnd: [Comparison.Options: ByteIntervals]
  /// The known results of comparisons that intervals cannot describe.
  private var holding: Set<Comparison> = []
  private var failing: Set<Comparison> = []

  /// Every text except the empty one, because a key is never empty. A text of marks may still be empty after folding.
  static let all = PossibleKeys(
    fromBeginning: [[]: .nonempty, .ignoringCase: .nonempty], fromEnd: [[]: .nonempty, .ignoringCase: .nonempty])

  /// All keys, if they can be listed.
  var listed: [Text]? { fromBeginning[[]]?.points?.map { Text(String(decoding: $0, as: UTF8.self)) } }

  /// The keys for which the comparison has the value `outcome`; `nil` if there are none.
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
    // An expression may take long for each of them.
    if case .matches = comparison.relation { return left }
    if let listed = left.listed {
      let still = listed.filter { Condition.comparison(comparison).evaluate($0) == outcome }
      if still.isEmpty { return nil }
      left.fromBeginning[[]] = .only(still.map { $0.withBytes { Array($0) } })
    }
    return left
  }

  /// The keys of either set.
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
  /// Whether no key makes the condition true. If this is false, there may still be none.
  ///
  /// This takes at most the square of the number of texts: it visits every part once, at any depth. A condition with more of them than people write
  /// is not judged, because a manifest may have a hundred, and others wait meanwhile.
  package var isNeverTrue: Bool {
    if texts > Condition.maximumTexts { return false }
    guard let possible = narrowed(.all, to: true) else { return true }
    guard let keys = possible.listed else { return false }
    var steps = Condition.maximumSteps
    for text in keys {
      var key = AskedKey(text, steps: steps)
      if evaluate(&key) || key.stepsLeft < 0 { return false }
      steps = key.stepsLeft
    }
    return true
  }

  private static var maximumTexts: Int { 64 }
  private static var maximumSteps: Int { Limits.conditionSteps / 64 }

  private var texts: Int {
    switch self {
    case .always, .never: 0
    case .comparison(let comparison): if case .oneOf(let texts) = comparison.relation { texts.count } else { 1 }
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.texts }
    case .not(let part): part.texts
    }
  }

  /// The keys among `keys` for which the condition may have the value `outcome`; `nil` if there are none.
  private func narrowed(_ keys: PossibleKeys, to outcome: Bool) -> PossibleKeys? {
    var (single, alternatives): ([Narrowing], [Narrowing]) = ([], [])
    collect(outcome, &single, &alternatives)
    // The part that leaves the fewest keys comes first, so that an alternative that contradicts another part is noticed.
    var left = keys
    for narrowing in single + alternatives {
      guard let narrowed = narrowing.applied(to: left) else { return nil }
      left = narrowed
    }
    return left
  }

  /// A part that must hold together with others.
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

  /// Collects the parts that must hold together, through any number of ANDs, and of negated ORs.
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
  /// A set that does not mention a comparison does not restrict it.
  fileprivate func joined(_ other: Self) -> Self {
    var joined: Self = [:]
    for (options, intervals) in self { joined[options] = other[options].map { intervals.union($0) } }
    return joined
  }
}

// MARK: - Comparisons as intervals

/// The texts for which a relation holds.
private struct Extent {
  /// All texts for which it may hold.
  let may: ByteIntervals
  /// Whether it holds for exactly these texts.
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
    case .text(let text, .equal): return (.exactly(.only(bytes(text))), .exactly(.only(reversed(text))))
    case .text(let text, .notEqual):
      return (.exactly(.only(bytes(text)).complement), .exactly(.only(reversed(text)).complement))
    case .text(let text, .less): return (.exactly(.before(bytes(text))), .unknown)
    case .text(let text, .lessOrEqual): return (.exactly(.before(bytes(text) + [0])), .unknown)
    case .text(let text, .greater): return (.exactly(.from(bytes(text) + [0])), .unknown)
    case .text(let text, .greaterOrEqual): return (.exactly(.from(bytes(text))), .unknown)
    case .text(let text, .beginsWith): return (.exactly(.beginning(with: bytes(text))), .unknown)
    case .text(let text, .endsWith): return (.unknown, .exactly(.beginning(with: reversed(text))))
    case .matches: return (.unknown, .unknown)
    case .text(let text, .contains): return (text.isEmpty ? .exactly(.all) : .unknown, .unknown)
    case .oneOf(let texts): return (.exactly(.only(texts.map(bytes))), .exactly(.only(texts.map(reversed))))
    case .text(let pattern, .like):
      let isWild: (UInt8) -> Bool = { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
      let (start, end) = (bytes(pattern).prefix { !isWild($0) }, reversed(pattern).prefix { !isWild($0) })
      if start.count == pattern.count { return Comparison.Relation.text(pattern, .equal).seen }
      if start.isEmpty, bytes(pattern).allSatisfy({ $0 == UInt8(ascii: "*") }) { return (.exactly(.all), .unknown) }
      return (.atMost(.beginning(with: Array(start))), .atMost(.beginning(with: Array(end))))
    }
  }
}
