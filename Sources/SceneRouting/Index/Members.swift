import SceneModel

/// The sessions that stand under one key, or one condition: most often a single one, which then takes no room of its own.
struct Members: Sendable, Hashable {
  /// No session, a session, or below -1 the place of a ranking in the pool.
  private var code: Int32 = -1

  static let none = Members()

  var isEmpty: Bool { code == -1 }
  func isOnly(_ slot: Int32) -> Bool { code == slot }
  private var single: Int32? { code >= 0 ? code : nil }
  private var ranking: Int { Int(-2 - code) }

  /// The rankings of those that are several.
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

  /// The first that is accepted, in the order of step 9, and whether it is the only one.
  @inline(__always)
  func first(_ pool: Pool, where isAccepted: (Int32) -> Bool) -> (slot: Int32, isAlone: Bool)? {
    if code >= 0 { return isAccepted(code) ? (code, true) : nil }
    return code == -1 ? nil : pool.rankings[ranking].first(where: isAccepted)
  }

  /// The first `limit` that are accepted.
  func prefix(_ limit: Int, _ pool: Pool, where isAccepted: (Int32) -> Bool) -> [Int32] {
    if let single { return isAccepted(single) ? [single] : [] }
    if isEmpty { return [] }
    return Array(pool.rankings[ranking].places.lazy.map(\.slot).filter(isAccepted).prefix(limit))
  }
}
