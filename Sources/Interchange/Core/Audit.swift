package import SceneModel
import SceneRouting

// Whether the core's tables agree with each other, and with the records. Nothing here changes anything. The theatre asks after its steps.
extension PromptBook {
  /// The drags that are not over.
  package var dragging: Set<UniqueIdentifier> { Set(memory.drags.values.filter { !$0.value.state.isOver }.keys) }

  /// The deliveries and drags whose contents are being packed.
  package var packing: Set<UniqueIdentifier> { Set(memory.packings.values.values.flatMap(\.deliveries)) }

  /// The memory of everything that survives a restart, in a form that can be compared with what another core recalls from the store.
  package struct Remains: Hashable, Sendable {
    package struct Delivery: Hashable, Sendable {
      package let application: Text
      package let progress: DeliveryProgress
      package let isPrivate: Bool
      package let previousBy: UniqueIdentifier?
    }

    package var open: [UniqueIdentifier: Delivery] = [:]
    package var owed: [Text: Set<UniqueIdentifier>] = [:]
    package var preferences: [Text: Text] = [:]
    package var sessionCounts: [Text: Int] = [:]
    package var sessionBytes: [Text: Int] = [:]
    package var lastEvent: UInt64 = 0
  }

  package var remains: Remains {
    var remains = Remains()
    remains.open = memory.deliveries.values.mapValues {
      Remains.Delivery(
        application: $0.application, progress: $0.progress, isPrivate: $0.isPrivate, previousBy: $0.previousBy)
    }
    for application in memory.owed.keys { remains.owed[application] = Set(memory.owed[application].map(\.session)) }
    remains.preferences = memory.preferences.values
    remains.sessionCounts = memory.sessionCounts.values.filter { $0.value != 0 }
    remains.sessionBytes = memory.sessionBytes.values.filter { $0.value != 0 }
    remains.lastEvent = memory.sequence
    return remains
  }

  /// The number of open deliveries.
  package var openCount: Int { memory.deliveries.count }

  /// Whether an application's host must still hear that a session is gone.
  package func owes(_ session: UniqueIdentifier, to application: Text) -> Bool {
    memory.owed[application].contains { $0.session == session }
  }

  /// Whether the host of its application is known to show a session.
  package func isShown(_ session: UniqueIdentifier) -> Bool {
    memory.routing.application(of: session).map { memory.hosts[$0] != nil && memory.scenes.contains(session, of: $0) }
      ?? false
  }

  /// The whole sessions in memory.
  package var rememberedSessions: [UniqueIdentifier: Session] { memory.sessions.values }

  /// The calls that are charged until they are answered.
  package var callsUnderWay: some Collection<CallNumber> { memory.calls.values.keys }

  /// The whole deliveries in memory.
  package var rememberedDeliveries: [UniqueIdentifier: StoredDelivery] { memory.recent.values }

  /// Whether routing has other data of a session than the session itself.
  package func misroutes(_ session: Session) -> Bool { memory.routing.differs(from: session) }

  /// The uptime in microseconds at which the first open delivery has waited long enough, leaving out deliveries of applications for which the shell
  /// is finding out whether anything can start them.
  package var firstDue: Int64? {
    memory.deliveries.values.values.lazy.filter { canBeStarted($0.application) != nil }.map(\.due).min()
  }

  /// The same for one delivery.
  package func due(_ delivery: UniqueIdentifier) -> Int64? {
    memory.deliveries[delivery].flatMap { canBeStarted($0.application) == nil ? nil : $0.due }
  }

  /// The values of the memory that were not settled with the turn that was committed last; none if all is well. Between two turns only.
  package var unsettled: [String] {
    Mirror(reflecting: memory).children.compactMap { ($0.value as? any Settled)?.isSettled == false ? $0.label : nil }
  }

  /// A sentence for each disagreement; none if all is well.
  package var disagreements: [String] {
    var found: [String] = []
    if !known.isEmpty { found.append("what was read for a cue is there after the cue") }
    checkCharges(&found)
    checkBaggage(&found)
    checkDeliveries(&found)
    checkHosts(&found)
    checkCounts(&found)
    return found
  }

  /// Checks that the charges add up to what is held.
  private func checkCharges(_ found: inout [String]) {
    let waiting = memory.deliveries.values.values.reduce(0) { $0 + ($1.holding?.charge.amount ?? 0) }
    let forwarded = memory.deliveries.values.values.reduce(0) { $0 + ($1.deferral?.charge.amount ?? 0) }
    let calls = memory.calls.values.values.reduce(0) { $0 + $1.number.charge.amount }
    let bytes = memory.calls.values.values.reduce(0) { $0 + ($1.bytes?.charge.amount ?? 0) }
    let manifests = memory.manifests.values.values.reduce(0) { $0 + ($1.holding?.charge.amount ?? 0) }
    let carried =
      memory.baggage.values.values.reduce(0) { $0 + ($1.holding?.charge.amount ?? 0) }
      + memory.drags.values.values.reduce(0) { $0 + ($1.bytes?.charge.amount ?? 0) }
    let drags = memory.drags.values.values.reduce(0) { $0 + ($1.holding?.charge.amount ?? 0) }
    let held: [(Resource, Int)] = [
      (.waiting, waiting), (.forwarded, forwarded), (.calls, calls), (.callBytes, bytes), (.manifests, manifests),
      (.baggage, carried),
      (.drags, drags),
    ]
    for (resource, amount) in held {
      let (total, accounts) = (ledger.total(resource), ledger.takenByAll(resource))
      if total != amount || accounts != amount {
        found.append("of \(resource) \(amount) is held, \(total) is charged, and the accounts have \(accounts)")
      }
    }
    for (identifier, delivery) in memory.deliveries.values where delivery.holding == nil {
      found.append("nobody is charged for the open delivery \(identifier)")
    }
    if memory.deliveries.values.isEmpty, memory.calls.values.isEmpty, memory.manifests.values.isEmpty,
      memory.baggage.isEmpty, memory.drags.isEmpty, ledger.accountCount != 0
    {
      found.append("\(ledger.accountCount) accounts are kept, and nothing is held")
    }
  }

  private func checkDeliveries(_ found: inout [String]) {
    var (ofSession, ofApplication): ([UniqueIdentifier: Int], [Text: Int]) = ([:], [:])
    var ofForwarded: [UniqueIdentifier: Int] = [:]
    for (identifier, delivery) in memory.deliveries.values {
      guard let session = delivery.session else {
        found.append("the open delivery \(identifier) has no session")
        continue
      }
      let place = Ordered(order: delivery.order, identifier: identifier)
      if delivery.progress.deadline != nil { found.append("the delivery \(identifier) has a deadline twice") }
      if (delivery.progress.state == .forwarded) != (delivery.deferral != nil) {
        found.append("the delivery \(identifier) is forwarded and not charged, or charged and not forwarded")
      }
      if delivery.progress.state == .forwarded {
        ofForwarded[session, default: 0] += 1
        if !memory.forwarded.contains(place, of: session) {
          found.append("the delivery \(identifier) is missing in a queue")
        }
        continue
      }
      ofSession[session, default: 0] += 1
      ofApplication[delivery.application, default: 0] += 1
      if !memory.deliveriesToSession.contains(place, of: session)
        || !memory.deliveriesToApplication.contains(place, of: delivery.application)
      {
        found.append("the open delivery \(identifier) is missing in a queue")
      }
      if !delivery.progress.isOpen { found.append("the delivery \(identifier) is over, and waits") }
      if memory.leaving[session] != nil {
        found.append("the open delivery \(identifier) is for a session that is gone")
      }
    }
    for session in memory.forwarded.keys where memory.forwarded.count(of: session) != ofForwarded[session] {
      found.append("the session \(session) has a forwarded delivery in its queue that is over")
    }
    for session in memory.deliveriesToSession.keys
    where memory.deliveriesToSession.count(of: session) != ofSession[session] {
      found.append("the session \(session) has a delivery in its queue that is over")
    }
    for application in memory.deliveriesToApplication.keys
    where memory.deliveriesToApplication.count(of: application) != ofApplication[application] {
      found.append("\(application) has a delivery in its queue that is over")
    }
    for (delivery, calls) in memory.waiters.values {
      if memory.deliveries[delivery] == nil { found.append("calls wait for the delivery \(delivery), which is over") }
      for number in calls where memory.calls[number] == nil { found.append("call \(number) waits, and is not charged") }
    }
    let waiting = memory.waitingFor.keys.reduce(0) { $0 + memory.waitingFor.count(of: $1) }
    let expected = memory.waiters.values.values.joined().count { memory.calls[$0]?.connection != nil }
    if waiting != expected { found.append("\(expected) calls wait, and \(waiting) are found by their connections") }
    for (follower, delivery) in memory.followers.values where memory.deliveries[delivery] == nil {
      found.append("the delivery \(delivery) followed \(follower), and is over")
    }
  }

  private func checkHosts(_ found: inout [String]) {
    var lanes: [Text: Int] = [:]
    for (key, lane) in memory.lanes.values {
      if memory.hosts[key.application] == nil {
        found.append("a lane of \(key.application) goes on, which has no host")
      }
      // A lane in the queue has asked the host nothing yet.
      guard let errand = lane.errand else { continue }
      lanes[key.application, default: 0] += 1
      if memory.errands[errand] != .lane(key) { found.append("nothing will end a lane of \(key.application)") }
    }
    for (application, host) in memory.hosts.values {
      if host.running != lanes[application] ?? 0 {
        found.append(
          "\(application) is asked about \(lanes[application] ?? 0) sessions, and \(host.running) are counted")
      }
      if memory.hosted.contains(application, of: host.connection) == host.options.isUnderstudy {
        found.append("\(host.connection) hosts what nobody knows of")
      }
      if host.options.isUnderstudy, let manifest = memory.routing.manifest(of: application), manifest.understudy == nil
      {
        found.append("\(host.connection) stands in for \(application), which declares itself")
      }
    }
    for application in memory.scenes.keys {
      if memory.hosts[application] == nil, memory.disconnecting[application] == nil {
        found.append("the scenes of \(application) are connected, and its host has left")
      }
      for session in memory.scenes[application]
      where memory.leaving[session] != nil || !(memory.sessions[session]?.isConnected ?? true) {
        found.append("\(application) shows \(session), which is not connected")
      }
    }
    for session in memory.sessions.values.values
    where session.isConnected && !memory.scenes.contains(session.identifier, of: session.application) {
      found.append("the scene of \(session.identifier) is connected, and is missing among those of its application")
    }
    for queue in [memory.opened, memory.closing, memory.told] {
      for application in queue.keys where memory.hosts[application] == nil {
        found.append("the host of \(application) has left, and its windows are remembered")
      }
    }
    for (application, round) in memory.rounds.values {
      if case .handingOver = round, memory.hosts[application]?.stage != .ready {
        found.append("deliveries are handed to the host of \(application), which is not there")
      }
      if round.isFailing, memory.hosts[application] != nil {
        found.append("deliveries fail for want of the host of \(application), which is attached")
      }
    }
    for (errand, purpose) in memory.errands.values {
      guard case .lane(let key) = purpose, memory.lanes[key]?.errand != errand else { continue }
      found.append("errand \(errand) is for a lane that does something else")
    }
    for (session, _) in memory.provisional.values where !memory.isAwaited(session) {
      found.append("the session \(session) was made by a failed delivery, and nobody waits for it")
    }
  }

  private func checkBaggage(_ found: inout [String]) {
    var ofSession: [UniqueIdentifier: Int] = [:]
    for (delivery, kept) in memory.baggage.values {
      if let session = kept.session { ofSession[session, default: 0] += 1 }
      if kept.holding == nil { found.append("nobody is charged for what \(delivery) carries") }
      if kept.session != memory.deliveries[delivery]?.session, memory.deliveries[delivery] != nil {
        found.append("what \(delivery) carries is not where the delivery is")
      }
      if (memory.deliveries[delivery] == nil) != (kept.until != nil) {
        found.append("what \(delivery) carries has a time to go and is needed, or neither")
      }
      let place = Ordered(order: kept.order, identifier: delivery)
      if let principal = kept.handledFor, !memory.handledBaggage.contains(place, of: principal) {
        found.append("what \(delivery) carries makes no space")
      }
    }
    for session in memory.baggageOfSession.keys where memory.baggageOfSession.count(of: session) != ofSession[session] {
      found.append("the session \(session) has baggage in its queue that is gone")
    }
    let handled = memory.handledBaggage.keys.reduce(0) { $0 + memory.handledBaggage.count(of: $1) }
    if handled != memory.baggage.values.values.count(where: { $0.handledFor != nil }) {
      found.append("\(handled) handled deliveries carry something, and others are counted")
    }
    for (number, transfer) in memory.transfers.values {
      if memory.calls[number] == nil { found.append("call \(number) opens something, and is not charged") }
      guard let kept = memory.baggage[transfer.delivery] else {
        found.append("call \(number) opens what is gone")
        continue
      }
      if transfer.waitsUntil != nil, kept.promises.contains(where: { $0.source != transfer.renewable?.source }) {
        found.append("call \(number) waits for a promise that was renewed")
      }
    }
    for number in memory.packings.values.keys where memory.calls[number] == nil {
      found.append("call \(number) packs something, and is not charged")
    }
    let dropping = Set(
      memory.packings.values.values.compactMap { packing in
        if case .drop(let drag, _) = packing.purpose { drag } else { nil }
      })
    for (identifier, drag) in memory.drags.values {
      if memory.tickets[drag.ticket] != identifier { found.append("the ticket of the drag \(identifier) is lost") }
      if drag.state.isOver, drag.bytes != nil || !drag.payload.items.isEmpty {
        found.append("the drag \(identifier) is over, and holds something")
      }
      if drag.state == .dropped, !dropping.contains(identifier), memory.deliveries[identifier] == nil,
        memory.baggage[identifier] == nil
      {
        found.append("nothing will end the drag \(identifier)")
      }
    }
    if memory.tickets.count != memory.drags.count {
      found.append("\(memory.drags.count) drags have \(memory.tickets.count) tickets")
    }
    for drag in memory.dropTargets.values.keys where memory.drags[drag]?.state != .dropped {
      found.append("the drag \(drag) has a target, and is not dropped")
    }
  }

  private func checkCounts(_ found: inout [String]) {
    let sessions = memory.sessionCounts.values.values.reduce(0, +)
    if sessions != memory.sessionTotal { found.append("\(sessions) sessions are \(memory.sessionTotal) in all") }
    let bytes = memory.sessionBytes.values.values.reduce(0, +)
    if bytes != memory.sessionByteTotal {
      found.append("\(bytes) bytes of sessions are \(memory.sessionByteTotal) in all")
    }
    let owed = memory.owed.keys.reduce(0) { $0 + memory.owed.count(of: $1) }
    if owed != memory.owedTotal { found.append("\(owed) owed discards are \(memory.owedTotal) in all") }
    for (application, count) in memory.sessionCounts.values where count < 0 {
      found.append("\(application) has \(count) sessions")
    }
  }
}
