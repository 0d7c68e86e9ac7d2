internal import DBus

/// State with tasks that wait for a condition on it. Any thread may change the state.
final class Awaitable<State>: Sendable {
  private struct Content {
    var state: State
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var cancelled: Set<UInt64> = []
    var nextWaiter: UInt64 = 0
  }

  private let content: Lock<Content>

  init(_ state: sending State) { content = Lock(Content(state: state)) }

  /// Reads the state.
  func read<Result>(_ look: (State) -> Result) -> Result { content.withLock { look($0.state) } }

  /// Changes the state, and lets all waiting tasks check it again.
  @discardableResult
  func update<Result>(_ change: (inout State) throws -> Result) rethrows -> Result {
    let (result, waiters) = try content.withLock { content in
      let result = try change(&content.state)
      defer { content.waiters = [:] }
      return (result, content.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
    return result
  }

  /// Waits until `take` returns a value, and returns this value. `take` may change the state without waking other tasks.
  func wait<Result>(for take: (inout State) -> Result?) async throws(CancellationError) -> Result {
    while true {
      if Task.isCancelled { throw CancellationError() }
      let waiter = content.withLock { content in
        defer { content.nextWaiter += 1 }
        return content.nextWaiter
      }
      var result: Result?
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let mustWait = content.withLock { content in
            result = take(&content.state)
            if result != nil || content.cancelled.remove(waiter) != nil { return false }
            content.waiters[waiter] = continuation
            return true
          }
          if !mustWait { continuation.resume() }
        }
      } onCancel: {
        content.withLock { content in
          // The cancellation may come before the continuation exists; the continuation then finds this mark.
          if content.waiters[waiter] == nil { content.cancelled.insert(waiter) }
          return content.waiters.removeValue(forKey: waiter)
        }?.resume()
      }
      _ = content.withLock { $0.cancelled.remove(waiter) }
      if let result { return result }
    }
  }
}
