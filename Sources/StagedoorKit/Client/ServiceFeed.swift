internal import DBus
internal import InterchangeWire

/// What the service tells everyone, and its coming and going, as one row of news.
struct ServiceFeed: Sendable {
  enum News: Sendable {
    case signal(ReceivedSignal)
    /// Somebody else has the service's name now, or nobody.
    case owner(BusName?)
    /// As long has passed as was asked for, and nothing came.
    case nothing
    /// The connection has gone, or the task was cancelled.
    case end
  }

  let signals: SignalStream
  private let loop: EventLoop
  private let owners: SignalStream

  /// When this returns, nothing that happens from now on is missed.
  init(_ connection: Connection, _ rule: MatchRule) async throws(StagedoorError) {
    loop = connection.loop
    do throws(CallError) {
      owners = try await connection.signals(
        MatchRule(
          sender: .bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
          arguments: [0: InterchangeNames.bus.rawValue]))
      signals = try await connection.signals(rule, buffering: .newest(Self.buffered))
    } catch {
      throw StagedoorError(error)
    }
  }

  /// What a reader may lag behind before it has to ask again what it missed.
  private static let buffered = 4096

  /// Takes news out, one at a time.
  struct Reader {
    let feed: ServiceFeed
    /// What came in the same moment as what was returned.
    private var kept: [News] = []

    init(_ feed: ServiceFeed) { self.feed = feed }

    mutating func next(within limit: Duration? = nil) async -> News {
      if !kept.isEmpty { return kept.removeFirst() }
      let news = await feed.race(limit)
      kept = Array(news.dropFirst())
      return news[0]
    }
  }

  /// Whoever comes first, and what came with it: what was taken out for us must not get lost.
  private func race(_ limit: Duration?) async -> [News] {
    let (signals, owners, loop) = (signals, owners, loop)
    // The tasks of the group go where the one that waits for them prefers to go.
    return await withTaskExecutorPreference(loop.taskExecutor) {
      await withTaskGroup(of: News.self) { group in
        group.addTask { await signals.makeAsyncIterator().next().map { .signal($0) } ?? .end }
        group.addTask { await owners.makeAsyncIterator().next().map { .owner(Self.owner($0)) } ?? .end }
        if let limit {
          group.addTask {
            await loop.sleep(for: limit)
            return .nothing
          }
        }
        let first = await group.next() ?? .end
        group.cancelAll()
        var all = [first]
        for await other in group {
          // The others end because the first came.
          switch other {
          case .signal, .owner: all.append(other)
          case .nothing, .end: break
          }
        }
        return all
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
  /// The service went while it was asked, or is on its way back: what it would have said, its next owner says.
  var saysServiceLeft: Bool { code == .noReply || code == .serviceUnknown }

  static var busHasGone: StagedoorError { StagedoorError(.disconnected, "the connection to the bus is gone") }
}
