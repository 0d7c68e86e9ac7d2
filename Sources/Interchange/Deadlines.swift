import SceneModel

/// When deliveries have waited long enough. There is a timer for the earliest of them, and none where nobody waits.
struct Deadlines {
  private var waiting: [(at: Instant, delivery: UniqueIdentifier)] = []
  private var timer: Task<Void, Never>?

  var count: Int { waiting.count }

  mutating func add(_ delivery: UniqueIdentifier, at deadline: Instant, _ interchange: isolated Interchange) {
    let place = waiting.firstIndex { $0.at > deadline } ?? waiting.endIndex
    waiting.insert((deadline, delivery), at: place)
    if place == 0 { schedule(interchange) }
  }

  mutating func remove(_ delivery: UniqueIdentifier) { waiting.removeAll { $0.delivery == delivery } }

  /// Those whose time has come.
  mutating func due(at now: Instant, _ interchange: isolated Interchange) -> [UniqueIdentifier] {
    let due = waiting.prefix { $0.at <= now }.map(\.delivery)
    waiting.removeFirst(due.count)
    schedule(interchange)
    return due
  }

  mutating func cancel() {
    timer?.cancel()
    timer = nil
    waiting = []
  }

  private mutating func schedule(_ interchange: isolated Interchange) {
    timer?.cancel()
    guard let first = waiting.first else {
      timer = nil
      return
    }
    let wait = max(0, first.at.microseconds - interchange.settings.now().microseconds)
    timer = Task { [weak interchange] in
      try? await Task.sleep(for: .microseconds(wait + 1_000))
      if !Task.isCancelled { await interchange?.deadlineCame() }
    }
  }
}
