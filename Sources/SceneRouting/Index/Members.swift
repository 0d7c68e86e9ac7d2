import SceneModel

/// The sessions under one key, or one condition. Usually there is one, which then needs no array.
struct Members: Sendable, Hashable {
  /// No session (-1), a session, or, below -1, the index of a ranking in the pool.
  private var code: Int32 = -1

  static let none = Members()

  var isEmpty: Bool { code == -1 }
  private var single: Int32? { code >= 0 ? code : nil }
  private var ranking: Int { Int(-2 - code) }

  /// The rankings for several sessions.
  struct Pool: Sendable {
    fileprivate var rankings: [Ranking] = []
    private var free: [Int32] = []

    fileprivate mutating func add(_ ranking: Ranking) -> Int32 {
      guard let place = free.popLast() else {
        rankings.append(ranking)
        return -2 - Int32(rankings.count - 1)
      }
      rankings[Int(place)] = ranking
      return -2 - place
    }

    fileprivate mutating func release(_ place: Int) {
      rankings[place] = Ranking()
      free.append(Int32(place))
    }
  }

  mutating func insert(_ slot: Int32, _ pool: inout Pool, _ entries: [SessionEntry]) {
    if isEmpty {
      code = slot
    } else if let single {
      var ranking = Ranking()
      ranking.insert(single, entries)
      ranking.insert(slot, entries)
      code = pool.add(ranking)
    } else {
      pool.rankings[ranking].insert(slot, entries)
    }
  }

  mutating func remove(_ slot: Int32, _ pool: inout Pool, _ entries: [SessionEntry]) {
    if code == slot {
      code = -1
    } else if code < -1 {
      pool.rankings[ranking].remove(slot, entries)
      if pool.rankings[ranking].count == 0 {
        pool.release(ranking)
        code = -1
      }
    }
  }

  func found(in pool: Pool) -> Found? {
    if code >= 0 { return .one(code) }
    return isEmpty ? nil : .several(pool.rankings[ranking])
  }
}

/// The sessions under one key, or one condition.
enum Found {
  case one(Int32)
  case several(Ranking)

  func isOnly(_ slot: Int32) -> Bool { if case .one(slot) = self { true } else { false } }

  /// The first accepted session, in the order of step 9, and whether it is the only one. For this it looks at a few more sessions; beyond these it
  /// makes no claim.
  @inline(__always)
  func first(where isAccepted: (Int32) -> Bool) -> (slot: Int32, isAlone: Bool)? {
    switch self {
    case .one(let slot): isAccepted(slot) ? (slot, true) : nil
    case .several(let ranking): ranking.first(where: isAccepted)
    }
  }

  func prefix(_ limit: Int, where isAccepted: (Int32) -> Bool) -> [Int32] {
    switch self {
    case .one(let slot): isAccepted(slot) ? [slot] : []
    case .several(let ranking): Array(ranking.places.lazy.map(\.slot).filter(isAccepted).prefix(limit))
    }
  }
}
