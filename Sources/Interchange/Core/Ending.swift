import SceneModel
import SceneRouting

// How deliveries end, are redirected, and continue after a restart.
extension PromptBook {
  // MARK: Failed deliveries

  /// Ends a delivery that failed. Its session shows its previous content again. If the session was made for this delivery, was never connected and
  /// has no other delivery, it is discarded.
  ///
  /// A private delivery stays the content of its session if the host has it and did not refuse it, also when it is cancelled: the host may write the
  /// window's title from it later. A host that shows the window and was given the delivery before may show it although it refuses it now.
  ///
  /// - Parameter senders: What the calls that wait for the delivery are told, if it is more than others may hear.
  mutating func end(
    _ delivery: OpenDelivery, _ progress: DeliveryProgress, _ error: InterchangeError,
    tellingSender senders: InterchangeError? = nil
  ) throws(Halt) {
    if let identifier = delivery.session, let session = try session(identifier) {
      let mayBeOpened = mayBeOpened(session, for: delivery)
      if takesSession(delivery, session) {
        recordEnd(of: delivery, progress, error)
        // A host that was asked to open the session may show it all the same, and must hear that it is gone.
        try discard(session, animation: "standard", isTold: mayBeOpened)
      } else {
        if isProvisional(delivery, session) { memory.provisional[identifier] = mayBeOpened }
        let mayShow = session.isConnected && delivery.wasGivenBefore
        if !delivery.isPrivate || error.name == .hostRefused && !mayShow || !wasGiven(delivery) {
          try takeAway(delivery.identifier, from: session)
        }
        recordEnd(of: delivery, progress, error)
      }
    } else {
      recordEnd(of: delivery, progress, error)
    }
    overfull.insert(delivery.application)
    answerWaiters(of: delivery.identifier, .refused(senders ?? error))
  }

  /// Whether a host may have opened the session, or open it later: a host that lost its name, and attaches again, may read the question only then.
  private func mayBeOpened(_ session: Session, for delivery: OpenDelivery) -> Bool {
    delivery.cameBack || memory.provisional[session.identifier] ?? false
      || memory.opened.contains(session.identifier, of: session.application)
  }

  /// Whether a host has, or had, the delivery.
  private func wasGiven(_ delivery: OpenDelivery) -> Bool {
    delivery.progress.state == .forwarded || delivery.cameBack || isInHand(delivery)
  }

  /// Whether the host works on the delivery.
  func isInHand(_ delivery: OpenDelivery) -> Bool {
    guard let session = delivery.session else { return false }
    let lane = memory.lanes[Lane.Key(application: delivery.application, session: session)]
    return lane?.act.inHand?.identifier == delivery.identifier
  }

  /// Whether a session exists only for deliveries that are still on their way to it.
  private func isProvisional(_ delivery: OpenDelivery, _ session: Session) -> Bool {
    (delivery.progress.outcome == "created" || memory.provisional[session.identifier] != nil)
      && !session.hasBeenConnected
  }

  /// Whether the session is discarded with the delivery if the delivery fails now.
  func takesSession(_ delivery: OpenDelivery, _ session: Session) -> Bool {
    isProvisional(delivery, session)
      && !memory.open(of: session.identifier).contains { $0.identifier != delivery.identifier }
  }

  /// Whether the content before that of a delivery returns, or becomes the previous content of the next delivery, if the delivery fails.
  func givesWay(_ delivery: UniqueIdentifier, _ session: Session) -> Bool {
    session.shownBy == delivery || memory.followers[delivery].map { memory.deliveries[$0] != nil } ?? false
  }

  /// Records that the delivery is over. The calls that wait for it are answered last.
  private mutating func recordEnd(of delivery: OpenDelivery, _ progress: DeliveryProgress, _ error: InterchangeError) {
    note(.deliveryProgress(delivery.identifier, progress))
    if let session = progress.session {
      announce(
        .deliveryFailed(delivery: delivery.identifier, error: error.errorName, message: Text(error.message)),
        delivery.application, session)
    }
    log("\(delivery.identifier): \(progress.state.rawValue): \(delivery.isPrivate ? "it is private" : error.message)")
    dragEnds(with: delivery.identifier, .failed)
    release(delivery.identifier)
  }

  /// Undoes what a delivery did to its session: the session shows its previous content again, or that content becomes the previous content of the
  /// next delivery.
  ///
  /// - Parameter refuses: Whether the cue is refused if that content exceeds the limit. Otherwise the session then shows nothing.
  private mutating func takeAway(
    _ delivery: UniqueIdentifier, from session: Session, orRefuse refuses: Bool = false
  ) throws(Halt) {
    guard givesWay(delivery, session) else { return }
    let follower = memory.followers[delivery].flatMap { memory.deliveries[$0] }
    guard let whole = try self.delivery(delivery) else { return }
    if let follower {
      note(.deliveryRedirected(follower.identifier, follower.progress, whole.previous))
      // That content was accepted before, and takes the place of what this delivery gave.
      let size = Allowance.smallestDelivery + whole.previous.roughSize
      if let holding = follower.holding, holding.charge.amount < size {
        memory.deliveries[follower.identifier]?.holding = ledger.take(
          size, of: .waiting, for: holding.charge.principal)
      }
    }
    guard session.shownBy == delivery else { return }
    var previous = whole.previous
    // The host may show private content of an earlier delivery until it takes the public one.
    let act = memory.lanes[Lane.Key(application: session.application, session: session.identifier)]?.act
    let isAtWork = act?.given?.isPrivate == true && (act?.inHand?.identifier != delivery || !whole.isPrivate)
    if session.isPrivate, isAtWork || mayReadLate(of: session) { previous.isPrivate = true }
    var after = session.showingAgain(previous)
    let (more, taken) = (after.growth(since: session), memory.bytes(of: session.application))
    if let lack = lackOfSpace(for: more, of: session.application, beside: taken) {
      if refuses { throw .refused(lack) }
      // The host may still show the private content, and write its title.
      after = session.showingAgain(PreviouslyShown(isPrivate: previous.isPrivate))
      log(.warning, "\(delivery): its session shows nothing: \(lack.message)")
    }
    note(.session(after))
    announceShown(session, after)
  }

  /// Answers the calls that wait for the delivery.
  mutating func answerWaiters(of delivery: UniqueIdentifier, _ reply: CallAnswer) {
    for number in memory.waiters[delivery] ?? [] {
      if let connection = memory.calls[number]?.connection {
        memory.waitingFor.remove(WaitingCall(call: number, delivery: delivery), for: connection)
      }
      answer(number, reply)
    }
    memory.waiters[delivery] = nil
  }

  mutating func fail(_ delivery: OpenDelivery, _ error: InterchangeError) throws(Halt) {
    try end(delivery, delivery.failed(error, at: now.time), error)
  }

  // MARK: Discarded sessions

  /// Takes a session out of routing and off the bus. Its open deliveries fail, some at a time.
  mutating func discard(_ session: Session, animation: Text, isTold: Bool = true) throws(Halt) {
    let identifier = session.identifier
    note(.sessionDiscarded(identifier))
    if isTold { note(.discardOwed(application: session.application, session: identifier)) }
    memory.provisional[identifier] = nil
    say(.sessionWent(identifier))
    announce(.sessionDiscarded(animation: animation), session.application, identifier)
    log("\(session.application): \(session.isPrivate ? "a session" : "\(identifier)"): discarded")
    try letGo(of: identifier)
    closeScene(of: session, animation, isTold: isTold)
  }

  /// Fails the next deliveries to a session that was discarded, and releases the next contents that were kept for it.
  mutating func letGo(of session: UniqueIdentifier) throws(Halt) {
    let gone = InterchangeError(.noSuchSession, "its session was discarded")
    for delivery in memory.open(of: session, atMost: PromptBook.deliveriesAtOnce) {
      recordEnd(of: delivery, delivery.failed(gone, at: now.time), gone)
      answerWaiters(of: delivery.identifier, .refused(gone))
    }
    for entry in memory.baggageOfSession[session].prefix(PromptBook.deliveriesAtOnce) { release(entry.identifier) }
    let isDone = !memory.isAwaited(session) && memory.baggageOfSession.count(of: session) == 0
    memory.discarded[session] = isDone ? nil : true
  }

  // MARK: Requests of senders

  func openDelivery(
    _ identifier: UniqueIdentifier, of caller: Caller, where isAllowed: (StoredDelivery) -> Bool
  ) throws(Halt) -> StoredDelivery {
    guard let delivery = try delivery(identifier) else { throw noDelivery(identifier) }
    if caller.isSandboxed, caller.application.isEmpty || !isAllowed(delivery) {
      throw refused(
        .accessDenied,
        "a sandboxed caller may cancel deliveries that it sent, and redirect those for its application: \(identifier) is another's"
      )
    }
    return delivery
  }

  func noDelivery(_ identifier: UniqueIdentifier) -> Halt { .refused(.noDelivery("\(identifier)")) }

  mutating func cancel(_ identifier: UniqueIdentifier, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    let stored = try openDelivery(identifier, of: caller) { $0.sender == caller.application }
    guard let delivery = memory.deliveries[identifier], isHeld(delivery) || delivery.progress.state == .forwarded else {
      let state = memory.deliveries[identifier]?.progress.state ?? stored.progress.state
      throw refused(
        .requestDenied,
        "the delivery \(identifier) is \(state.rawValue): only a held or forwarded delivery can be cancelled")
    }
    let cancelled = InterchangeError(.cancelled, "it was cancelled while it was \(delivery.progress.state.rawValue)")
    try end(delivery, delivery.cancelled(cancelled, at: now.time), cancelled)
    try giveUpOldSessions()
    answer(number, .done)
  }

  /// Redirects a delivery to another session of its application. The first session shows its previous content again; a session that was made for the
  /// delivery stays as it is if a host was given the delivery, and otherwise is discarded.
  mutating func redirect(
    _ identifier: UniqueIdentifier, to target: UniqueIdentifier, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let stored = try openDelivery(identifier, of: caller) { $0.application == caller.application }
    let open = memory.deliveries[identifier]
    let payload = try payload(redirecting: stored, open, to: target)
    let decision = try decideRedirect(of: stored, payload, to: target)
    let before = open?.progress ?? stored.progress
    // In the same session, a later delivery may have this one's content as its previous content. A window that may show private content keeps it.
    let wasGiven = open.map { self.wasGiven($0) } ?? true
    if let first = before.session, before.outcome != "created", !(stored.isPrivate && wasGiven),
      let session = try session(first),
      first != target || session.shownBy != identifier
    {
      try takeAway(identifier, from: session, orRefuse: true)
    }
    let showsIt = try session(target)?.shownBy == identifier
    let wasGivenThere = wasGiven && showsIt
    let emptied = wasGiven ? nil : try sessionMade(for: open, beside: target)
    let isHosted = stateOfOpen(to: stored.application) == .routed
    let progress = before.redirected(
      to: target, outcome: decision.outcome.name, isHosted: isHosted, wasGiven: wasGiven)
    let previous = try decision.fact.flatMap { fact throws(Halt) in
      try show(fact, by: identifier, stored.isPrivate)
    }
    // If the target shows this delivery already, the content before it stays as recorded.
    var redirected = stored
    let isShown = target == before.session && (previous == nil || previous?.shownBy == identifier)
    if !isShown { redirected.previous = previous ?? PreviouslyShown() }
    var holding = open?.holding
    if case let size = Allowance.size(of: redirected), holding.map({ $0.charge.amount < size }) ?? true {
      holding = try ledger.charge(size, of: .waiting, to: caller.principal)
    }
    note(
      isShown
        ? .deliveryProgress(identifier, progress) : .deliveryRedirected(identifier, progress, redirected.previous))
    memory.deliveries[identifier]?.holding = holding
    if wasGivenThere { memory.deliveries[identifier]?.isFromBefore = true }
    if open == nil { memory.deliveries[identifier]?.confidant = memory.baggage[identifier]?.confidant }
    announceRouting(decision, of: identifier, stored.isPrivate)
    log("\(identifier): redirected to \(stored.isPrivate ? "a session" : "\(target)")")
    if let open, let emptied { try discard(emptied, animation: "standard", isTold: mayBeOpened(emptied, for: open)) }
    try handOver(to: target, of: stored.application)
    // The first session may have no delivery any more.
    try giveUpOldSessions(of: stored.application)
    answer(number, .outcome(decision.outcome.name))
  }

  /// A session that was made for the delivery and has no other would show the content for ever.
  private mutating func sessionMade(
    for delivery: OpenDelivery?, beside target: UniqueIdentifier
  ) throws(Halt) -> Session? {
    guard let delivery, let identifier = delivery.session, identifier != target,
      let session = try session(identifier), takesSession(delivery, session)
    else { return nil }
    return session
  }

  /// The payload of a delivery that may be redirected.
  private mutating func payload(
    redirecting stored: StoredDelivery, _ open: OpenDelivery?, to target: UniqueIdentifier
  ) throws(Halt) -> Payload {
    guard let found = try session(target) else {
      throw refused(.noSuchSession, "there is no session \(SessionReference.path(of: target))")
    }
    guard found.application == stored.application else {
      throw refused(
        .requestDenied, "the delivery is for \(stored.application), and that is a session of \(found.application)")
    }
    // The window may have taken the delivery before anyone saw that it is the wrong window. The documents go at the deadline, and stay gone if the clock
    // is set back.
    guard open != nil || stored.progress.state == .handled && now.time < stored.deadline && !stored.payload.isEmpty
    else {
      let why =
        stored.progress.state == .handled
        ? ", and its time is over" : ": only an open or a handled delivery can be redirected"
      throw refused(
        .requestDenied, "the delivery \(stored.identifier) is \(stored.progress.state.rawValue)\(why)")
    }
    if open?.progress.state == .forwarded {
      throw refused(.requestDenied, "the delivery \(stored.identifier) is forwarded: its host has taken it")
    }
    // A delivery to a session whose configuration the manifest has lost ends with that session.
    if let identifier = open?.session, let session = try session(identifier),
      let manifest = memory.routing.manifest(of: stored.application), !manifest.has(configurationOf: session)
    {
      noteOrphans(of: stored.application)
      throw refused(
        .requestDenied,
        "the delivery \(stored.identifier) goes with its session, whose configuration the manifest has lost")
    }
    let payload = try readPayload(of: stored)
    let kept = memory.baggage[stored.identifier]
    if payload.hasContents, kept == nil {
      throw refused(
        .requestDenied, "the host has released what the delivery \(stored.identifier) carried: hand it in again")
    }
    if open == nil, payload.hasOwnProcess, kept?.confidant == nil {
      throw refused(
        .requestDenied,
        "the delivery \(stored.identifier) is in part for the process alone that sent it, and nobody knows that process any more: hand it in again"
      )
    }
    return payload
  }

  private func decideRedirect(
    of stored: StoredDelivery, _ payload: Payload, to target: UniqueIdentifier
  ) throws(Halt) -> Decision {
    var payload = payload
    payload.options = PayloadOptions()
    payload.options.session = Text("\(target)")
    payload.options.isPrivate = stored.isPrivate
    let request = Request(payload, newSession: target)
    let decision = try SceneRouting.decide(memory.routing, request, at: now.time).decision()
    guard case .refused(let refusal) = decision.outcome else { return decision }
    let error = InterchangeError(refusal)
    // The sentence may reveal the content of the delivery, and anyone may ask.
    let sentence = stored.isPrivate ? "the private delivery \(stored.identifier) cannot go there" : error.message
    throw refused(error.name, sentence)
  }

  func readPayload(of stored: StoredDelivery) throws(Halt) -> Payload {
    do throws(Fault) {
      return try Payload(json: stored.payload, ReadingRules(storedIn: types))
    } catch {
      throw .refused(unreadable(error, isPrivate: stored.isPrivate))
    }
  }

  // MARK: Time

  mutating func momentCame() throws(Halt) {
    try discardOrMoveOrphans()
    try letGoNext()
    try disconnectNext()
    try goOnWithRounds()
    let due = appointmentsDue()
    try askForWholeOnes(
      failing: due.compactMap { appointment in
        guard case .delivery(let identifier) = appointment, let delivery = memory.deliveries[identifier] else {
          return nil
        }
        return failsLate(delivery) ?? false ? delivery : nil
      })
    for appointment in due {
      switch appointment {
      case .delivery(let identifier):
        // An earlier one may have taken its session with it.
        if let delivery = memory.deliveries[identifier] { try deadlineCame(for: delivery) }
      case .baggage(let delivery): baggageTimeIsOver(delivery)
      case .renewal(let call): renewalTimeIsOver(call)
      case .drag(let drag): dragTimeIsOver(drag)
      case .discards(let application): tellDiscards(to: application)
      }
    }
  }

  /// The appointments whose time has come, as many as one step keeps.
  private mutating func appointmentsDue() -> [Appointment] {
    var (due, work): ([Appointment], Double) = ([], 0)
    while work < 1, let appointment = memory.nextDue(at: now.uptime) {
      switch appointment {
      case .delivery(let identifier):
        guard let delivery = memory.deliveries[identifier], delivery.due <= now.uptime else { continue }
      case .drag(let drag): work += workOfEnding(drag)
      case .baggage, .renewal, .discards: break
      }
      work += 1 / Double(PromptBook.deliveriesAtOnce)
      due.append(appointment)
    }
    return due
  }

  /// Whether a delivery fails that has waited too long. Otherwise nobody claims it; `nil` while the shell is finding out whether anything can start its
  /// application.
  private func failsLate(_ delivery: OpenDelivery) -> Bool? {
    isHeld(delivery) ? canBeStarted(delivery.application) : true
  }

  private mutating func deadlineCame(for delivery: OpenDelivery) throws(Halt) {
    let identifier = delivery.identifier
    if delivery.progress.state == .forwarded {
      let late = InterchangeError(
        .hostTimeout,
        "the host of \(delivery.application) did not tell in time what became of the delivery \(identifier)")
      return try fail(delivery, late)
    }
    guard let fails = failsLate(delivery) else {
      // The shell is finding out whether anything can start it.
      memory.add(.delivery(identifier), at: now.uptime + 100_000)
      return
    }
    if fails {
      if case .ended? = memory.starts[delivery.application] {
        memory.starts[delivery.application] = .ended(until: now.uptime)
      }
      return try fail(
        delivery,
        isHeld(delivery) && memory.starts[delivery.application] != nil ? .notAttached(delivery) : .notTaken(delivery))
    }
    note(.deliveryProgress(identifier, delivery.unclaimed(at: now.time)))
    if let session = delivery.session {
      memory.provisional[session] = nil
      announce(.unclaimed(delivery: identifier), delivery.application, session)
    }
    log("\(identifier): routed, and no host took it in time")
    dragEnds(with: identifier, .failed)
    release(identifier)
    overfull.insert(delivery.application)
    answerWaiters(of: identifier, .refused(.nobodyTook(identifier)))
  }

  // MARK: Beginning

  /// Continues after a restart. No session is connected until its host says so: the host may have gone meanwhile.
  mutating func begin() throws(Halt) {
    let waiting = memory.deliveriesToApplication.keys.sorted()
    for application in waiting { memory.rounds[application] = .holding(.all(through: memory.order)) }
    letGoOfOwed()
    try goOnWithRounds()
    try disconnectNext()
    for application in waiting { try start(application) }
  }
}
