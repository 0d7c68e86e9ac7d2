/// Holding calls, for a service that needs its name before it can answer: another instance still uses its data.
extension Connection {
  /// From now on calls wait for ``releaseCalls()``. The callers are identified meanwhile, while they are still there.
  package nonisolated func holdCalls() { onLoop { $0.callers.queue.isHeld = true } }

  /// Carries out calls again, the waiting ones first.
  package nonisolated func releaseCalls() {
    onLoop { connection in
      connection.callers.queue.isHeld = false
      connection.loop.setHungry(connection)
    }
  }

  /// Refuses the waiting calls: nobody will come who could answer them.
  package nonisolated func refuseHeldCalls(_ reply: ErrorReply) {
    onLoop { connection in
      guard connection.callers.queue.isHeld else { return }
      connection.callers.queue.isHeld = false
      for call in connection.callers.queue.takeAll() { call.fail(reply) }
    }
  }

  /// Returns when every call that has come in by now has reached its handler or is held, so that no call waits for the bus to identify its caller.
  package func callsAreIdentified() async {
    for question in callers.queue.questions { await question.value }
    while callers.queue.isReady { await loop.sleep(for: .milliseconds(1)) }
  }
}
