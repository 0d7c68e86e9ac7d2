import SceneModel

/// Sessions in the order of step 9. The part of the rank that almost always decides is beside the number of the session; the rest is in the table of
/// entries, which every call therefore passes.
struct Ranking: Sendable {
  struct Place: Sendable {
    let state: SceneState
    let slot: Int32
    let lastActivated: Instant

    init(_ slot: Int32, _ entries: [SessionEntry]) {
      self.slot = slot
      state = entries[Int(slot)].state
      lastActivated = entries[Int(slot)].lastActivated
    }

    static func precedes(_ one: Place, _ other: Place, _ entries: [SessionEntry]) -> Bool {
      if one.state != other.state { return one.state < other.state }
      if one.lastActivated != other.lastActivated { return one.lastActivated > other.lastActivated }
      return one.slot != other.slot && entries[Int(one.slot)].rank < entries[Int(other.slot)].rank
    }
  }

  private(set) var places = SortedChunks<Place>()

  var count: Int { places.count }

  /// Sessions without a scene come after all others.
  var countWithoutScene: Int { count - places.countInFront { $0.state < .unattached } }

  mutating func insert(_ slot: Int32, _ entries: [SessionEntry]) {
    places.insert(Place(slot, entries)) { Place.precedes($0, $1, entries) }
  }

  /// Its entry must still be what it was at the insertion.
  mutating func remove(_ slot: Int32, _ entries: [SessionEntry]) {
    places.remove(Place(slot, entries)) { Place.precedes($0, $1, entries) }
  }

  /// The first accepted session, and whether it is the only one. For this it looks at a few more sessions; if that would take longer, it makes no
  /// claim.
  func first(where isAccepted: (Int32) -> Bool) -> (slot: Int32, isAlone: Bool)? {
    var first: Int32?
    var looked = 0
    for place in places {
      if let first {
        looked += 1
        if looked == 32 || isAccepted(place.slot) { return (first, false) }
      } else if isAccepted(place.slot) {
        first = place.slot
      }
    }
    return first.map { ($0, true) }
  }

  /// The session that was activated last: the first one of one of the four states.
  var latest: Place? {
    SceneState.allCases
      .compactMap { state in places[places.lowerBound { $0.state < state }] }
      .max { $0.lastActivated < $1.lastActivated }
  }
}
