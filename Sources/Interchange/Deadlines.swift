import DBus
import SceneModel

/// When deliveries have waited long enough. There is a timer for the earliest of them, and none where nobody waits.
struct Deadlines {
  /// In the order of time; those of one moment as they came.
  private var waiting: [(at: Instant, delivery: UniqueIdentifier)] = []
  private var deadlines: [UniqueIdentifier: Wait] = [:]
  private var rooms: [Text: Int] = [:]
  private var timer: Task<Void, Never>?

  private struct Wait {
    let at: Instant
    let sender: Text
    let room: Int
  }

  /// What all that wait take of `Settings.maximumHeld`.
  private(set) var room = 0

  func room(of sender: Text) -> Int { rooms[sender] ?? 0 }

  /// - Parameters:
  ///   - sender: Who it is counted for; nobody where it is taken up again.
  ///   - room: What it takes of what there is for those that wait.
  mutating func add(
    _ delivery: UniqueIdentifier, at deadline: Instant, of sender: Text = .empty, taking room: Int = 1,
    _ interchange: isolated Interchange
  ) {
    remove(delivery)
    let place = place { $0 <= deadline }
    waiting.insert((deadline, delivery), at: place)
    deadlines[delivery] = Wait(at: deadline, sender: sender, room: room)
    rooms[sender, default: 0] += room
    self.room += room
    if place == 0 { schedule(interchange) }
  }

  mutating func remove(_ delivery: UniqueIdentifier) {
    guard let deadline = forget(delivery)?.at else { return }
    let first = place { $0 < deadline }
    if let place = waiting[first...].firstIndex(where: { $0.delivery == delivery }) { waiting.remove(at: place) }
  }

  /// Those whose time has come. Where there are more than `limit`, the others are next, and whoever calls has a turn before them.
  mutating func due(at now: Instant, atMost limit: Int, _ interchange: isolated Interchange) -> [UniqueIdentifier] {
    let due = waiting.prefix(limit).prefix { $0.at <= now }.map(\.delivery)
    waiting.removeFirst(due.count)
    for delivery in due { _ = forget(delivery) }
    schedule(interchange)
    return due
  }

  private mutating func forget(_ delivery: UniqueIdentifier) -> Wait? {
    guard let found = deadlines.removeValue(forKey: delivery) else { return nil }
    room -= found.room
    rooms[found.sender, default: found.room] -= found.room
    if rooms[found.sender] == 0 { rooms[found.sender] = nil }
    return found
  }

  mutating func cancel() {
    timer?.cancel()
    timer = nil
    waiting = []
    deadlines = [:]
    rooms = [:]
    room = 0
  }

  /// The first place of which it is not so, where it is so of all before it and of none after it: thousands may wait.
  private func place(where isBefore: (Instant) -> Bool) -> Int {
    var places = 0..<waiting.count
    while !places.isEmpty {
      let middle = places.lowerBound + places.count / 2
      places = isBefore(waiting[middle].at) ? (middle + 1)..<places.upperBound : places.lowerBound..<middle
    }
    return places.lowerBound
  }

  private mutating func schedule(_ interchange: isolated Interchange) {
    timer?.cancel()
    guard let first = waiting.first else {
      timer = nil
      return
    }
    let wait = max(0, first.at.microseconds - interchange.settings.now().microseconds)
    let loop = interchange.connection.loop
    timer = loop.task { [weak interchange] in
      await loop.sleep(for: .microseconds(wait + 1_000))
      if !Task.isCancelled { await interchange?.deadlineCame() }
    }
  }
}
