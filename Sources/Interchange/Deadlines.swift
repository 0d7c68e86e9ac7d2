import DBus
import SceneModel

/// When deliveries have waited long enough. There is a timer for the earliest of them, and none where nobody waits.
struct Deadlines {
  /// In the order of time; those of one moment as they came.
  private var waiting: [(at: Instant, delivery: UniqueIdentifier)] = []
  private var deadlines: [UniqueIdentifier: (at: Instant, sender: Text)] = [:]
  private var counts: [Text: Int] = [:]
  private var timer: Task<Void, Never>?

  var count: Int { waiting.count }

  func count(of sender: Text) -> Int { counts[sender] ?? 0 }

  /// - Parameter sender: Who it is counted for; nobody where it is taken up again.
  mutating func add(
    _ delivery: UniqueIdentifier, at deadline: Instant, of sender: Text = .empty, _ interchange: isolated Interchange
  ) {
    remove(delivery)
    let place = place { $0 <= deadline }
    waiting.insert((deadline, delivery), at: place)
    deadlines[delivery] = (deadline, sender)
    counts[sender, default: 0] += 1
    if place == 0 { schedule(interchange) }
  }

  mutating func remove(_ delivery: UniqueIdentifier) {
    guard let deadline = forget(delivery)?.at else { return }
    let first = place { $0 < deadline }
    if let place = waiting[first...].firstIndex(where: { $0.delivery == delivery }) { waiting.remove(at: place) }
  }

  /// Those whose time has come.
  mutating func due(at now: Instant, _ interchange: isolated Interchange) -> [UniqueIdentifier] {
    let due = waiting.prefix { $0.at <= now }.map(\.delivery)
    waiting.removeFirst(due.count)
    for delivery in due { _ = forget(delivery) }
    schedule(interchange)
    return due
  }

  private mutating func forget(_ delivery: UniqueIdentifier) -> (at: Instant, sender: Text)? {
    guard let found = deadlines.removeValue(forKey: delivery) else { return nil }
    counts[found.sender, default: 1] -= 1
    if counts[found.sender] == 0 { counts[found.sender] = nil }
    return found
  }

  mutating func cancel() {
    timer?.cancel()
    timer = nil
    waiting = []
    deadlines = [:]
    counts = [:]
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
