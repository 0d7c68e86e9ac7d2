package import SceneModel
import SceneRouting

// The way of a drag: begin, look, propose, drop, end.
extension PromptBook {
  // MARK: Beginning

  mutating func beginDrag(
    _ payload: Payload, ticket: Text, outlivesSource: Bool, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    try refuseForeignRights(payload, caller)
    let identifier = newIdentifier()
    let drag = Drag(
      identifier: identifier, ticket: ticket, source: caller, outlivesSource: outlivesSource, payload: payload)
    try pack(Packing(payload, caller, .drag(drag), deliveries: [identifier]), whole: false, number)
  }

  mutating func begin(_ begun: Drag, _ packing: Packing, _ number: CallNumber) throws(Halt) {
    var drag = begun
    (drag.payload, drag.parcels, drag.nextNumber) = (packing.payload, packing.parcels, packing.nextNumber)
    drag.holding = try chargeDrag(to: drag.source.principal)
    drag.size = drag.payload.json.count
    let time = drag.payload.options.statedDeadline ?? Drag.time
    drag.due = now.uptime + Int64(time * 1_000_000)
    try weigh(&drag)
    memory.drags[drag.identifier] = drag
    memory.tickets[drag.ticket] = drag.identifier
    memory.promise(drag.parcels.promises, by: drag.identifier)
    if let connection = drag.source.connection { memory.dragsOf.insert(drag.identifier, for: connection) }
    memory.add(.drag(drag.identifier), at: drag.due)
    answer(number, .dragBegun(drag.identifier, ticket: drag.ticket))
  }

  /// Charges a drag. Drags that are over are forgotten to make space, the oldest first: they exist only for those who ask how they ended.
  private mutating func chargeDrag(to principal: Principal) throws(Halt) -> Holding {
    while true {
      do throws(Halt) {
        return try ledger.charge(1, of: .drags, to: principal, after: memory.relief)
      } catch {
        let over = memory.drags.values.values.lazy
          .filter { $0.state.isOver && $0.holding?.charge.principal == principal }
          .min { ($0.due, $0.identifier) < ($1.due, $1.identifier) }
        guard let over else { throw error }
        memory.relief.add(over.holding)
        forget(over)
      }
    }
  }

  private mutating func forget(_ drag: Drag) {
    memory.drags[drag.identifier] = nil
    memory.tickets[drag.ticket] = nil
  }

  /// Charges a drag to its source: what it keeps in memory, what the baggage store has for it, and the descriptors among that.
  private mutating func weigh(_ drag: inout Drag) throws(Halt) {
    drag.relieve(&memory.relief)
    let parcels = drag.parcels.joined().compactMap(\.self)
    let inStore = parcels.filter { $0.baggageNumber != nil }
    let small = parcels.reduce(drag.size) { $0 + ($1.baggageNumber == nil ? $1.keptBytes : 0) }
    let inMemory = max(Allowance.smallestDrag, small)
    let principal = drag.source.principal
    // Others may have filled the rest since the drag was charged as much.
    if let before = drag.document, before.charge.amount >= inMemory {
      drag.document = ledger.take(inMemory, of: .dragBytes, for: principal)
    } else {
      drag.document = try ledger.charge(inMemory, of: .dragBytes, to: principal, after: memory.relief)
    }
    let bytes = max(Allowance.smallestBaggage, inStore.reduce(0) { $0 + $1.keptBytes })
    drag.bytes = inStore.isEmpty ? nil : try chargeBaggage(bytes, .baggage, to: principal)
    let held = inStore.count(where: \.isHeld)
    drag.descriptors = held > 0 ? try chargeBaggage(held, .descriptors, to: principal) : nil
  }

  mutating func addItems(
    _ items: [Item], to identifier: UniqueIdentifier, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let drag = try dragOfSource(identifier, caller)
    try refuseWhereOver(drag)
    _ = try payload(of: drag, with: items)
    let more = Payload(items: items, options: drag.payload.options)
    do throws(InterchangeError) {
      try refuseWhatNoStrangerSends(items, to: identifier)
    } catch {
      throw .refused(error)
    }
    try refuseForeignRights(more, caller)
    let packing = Packing(
      more, caller, .moreItems(drag: identifier), deliveries: [identifier],
      firstNumber: drag.nextNumber)
    try pack(packing, whole: false, number)
  }

  /// The shell asks this before it redeems the key of a portal, which leaves only descriptors.
  package func refuseWhatNoStrangerSends(_ items: [Item], to drag: UniqueIdentifier) throws(InterchangeError) {
    guard memory.drags[drag]?.payload.options.isFromStranger == true else { return }
    do throws(Fault) {
      try Payload.refuseWhatNoStrangerSends(items, at: Place.document.key("items"))
    } catch {
      throw InterchangeError(payload: error)
    }
  }

  private func payload(of drag: Drag, with items: [Item]) throws(Halt) -> Payload {
    var payload = drag.payload
    payload.items += items
    if payload.items.count > Limits.items {
      throw refused(
        .limitsExceeded, "items: expected at most \(Limits.items) items in a drag, got \(payload.items.count)")
    }
    try refuseTooMany(payload)
    return payload
  }

  mutating func add(_ packing: Packing, to identifier: UniqueIdentifier, _ number: CallNumber) throws(Halt) {
    guard var drag = memory.drags[identifier] else { throw noDrag(identifier) }
    try refuseWhereOver(drag)
    // Other calls may have added items meanwhile.
    let items = packing.payload.items
    let before = drag.payload.items
    drag.payload = try payload(of: drag, with: items)
    drag.parcels = Packing.rows(before, drag.parcels) + Packing.rows(items, packing.parcels).behind(before.count)
    drag.size += packing.payload.json.count
    try weigh(&drag)
    memory.drags[identifier] = drag
    memory.promise(drag.parcels.promises, by: identifier)
    tell(drag, .itemsChanged)
    answer(number, .done)
  }

  // MARK: Access

  mutating func openDrag(_ ticket: Text, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    guard let identifier = memory.tickets[ticket], var drag = memory.drags[identifier], !drag.state.isOver else {
      throw refused(.unknownObject, "there is no drag with this ticket, or it is over")
    }
    if !caller.isSandboxed { drag.isOpenedOutside = true }
    if let connection = caller.connection {
      if drag.openers.count < Allowance.dragOpeners {
        drag.openers.insert(connection)
        memory.dragsOf.insert(identifier, for: connection)
      } else if caller.isSandboxed, !drag.openers.contains(connection) {
        throw refused(
          .limitsExceeded, "at most \(Allowance.dragOpeners) connections may bring the ticket of one drag")
      }
    }
    memory.drags[identifier] = drag
    answer(number, .dragOpened(identifier))
  }

  private func noDrag(_ identifier: UniqueIdentifier) -> Halt {
    refused(.unknownObject, "there is no drag \(identifier) for this caller: open its ticket first")
  }

  private func drag(_ identifier: UniqueIdentifier, _ caller: Caller) throws(Halt) -> Drag {
    guard let drag = memory.drags[identifier], drag.mayLook(caller) else { throw noDrag(identifier) }
    return drag
  }

  private func dragOfSource(_ identifier: UniqueIdentifier, _ caller: Caller) throws(Halt) -> Drag {
    let drag = try drag(identifier, caller)
    if drag.isSource(caller) { return drag }
    throw refused(.accessDenied, "only the source of the drag \(identifier) may do that")
  }

  private func refuseWhereOver(_ drag: Drag) throws(Halt) {
    if drag.state == .dragging, !drag.isAbandoned { return }
    if drag.state == .dragging { throw refused(.requestDenied, "the source of the drag \(drag.identifier) has left") }
    throw refused(.requestDenied, "the drag \(drag.identifier) is \(drag.state.rawValue), and no longer dragging")
  }

  /// A drag in the form that a caller may see: types and metadata only.
  package func viewOfDrag(_ identifier: UniqueIdentifier, for caller: Caller) -> DragView? {
    guard let drag = memory.drags[identifier], drag.mayLook(caller) else { return nil }
    let isSource = caller.connection != nil && caller.connection == drag.source.connection
    let application = ownApplication(of: caller) ?? caller.application
    return DragView(
      items: items(of: drag, isSource: isSource, to: application),
      allowedOperations: drag.payload.options.allowedOperations, state: Text(drag.state.rawValue),
      operation: drag.result)
  }

  private func items(of drag: Drag, isSource: Bool, to application: Text) -> [Item] {
    // The drop has made a private delivery of them.
    if drag.payload.options.isPrivate, drag.state != .dragging, !isSource { return [] }
    let own = ownApplication(of: drag.source) ?? drag.source.application
    let isOwn = !own.isEmpty && own == application
    func sees(_ visibility: Visibility) -> Bool {
      visibility == .all || isSource || visibility == .application && isOwn
    }
    return drag.payload.items.map { item in
      var shown = item
      shown.activities = item.activities.filter { sees($0.visibility) }
      shown.representations = item.representations.filter { sees($0.visibility) }
      return shown
    }
  }

  // MARK: Proposing

  /// The operation of a drop onto a session, or onto the edge of the screen.
  mutating func propose(
    _ identifier: UniqueIdentifier, on session: UniqueIdentifier?, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let drag = try drag(identifier, caller)
    try refuseWhereOver(drag)
    if let session, try self.session(session) == nil {
      throw refused(.noSuchSession, "there is no session \(session)")
    }
    if case .refused = try decideDrop(of: drag, on: session).outcome { return answer(number, .operation("forbidden")) }
    let first = drag.payload.options.allowedOperations.contains(.copy) ? "copy" : "move"
    guard let session, let found = try self.session(session), found.isConnected,
      let host = memory.hosts[found.application]
    else { return answer(number, .operation(Text(first))) }
    let key = Proposal.Key(drag: identifier, application: host.application)
    if memory.proposals[key] != nil {
      memory.proposals[key]?.next = session
      memory.proposals[key]?.waiting.append(number)
      return
    }
    try refuseWhereAskedMuch(host, drag)
    propose(drag, on: session, to: host, key, for: [number])
  }

  private func refuseWhereAskedMuch(_ host: Host, _ drag: Drag) throws(Halt) {
    let proposals = memory.proposals.values.filter { $0.key.application == host.application }.values
    if proposals.count >= Host.maximumProposing {
      throw refused(
        .limitsExceeded,
        "the host of \(host.application) has not answered \(Host.maximumProposing) proposals yet: ask again later")
    }
    let (limit, bytes) = (Host.maximumProposedBytes, proposals.reduce(0) { $0 + $1.bytes })
    let own = proposals.reduce(0) { $0 + ($1.principal == drag.source.principal ? $1.bytes : 0) }
    // A drag that is longer than that is asked about alone.
    if !proposals.isEmpty, own + drag.size > limit - bytes - drag.size {
      throw refused(
        .limitsExceeded,
        "the items of proposals that the host of \(host.application) has not answered may take \(limit) bytes; \(bytes) are taken, \(own) of them by "
          + "drags of this source, which may take as many as are left, and this drag has \(drag.size): ask again later, or drop it"
      )
    }
  }

  private mutating func propose(
    _ drag: Drag, on session: UniqueIdentifier, to host: Host, _ key: Proposal.Key, for calls: [CallNumber]
  ) {
    memory.proposals[key] = Proposal(principal: drag.source.principal, bytes: drag.size, calls: calls)
    memory.drags[drag.identifier]?.asked.insert(host.connection)
    let items = items(of: drag, isSource: host.connection == drag.source.connection, to: host.application)
    let question = HostQuestion.propose(session, items: items, allowed: drag.payload.options.allowedOperations)
    ask(host, question, .proposal(key), within: 1_000_000)
  }

  /// The source's allowed operations limit the host's choice.
  mutating func proposed(_ key: Proposal.Key, _ answer: HostAnswer) {
    guard let proposal = memory.proposals[key] else { return }
    memory.proposals[key] = nil
    // The drag may have been dropped or may be over by now.
    let drag = memory.drags[key.drag].flatMap { $0.state == .dragging ? $0 : nil }
    let allowed = drag?.payload.options.allowedOperations ?? []
    let operation: Text
    switch answer {
    case .operation(let wanted) where wanted == "cancel": operation = wanted
    case .operation(let wanted):
      operation = allowed.contains { $0.rawValue == wanted.string } ? wanted : "forbidden"
    // The host has no opinion.
    case .done: operation = allowed.contains(.copy) ? "copy" : allowed.contains(.move) ? "move" : "forbidden"
    default: operation = "forbidden"
    }
    for number in proposal.calls { self.answer(number, .operation(operation)) }
    guard let next = proposal.next else { return }
    if let drag, let host = memory.hosts[key.application] {
      propose(drag, on: next, to: host, key, for: proposal.waiting)
    } else {
      for number in proposal.waiting { self.answer(number, .operation("forbidden")) }
    }
  }

  private func decideDrop(of drag: Drag, on session: UniqueIdentifier?) throws(Halt) -> Decision {
    let payload = payload(of: drag, on: session)
    let request = Request(
      payload, from: sender(drag.source, payload.options), newSession: UniqueIdentifier(high: 0, low: 0))
    return try SceneRouting.decide(memory.routing, request, at: now.time).decision()
  }

  private func payload(of drag: Drag, on session: UniqueIdentifier?) -> Payload {
    var payload = drag.payload
    if let session {
      payload.options.session = Text("\(session)")
      (payload.options.application, payload.options.configuration, payload.options.role) = (nil, nil, nil)
      payload.options.disposition = .auto
    } else {
      payload.options.session = nil
      payload.options.disposition = .new
    }
    payload.options.token = nil
    return payload
  }

  // MARK: Dropping

  mutating func drop(
    _ identifier: UniqueIdentifier, on session: UniqueIdentifier?, _ operation: Text, _ caller: Caller,
    _ number: CallNumber
  ) throws(Halt) {
    var drag = try drag(identifier, caller)
    try refuseWhereOver(drag)
    guard let wanted = PayloadOptions.Operation(rawValue: operation.string) else {
      throw refused(.invalidArgs, "operation: expected \"copy\" or \"move\", got \(quoted(operation.string))")
    }
    guard drag.payload.options.allowedOperations.contains(wanted) else {
      throw refused(.requestDenied, "the source of the drag does not allow \(operation)")
    }
    drag.state = .dropped
    drag.operation = wanted
    memory.drags[identifier] = drag
    var payload = payload(of: drag, on: session)
    payload.options.operation = wanted
    let packing = Packing(
      payload, parcels: drag.parcels, drag.source, .drop(drag: identifier, by: caller),
      deliveries: [identifier], firstNumber: drag.nextNumber)
    try pack(packing, number)
  }

  /// The delivery has the identifier of its drag, under which the baggage store has the contents.
  mutating func concludeDrop(
    _ packing: Packing, of identifier: UniqueIdentifier, by caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    guard var drag = memory.drags[identifier] else { throw noDrag(identifier) }
    // From here on the delivery has the contents and is charged for them, and the drag only for its document.
    memory.forgetPromises(drag.parcels.promises, of: identifier)
    drag.parcels = []
    try weigh(&drag)
    memory.drags[identifier] = drag
    tell(drag, .stateChanged)
    let delivered = try accept(packing, .empty)
    reply(delivered, to: number, caller, waits: packing.payload.options.wait == .handled)
  }

  /// The drop was refused: the drag goes on.
  mutating func dragGoesOn(_ identifier: UniqueIdentifier) {
    guard var drag = memory.drags[identifier], drag.state == .dropped else { return }
    (drag.state, drag.operation) = (.dragging, nil)
    memory.drags[identifier] = drag
    if drag.isAbandoned { return cancel(drag) }
    // Its deadline has passed meanwhile.
    if drag.due <= now.uptime { memory.add(.drag(identifier), at: drag.due) }
  }

  // MARK: Ending

  mutating func cancelDrag(_ identifier: UniqueIdentifier, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    let drag = try dragOfSource(identifier, caller)
    try refuseWhereOver(drag)
    cancel(drag)
    answer(number, .done)
  }

  private mutating func cancel(_ drag: Drag) {
    step.errands.append(.free([drag.identifier]))
    memory.forgetPromises(drag.parcels.promises, of: drag.identifier)
    endPromises(drag.parcels.promises)
    end(drag, .cancelled, .ended(operation: "cancel", target: nil))
  }

  /// The source has left during the drag. After the drop the rules for promises apply.
  mutating func cancelDrags(of connection: Text) {
    var parts = 0
    for identifier in memory.dragsOf[connection] {
      memory.dragsOf.remove(identifier, for: connection)
      guard let drag = memory.drags[identifier] else { continue }
      if drag.openers.contains(connection) { memory.drags[identifier]?.openers.remove(connection) }
      if drag.source.connection == connection { memory.drags[identifier]?.source = drag.source.left }
      guard drag.endsWith(connection) else { continue }
      switch drag.state {
      case .dragging where parts < Drag.partsAtOnce:
        parts += drag.parts
        cancel(drag)
      case .dragging:
        memory.drags[drag.identifier]?.isAbandoned = true
        memory.drags[drag.identifier]?.due = now.uptime
        memory.add(.drag(drag.identifier), at: now.uptime)
      case .dropped: memory.drags[drag.identifier]?.isAbandoned = true
      case .cancelled, .ended: break
      }
    }
  }

  /// The work of ending a drag whose time is over, as a part of what may be done in one step.
  func workOfEnding(_ identifier: UniqueIdentifier) -> Double {
    guard let drag = memory.drags[identifier], drag.due <= now.uptime, drag.state == .dragging else { return 0 }
    return Double(drag.parts) / Double(Drag.partsAtOnce)
  }

  mutating func dragTimeIsOver(_ identifier: UniqueIdentifier) {
    guard let drag = memory.drags[identifier], drag.due <= now.uptime else { return }
    switch drag.state {
    case .dragging: cancel(drag)
    // The drag ends with its delivery, or goes on if the drop is refused.
    case .dropped: break
    case .cancelled, .ended: forget(drag)
    }
  }

  /// How the delivery of a drag ended.
  enum DropOutcome {
    /// The host has taken the delivery and, for a move, has said that it has all of the contents.
    case done
    /// The host has taken the delivery, and has not said that it has all of the contents: the source must keep what it has.
    case kept
    case failed
  }

  mutating func dragEnds(with delivery: UniqueIdentifier, _ outcome: DropOutcome) {
    guard let drag = memory.drags[delivery], drag.state == .dropped, let operation = drag.operation else { return }
    if outcome == .failed { return end(drag, .ended, .ended(operation: "cancel", target: nil)) }
    // A host may release the contents before it has taken the delivery.
    guard memory.deliveries[delivery] == nil else { return }
    let name = outcome == .done && drag.isWhole ? operation.rawValue : "copy"
    end(drag, .ended, .ended(operation: Text(name), target: memory.dropTargets[delivery]))
  }

  /// Ends a drag. For a while callers can still ask how it ended, but it no longer has items to show.
  private mutating func end(_ drag: Drag, _ state: DragState, _ news: DragNews) {
    drag.relieve(&memory.relief)
    for connection in drag.openers.union(drag.source.connection.map { [$0] } ?? []) {
      memory.dragsOf.remove(drag.identifier, for: connection)
    }
    var ended = drag
    (ended.state, ended.parcels, ended.payload.items) = (state, [], [])
    (ended.document, ended.bytes, ended.descriptors) = (nil, nil, nil)
    if case .ended(let operation, _) = news { ended.result = operation }
    ended.due = now.uptime + Drag.rest
    memory.drags[drag.identifier] = ended
    memory.dropTargets[drag.identifier] = nil
    memory.add(.drag(drag.identifier), at: ended.due)
    tell(ended, .stateChanged)
    tell(ended, news)
  }

  private mutating func tell(_ drag: Drag, _ news: DragNews) {
    let listeners =
      if case .ended = news { drag.told } else { Set(drag.told).union(drag.openers).sorted() }
    say(.drag(drag.identifier, news, to: listeners))
    step.listeners += listeners.count
  }
}
