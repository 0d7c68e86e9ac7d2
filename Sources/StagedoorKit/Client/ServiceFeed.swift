internal import DBus
internal import InterchangeWire

/// The signals of the service, and the changes of its owner, as one sequence of news.
struct ServiceFeed: Sendable {
  enum News: Sendable {
    case signal(ReceivedSignal)
    /// The service's name has another owner now, or none.
    case owner(BusName?)
    /// The connection has gone, or the task was cancelled.
    case end
  }

  let signals: SignalStream
  private let loop: EventLoop
  private let owners: SignalStream

  /// When this returns, the feed misses no later event.
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

  /// How many signals a reader may lag behind before it has to ask for the missed ones.
  private static let buffered = 4096

  /// Returns the news, one at a time.
  struct Reader {
    let feed: ServiceFeed
    /// News that came together with the returned ones.
    private var kept: [News] = []

    init(_ feed: ServiceFeed) { self.feed = feed }

    mutating func next() async -> News {
      if !kept.isEmpty { return kept.removeFirst() }
      let news = await feed.race()
      kept = Array(news.dropFirst())
      return news[0]
    }
  }

  /// The first news, and those that came with it: news that were already taken from a sequence must not get lost.
  private func race() async -> [News] {
    let (signals, owners, loop) = (signals, owners, loop)
    // The tasks of the group run where the waiting task prefers to run.
    return await withTaskExecutorPreference(loop.taskExecutor) {
      await withTaskGroup(of: News.self) { group in
        group.addTask { await signals.makeAsyncIterator().next().map { .signal($0) } ?? .end }
        group.addTask { await owners.makeAsyncIterator().next().map { .owner(Self.owner($0)) } ?? .end }
        let first = await group.next() ?? .end
        group.cancelAll()
        var all = [first]
        for await other in group {
          // The cancelled tasks end with no news; only signals and owners count.
          switch other {
          case .signal, .owner: all.append(other)
          case .end: break
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
  /// The service left during the call, or is coming back: the next owner of its name will answer.
  var saysServiceLeft: Bool { code == .noReply || code == .serviceUnknown }

  static var busHasGone: StagedoorError { StagedoorError(.disconnected, "the connection to the bus is gone") }
}
