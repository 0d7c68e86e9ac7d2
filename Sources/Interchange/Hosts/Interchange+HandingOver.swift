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
    guard hosts[host.application] === host else { return }
    do {
      let held = try openDeliveries(of: host.application)
      try collect(refuse: { _ in self.assumeIsolated { $0.later { $0.handOverHeld(to: host) } } }) { share in
        for delivery in held {
          var progress = delivery.progress
          guard let session = progress.session else { continue }
          progress.state = .routed
          if progress != delivery.progress { share.records.append(.deliveryProgress(delivery.identifier, progress)) }
          share.onceTold { me in me.ask(host, .deliver(delivery.identifier), session) }
        }
      }
    } catch {
      later { me in me.handOverHeld(to: host) }
    }
  }

  func ask(_ host: Host, _ errand: Host.Errand, _ session: UniqueIdentifier) {
    begin(host.add(errand, session), for: host)
  }

  private func begin(_ sessions: [UniqueIdentifier], for host: Host) {
    for session in sessions { connection.loop.task { await work(for: host, session) } }
  }

  private func work(for host: Host, _ session: UniqueIdentifier) async {
    while hosts[host.application] === host, let errand = host.next(session) {
      switch errand {
      // One that has left may have seen it: that stands until everyone hears that it has left.
      case .deliver(let delivery): guard await deliver(delivery, to: session, host) else { return }
      case .refresh: await refresh(session, host)
      case .destroy(let animation): await destroy(session, animation, host)
      }
    }
    begin(host.end(), for: host)
  }

  // MARK: A delivery

  /// Answers whether the host is still there.
  private func deliver(_ identifier: UniqueIdentifier, to session: UniqueIdentifier, _ host: Host) async -> Bool {
    do {
      guard let delivery = try openDelivery(identifier, to: session), var target = try storedSession(session) else {
        return true
      }
      // It waited for its host too long, and is to fail at any moment.
      if delivery.deadline <= settings.now() { return true }
      let payload = try read { () throws(Fault) in try Payload(json: delivery.payload, rules) }
      let options = ConnectionOptions(delivery, payload, target, host, ownSender: senders[identifier])
      var isAcknowledged = false
      if !target.isConnected {
        guard let configured = try await configured(target, delivery, options, host) else { return true }
        target = configured
        try await open(target, options, host, within: time(for: delivery))
        guard try acknowledge(identifier, session, host, connects: true) else { return true }
        isAcknowledged = true
        host.answered(session)
      } else if !payload.items.isEmpty {
        try await host.calls.continueScene(session, options: options.json, within: time(for: delivery))
        guard try acknowledge(identifier, session, host) else { return true }
        isAcknowledged = true
        host.answered(session)
      }
      do {
        try await host.calls.activateScene(
          session, token: payload.options.activationToken, within: time(for: delivery))
      } catch {
        if !isAcknowledged { throw error }
        log.warning("\(identifier): ActivateScene: \(delivery.isPrivate ? "it failed" : error.short)")
      }
      if !isAcknowledged { _ = try acknowledge(identifier, session, host) }
    } catch let error as CallError {
      if await hasLeft(host, error) {
        if error.cameToNobody { host.neverHad(session) }
        return false
      }
      refuse(identifier, session, error, host)
    } catch {
      log.error("\(identifier): \(error)")
    }
    return true
  }

  private func open(
    _ session: Session, _ options: ConnectionOptions, _ host: Host, within time: Duration
  ) async throws(CallError) {
    host.opened.insert(session.identifier)
    do {
      try await host.calls.connectScene(
        session.identifier, configuration: session.configuration, options: options.json, within: time)
    } catch {
      // One that was silent may show it all the same.
      if case .replied = error { host.opened.remove(session.identifier) }
      throw error
    }
  }

  /// `nil` where it came to its end meanwhile, or goes to another session.
  private func openDelivery(
    _ identifier: UniqueIdentifier, to session: UniqueIdentifier
  ) throws(InterchangeError) -> StoredDelivery? {
    endTurn()
    let delivery = try storedDelivery(identifier)
    return delivery.flatMap { $0.progress.isOpen && $0.progress.session == session ? $0 : nil }
  }

  /// What is left of its deadline.
  private func time(for delivery: StoredDelivery) -> Duration {
    .microseconds(max(1, delivery.deadline.microseconds - settings.now().microseconds))
  }

  /// A host that wants to be asked says which configuration a new session gets. What it does not say, the manifest does. `nil` where the
  /// delivery is not this session's any more.
  private func configured(
    _ session: Session, _ delivery: StoredDelivery, _ options: ConnectionOptions, _ host: Host
  ) async throws -> Session? {
    guard state.manifest(of: session.application)?.isDynamic ?? false, delivery.progress.outcome == "created",
      !session.hasBeenConnected
    else { return session }
    let answer: Text
    do {
      answer = try await host.calls.configurationForConnecting(
        session.identifier, role: session.role, options: options.json)
    } catch {
      log.warning(
        "\(delivery.identifier): ConfigurationForConnecting: \(delivery.isPrivate ? "it failed" : error.short)")
      answer = .empty
    }
    guard hosts[host.application] === host, try openDelivery(delivery.identifier, to: session.identifier) != nil,
      var found = try storedSession(session.identifier)
    else { return nil }
    if answer.isEmpty || answer == found.configuration { return found }
    let configurations = state.manifest(of: session.application)?.configurations ?? []
    guard configurations.contains(where: { $0.role == session.role && $0.name == answer }) else {
      log.warning("\(delivery.identifier): ConfigurationForConnecting: there is no such configuration in the role")
      return found
    }
    found.configuration = answer
    try collect(refuse: { [log] in log.error("\(delivery.identifier): \($0.message)") }) { [found] share in
      share.onRefusal(revert: state.update(found))
      share.set(found)
      share.onceStored { me in me.announce(["Configuration"], of: found) }
    }
    endTurn()
    return try storedSession(session.identifier)
  }

  /// The host has taken it. Answers whether it was still to: a former host's answer, or one that comes when all is over, counts for nothing
  /// but the window that was opened.
  private func acknowledge(
    _ identifier: UniqueIdentifier, _ session: UniqueIdentifier, _ host: Host, connects: Bool = false
  ) throws -> Bool {
    let isThere = hosts[host.application] === host
    // One that answered and left was still the host; one whose place another has is not.
    if !isThere, hosts[host.application] != nil { return false }
    let delivery = try openDelivery(identifier, to: session)
    let opened = connects && isThere ? try storedSession(session) : nil
    let now = settings.now()
    let again: @Sendable (isolated Interchange) -> Void = { me in
      _ = try? me.acknowledge(identifier, session, host, connects: connects)
    }
    try collect(refuse: { _ in self.assumeIsolated { $0.later(again) } }) { share in
      if let opened { connect(opened, &share) }
      guard let delivery else { return }
      var progress = delivery.progress
      (progress.state, progress.isOpen) = (.handled, false)
      share.records.append(.deliveryProgress(identifier, progress))
      announce(
        .handled(delivery: identifier), application: delivery.application, session: session, in: &share, at: now)
      let answer = Answer(session: session, outcome: progress.outcome, delivery: identifier)
      share.onceStored { me in
        me.settled(identifier, .success(answer))
        me.log.info("\(identifier): handled")
      }
    }
    return delivery != nil && isThere
  }

  private func refuse(_ identifier: UniqueIdentifier, _ session: UniqueIdentifier, _ error: CallError, _ host: Host) {
    do {
      guard let delivery = try openDelivery(identifier, to: session) else { return }
      try fail(identifier, InterchangeError(error, of: host.application, isPrivate: delivery.isPrivate))
    } catch {
      log.error("\(identifier): \(error)")
    }
  }

  /// Nothing comes of a delivery, if it is still open.
  func fail(_ identifier: UniqueIdentifier, _ error: InterchangeError) throws {
    endTurn()
    guard let delivery = try storedDelivery(identifier),
      delivery.progress.isOpen
    else { return }
    try collect(refuse: { [log] in log.error("\(identifier): \($0.message)") }) { share in
      try end(delivery, .failed, error, &share, settings.now())
    }
  }

  // MARK: Closing and drawing again

  /// A session is gone: its scene is closed where there is one or one is being opened, and its host hears that it is gone for good.
  func close(_ session: Session, _ animation: Text) {
    refreshes.remove(session.identifier)
    guard let host = hosts[session.application] else { return }
    if session.isConnected { host.opened.insert(session.identifier) }
    if host.opened.contains(session.identifier) {
      host.closing.insert(session.identifier)
      ask(host, .destroy(animation: animation), session.identifier)
    } else {
      connection.loop.task { await tellDiscards(to: host) }
    }
  }

  private func destroy(_ session: UniqueIdentifier, _ animation: Text, _ host: Host) async {
    // It may have refused to open it meanwhile.
    if host.opened.remove(session) != nil {
      do {
        try await host.calls.destroyScene(session, animation: animation)
      } catch {
        log.warning("\(host.application): DestroyScene: \(error.short)")
      }
    }
    host.closing.remove(session)
    await tellDiscards(to: host)
  }

  /// Passed on while the scene is in the background, once for all who asked since the last time.
  func passOnRefresh(of session: Session) {
    guard refreshes.contains(session.identifier), session.isConnected, session.state == .background,
      let host = hosts[session.application]
    else { return }
    ask(host, .refresh, session.identifier)
  }

  private func refresh(_ identifier: UniqueIdentifier, _ host: Host) async {
    endTurn()
    // It may have come to the front while this waited for its turn; then it is drawn again when it is back.
    guard let session = try? storedSession(identifier), session.isConnected, session.state == .background,
      refreshes.remove(identifier) != nil
    else { return }
    do {
      try await host.calls.refreshScene(identifier)
    } catch {
      log.warning("\(host.application): RefreshScene: \(error.short)")
    }
  }
}

extension CallError {
  /// The bus found nobody to give the call to.
  fileprivate var cameToNobody: Bool {
    if case .replied(let reply) = self { [.serviceUnknown, .nameHasNoOwner].contains(reply.name) } else { false }
  }
}

extension InterchangeError {
  /// Why a host did not take a delivery. What it says of a private one is for nobody else.
  fileprivate init(_ error: CallError, of application: Text, isPrivate: Bool) {
    switch error {
    case .timedOut: self.init(.hostTimeout, "the host of \(application) did not answer in time")
    case _ where isPrivate: self.init(.hostRefused, "the host of \(application) refused it")
    case .replied: self.init(.hostRefused, "the host of \(application) refused it: \(error.short)")
    default: self.init(.hostRefused, "the host of \(application) could not be asked: \(error.short)")
    }
  }
}
