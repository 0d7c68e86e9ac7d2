internal import DBus

/// State with tasks that wait for a condition on it. Any thread may change the state.
final class Awaitable<State>: Sendable {
  private struct Content {
    var state: State
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let content: Lock<Content>

  init(_ state: sending State) { content = Lock(Content(state: state)) }

  func read<Result>(_ look: (State) -> Result) -> Result { content.withLock { look($0.state) } }

  /// Changes the state, and lets all waiting tasks check it again.
  @discardableResult
  func update<Result>(_ change: (inout State) throws -> Result) rethrows -> Result {
    let (result, waiters) = try content.withLock { content in
      (try change(&content.state), exchange(&content.waiters, with: []))
    }
    for waiter in waiters { waiter.resume() }
    return result
  }

  /// Waits until `take` returns a value, and returns this value. `take` may change the state without waking other tasks.
  func wait<Result>(for take: (inout State) -> Result?) async throws(CancellationError) -> Result {
    while !Task.isCancelled {
      var result: Result?
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let mustWait = content.withLock { content in
            result = take(&content.state)
            // A cancellation that came earlier found no continuation.
            if result != nil || Task.isCancelled { return false }
            content.waiters.append(continuation)
            return true
          }
          if !mustWait { continuation.resume() }
        }
      } onCancel: {
        // All waiting tasks look again, and this one finds that it is cancelled.
        update { _ in }
      }
      if let result { return result }
    }
    throw CancellationError()
  }
}
