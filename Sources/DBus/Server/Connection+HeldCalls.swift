/// For a service that must have its name before it can answer: before it may touch what another still uses.
extension Connection {
  /// From now on calls wait for ``releaseCalls()``. Who makes them is asked meanwhile, while the callers are there.
  package nonisolated func holdCalls() { onLoop { $0.callers.queue.isHeld = true } }

  /// Calls are carried out again, those that waited first.
  package nonisolated func releaseCalls() {
    onLoop { connection in
      connection.callers.queue.isHeld = false
      connection.loop.setHungry(connection)
    }
  }

  /// The calls that waited are refused: nobody will come who could answer them.
  package nonisolated func refuseHeldCalls(_ reply: ErrorReply) {
    onLoop { connection in
      guard connection.callers.queue.isHeld else { return }
      connection.callers.queue.isHeld = false
      for call in connection.callers.queue.takeAll() { call.fail(reply) }
    }
  }

  /// Returns when every call that has come in by now has got to its handler, or is held: none waits any more for the bus to say who makes it.
  package func callsAreIdentified() async {
    for question in callers.queue.questions { await question.value }
    while callers.queue.isReady { await loop.sleep(for: .milliseconds(1)) }
  }
}
