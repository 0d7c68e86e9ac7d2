import DBus
import DBusTestSupport

extension House {
  /// The longest time that a neighbour waits for an answer while `body` runs.
  nonisolated(nonsending) func longestWait(
    whileRunning body: nonisolated(nonsending) () async throws -> Void
  ) async throws -> Duration {
    let neighbour = try await bus.connect()
    let isOver = Lock(false)
    // On the thread of its connection: the test may wait for a thread of the pool, and the neighbour does not.
    let asking = Task {
      await neighbour.loop.run { _ in
        let clock = ContinuousClock()
        var longest = Duration.zero
        repeat {
          let begin = clock.now
          let sequence: Variant? = try? await neighbour.call(
            to: House.name, at: "/org/stagedoor/Interchange1", "org.freedesktop.DBus.Properties", "Get",
            "org.stagedoor.Interchange1", "EventSequence", timeout: usualLimit)
          longest = max(longest, sequence == nil ? usualLimit : clock.now - begin)
          await neighbour.loop.sleep(for: .milliseconds(2))
        } while !isOver.withLock(\.self)
        return longest
      }
    }
    return try await neighbour.whileOpen {
      do {
        defer { isOver.withLock { $0 = true } }
        try await body()
      }
      return await asking.value
    }
  }
}
