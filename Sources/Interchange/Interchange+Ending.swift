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
  ) {
    var progress = delivery.progress
    progress.state = ending
    progress.isOpen = false
    progress.error = DeliveryError(name: Text(error.errorName.rawValue), message: Text(error.message))
    share.records.append(.deliveryProgress(delivery.identifier, progress))
    guard let session = progress.session else { return }
    announce(
      .deliveryFailed(
        delivery: delivery.identifier, error: Text(error.errorName.rawValue), message: Text(error.message)),
      application: delivery.application, session: session, in: &share, at: now)
    log.info("\(delivery.identifier): \(ending.rawValue)")
    guard progress.outcome == "created",
      let made = (try? store.session(session)) ?? nil, !made.hasBeenConnected
    else { return }
    discard(made, animation: "standard", besides: delivery.identifier, &share, now)
  }

  /// Out of routing and off the bus. What it was still to be given fails with it, besides the delivery that takes it along.
  func discard(
    _ session: Session, animation: Text, besides ending: UniqueIdentifier? = nil, _ share: inout Turn.Share,
    _ now: Instant
  ) {
    share.undos.append(state.discard(session.identifier))
    share.records.append(.sessionDiscarded(session.identifier))
    share.records.append(.discardOwed(application: session.application, session: session.identifier))
    share.speak.append { me in
      me.connection.objectRemoved(
        at: InterchangeNames.path(ofSession: session.identifier), [InterchangeNames.session])
    }
    announce(
      .sessionDiscarded(animation: animation), application: session.application, session: session.identifier,
      in: &share, at: now)
    let gone = InterchangeError(.noSuchSession, "its session was discarded")
    // Where the store cannot be read, nothing will be stored either.
    let open = (try? store.openDeliveries(of: session.application)) ?? []
    for delivery in open where delivery.progress.session == session.identifier && delivery.identifier != ending {
      var progress = delivery.progress
      (progress.state, progress.isOpen) = (.failed, false)
      progress.error = DeliveryError(name: Text(gone.errorName.rawValue), message: Text(gone.message))
      share.records.append(.deliveryProgress(delivery.identifier, progress))
      announce(
        .deliveryFailed(
          delivery: delivery.identifier, error: Text(gone.errorName.rawValue), message: Text(gone.message)),
        application: session.application, session: session.identifier, in: &share, at: now)
      share.speak.append { me in
        me.deadlines.remove(delivery.identifier)
        me.waiting.removeValue(forKey: delivery.identifier)?(.failure(gone))
      }
    }
  }

  func redirect(
    _ delivery: StoredDelivery, _ decision: Decision, _ payload: Payload, _ share: inout Turn.Share, _ now: Instant
  ) {
    guard let session = decision.outcome.session else { return }
    var progress = delivery.progress
    progress.session = session
    progress.outcome = decision.outcome.name
    progress.attempt += 1
    if let fact = decision.fact { share.undos.append(state.apply(fact)) }
    share.records.append(.sessionActivated(SessionActivation(session: session, at: now)))
    share.records.append(.deliveryProgress(delivery.identifier, progress))
    for case .announceRouting(let routing) in decision.effects {
      announce(
        .routed(
          outcome: decision.outcome.name, configuration: routing.configuration,
          activityType: delivery.isPrivate ? .empty : routing.activityType,
          targetContentIdentifier: delivery.isPrivate ? .empty : routing.targetContentIdentifier,
          delivery: delivery.identifier),
        application: routing.application, session: session, in: &share, at: now)
    }
  }

  /// Deliveries that were waiting when the service ended wait on, with the deadlines that they had.
  func resume() {
    do throws(StoreError) {
      for delivery in try store.openDeliveries() { deadlines.add(delivery.identifier, at: delivery.deadline, self) }
    } catch {
      log.error("the deliveries that wait cannot be read: \(error.message)")
    }
  }

  /// Deliveries whose time has come. An application that nobody hosts and nothing can start has had its delivery by then: state and signals
  /// are all there is.
  func deadlineCame() {
    endTurn()
    let now = settings.now()
    for identifier in deadlines.due(at: now, self) {
      guard let delivery = (try? store.delivery(identifier)) ?? nil, delivery.progress.state == .held else { continue }
      var progress = delivery.progress
      progress.state = .routed
      progress.isOpen = false
      var share = Turn.Share(refuse: { _ in })
      share.records.append(.deliveryProgress(identifier, progress))
      share.speak.append { me in
        let late = InterchangeError(
          .hostTimeout, "no host took the delivery \(identifier) in time; it has been routed, and its session stays")
        me.waiting.removeValue(forKey: identifier)?(.failure(late))
      }
      add(share)
    }
  }
}
