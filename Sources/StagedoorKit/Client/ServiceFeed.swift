internal import DBus
internal import InterchangeWire

/// The signals of the service, and the changes of its owner, as one sequence of news, which can be read once.
struct ServiceFeed: Sendable {
  enum News: Sendable {
    case signal(ReceivedSignal)
    /// The service's name has another owner now, or none.
    case owner(BusName?)
  }

  let signals: SignalStream
  private let loop: EventLoop
  private let owners: SignalStream
  private let state = Lock(State())

  private struct State {
    /// News that came together with the news before.
    var kept: [News] = []
    /// The owner that the reader was last told of.
    var owner: BusName?
  }

  /// When this returns, the feed misses no later event.
  init(_ connection: Connection, _ rule: MatchRule) async throws(StagedoorError) {
    loop = connection.loop
    do throws(CallError) {
      owners = try await connection.signals(Connection.ownerChanges(of: InterchangeNames.bus))
      signals = try await connection.signals(rule, buffering: .newest(Self.buffered))
    } catch {
      throw StagedoorError(error)
    }
  }

  /// How many signals a reader may lag behind before it has to ask for the missed ones.
  private static let buffered = 4096

  /// Waits for news; `nil` if the waiting task was cancelled.
  func next() async throws(StagedoorError) -> News? {
    while let news = await first() {
      switch news {
      case .owner(let owner): state.withLock { $0.owner = owner ?? $0.owner }
      // The two streams have no common order: a signal of an earlier owner may come after the reader has asked the new one.
      case .signal(let signal): if let owner = state.withLock(\.owner), signal.sender != owner { continue }
      }
      return news
    }
    if Task.isCancelled { return nil }
    throw .busHasGone
  }

  private func first() async -> News? {
    if let news = state.withLock({ $0.kept.isEmpty ? nil : $0.kept.removeFirst() }) { return news }
    return await race()
  }

  /// The first news. Those that came with it are kept: news that were already taken from a sequence must not get lost.
  private func race() async -> News? {
    // The tasks of the group run where the waiting task prefers to run.
    return await withTaskExecutorPreference(loop.taskExecutor) {
      await withTaskGroup(of: News?.self) { group in
        group.addTask { await signals.makeAsyncIterator().next().map { .signal($0) } }
        group.addTask { await owners.makeAsyncIterator().next().map { .owner(Self.owner($0)) } }
        let first = await group.next() ?? nil
        group.cancelAll()
        for await case let other? in group { state.withLock { $0.kept.append(other) } }
        return first
      }
    }
  }

  private static func owner(_ change: ReceivedSignal) -> BusName? {
    guard let (_, _, owner) = try? change.values(as: String.self, String.self, String.self), !owner.isEmpty else {
      return nil
    }
    return try? BusName(owner)
  }
}

extension StagedoorError {
  /// The service left during the call, or is coming back: the next owner of its name will answer.
  var saysServiceLeft: Bool { code == .noReply || code == .serviceUnknown }

  static var busHasGone: StagedoorError { StagedoorError(.disconnected, "the connection to the bus is gone") }
}
