internal import DBus

/// Calls with descriptors take turns, because the service queues four of them for each connection, and refuses more. The others wait here, in their
/// order.
///
/// A turn ends with the answer. If nobody waits for the answer any more, or it may take as long as an application needs for a delivery, the turn ends
/// with the answer to a `Ping` behind the call: the service takes the calls of a connection in their order.
private struct DescriptorTurns {
  private static let most = 4
  /// The connections with a call that has its turn.
  static let all = Lock<[ObjectIdentifier: DescriptorTurns]>([:])

  private var taken = 0
  private var waiting: [(number: Int, turn: AsyncStream<Void>.Continuation)] = []
  private var lastNumber = 0

  /// Takes a turn and returns `nil`, or returns the number under which `turn` waits.
  mutating func take(or turn: AsyncStream<Void>.Continuation) -> Int? {
    if taken < Self.most {
      taken += 1
      return nil
    }
    lastNumber += 1
    waiting.append((lastNumber, turn))
    return lastNumber
  }

  /// Returns `false` if the one who gives up has had its turn already.
  mutating func giveUp(_ number: Int) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.number == number }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// The next one that waits has the turn. Returns `false` if no turn is taken any more.
  mutating func end() -> Bool {
    if waiting.isEmpty { taken -= 1 } else { waiting.removeFirst().turn.yield() }
    return taken > 0
  }
}

extension Connection {
  /// Makes a call with descriptors to `service` when it has its turn. The error is a value, not thrown: see ``onLoopAndBack(_:)`` of the binding.
  ///
  /// - Parameter isAnsweredSoon: Whether the answer waits for nobody but the service.
  func reply(
    to call: consuming Message, inTurnAt service: BusName, timeout: Duration?, isAnsweredSoon: Bool
  ) async -> Result<Message, CallError> {
    let start = SuspendingClock.now
    if let error = await waitForTurn(timeout) { return .failure(error) }
    // On the loop, so this begins after the call was sent.
    if !isAnsweredSoon { loop.task { await self.endTurn(behindCallTo: service, timeout) } }
    do throws(CallError) {
      let reply = try await reply(to: call, timeout: timeout.map { max(.zero, $0 - (.now - start)) })
      if isAnsweredSoon { endTurn() }
      return .success(reply)
    } catch {
      if isAnsweredSoon {
        switch error {
        // The call may still be in the queue.
        case .cancelled, .timedOut: loop.task { await self.endTurn(behindCallTo: service, timeout) }
        default: endTurn()
        }
      }
      return .failure(error)
    }
  }

  private func endTurn(behindCallTo service: BusName, _ timeout: Duration?) async {
    try? await call(to: service, at: .root, "org.freedesktop.DBus.Peer", "Ping", timeout: timeout)
    endTurn()
  }

  private func waitForTurn(_ limit: Duration?) async -> CallError? {
    let (turns, turn) = AsyncStream<Void>.makeStream()
    let key = ObjectIdentifier(self)
    guard let number = DescriptorTurns.all.withLock({ $0[key, default: DescriptorTurns()].take(or: turn) }) else {
      return nil
    }
    let timer = limit.map { limit in
      loop.task {
        await self.loop.sleep(for: limit)
        turn.finish()
      }
    }
    defer { timer?.cancel() }
    if await withTaskExecutorPreference(loop.taskExecutor, operation: { await turns.first { true } }) != nil {
      return nil
    }
    let isCancelled = Task.isCancelled
    if DescriptorTurns.all.withLock({ $0[key]?.giveUp(number) }) != true { endTurn() }
    return isCancelled ? .cancelled : .timedOut
  }

  private func endTurn() {
    DescriptorTurns.all.withLock { all in
      let key = ObjectIdentifier(self)
      if all[key]?.end() == false { all[key] = nil }
    }
  }
}
