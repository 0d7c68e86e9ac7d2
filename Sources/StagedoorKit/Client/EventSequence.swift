internal import DBus
internal import InterchangeWire

extension Stagedoor {
  /// The service's events, from a number on: first the stored events, then the new ones, without a gap and without repetition.
  ///
  /// The sequence continues when the service comes back. If the service no longer keeps the requested events, the sequence throws
  /// ``StagedoorError/Code/eventsGone``, and the message says from which number to continue.
  ///
  /// - Parameters:
  ///   - sequence: The number of the last event that is known already; `nil` for new events only.
  ///   - application: Only the events of this application.
  public func events(
    since sequence: UInt64? = nil, of application: String? = nil
  ) async throws(StagedoorError) -> EventSequence {
    // Subscribe first, ask second. The subscription includes the events of other applications: their numbers show whether an event is
    // missing.
    let feed = try await ServiceFeed(
      connection,
      MatchRule(sender: InterchangeNames.bus, path: InterchangeNames.root, interface: InterchangeNames.interchange))
    let newest = try await eventSequence()
    return EventSequence(stagedoor: self, feed: feed, application: application, start: sequence ?? newest)
  }

  /// The number of the newest event.
  public func eventSequence() async throws(StagedoorError) -> UInt64 { try await property("EventSequence") }

  /// The smallest number that ``events(since:of:)`` takes: the service keeps all events after it.
  public func oldestEventSequence() async throws(StagedoorError) -> UInt64 { try await property("OldestSequence") }

  /// A page of the stored events after a number, with the number of the last event of the page; empty after the newest. A sandboxed program gets the events of its
  /// own application.
  package func storedEvents(after sequence: UInt64) async throws(StagedoorError) -> (events: [Event], last: UInt64?) {
    let rows = try await call("EventsSince", sequence, EventSequence.page, returning: [EventRow].self)
    let events = try rows.map { row throws(StagedoorError) in
      let (number, name, json) = row.members
      return try Event(name, json: json, number)
    }
    return (events.compactMap(\.self), rows.last?.members.0)
  }
}

/// The service's events, one after the other. See ``Stagedoor/events(since:of:)``. The sequence can be iterated once.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// var newest: UInt64 = 0
/// for try await event in try await stagedoor.events(since: newest) {
///   newest = event.sequence
///   print(event.kind)
/// }
/// ```
public struct EventSequence: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = Event
  /// The reason why the sequence cannot continue.
  public typealias Failure = StagedoorError

  /// The number of events in one request.
  fileprivate static let page: UInt32 = 1000

  let stagedoor: Stagedoor
  let feed: ServiceFeed
  let application: String?
  /// The number of the last event before this sequence.
  public let start: UInt64

  /// Begins after ``start``.
  public func makeAsyncIterator() -> Iterator { Iterator(sequence: self, last: start) }

  /// Returns one event after the other.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// var events = try await stagedoor.events().makeAsyncIterator()
  /// if let event = try await events.next() { print(event) }
  /// ```
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let sequence: EventSequence
    /// The number of the last event that was looked at.
    fileprivate var last: UInt64
    fileprivate var pending: ArraySlice<Event> = []
    /// Whether events may have been missed, so that the next ones are read from the store.
    fileprivate var mustReplay = true

    /// Waits for an event; `nil` if the waiting task was cancelled.
    public mutating func next() async throws(StagedoorError) -> Event? {
      while true {
        if let event = pending.popFirst() { return event }
        if Task.isCancelled { return nil }
        if mustReplay {
          try await replay()
        } else if let event = try await live() {
          return event
        }
      }
    }

    /// Waits for an event; `nil` if the waiting task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(StagedoorError) -> Event? {
      try await next()
    }

    /// One page of the stored events after the last.
    private mutating func replay() async throws(StagedoorError) {
      do throws(StagedoorError) {
        let newest = try await sequence.stagedoor.eventSequence()
        if newest == last {
          mustReplay = false
          return
        }
        let (events, end) = try await sequence.stagedoor.storedEvents(after: last)
        pending += events.filter(fits)
        // Numbers are consecutive, so this many events were examined; a sandboxed caller does not get the events of other applications.
        last = Swift.max(end ?? 0, Swift.min(last + UInt64(EventSequence.page), newest))
      } catch  where error.saysServiceLeft {
        mustReplay = false
      } catch  where error.code == .taskCancelled {
        return
      }
    }

    private mutating func live() async throws(StagedoorError) -> Event? {
      switch try await sequence.feed.next() {
      case nil: return nil
      case .owner(let owner):
        // Nobody received the signals that the service sent before it had its name again.
        if owner != nil { mustReplay = true }
        return nil
      case .signal(let signal):
        guard let number = Event.sequence(of: signal), number > last else { return nil }
        if number > last + 1 {
          mustReplay = true
          return nil
        }
        last = number
        guard let event = Event(signal), fits(event) else { return nil }
        return event
      }
    }

    private func fits(_ event: Event) -> Bool { sequence.application.map { $0 == event.application } ?? true }
  }
}
