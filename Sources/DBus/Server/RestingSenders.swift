/// Senders whose last call took long. What they call next waits until everybody else had a turn, in the order in which it came: a flood
/// of long calls makes others wait for one of them, not for all.
struct RestingSenders {
  /// How many calls of one sender may wait: one that waits for answers has no use for so many.
  static let limitForEachSender = 1024

  private struct Queue {
    var calls: [Call] = []
    /// How many of them were carried out.
    var done = 0
    var hasLeft = false
  }

  /// Turns of the loop between two calls that take long; in each two KiB are read.
  private static let turnsForOthers = 16_384
  private var turns = 0

  private var queues: [BusName?: Queue] = [:]
  /// Who is next.
  private var order: [BusName?] = []

  var isEmpty: Bool { queues.isEmpty }

  func has(_ sender: BusName?) -> Bool { !queues.isEmpty && queues[sender] != nil }

  func hasLeft(_ sender: BusName?) -> Bool { !queues.isEmpty && queues[sender]?.hasLeft ?? false }

  /// Its last call took long. Answers whether it is the first to rest.
  mutating func add(_ sender: BusName?) -> Bool {
    if queues[sender] != nil { return false }
    queues[sender] = Queue()
    order.append(sender)
    return order.count == 1
  }

  /// Whether there was room for the call.
  mutating func add(_ call: Call) -> Bool {
    let sender = call.sender
    guard let queue = queues[sender], queue.calls.count - queue.done < Self.limitForEachSender else { return false }
    queues[sender]?.calls.append(call)
    return true
  }

  /// Whether what others have sent is read first, and what has been answered sent: as much as one flood can be, and no flood keeps who rests
  /// waiting for ever.
  mutating func waits(forOthers hasMore: Bool) -> Bool {
    turns = hasMore && turns < Self.turnsForOthers ? turns + 1 : 0
    return turns > 0
  }

  mutating func callerLeft(_ sender: BusName) { if has(sender) { queues[sender]?.hasLeft = true } }

  /// The next call of who is next. Who has none left rests no longer.
  mutating func next() -> Call? {
    while let sender = order.first {
      if let queue = queues[sender], queue.done < queue.calls.count {
        queues[sender]?.done += 1
        return queue.calls[queue.done]
      }
      queues[sender] = nil
      order.removeFirst()
    }
    return nil
  }

  /// Whoever was next is the last.
  mutating func passOn() {
    guard let sender = order.first else { return }
    order.append(order.removeFirst())
    // What was carried out need not be kept.
    guard var queue = queues.removeValue(forKey: sender) else { return }
    queue.calls.removeFirst(queue.done)
    queue.done = 0
    queues[sender] = queue
  }
}

extension Call {
  /// It took long: before the next call of its sender everybody else has a turn.
  package func tookLong() {
    // Between two peers there is nobody else.
    guard let sender else { return }
    connection.assumeIsolated { connection in
      if connection.callers.resting.add(sender) { connection.goOnAfterOthers() }
      connection.callers.tookLong = true
    }
  }

  /// Its sender has left the bus while it waited: nobody reads what is answered.
  package var isAbandoned: Bool { connection.assumeIsolated { $0.callers.resting.hasLeft(sender) } }
}

extension Connection {
  fileprivate func goOnAfterOthers() {
    // What is asked for at the end of a turn is done at the end of the next: the socket is read in between.
    loop.atEndOfTurn { [weak self] in
      self?.loop.atEndOfTurn { self?.assumeIsolated { $0.goOnWithResting() } }
    }
  }

  /// Carries out what waits, until a call takes long again: then the others have their turn.
  private func goOnWithResting() {
    // What others have called stands behind what has not been read yet, and a turn reads two KiB of it; and their answers would stand behind
    // one long answer after the other.
    if callers.resting.waits(forOthers: hasUnread || hasUnsent) {
      loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.goOnWithResting() } }
      return
    }
    while let call = callers.resting.next() {
      callers.tookLong = false
      carryOut(call)
      if callers.tookLong {
        callers.resting.passOn()
        loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.goOnWithResting() } }
        return
      }
    }
  }
}
