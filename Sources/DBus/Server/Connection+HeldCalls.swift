/// Calls that wait until there is someone to answer them, in the order in which they came.
struct HeldCalls {
  /// A service begins within seconds; a sender that sends more than this in the meantime does not want answers.
  static let limitForEachSender = 4096

  fileprivate var calls: [Call] = []
  private var counts: [BusName?: Int] = [:]

  /// Whether there was room for it.
  fileprivate mutating func add(_ call: Call) -> Bool {
    let count = counts[call.sender, default: 0]
    if count >= Self.limitForEachSender { return false }
    counts[call.sender] = count + 1
    calls.append(call)
    return true
  }
}

/// For a service that must have its name before it can answer: before it may touch what another still uses.
extension Connection {
  /// From now on calls wait for ``releaseCalls()``. Who makes them is asked meanwhile, while the callers are there.
  package nonisolated func holdCalls() { onLoop { $0.callers.held = $0.callers.held ?? HeldCalls() } }

  /// Calls are carried out again, those that waited first.
  package nonisolated func releaseCalls() { release { connection, call in connection.dispatch(call) } }

  /// The calls that waited are refused: nobody will come who could answer them.
  package nonisolated func refuseHeldCalls(_ reply: ErrorReply) { release { _, call in call.fail(reply) } }

  private nonisolated func release(_ body: @escaping @Sendable (isolated Connection, Call) -> Void) {
    onLoop { connection in
      guard let held = connection.callers.held else { return }
      connection.callers.held = nil
      for call in held.calls { body(connection, call) }
    }
  }

  func hold(_ call: Call) {
    if callers.held?.add(call) == false {
      call.fail(ErrorReply(.limitsExceeded, "too many calls before the service has begun"))
    }
  }

  /// Returns when every call that has come in by now has got to its handler, or to those that are held: none waits any more for the bus to
  /// say who makes it.
  package func callsAreIdentified() async {
    for question in callers.waiting.values.map(\.question) { await question.value }
    while !callers.resting.isEmpty { await loop.sleep(for: .milliseconds(1)) }
  }
}
