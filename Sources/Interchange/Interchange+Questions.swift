package import DBus
package import InterchangeWire
package import SceneModel
import SceneRouting
import SessionStore

// What there is to be asked about deliveries, sessions and events.
extension Interchange {
  package func eventSequence() -> UInt64 {
    endTurn()
    return sequence
  }

  package func delivery(_ identifier: Text, _ call: Call) throws -> (state: Text, decision: Text) {
    let delivery = try storedDelivery(identifier, call) { $0.sender == $1 }
    // A sandboxed caller asks for its own. Outside, where a shell has a new name for each call, the sender is known as long as somebody waits.
    let caller = callers.caller(of: call)
    let isSender = caller.isSandboxed || caller.name.map { $0 == senders[delivery.identifier] } ?? false
    let isHidden = delivery.isPrivate && !isSender
    let state = Text(delivery.progress.state.rawValue)
    return (state, isHidden ? try withoutContent(delivery.decision) : delivery.decision)
  }

  /// - Parameter isAllowed: whether a sandboxed caller may, who has an application.
  func storedDelivery(
    _ identifier: Text, _ call: Call, where isAllowed: (StoredDelivery, _ application: Text) -> Bool
  ) throws -> StoredDelivery {
    endTurn()
    let caller = callers.caller(of: call)
    guard let named = UniqueIdentifier(identifier),
      let delivery = try storedDelivery(named)
    else {
      throw InterchangeError(
        .noSuchDelivery, "there is no delivery \(quoted(identifier.string)), or it is not kept any more")
    }
    if caller.isSandboxed, caller.application.isEmpty || !isAllowed(delivery, caller.application) {
      throw InterchangeError(
        .accessDenied, "a sandboxed caller may not do that with the delivery \(named), which another sent")
    }
    return delivery
  }

  package func deliveries(in state: Text, after: Text, limit: UInt32, _ call: Call) throws -> [DeliveryRow] {
    endTurn()
    let caller = callers.caller(of: call)
    if caller.isSandboxed, caller.application.isEmpty {
      throw InterchangeError(.accessDenied, "a sandboxed caller may list the deliveries to its own application only")
    }
    let wanted = DeliveryState(rawValue: state.string)
    if wanted == nil, !state.isEmpty {
      let states = DeliveryState.allCases.map { quoted($0.rawValue) }.joined(separator: ", ", last: " or ")
      throw InterchangeError(.invalidArgs, "state: expected \"\", \(states), got \(quoted(state.string))")
    }
    let start = UniqueIdentifier(after)
    if start == nil, !after.isEmpty { throw noDelivery(after) }
    let application = caller.isSandboxed ? caller.application : nil
    let page = try page(limit, after: start, for: call) { start, count throws(StoreError) in
      try store.deliveries(in: wanted, of: application, after: start, limit: count)
    } next: {
      $0.identifier
    } bytes: {
      $0.application.count
    }
    guard let page else { throw noDelivery(after) }
    return page.map { delivery in
      DeliveryRow(
        "\(delivery.identifier)", delivery.progress.state.rawValue, delivery.application.string,
        delivery.progress.session.map(InterchangeNames.path(ofSession:)) ?? .root)
    }
  }

  private func noDelivery(_ identifier: Text) -> InterchangeError {
    InterchangeError(.noSuchDelivery, "there is no delivery \(quoted(identifier.string)) to go on from")
  }

  package func sessions(of application: Text, after: Text, limit: UInt32, _ call: Call) throws -> [SessionRow] {
    endTurn()
    let caller = callers.caller(of: call)
    let start = SessionReference.identifier(after)
    let missing = InterchangeError(.noSuchSession, "there is no session \(quoted(after.string)) to go on from")
    if start == nil, !after.isEmpty { throw missing }
    try Callers.refuseForeign(application, caller, "list the sessions of its own application")
    let page = try page(limit, after: start, for: call) { start, count throws(StoreError) in
      try store.sessions(of: application.isEmpty ? nil : application, after: start, limit: count)
    } next: {
      $0.identifier
    } bytes: {
      $0.application.count + $0.configuration.count + $0.targetContentIdentifier.count + $0.title.count
    }
    guard let page else { throw missing }
    return page.map(\.asSeen).map { session in
      SessionRow(
        InterchangeNames.path(ofSession: session.identifier), session.application.string, session.configuration.string,
        session.state.rawValue, session.targetContentIdentifier.string, session.title.string,
        session.lastActivated.unsigned)
    }
  }

  package func events(since sequence: UInt64, limit: UInt32, _ call: Call) throws -> [EventRow] {
    endTurn()
    let first = store.firstEventSequence
    let last = store.lastEventSequence
    guard sequence <= last else {
      throw InterchangeError(
        .eventsGone, "there is no event \(sequence) yet, and the newest is \(last): go on from \(last)")
    }
    guard sequence + 1 >= first else {
      throw InterchangeError(
        .eventsGone, "the events after \(sequence) are kept from number \(first) on only: go on from \(first - 1)")
    }
    let caller = callers.caller(of: call)
    let page = try page(limit, after: sequence, for: call) { start, count throws(StoreError) in
      try store.events(after: start ?? 0, of: caller.isSandboxed ? caller.application : nil, limit: count)
    } next: {
      $0.sequence
    } bytes: {
      $0.arguments.count
    }
    return (page ?? []).map { EventRow($0.sequence, $0.name.string, $0.arguments.string) }
  }

  /// As many rows as were asked for, and fit: a message of the bus takes 128 MiB, and others wait while they are read.
  ///
  /// They are read a thousand at a time, so that no more are read than fit. Whoever wants more than the first of these lets others come
  /// in between.
  private func page<Row, Position>(
    _ limit: UInt32, after start: Position?, for call: Call, read: (Position?, Int) throws(StoreError) -> [Row]?,
    next: (Row) -> Position, bytes: (Row) -> Int
  ) throws(InterchangeError) -> [Row]? {
    let wanted = limit == 0 ? 100_000 : Int(min(limit, 100_000))
    var rows: [Row] = []
    var (start, room) = (start, 16 << 20)
    if call.isAbandoned { throw InterchangeError(.noReply, "the caller has left") }
    while rows.count < wanted {
      if !rows.isEmpty { call.tookLong() }
      let count = min(1_000, wanted - rows.count)
      guard let some = try stored({ () throws(StoreError) in try read(start, count) }) else { return nil }
      for row in some {
        // What a row takes beside its texts.
        room -= bytes(row) + 256
        if room < 0, !rows.isEmpty { return rows }
        rows.append(row)
      }
      guard let last = some.last else { break }
      start = next(last)
    }
    return rows
  }
}
