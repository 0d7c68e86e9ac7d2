import SceneModel

/// Who is interested in which key: those whose conditions name it, and those that show it.
struct KeyTable: Sendable {
  struct Posting: Sendable {
    var key: Text
    var can = Members.none
    var prefers = Members.none
    var shown = Members.none

    var isEmpty: Bool { can.isEmpty && prefers.isEmpty && shown.isEmpty }

    subscript(interest: Interest) -> Members {
      get {
        switch interest {
        case .can: can
        case .prefers: prefers
        case .shown: shown
        }
      }
      set {
        switch interest {
        case .can: can = newValue
        case .prefers: prefers = newValue
        case .shown: shown = newValue
        }
      }
    }
  }

  private var table = SlotTable()
  private var postings: [Posting] = []
  private var free: [Int32] = []

  private static func hash(_ key: Text) -> UInt64 {
    var hasher = Hasher()
    key.hash(into: &hasher)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  @inline(__always)
  private func find(_ key: Text, _ hash: UInt64) -> Int32? { table.find(hash) { postings[Int($0)].key == key } }

  func members(of key: Text) -> (can: Members, prefers: Members, shown: Members)? {
    guard let place = find(key, Self.hash(key)) else { return nil }
    let posting = Int(place)
    return (postings[posting].can, postings[posting].prefers, postings[posting].shown)
  }

  /// Answers the key as it is kept here, so that all who hold it can share it.
  mutating func insert(
    _ slot: Int32, _ interest: Interest, _ key: Text, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) -> Text {
    let hash = Self.hash(key)
    let place = find(key, hash) ?? add(key, hash)
    postings[Int(place)][interest].insert(slot, &pool, entries)
    return postings[Int(place)].key
  }

  private mutating func add(_ key: Text, _ hash: UInt64) -> Int32 {
    let place: Int32
    if let freed = free.popLast() {
      place = freed
      postings[Int(place)] = Posting(key: key)
    } else {
      place = Int32(postings.count)
      postings.append(Posting(key: key))
    }
    table.insert(place, hash) { [postings] in Self.hash(postings[Int($0)].key) }
    return place
  }

  mutating func remove(
    _ slot: Int32, _ interest: Interest, _ key: Text, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    let hash = Self.hash(key)
    guard let place = find(key, hash) else { return }
    postings[Int(place)][interest].remove(slot, &pool, entries)
    guard postings[Int(place)].isEmpty else { return }
    table.remove(place, hash) { [postings] in Self.hash(postings[Int($0)].key) }
    postings[Int(place)] = Posting(key: .empty)
    free.append(place)
  }
}

/// Why a session may be concerned with a key.
enum Interest: CaseIterable { case can, prefers, shown }
