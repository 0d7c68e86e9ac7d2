import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

// How deliveries go on after they were decided.
extension Interchange {
  /// Nothing comes of it: its session shows again what it showed before, or is discarded if it was made for it and never connected.
  func end(
    _ delivery: StoredDelivery, _ ending: DeliveryState, _ error: InterchangeError, _ share: inout Turn.Share,
    _ now: Instant
  ) throws(InterchangeError) {
    fail(delivery.summary, ending, error, &share, now)
    guard let identifier = delivery.progress.session, let session = try session(identifier, in: share) else { return }
    if delivery.progress.outcome == "created", !session.hasBeenConnected {
      // No host ever knew of it.
      try discard(session, animation: "standard", besides: delivery.identifier, isTold: false, &share, now)
    } else {
      try putBack(delivery, session, &share)
    }
  }

  /// A delivery is over, its deadline with it, and whoever waits for it is told.
  private func fail(
    _ delivery: DeliverySummary, _ ending: DeliveryState, _ error: InterchangeError, _ share: inout Turn.Share,
    _ now: Instant
  ) {
    var progress = delivery.progress
    (progress.state, progress.isOpen) = (ending, false)
    progress.error = DeliveryError(name: Text(error.errorName.rawValue), message: Text(error.message))
    share.records.append(.deliveryProgress(delivery.identifier, progress))
    if let session = progress.session {
      announce(
        .deliveryFailed(
          delivery: delivery.identifier, error: Text(error.errorName.rawValue), message: Text(error.message)),
        application: delivery.application, session: session, in: &share, at: now)
    }
    share.onceStored { me in
      me.log.info("\(delivery.identifier): \(ending.rawValue): \(error.message)")
      me.settled(delivery.identifier, .failure(error))
    }
  }

  /// It is over: nobody waits for it any more.
  func settled(_ delivery: UniqueIdentifier, _ result: Result<Answer, InterchangeError>) {
    deadlines.remove(delivery)
    senders[delivery] = nil
    waiting.removeValue(forKey: delivery)?(result)
  }

  /// Out of routing and off the bus. What it was still to be given fails with it, besides the delivery that takes it along.
  func discard(
    _ session: Session, animation: Text, besides ending: UniqueIdentifier? = nil, isTold: Bool = true,
    _ share: inout Turn.Share, _ now: Instant
  ) throws(InterchangeError) {
    let open = try stored { () throws(StoreError) in try store.openDeliveries(to: session.identifier) }
    share.onRefusal(revert: state.discard(session.identifier))
    share.records.append(.sessionDiscarded(session.identifier))
    leaving.insert(session.identifier)
    share.onRefusal { $0.leaving.remove(session.identifier) }
    sessionCount -= 1
    share.onRefusal { $0.sessionCount += 1 }
    if isTold {
      share.records.append(.discardOwed(application: session.application, session: session.identifier))
      share.onceTold { me in me.close(session, animation) }
    }
    share.onceStored { me in
      me.leaving.remove(session.identifier)
      me.log.info("\(session.application): \(session.isPrivate ? "a session" : "\(session.identifier)"): discarded")
      me.connection.objectRemoved(
        at: InterchangeNames.path(ofSession: session.identifier), [InterchangeNames.session])
    }
    announce(
      .sessionDiscarded(animation: animation), application: session.application, session: session.identifier,
      in: &share, at: now)
    let gone = InterchangeError(.noSuchSession, "its session was discarded")
    for delivery in open where delivery.identifier != ending { fail(delivery, .failed, gone, &share, now) }
  }

  /// It goes to another session of its application, and the first one shows again what it showed before. One that was made for it stays
  /// as it is.
  func redirect(
    _ delivery: StoredDelivery, _ decision: Decision, from caller: Caller, _ share: inout Turn.Share, _ now: Instant
  ) throws(InterchangeError) {
    guard let target = decision.outcome.session else { return }
    if let first = delivery.progress.session, first != target, delivery.progress.outcome != "created",
      let session = try session(first, in: share)
    {
      try putBack(delivery, session, &share)
    }
    var progress = delivery.progress
    if !progress.isOpen {
      progress.isOpen = true
      let room = try room(for: delivery, from: caller)
      deadlines.add(delivery.identifier, at: delivery.deadline, of: caller.counted, taking: room, self)
      share.onRefusal { $0.deadlines.remove(delivery.identifier) }
    }
    progress.state = stateOfOpen(to: delivery.application)
    progress.session = target
    progress.outcome = decision.outcome.name
    progress.attempt += 1
    share.onceStored { me in
      me.log.info("\(delivery.identifier): redirected to \(delivery.isPrivate ? "a session" : "\(target)")")
    }
    share.onceTold { me in me.handOver(delivery.identifier, to: target, of: delivery.application) }
    var previous: PreviouslyShown?
    if let fact = decision.fact {
      share.onRefusal(revert: state.apply(fact))
      previous = try keep(fact, for: delivery.identifier, isPrivate: delivery.isPrivate, &share)
    }
    // A window that it shows already stood as it does now before it came.
    if target == delivery.progress.session, previous == nil || previous?.shownBy == delivery.identifier {
      share.records.append(.deliveryProgress(delivery.identifier, progress))
    } else {
      let previous = previous ?? PreviouslyShown()
      share.records.append(.deliveryRedirected(delivery.identifier, progress, previous))
    }
    announceRouting(decision, of: delivery.identifier, isPrivate: delivery.isPrivate, &share, now)
  }

  /// Takes up what was left when the service ended. Deliveries that were waiting wait on, with the deadlines that they had. No session is
  /// connected until its host says so: it may have gone meanwhile.
  func resume() {
    do throws(StoreError) {
      let open = try store.openDeliveries()
      for delivery in open { deadlines.add(delivery.identifier, at: delivery.deadline, self) }
      // What a host had when the service ended it may have seen.
      try store.commit(
        open.filter { $0.progress.state == .routed }.map { delivery in
          var progress = delivery.progress
          progress.state = .held
          progress.attempt += 1
          return .deliveryProgress(delivery.identifier, progress)
        }, at: settings.now())
      for application in Set(open.map(\.application)) { start(application) }
    } catch {
      log.error("the deliveries that wait cannot be read: \(error.message)")
    }
    do throws(StoreError) {
      let left = try store.connectedSessions().map { session in
        var session = session
        (session.isConnected, session.state) = (false, .unattached)
        return session
      }
      try store.commit(left.map { .session($0) }, at: settings.now())
      for session in left where state.contains(session.identifier) { state.update(session) }
    } catch {
      log.error("the sessions that were connected cannot be disconnected: \(error.message)")
    }
  }

  /// Deliveries whose time has come. An application that nobody hosts and nothing can start has had its delivery by then: state and signals
  /// are all there is.
  func deadlineCame() {
    endTurn()
    let now = settings.now()
    // Where the disk takes nothing for the moment, they are tried again later, and not at once for ever.
    let again = now.adding(seconds: 5)
    for identifier in deadlines.due(at: now, atMost: 100, self) {
      // One that ends may take others along.
      endTurn()
      let delivery: StoredDelivery?
      do throws(StoreError) {
        delivery = try store.delivery(identifier)
      } catch {
        deadlines.add(identifier, at: again, self)
        continue
      }
      guard let delivery, delivery.progress.isOpen else { continue }
      do {
        try deadlineCame(for: delivery, tryingAgain: again)
      } catch {
        deadlines.add(identifier, at: again, self)
      }
    }
  }

  private func deadlineCame(for delivery: StoredDelivery, tryingAgain again: Instant) throws {
    let identifier = delivery.identifier
    guard let canBeStarted = canBeStarted(delivery.application) else {
      // Whether anything can start it is being asked.
      deadlines.add(identifier, at: settings.now().adding(seconds: 0.1), self)
      return
    }
    try collect(refuse: { [log] in log.error("\(identifier): \($0.message)") }) { share in
      share.onRefusal { me in me.deadlines.add(identifier, at: again, me) }
      if canBeStarted || delivery.progress.state == .routed {
        if case .ended? = starts[delivery.application] { starts[delivery.application] = .ended(isLate: true) }
        let late = InterchangeError(
          .hostTimeout, "the host of \(delivery.application) did not take the delivery \(identifier) in time")
        return try end(delivery, .failed, late, &share, settings.now())
      }
      var progress = delivery.progress
      (progress.state, progress.isOpen) = (.routed, false)
      share.records.append(.deliveryProgress(identifier, progress))
      share.onceStored { me in
        me.log.info("\(identifier): routed, and no host took it in time")
        me.settled(identifier, .failure(.nobodyTook(identifier)))
      }
    }
  }
}
