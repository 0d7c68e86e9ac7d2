import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

// What the host is asked, once everyone was told what was decided.
//
// Which calls are made follows what the session is when they are made. The return of the first of them acknowledges the delivery; its
// error refuses it, its silence is a time-out; where the host goes, the delivery is held again.
extension Interchange {
  /// Gives a delivery to its host, or looks for one.
  func handOver(_ delivery: UniqueIdentifier, to session: UniqueIdentifier, of application: Text) {
    guard let host = hosts[application] else { return start(application) }
    // Until it is ready, what is held waits for that.
    if host.isReady { ask(host, .deliver(delivery), session) }
  }

  /// What was held is given in the order in which it came.
  func handOverHeld(to host: Host) {
    endTurn()
    do {
      let held = try stored { () throws(StoreError) in try store.openDeliveries(of: host.application) }
      var share = Turn.Share(refuse: { [log] in log.error("what is held cannot be handed over: \($0.message)") })
      for delivery in held {
        var progress = delivery.progress
        guard let session = progress.session else { continue }
        progress.state = .routed
        share.records.append(.deliveryProgress(delivery.identifier, progress))
        share.afterwards.append { me in me.ask(host, .deliver(delivery.identifier), session) }
      }
      add(share)
    } catch {
      log.error("what is held for \(host.application) cannot be read: \(error.message)")
    }
  }

  func ask(_ host: Host, _ errand: Host.Errand, _ session: UniqueIdentifier) {
    if host.add(errand, session) { connection.loop.task { await work(for: host, session) } }
  }

  private func work(for host: Host, _ session: UniqueIdentifier) async {
    while hosts[host.application] === host, let errand = host.next(session) {
      switch errand {
      case .deliver(let delivery):
        host.inHand[session] = delivery
        await deliver(delivery, to: session, host)
        host.inHand[session] = nil
      case .refresh: await refresh(session, host)
      case .destroy(let animation): await destroy(session, animation, host)
      }
    }
  }

  // MARK: A delivery

  private func deliver(_ identifier: UniqueIdentifier, to session: UniqueIdentifier, _ host: Host) async {
    endTurn()
    do {
      guard let delivery = try openDelivery(identifier, to: session), var target = try stored(session) else { return }
      let payload = try read { () throws(Fault) in try Payload(json: delivery.payload, rules) }
      let options = ConnectionOptions(delivery, payload, target, isSandboxed: host.isSandboxed)
      var isAcknowledged = false
      if !target.isConnected {
        target = try await configured(target, delivery, options, host)
        try await host.calls.connectScene(
          session, configuration: target.configuration, options: options.json, within: time(for: delivery))
        try acknowledge(identifier, session, host, connects: true)
        isAcknowledged = true
      } else if !payload.items.isEmpty {
        try await host.calls.continueScene(session, options: options.json, within: time(for: delivery))
        try acknowledge(identifier, session, host)
        isAcknowledged = true
      }
      do {
        try await host.calls.activateScene(
          session, token: payload.options.activationToken, within: time(for: delivery))
      } catch {
        if !isAcknowledged { throw error }
        log.warning("\(identifier): ActivateScene: \(error)")
      }
      if !isAcknowledged { try acknowledge(identifier, session, host) }
    } catch let error as CallError {
      if await hasLeft(host, error) { return }
      refuse(identifier, session, InterchangeError(error, of: host.application))
    } catch {
      log.error("\(identifier): \(error)")
    }
  }

  private func stored(_ identifier: UniqueIdentifier) throws(InterchangeError) -> Session? {
    try stored { () throws(StoreError) in try store.session(identifier) }
  }

  /// `nil` where it came to its end meanwhile, or goes to another session.
  private func openDelivery(
    _ identifier: UniqueIdentifier, to session: UniqueIdentifier
  ) throws(InterchangeError) -> StoredDelivery? {
    endTurn()
    let delivery = try stored { () throws(StoreError) in try store.delivery(identifier) }
    return delivery.flatMap { $0.progress.isOpen && $0.progress.session == session ? $0 : nil }
  }

  /// What is left of its deadline.
  private func time(for delivery: StoredDelivery) -> Duration {
    .microseconds(max(1, delivery.deadline.microseconds - settings.now().microseconds))
  }

  /// A host that wants to be asked says which configuration a new session gets. What it does not say, the manifest does.
  private func configured(
    _ session: Session, _ delivery: StoredDelivery, _ options: ConnectionOptions, _ host: Host
  ) async throws -> Session {
    guard let manifest = state.manifest(of: session.application), manifest.isDynamic,
      delivery.progress.outcome == "created", !session.hasBeenConnected
    else { return session }
    let answer: Text
    do {
      answer = try await host.calls.configurationForConnecting(
        session.identifier, role: session.role, options: options.json)
    } catch {
      log.warning("\(delivery.identifier): ConfigurationForConnecting: \(error)")
      return session
    }
    guard !answer.isEmpty, answer != session.configuration else { return session }
    guard manifest.configurations.contains(where: { $0.role == session.role && $0.name == answer }) else {
      log.warning("\(delivery.identifier): ConfigurationForConnecting: there is no \(quoted(answer.string))")
      return session
    }
    endTurn()
    guard let found = try stored(session.identifier) else { return session }
    let configured = found.configured(answer)
    try collect(refuse: { [log] in log.error("\(delivery.identifier): \($0.message)") }) { share in
      share.onRefusal(revert: state.update(configured))
      share.set(configured)
      share.speak.append { me in me.announce(["Configuration"], of: session.identifier, isPrivate: false) }
    }
    endTurn()
    return configured
  }

  /// The host has taken it.
  private func acknowledge(
    _ identifier: UniqueIdentifier, _ session: UniqueIdentifier, _ host: Host, connects: Bool = false
  ) throws(InterchangeError) {
    let delivery = try openDelivery(identifier, to: session)
    let now = settings.now()
    var share = Turn.Share(refuse: { [log] in log.error("\(identifier): \($0.message)") })
    // It has opened its window, whatever became of the delivery meanwhile; where it has left since, the window went along.
    if connects, hosts[host.application] === host, let opened = try stored(session) { connect(opened, &share) }
    if let delivery {
      var progress = delivery.progress
      (progress.state, progress.isOpen) = (.handled, false)
      share.records.append(.deliveryProgress(identifier, progress))
      announce(
        .handled(delivery: identifier), application: delivery.application, session: session, in: &share, at: now)
      let answer = Answer(session: session, outcome: progress.outcome, delivery: identifier)
      share.speak.append { me in
        me.deadlines.remove(identifier)
        me.waiting.removeValue(forKey: identifier)?(.success(answer))
        me.log.info("\(identifier): handled")
      }
    }
    add(share)
  }

  private func refuse(_ identifier: UniqueIdentifier, _ session: UniqueIdentifier, _ error: InterchangeError) {
    do {
      guard let delivery = try openDelivery(identifier, to: session) else { return }
      try fail(delivery, error)
    } catch {
      log.error("\(identifier): \(error)")
    }
  }

  /// Nothing comes of a delivery that nobody asked about just now.
  func fail(_ delivery: StoredDelivery, _ error: InterchangeError) throws {
    try collect(refuse: { [log] in log.error("\(delivery.identifier): \($0.message)") }) { share in
      try end(delivery, .failed, error, &share, settings.now())
    }
  }

  // MARK: Closing and drawing again

  /// A session is gone: its scene is closed where there is one or one is being opened, and its host hears that it is gone for good.
  func close(_ session: Session, _ animation: Text) {
    refreshes.remove(session.identifier)
    guard let host = hosts[session.application] else { return }
    if session.isConnected || host.isBusy(with: session.identifier) {
      host.closing.insert(session.identifier)
      ask(host, .destroy(animation: animation), session.identifier)
    } else {
      connection.loop.task { await tellDiscards(to: host) }
    }
  }

  private func destroy(_ session: UniqueIdentifier, _ animation: Text, _ host: Host) async {
    do {
      try await host.calls.destroyScene(session, animation: animation)
    } catch {
      log.warning("\(host.application): DestroyScene: \(error)")
    }
    host.closing.remove(session)
    await tellDiscards(to: host)
  }

  /// Passed on while the scene is in the background, once for all who asked since the last time.
  func passOnRefresh(of session: Session) {
    guard refreshes.contains(session.identifier), session.isConnected, session.state == .background,
      let host = hosts[session.application]
    else { return }
    refreshes.remove(session.identifier)
    ask(host, .refresh, session.identifier)
  }

  private func refresh(_ session: UniqueIdentifier, _ host: Host) async {
    do {
      try await host.calls.refreshScene(session)
    } catch {
      log.warning("\(host.application): RefreshScene: \(error)")
    }
  }
}

extension Session {
  fileprivate func configured(_ configuration: Text) -> Session {
    var session = self
    session.configuration = configuration
    return session
  }
}

extension InterchangeError {
  /// Why a host did not take a delivery.
  fileprivate init(_ error: CallError, of application: Text) {
    switch error {
    case .timedOut: self.init(.hostTimeout, "the host of \(application) did not answer in time")
    case .replied(let reply): self.init(.hostRefused, "the host of \(application) refused it: \(reply)")
    default: self.init(.hostRefused, "the host of \(application) could not be asked: \(error)")
    }
  }
}
