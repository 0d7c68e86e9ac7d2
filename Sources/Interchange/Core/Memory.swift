import SceneModel
import SceneRouting

/// Everything that the core knows. Records are folded into it, and it hears of events outside; all its changes can be undone until the turn is
/// kept.
///
/// Only ``fold(_:at:_:)`` changes the data that survives a restart, live and after a restart. The memory forgets a whole session or delivery that was
/// not used for a while, and reads it again; routing keeps what it needs of a session. A session that changes or is discarded is here whole.
struct Memory {
  /// Applications, sessions and preferences, in the form that decisions use.
  var routing: State
  private var routingChanges = Changes<RoutingChange>()

  /// Whole sessions: every session that was changed in this turn, and some others.
  var sessions = Table<UniqueIdentifier, Session>()
  /// Sessions that were discarded in this turn, and are still in the store.
  private(set) var leaving = Table<UniqueIdentifier, Bool>()
  /// Sessions that are too long to be remembered beyond this turn.
  private var longSessions: [UniqueIdentifier] = []
  /// The changes of this turn to deliveries that are not here whole: the store still has their state before the turn.
  private var changes = Table<UniqueIdentifier, DeliveryChange>()
  /// The number of sessions of each application, including those whose host must still be told that they are gone.
  private(set) var sessionCounts = Table<Text, Int>()
  @Undoable private(set) var sessionTotal = 0
  /// The bytes that the sessions of each application keep (`Session.keptBytes`).
  private(set) var sessionBytes = Table<Text, Int>()
  @Undoable private(set) var sessionByteTotal = 0
  private(set) var owed = Queues<Text, Owed>()

  /// The open deliveries.
  var deliveries = Table<UniqueIdentifier, OpenDelivery>()
  private(set) var deliveriesToSession = Queues<UniqueIdentifier, Ordered>()
  private(set) var deliveriesToApplication = Queues<Text, Ordered>()
  /// The open deliveries of a session that its host has taken, and whose end it tells later. They are in neither of the queues above.
  private(set) var forwarded = Queues<UniqueIdentifier, Ordered>()
  /// Whole deliveries: every delivery that was made or changed in this turn, and some others.
  private(set) var recent = Table<UniqueIdentifier, StoredDelivery>()
  /// The payloads of deliveries for a ready host, so that nobody reads their documents. A turn that is undone leaves them: a drag that is dropped again
  /// has the same delivery, with another document.
  private var payloads: [UniqueIdentifier: (payload: Payload, document: Text)] = [:]
  /// Whether one of these has a payload that is too long to be remembered beyond its turn.
  private var hasLongPayload = false
  /// The deliveries that were made under tokens in this turn.
  private(set) var tokens = Table<TokenKey, [UniqueIdentifier]>()
  var longDocuments = LongDocuments()
  /// For each delivery, the next delivery that gave content to the same session.
  var followers = Table<UniqueIdentifier, UniqueIdentifier>()
  /// The times at which deliveries have waited long enough, and at which contents and drags are forgotten.
  private var agenda = Agenda<Appointment>()
  /// The entries of the agenda that came up in this turn.
  private var due = Changes<Agenda<Appointment>.Entry>()
  /// Applications with sessions whose configuration their manifest has lost, and what soon becomes of these sessions.
  var orphaned = Table<Text, OrphanFate>()

  /// How many deliveries each rule has made since the service started.
  var ruleMatches = Table<Text, Int>()

  var manifests = Table<Text, ManifestSource>()
  var preferences = Table<Text, Text>()
  var hosts = Table<Text, Host>()
  /// The applications that each connection hosts, and whose name it owns.
  var hosted = Queues<Text, Text>()
  /// The sessions of each application whose scenes are connected.
  var scenes = Queues<Text, UniqueIdentifier>()
  /// Applications whose scenes are disconnected in pieces: their host has left, or the service has started.
  var disconnecting = Table<Text, Bool>()
  /// Sessions whose scenes each application's host was asked to open, without a refusal of the first question: the host may show them.
  var opened = Queues<Text, UniqueIdentifier>()
  /// Discarded sessions whose scenes each application's host must still close. After that the host hears that they are gone.
  var closing = Queues<Text, UniqueIdentifier>()
  /// Discarded sessions that each application's host was told of, without an answer: it may have heard.
  var told = Queues<Text, UniqueIdentifier>()
  var lanes = Table<Lane.Key, Lane>()
  /// For each connection on the bus the private windows about which it was asked without an answer. It may read the question later, even after it has
  /// lost the application's name, and show its content.
  var unread = Queues<Text, UniqueIdentifier>()
  /// Sessions with work for a host that is at its capacity.
  var queue = Queues<Text, Ordered>()
  var errands = Table<ErrandNumber, ErrandPurpose>()
  /// The drags about which hosts are being asked.
  var proposals = Table<Proposal.Key, Proposal>()
  var starts = Table<Text, Start>()
  /// Work on all open deliveries of an application, which is done in pieces.
  var rounds = Table<Text, Round>()
  /// Sessions that are gone, and whose last deliveries have not failed yet.
  var discarded = Table<UniqueIdentifier, Bool>()
  /// By the questions to the bus.
  var attaching = Table<ErrandNumber, Attaching>()
  var calls = Table<CallNumber, CallCharge>()
  /// The calls that wait for the end of a delivery.
  var waiters = Table<UniqueIdentifier, [CallNumber]>()
  /// The same calls, by the connections of their callers.
  var waitingFor = Queues<Text, WaitingCall>()
  /// Sessions whose scenes are to be refreshed as soon as they are in the background.
  var refreshes = Table<UniqueIdentifier, Bool>()
  /// Sessions that are gone and whose scenes must be closed, with the animation.
  var closings = Table<UniqueIdentifier, Text>()
  /// Sessions that a failed delivery made and other deliveries still wait for, and whether a host may have been asked to open them.
  var provisional = Table<UniqueIdentifier, Bool>()

  /// Calls whose contents are being packed, and, below, calls for which a parcel is being opened.
  var packings = Table<CallNumber, Packing>()
  var transfers = Table<CallNumber, Transfer>()
  /// Deliveries with contents, and the contents that were packed in this turn.
  var baggage = Table<UniqueIdentifier, KeptBaggage>()
  private(set) var baggageOfSession = Queues<UniqueIdentifier, Ordered>()
  /// The deliveries and drags that carry promises of an object.
  private(set) var promised = Queues<PromiseObject, UniqueIdentifier>()
  /// Contents that make space for what their principal hands in later, because a host has taken their delivery.
  private(set) var handledBaggage = Queues<Principal, Ordered>()
  private(set) var packed = Table<UniqueIdentifier, Baggage>()
  var drags = Table<UniqueIdentifier, Drag>()
  /// The drags in which each connection takes part: it has begun or opened them, and they are not over.
  var dragsOf = Queues<Text, UniqueIdentifier>()
  var tickets = Table<Text, UniqueIdentifier>()
  /// The sessions that took the dragged items, until the drag ends.
  var dropTargets = Table<UniqueIdentifier, UniqueIdentifier>()
  /// The amounts of the ledger that this turn returns.
  @Undoable var relief = Relief()

  /// The number of the newest event.
  @Undoable private(set) var sequence: UInt64 = 0
  /// The newest number of the order in which things came.
  private(set) var order: Int64 = 0

  /// A type in ASCII that an application declares. A payload of the same type as the last is not put to the rules, without a search: this comparison
  /// takes a tenth of the time. Only the same bytes are equal, since both have one number of bytes.
  var declaredType: String?

  /// Whether no cue has begun since a turn was committed.
  private var isCommitted = true

  init(routing: State) { self.routing = routing }

  mutating func nextOrder() -> Int64 {
    order += 1
    return order
  }

  /// Sessions, and discards of which a host must still hear.
  func places(of application: Text) -> Int { (sessionCounts[application] ?? 0) + owed.count(of: application) }
  var places: Int { sessionTotal + owedTotal }
  @Undoable private(set) var owedTotal = 0

  /// The bytes of all sessions, and of those of an application.
  func bytes(of application: Text) -> (all: Int, own: Int) { (sessionByteTotal, sessionBytes[application] ?? 0) }

  // MARK: Deadlines

  /// The earliest time, on the clock that nobody can set.
  var earliestDeadline: Int64? { agenda.earliest }

  /// Whether something is done in pieces, and the next piece can follow at once.
  var hasMoreToDo: Bool { !orphaned.isEmpty || !rounds.isEmpty || !discarded.isEmpty || !disconnecting.isEmpty }

  /// The number of noted deadlines, including those of deliveries that are over.
  var noted: Int { agenda.entries }

  mutating func add(_ appointment: Appointment, at moment: Int64) { agenda.add(appointment, at: moment) }

  /// The next entry whose time may have come. It may be over, or have another time by now.
  mutating func nextDue(at now: Int64) -> Appointment? {
    guard let next = agenda.next(at: now) else { return nil }
    due.append(next)
    return next.item
  }

  // MARK: Folding

  /// Applies a record.
  mutating func fold(_ record: Record, at moment: Moment, _ holding: Holding? = nil) {
    switch record {
    case .session(let session):
      let isKnown = routing.contains(session.identifier)
      if let before = sessions[session.identifier] {
        grow(session, session.growth(since: before))
        if before.isConnected, !session.isConnected { scenes.remove(session.identifier, for: session.application) }
      } else {
        precondition(!isKnown, "a session changes, and is not here whole")
        count(session.application, 1)
        grow(session, session.keptBytes)
      }
      if session.isConnected { scenes.insert(session.identifier, for: session.application) }
      sessions[session.identifier] = session
      routingChanges.append(.session(isKnown ? routing.update(session) : routing.apply(.sessionMade(session))))
    case .sessionActivated(let activation): activate(activation)
    case .sessionDiscarded(let identifier):
      if let session = sessions[identifier] {
        count(session.application, -1)
        grow(session, -session.keptBytes)
        scenes.remove(session.identifier, for: session.application)
      }
      sessions[identifier] = nil
      leaving[identifier] = true
      for connection in Array(unread.keys) { unread.remove(identifier, for: connection) }
      routingChanges.append(.session(routing.discard(identifier)))
    case .delivery(let delivery):
      recent[delivery.identifier] = delivery
      if delivery.payload.count > Memory.rememberedPayload { hasLongPayload = true }
      if let token = delivery.token {
        let key = TokenKey(token: token, owner: delivery.sender)
        tokens[key] = (tokens[key] ?? []) + [delivery.identifier]
      }
      if delivery.progress.isOpen { open(delivery.summary, at: moment, holding) }
    case .deliveryProgress(let identifier, let progress): advance(identifier, progress, nil, at: moment)
    case .deliveryRedirected(let identifier, let progress, let previous):
      advance(identifier, progress, previous, at: moment)
    case .event(let event): sequence = max(sequence, event.sequence)
    case .preference(let type, let application):
      routingChanges.append(.preference(type, before: routing.preferredApplication(for: type)))
      routing.setPreferredApplication(application, for: type)
      preferences[type] = application
    case .discardOwed(let application, let session):
      if owed.insert(Owed(order: nextOrder(), session: session), for: application) { owedTotal += 1 }
    case .discardTold(let application, let session):
      guard let entry = owed[application].first(where: { $0.session == session }) else { return }
      if owed.remove(entry, for: application) { owedTotal -= 1 }
    case .baggage(let baggage):
      packed[baggage.delivery] = baggage
      if let kept = self.baggage[baggage.delivery] {
        // Its promises were renewed.
        for promise in kept.promises { promised.remove(baggage.delivery, for: PromiseObject(promise)) }
      } else {
        addBaggage(of: baggage.delivery, for: deliveries[baggage.delivery]?.session)
      }
      self.baggage[baggage.delivery]?.promises = baggage.promises
      for promise in baggage.promises { promised.insert(baggage.delivery, for: PromiseObject(promise)) }
      self.baggage[baggage.delivery]?.isInBaggageStore = baggage.isInBaggageStore
    case .baggageReleased(let delivery):
      guard let kept = baggage[delivery] else { return }
      if let session = kept.session {
        baggageOfSession.remove(Ordered(order: kept.order, identifier: delivery), for: session)
      }
      takeFromHandled(delivery)
      for promise in kept.promises { promised.remove(delivery, for: PromiseObject(promise)) }
      relief.add(kept.holding)
      relief.add(kept.descriptors)
      baggage[delivery] = nil
      packed[delivery] = nil
    }
  }

  // MARK: Baggage

  private mutating func addBaggage(of delivery: UniqueIdentifier, for session: UniqueIdentifier?) {
    let kept = KeptBaggage(session: session, order: nextOrder())
    baggage[delivery] = kept
    if let session { baggageOfSession.insert(Ordered(order: kept.order, identifier: delivery), for: session) }
  }

  /// A drag carries these promises, until it is dropped or over.
  mutating func promise(_ promises: [Promise], by drag: UniqueIdentifier) {
    for promise in promises { promised.insert(drag, for: PromiseObject(promise)) }
  }

  mutating func forgetPromises(_ promises: [Promise], of drag: UniqueIdentifier) {
    for promise in promises { promised.remove(drag, for: PromiseObject(promise)) }
  }

  /// The contents go where their delivery goes.
  private mutating func moveBaggage(of delivery: UniqueIdentifier, to session: UniqueIdentifier?) {
    guard var kept = baggage[delivery], kept.session != session else { return }
    let place = Ordered(order: kept.order, identifier: delivery)
    if let before = kept.session { baggageOfSession.remove(place, for: before) }
    kept.session = session
    baggage[delivery] = kept
    if let session { baggageOfSession.insert(place, for: session) }
  }

  /// The host has taken the delivery: its contents stay until this time, or until somebody needs the space.
  mutating func baggageIsHandled(of delivery: UniqueIdentifier, until moment: Int64) {
    guard var kept = baggage[delivery] else { return }
    kept.until = moment
    kept.handledFor = kept.holding?.charge.principal
    baggage[delivery] = kept
    if let principal = kept.handledFor {
      handledBaggage.insert(Ordered(order: kept.order, identifier: delivery), for: principal)
    }
    add(.baggage(delivery), at: moment)
  }

  /// The delivery is open again, or its contents go.
  private mutating func takeFromHandled(_ delivery: UniqueIdentifier) {
    guard var kept = baggage[delivery], let principal = kept.handledFor else { return }
    handledBaggage.remove(Ordered(order: kept.order, identifier: delivery), for: principal)
    (kept.handledFor, kept.until) = (nil, nil)
    baggage[delivery] = kept
  }

  private mutating func activate(_ activation: SessionActivation) {
    guard var session = sessions[activation.session] else {
      preconditionFailure("a session is activated, and is not here whole")
    }
    let growth = activation.growth(of: session)
    activation.apply(to: &session)
    grow(session, growth)
    sessions[activation.session] = session
    let shown: Shown? =
      activation.userActivity.map { .activity($0) }
      ?? activation.openedContent.flatMap { $0.isEmpty ? nil : .content($0) }
    routingChanges.append(
      .session(routing.apply(.sessionActivated(activation.session, at: activation.instant, showing: shown))))
  }

  private mutating func open(_ delivery: DeliverySummary, at moment: Moment, _ holding: Holding? = nil) {
    guard let session = delivery.progress.session else { return }
    let due = Memory.due(delivery.deadline, isForwarded: delivery.progress.state == .forwarded, at: moment)
    let opened = OpenDelivery(delivery, order: nextOrder(), due: due, holding)
    if !baggage.isEmpty { takeFromHandled(delivery.identifier) }
    if !longDocuments.isEmpty { longDocuments.forget(delivery.identifier) }
    deliveries[delivery.identifier] = opened
    place(opened, session)
    if let before = delivery.previousBy { followers[before] = delivery.identifier }
    agenda.add(.delivery(delivery.identifier), at: opened.due)
  }

  /// Nobody can set the clock of the deadline; the record says how much time is left.
  private static func due(_ deadline: Instant, isForwarded: Bool, at moment: Moment) -> Int64 {
    let longest = isForwarded ? Double(PromptBook.longestDeferral) : PayloadOptions.maximumDeadline
    let (rest, overflow) = deadline.microseconds.subtractingReportingOverflow(moment.time.microseconds)
    return moment.uptime + min(max(0, overflow ? 0 : rest), Int64(longest * 1_000_000))
  }

  private mutating func place(_ delivery: OpenDelivery, _ session: UniqueIdentifier) {
    let place = Ordered(order: delivery.order, identifier: delivery.identifier)
    if delivery.progress.state == .forwarded {
      forwarded.insert(place, for: session)
    } else {
      deliveriesToSession.insert(place, for: session)
      deliveriesToApplication.insert(place, for: delivery.application)
    }
  }

  private mutating func displace(_ delivery: OpenDelivery) {
    let place = Ordered(order: delivery.order, identifier: delivery.identifier)
    guard let session = delivery.session else { return }
    if delivery.progress.state == .forwarded {
      forwarded.remove(place, for: session)
    } else {
      deliveriesToSession.remove(place, for: session)
      deliveriesToApplication.remove(place, for: delivery.application)
    }
  }

  /// The open deliveries of a session, or the first of them.
  func open(of session: UniqueIdentifier, atMost limit: Int = .max) -> [OpenDelivery] {
    let first = deliveriesToSession[session].prefix(limit)
    return (first + forwarded[session].prefix(limit - first.count)).compactMap { deliveries[$0.identifier] }
  }

  func isAwaited(_ session: UniqueIdentifier) -> Bool {
    deliveriesToSession.count(of: session) > 0 || forwarded.count(of: session) > 0
  }

  private mutating func close(_ delivery: OpenDelivery) {
    displace(delivery)
    deliveries[delivery.identifier] = nil
    // Whoever ends the last delivery has seen that a failed delivery made its session.
    if let session = delivery.progress.session, !isAwaited(session) { provisional[session] = nil }
    if let before = delivery.previousBy, followers[before] == delivery.identifier { followers[before] = nil }
  }

  private mutating func advance(
    _ identifier: UniqueIdentifier, _ progress: DeliveryProgress, _ previous: PreviouslyShown?, at moment: Moment
  ) {
    if var whole = recent[identifier] {
      whole.advance(to: progress)
      if let previous { whole.previous = previous }
      recent[identifier] = whole
    } else {
      var progress = progress
      progress.deadline = progress.deadline ?? changes[identifier]?.progress.deadline
      changes[identifier] = DeliveryChange(progress: progress, previous: previous ?? changes[identifier]?.previous)
    }
    if !baggage.isEmpty { moveBaggage(of: identifier, to: progress.session) }
    guard var delivery = deliveries[identifier] else {
      // The delivery was over, and is open again.
      if progress.isOpen, let whole = recent[identifier] { open(whole.summary, at: moment) }
      return
    }
    if !progress.isOpen { return close(delivery) }
    delivery.needsAttempt = false
    var progress = progress
    if let deadline = progress.takeDeadline() {
      displace(delivery)
      delivery.progress = progress
      delivery.due = Memory.due(deadline, isForwarded: true, at: moment)
      deliveries[identifier] = delivery
      if let session = delivery.session { place(delivery, session) }
      agenda.add(.delivery(identifier), at: delivery.due)
      return
    }
    if let previous, previous.shownBy != delivery.previousBy {
      if let before = delivery.previousBy, followers[before] == identifier { followers[before] = nil }
      delivery.previousBy = previous.shownBy
      if let before = previous.shownBy { followers[before] = identifier }
    }
    guard
      progress.session != delivery.progress.session || previous != nil && progress.attempt != delivery.progress.attempt
    else {
      delivery.progress = progress
      deliveries[identifier] = delivery
      return
    }
    // The delivery goes to another session, behind all deliveries on their way there.
    close(delivery)
    if progress.session != delivery.progress.session { delivery.isFromBefore = false }
    delivery.progress = progress
    delivery.order = nextOrder()
    deliveries[identifier] = delivery
    if let session = progress.session { place(delivery, session) }
    if let before = delivery.previousBy { followers[before] = identifier }
  }

  private mutating func count(_ application: Text, _ change: Int) {
    let count = (sessionCounts[application] ?? 0) + change
    sessionCounts[application] = count == 0 ? nil : count
    sessionTotal += change
  }

  /// The session is longer by so many bytes, or shorter.
  private mutating func grow(_ session: Session, _ bytes: Int) {
    if bytes == 0 { return }
    let all = (sessionBytes[session.application] ?? 0) + bytes
    sessionBytes[session.application] = all == 0 ? nil : all
    sessionByteTotal += bytes
    if bytes > 0 { noteLength(of: session) }
  }

  private mutating func noteLength(of session: Session) {
    if session.keptBytes > Memory.rememberedPayload { longSessions.append(session.identifier) }
  }

  // MARK: Remembering

  /// Takes in the data that a starting service finds in its store.
  mutating func recall(_ remembered: Remembered, at moment: Moment) {
    for (type, application) in remembered.preferences {
      fold(.preference(type: type, application: application), at: moment)
    }
    for (application, sessions) in remembered.owed {
      for session in sessions { fold(.discardOwed(application: application, session: session), at: moment) }
    }
    for (application, number) in remembered.sessionCounts { count(application, number) }
    for (application, bytes) in remembered.sessionBytes {
      sessionBytes[application] = bytes
      sessionByteTotal += bytes
    }
    for delivery in remembered.openInOrder {
      open(delivery, at: moment)
      deliveries[delivery.identifier]?.isFromBefore = true
      if delivery.progress.state == .routed { deliveries[delivery.identifier]?.needsAttempt = true }
    }
    for (session, application) in remembered.connected {
      scenes.insert(session, for: application)
      disconnecting[application] = true
    }
    for summary in remembered.baggage {
      addBaggage(of: summary.delivery, for: summary.session)
      baggage[summary.delivery]?.isFromBefore = true
    }
    sequence = remembered.lastEvent
    commitTurn()
  }

  /// Takes in sessions that were just read. A session that is here already is newer.
  mutating func learn(_ read: [Session]) {
    for session in read where sessions[session.identifier] == nil && leaving[session.identifier] == nil {
      routing.learn([session], answering: .session(session.identifier))
      // A session that was read stays when the turn is rolled back; only the turn's changes are undone.
      sessions.remember(session, for: session.identifier)
      noteLength(of: session)
    }
  }

  mutating func learn(_ delivery: StoredDelivery) {
    guard recent[delivery.identifier] == nil else { return }
    recent.remember(delivery, for: delivery.identifier)
    guard let change = changes[delivery.identifier] else { return }
    var changed = delivery
    changed.advance(to: change.progress)
    changed.previous = change.previous ?? delivery.previous
    recent[delivery.identifier] = changed
  }

  mutating func remember(_ payload: Payload, of delivery: UniqueIdentifier) {
    if payloads.count >= Memory.rememberedDeliveries { payloads.removeAll(keepingCapacity: true) }
    if let stored = recent[delivery], stored.payload.count <= Memory.rememberedPayload {
      payloads[delivery] = (payload, stored.payload)
    }
  }

  func rememberedPayload(of delivery: StoredDelivery) -> Payload? {
    payloads[delivery.identifier].flatMap { $0.document == delivery.payload ? $0.payload : nil }
  }

  /// The answer to the call that made a delivery.
  mutating func setAnswer(_ answer: Text, of delivery: UniqueIdentifier) { recent[delivery]?.answer = answer }

  // MARK: Routing beyond sessions

  mutating func setManifest(_ manifest: Manifest?, of application: Text) {
    declaredType = nil
    routingChanges.append(.manifest(application, before: routing.manifest(of: application)))
    guard let manifest else { return routing.unregister(application) }
    routing.register(manifest)
    // A decision between thousands of applications would ask the store for each that has none.
    if sessionCounts[application] ?? 0 == 0 { routing.noteComplete(application) }
  }

  private enum RoutingChange {
    case session(State.Undo)
    case manifest(Text, before: Manifest?)
    case preference(Text, before: Text?)
  }
}

// MARK: - Commit and rollback

extension Memory {
  /// A cue begins; or the changes of the cue or of the turn are undone; or the turn's changes stay.
  mutating func settle(_ settlement: Settlement) {
    // The first cue of a turn begins where the turn before ended.
    if settlement == .beginCue, isCommitted {
      isCommitted = false
      return
    }
    isCommitted = settlement == .commitTurn
    if routingChanges.settle(settlement) {
      while let change = routingChanges.nextToUndo() { undo(change) }
    }
    if due.settle(settlement) {
      while let entry = due.nextToUndo() { agenda.putBack(entry) }
    }
    sessions.settle(settlement)
    leaving.settle(settlement)
    changes.settle(settlement)
    sessionCounts.settle(settlement)
    sessionBytes.settle(settlement)
    owed.settle(settlement)
    deliveries.settle(settlement)
    deliveriesToSession.settle(settlement)
    deliveriesToApplication.settle(settlement)
    forwarded.settle(settlement)
    recent.settle(settlement)
    tokens.settle(settlement)
    longDocuments.settle(settlement)
    followers.settle(settlement)
    ruleMatches.settle(settlement)
    manifests.settle(settlement)
    preferences.settle(settlement)
    hosts.settle(settlement)
    hosted.settle(settlement)
    scenes.settle(settlement)
    disconnecting.settle(settlement)
    opened.settle(settlement)
    closing.settle(settlement)
    told.settle(settlement)
    lanes.settle(settlement)
    unread.settle(settlement)
    queue.settle(settlement)
    errands.settle(settlement)
    proposals.settle(settlement)
    starts.settle(settlement)
    rounds.settle(settlement)
    discarded.settle(settlement)
    attaching.settle(settlement)
    calls.settle(settlement)
    waiters.settle(settlement)
    waitingFor.settle(settlement)
    refreshes.settle(settlement)
    closings.settle(settlement)
    provisional.settle(settlement)
    packings.settle(settlement)
    transfers.settle(settlement)
    baggage.settle(settlement)
    baggageOfSession.settle(settlement)
    promised.settle(settlement)
    handledBaggage.settle(settlement)
    packed.settle(settlement)
    drags.settle(settlement)
    dragsOf.settle(settlement)
    tickets.settle(settlement)
    dropTargets.settle(settlement)
    orphaned.settle(settlement)
    _sessionTotal.settle(settlement)
    _sessionByteTotal.settle(settlement)
    _owedTotal.settle(settlement)
    _sequence.settle(settlement)
    _relief.settle(settlement)
  }

  private mutating func undo(_ change: RoutingChange) {
    switch change {
    case .session(let undo): routing.revert(undo)
    case .manifest(let application, let before):
      declaredType = nil
      // Sessions whose configuration the manifest did not have were kept out of routing when they were read.
      routing.forgetAbsent(of: application)
      if let before { routing.register(before) } else { routing.unregister(application) }
    case .preference(let type, let before): routing.setPreferredApplication(before, for: type)
    }
  }

  /// The store has the turn, whose changes can no longer be undone.
  mutating func commitTurn() {
    relief = Relief()
    settle(.commitTurn)
    forgetOld()
  }

  /// Whole sessions and deliveries that are remembered beyond a turn, for speed.
  private static let rememberedSessions = 2_048
  private static let rememberedDeliveries = 256
  /// The greatest length of a payload, or of a session, that is remembered beyond its turn, in bytes.
  private static let rememberedPayload = 64 << 10

  /// The deadlines of deliveries that are over, beyond the number of all other deadlines.
  static let passedDeadlines = 1_024

  private mutating func forgetOld() {
    // The store now has the discards, the progress and the tokens of this turn.
    if !leaving.isEmpty { leaving.removeAll() }
    if !changes.isEmpty { changes.removeAll() }
    if !tokens.isEmpty { tokens.removeAll() }
    if !packed.isEmpty { packed.removeAll() }
    routing.forgetEmptied()
    // A deadline may be an hour away, and most deliveries are over within a second.
    if agenda.entries > 2 * (deliveries.count + baggage.count + drags.count + transfers.count) + Memory.passedDeadlines
    {
      agenda.removeAll { appointment, time in
        switch appointment {
        case .delivery(let delivery): deliveries[delivery].map { $0.due > time } ?? true
        case .baggage(let delivery): baggage[delivery].flatMap(\.until).map { $0 > time } ?? true
        case .renewal(let call): transfers[call] == nil
        case .drag(let drag): drags[drag] == nil
        case .discards(let application): hosts[application] == nil
        }
      }
    }
    if sessions.count > Memory.rememberedSessions { sessions.removeAll() }
    if !longSessions.isEmpty {
      for session in longSessions { sessions.forget(session) }
      longSessions = []
    }
    if recent.count > Memory.rememberedDeliveries {
      recent.removeAll()
    } else if hasLongPayload {
      hasLongPayload = false
      recent.forget { _, delivery in delivery.payload.count > Memory.rememberedPayload }
    }
  }

  /// Forgets everything that is remembered for speed, while nobody needs it.
  mutating func forgetRemembered() {
    sessions.removeAll()
    recent.removeAll()
    payloads = [:]
    longSessions = []
    hasLongPayload = false
  }
}

/// A change of a delivery that is not here whole.
private struct DeliveryChange: Sendable {
  let progress: DeliveryProgress
  let previous: PreviouslyShown?
}
