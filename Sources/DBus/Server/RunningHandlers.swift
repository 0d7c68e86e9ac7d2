struct RunningHandlers {
  /// The number of running handlers of one sender. A caller that never waits for an answer would fill the memory of the service with tasks; a caller
  /// that waits has no use for so many.
  static let limitForEachSender = 1024

  private struct Entry {
    let sender: BusName?
    let task: Task<Void, Never>
  }

  /// Whether handlers resume on the loop whenever they waited, and give Swift's own threads no job.
  var stayOnLoop = false

  private var entries: [UInt64: Entry] = [:]
  private var counts: [BusName?: Int] = [:]
  private var next: UInt64 = 0

  var senders: [BusName] { counts.keys.compactMap(\.self) }

  func count(of sender: BusName?) -> Int { counts[sender] ?? 0 }

  /// `make` starts the task with the number under which it ends.
  mutating func add(of sender: BusName?, _ make: (UInt64) -> Task<Void, Never>) {
    let number = next
    next += 1
    counts[sender, default: 0] += 1
    entries[number] = Entry(sender: sender, task: make(number))
  }

  mutating func ended(_ number: UInt64) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    counts[entry.sender, default: 1] -= 1
    if counts[entry.sender] == 0 { counts[entry.sender] = nil }
  }

  func callerLeft(_ sender: BusName) {
    if counts[sender] == nil { return }
    for entry in entries.values where entry.sender == sender { entry.task.cancel() }
  }

  func cancelAll() {
    for entry in entries.values { entry.task.cancel() }
  }
}

extension Connection {
  /// Starts an asynchronous handler. On the loop only: the end of the task comes back to the loop, so it cannot come before the start is recorded.
  nonisolated func startHandler(of call: Call, _ body: @escaping @Sendable () async throws -> Void) {
    assumeIsolated { connection in
      let sender = call.sender
      guard connection.handlers.count(of: sender) < RunningHandlers.limitForEachSender else {
        let limit = RunningHandlers.limitForEachSender
        call.fail(ErrorReply(.limitsExceeded, "\(limit) calls of this sender are under way already"))
        return
      }
      connection.watchDeparturesOnce()
      let executor = connection.handlers.stayOnLoop ? loop.taskExecutor : nil
      connection.handlers.add(of: sender) { number in
        Task(executorPreference: executor) {
          do { try await body() } catch { call.fail(error) }
          self.loop.execute { self.assumeIsolated { $0.handlers.ended(number) } }
        }
      }
    }
  }
}
