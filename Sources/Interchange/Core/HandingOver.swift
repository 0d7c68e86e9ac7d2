import SceneModel
import SceneRouting

// The questions to a host, after everyone was told the decision.
//
// The state of the session determines which calls the host gets. The return of the first call acknowledges the delivery, and its error refuses the
// delivery. A host may stay silent until the deadline. If the host leaves, the delivery is held again.
extension PromptBook {
  /// Gives the deliveries to a session to its host, or starts one.
  mutating func handOver(to session: UniqueIdentifier, of application: Text) throws(Halt) {
    guard let host = memory.hosts[application] else { return try start(application) }
    // A host that is not ready gets the held deliveries when it is.
    if host.stage == .ready { work(on: session, of: application) }
  }

  // MARK: Lanes

  /// A session has work for its host. If it has no lane, a lane begins as soon as the host has capacity.
  mutating func work(on session: UniqueIdentifier, of application: Text) {
    let key = Lane.Key(application: application, session: session)
    guard memory.hosts[application] != nil, memory.lanes[key] == nil else { return }
    memory.lanes[key] = Lane(act: .queued)
    memory.queue.insert(Ordered(order: memory.nextOrder(), identifier: session), for: application)
    workOnNext(of: application)
  }

  private mutating func workOnNext(of application: Text) {
    while let host = memory.hosts[application], host.running < Host.maximumRunning,
      let next = memory.queue.first(of: application)
    {
      memory.queue.remove(next, for: application)
      memory.hosts[application]?.running += 1
      goOn(Lane.Key(application: application, session: next.identifier))
    }
  }

  /// Begins the next work of a session. If there is none, its lane ends.
  private mutating func goOn(_ key: Lane.Key) {
    memory.lanes[key] = nil
    guard let host = memory.hosts[key.application] else { return }
    if let animation = memory.closings[key.session] { return close(key, animation, host) }
    if host.stage == .ready, let next = memory.deliveriesToSession.first(of: key.session),
      let delivery = memory.deliveries[next.identifier]
    {
      // The round of its application may not have come to it yet.
      let attempt = delivery.routed().attempt
      route(delivery)
      let errand = newErrand(.lane(key))
      let act = Lane.Act.reading(Lane.InHand(identifier: delivery.identifier, attempt: attempt))
      memory.lanes[key] = Lane(act: act, errand: errand)
      step.errands.append(.read(errand, delivery: delivery.identifier))
      return
    }
    if memory.refreshes[key.session] != nil, memory.routing.sceneState(of: key.session) == .background {
      memory.refreshes[key.session] = nil
      return begin(.refreshing, .refresh(key.session), key, host)
    }
    memory.hosts[key.application]?.running -= 1
  }

  private mutating func begin(
    _ act: Lane.Act, _ question: HostQuestion, _ key: Lane.Key, _ host: Host, within: Int64 = PromptBook.patience
  ) {
    let errand = ask(host, question, .lane(key), within: within)
    memory.lanes[key] = Lane(act: act, errand: errand, isSecret: showsSecret(key.session))
  }

  /// A lane has finished its work.
  private mutating func next(_ key: Lane.Key) {
    goOn(key)
    workOnNext(of: key.application)
  }

  mutating func laneAnswered(_ errand: ErrandNumber, _ key: Lane.Key, _ answer: HostAnswer) throws(Halt) {
    guard let lane = memory.lanes[key], let host = memory.hosts[key.application] else { return }
    if case .gone(let neverReached) = answer {
      memory.lanes[key]?.neverReached = neverReached
      return try detach(key.application)
    }
    switch answer {
    case .timedOut where lane.isSecret && lane.act.inHand != nil:
      memory.unread.insert(key.session, for: host.connection)
    case .timedOut, .failed, .gone: break
    // It has read what it was given for this window before.
    case .done, .configuration, .operation, .refused: memory.unread.remove(key.session, for: host.connection)
    }
    // A run of the host that has ended answers with errors, which refuse nothing.
    if errand < host.since, case .refused = answer, let inHand = lane.act.inHand,
      let delivery = stillOpen(inHand, key), delivery.progress.state != .forwarded
    {
      hold(delivery, delivery.heldAgain(wasInHand: true))
      return next(key)
    }
    switch lane.act {
    case .queued, .reading: break
    case .choosing(let delivery, let options): try wasConfigured(key, delivery, options, answer, host)
    case .connecting(let delivery, let again): try wasConnected(key, delivery, again, answer, host)
    case .continuing(let delivery):
      guard try acknowledge(delivery, key, answer) else { return next(key) }
      activate(delivery, key, host, acknowledges: false)
    case .activating(let delivery, let acknowledges):
      if acknowledges {
        _ = try acknowledge(delivery, key, answer)
      } else {
        warn(of: answer, to: "ActivateScene", delivery, key)
      }
      next(key)
    case .refreshing:
      warn(of: answer, to: "RefreshScene", nil, key)
      next(key)
    case .destroying:
      warn(of: answer, to: "DestroyScene", nil, key)
      wasClosed(key)
    }
  }

  /// Warns of an answer that is not a yes, where nobody else hears of it.
  private mutating func warn(of answer: HostAnswer, to question: String, _ inHand: Lane.InHand?, _ key: Lane.Key) {
    guard let failure = answer.failure else { return }
    let subject = inHand.map { "\($0.identifier)" } ?? key.application.string
    log(.warning, "\(subject): \(question): \(isSecret(inHand, key) ? "it failed" : failure)")
  }

  // MARK: A delivery

  mutating func deliveryWasRead(_ errand: ErrandNumber, _ stored: StoredDelivery?) throws(Halt) {
    guard case .lane(let key)? = memory.errands[errand], let lane = memory.lanes[key], lane.errand == errand,
      case .reading(let inHand) = lane.act, let host = memory.hosts[key.application]
    else { return }
    memory.errands[errand] = nil
    guard let delivery = stillOpen(inHand, key) else { return next(key) }
    guard let stored else {
      try fail(delivery, InterchangeError(.storageFailed, "the delivery \(inHand.identifier) is no longer stored"))
      return next(key)
    }
    // The delivery has waited too long, and is about to fail.
    if delivery.due <= now.uptime {
      try fail(delivery, .notTaken(delivery))
      return next(key)
    }
    guard let session = try session(key.session) else {
      try fail(delivery, InterchangeError(.noSuchSession, "the session \(key.session) is no longer stored"))
      return next(key)
    }
    // A new delivery was routed by the present manifest. For others the manifest may have lost the configuration of the session since.
    if delivery.isFromBefore || memory.orphaned[key.application] != nil,
      let manifest = memory.routing.manifest(of: key.application), !manifest.has(configurationOf: session)
    {
      try discardOrMove(session)
      return next(key)
    }
    try give(stored, delivery, to: session, key, host)
  }

  private mutating func give(
    _ stored: StoredDelivery, _ delivery: OpenDelivery, to session: Session, _ key: Lane.Key, _ host: Host
  ) throws(Halt) {
    let payload: Payload
    do throws(Fault) {
      payload = try self.payload(of: stored)
    } catch {
      try fail(delivery, unreadable(error, isPrivate: delivery.isPrivate || session.isPrivate))
      return next(key)
    }
    var session = session
    if delivery.isPrivate, !session.isPrivate, !payload.items.isEmpty,
      memory.routing.manifest(of: key.application)?.forwards != true
    {
      // A public delivery came behind it, before there was a host.
      let before = session
      session.isPrivate = true
      note(.session(session))
      announceShown(before, session)
    }
    var inHand = Lane.InHand(identifier: delivery.identifier, attempt: delivery.progress.attempt)
    // The window may show something else when its host answers.
    inHand.isPrivate = delivery.isPrivate || session.isPrivate
    inHand.activationToken = payload.options.activationToken
    if session.isConnected, payload.items.isEmpty { return activate(inHand, key, host, acknowledges: true) }
    var stored = stored
    stored.progress = delivery.progress
    let options = ConnectionOptions(
      stored, payload, session, host, isOwnProcess: delivery.confidant == host.connection)
    if session.isConnected {
      return begin(
        .continuing(inHand), .continue(session.identifier, options: options.json), key, host, within: rest(of: delivery)
      )
    }
    let isDynamic = memory.routing.manifest(of: key.application)?.isDynamic ?? false
    if isDynamic || host.options.choosesConfiguration, delivery.progress.outcome == "created", !session.hasBeenConnected
    {
      // If the host does not answer within a second, the manifest decides.
      return begin(
        .choosing(inHand, options: options.json),
        .configuration(session.identifier, role: session.role, options: options.json), key, host, within: 1_000_000)
    }
    connect(inHand, session, options.json, key, host)
  }

  /// A stored document does not parse. Of a private one nobody hears why.
  func unreadable(_ fault: Fault, isPrivate: Bool) -> InterchangeError {
    isPrivate
      ? InterchangeError(.invalidPayload, "what was delivered cannot be read") : InterchangeError(payload: fault)
  }

  private func payload(of stored: StoredDelivery) throws(Fault) -> Payload {
    guard let remembered = memory.rememberedPayload(of: stored) else {
      return try Payload(json: stored.payload, ReadingRules(storedIn: types))
    }
    assert(remembered == (try? Payload(json: stored.payload, ReadingRules(storedIn: types))))
    return remembered
  }

  /// The rest of the delivery's time.
  private func rest(of delivery: OpenDelivery) -> Int64 { delivery.due - now.uptime }

  /// The delivery that the host works on, if it is still open here: it may be over, may have been redirected, or may have been handed over again.
  private func stillOpen(_ inHand: Lane.InHand, _ key: Lane.Key) -> OpenDelivery? {
    memory.deliveries[inHand.identifier].flatMap { delivery in
      delivery.session == key.session && delivery.progress.attempt == inHand.attempt ? delivery : nil
    }
  }

  /// How long a host may answer after the deadline while it opens a scene. A window that it opens in this time is closed again.
  private static let grace: Int64 = 25_000_000

  private mutating func connect(
    _ inHand: Lane.InHand, _ session: Session, _ options: Text, _ key: Lane.Key, _ host: Host
  ) {
    let rest = memory.deliveries[inHand.identifier].map(rest) ?? 0
    let again = !memory.opened.insert(session.identifier, for: key.application)
    begin(
      .connecting(inHand, again: again),
      .connect(session.identifier, configuration: session.configuration, options: options), key,
      host,
      within: max(0, rest) + PromptBook.grace)
  }

  /// The manifest decides if the host does not.
  private mutating func wasConfigured(
    _ key: Lane.Key, _ inHand: Lane.InHand, _ options: Text, _ answer: HostAnswer, _ host: Host
  ) throws(Halt) {
    warn(of: answer, to: "ConfigurationForConnecting", inHand, key)
    guard stillOpen(inHand, key) != nil, var session = try session(key.session) else { return next(key) }
    if case .configuration(let name) = answer, !name.isEmpty, name != session.configuration {
      if memory.routing.manifest(of: key.application)?.has(name, in: session.role) ?? false {
        session = session.configured(as: name)
        note(.session(session))
        announce([.configuration], of: session)
      } else {
        log(
          .warning,
          "\(inHand.identifier): ConfigurationForConnecting: there is no such configuration in the role")
      }
    }
    connect(inHand, session, options, key, host)
  }

  private mutating func wasConnected(
    _ key: Lane.Key, _ inHand: Lane.InHand, _ again: Bool, _ answer: HostAnswer, _ host: Host
  ) throws(Halt) {
    if case .done = answer, let session = try session(key.session), !session.isConnected { connect(session) }
    if case .refused = answer, !again {
      memory.opened.remove(key.session, for: key.application)
      overfull.insert(key.application)
    }
    guard try acknowledge(inHand, key, answer) else { return next(key) }
    activate(inHand, key, host, acknowledges: false)
  }

  private mutating func activate(_ inHand: Lane.InHand, _ key: Lane.Key, _ host: Host, acknowledges: Bool) {
    // A forwarded delivery may have a week.
    let delivery = memory.deliveries[inHand.identifier].flatMap { $0.progress.state == .forwarded ? nil : $0 }
    let rest = delivery.map(rest) ?? PromptBook.patience
    begin(
      .activating(inHand, acknowledges: acknowledges), .activate(key.session, token: inHand.activationToken), key, host,
      within: max(rest, 1_000_000))
  }

  /// Whether the host's words are for nobody else: the delivery is private, the window is private, or nobody here knows.
  private func isSecret(_ inHand: Lane.InHand?, _ key: Lane.Key) -> Bool {
    inHand?.isPrivate ?? false || memory.lanes[key]?.isSecret ?? true || showsSecret(key.session)
  }

  /// Whether the window may show private content. A session that is no longer private may still have a private restoration activity.
  func showsSecret(_ session: UniqueIdentifier) -> Bool {
    memory.sessions[session].map { $0.isPrivate || $0.hasSecrets } ?? true
  }

  /// Takes the host's answer, and returns whether the host has taken the delivery. An answer after the end matters only for the window that was
  /// opened.
  private mutating func acknowledge(
    _ inHand: Lane.InHand, _ key: Lane.Key, _ answer: HostAnswer
  ) throws(Halt) -> Bool {
    guard let delivery = stillOpen(inHand, key) else {
      return memory.lanes[key]?.isFinished == true && answer.failure == nil && memory.closings[key.session] == nil
    }
    // The host has taken it already, and tells its end later.
    if delivery.progress.state == .forwarded { return answer.failure == nil }
    if let error = InterchangeError(answer, of: key.application, isPrivate: isSecret(inHand, key)) {
      try fail(delivery, error)
      return false
    }
    if inHand.isPrivate, !delivery.isPrivate { try makePublic(delivery, key.session) }
    wasTaken(delivery, by: key.session)
    return true
  }

  /// A window is private while its host has a private delivery, also if a public one came behind that. Now the host has taken the public one.
  mutating func makePublic(_ delivery: OpenDelivery, _ session: UniqueIdentifier) throws(Halt) {
    guard let before = try self.session(session), before.isPrivate, before.shownBy == delivery.identifier,
      let after = before.madePublic
    else { return }
    note(.session(after))
    announceShown(before, after)
  }

  /// The host has taken a delivery: its end.
  mutating func wasTaken(_ delivery: OpenDelivery, by session: UniqueIdentifier) {
    let (identifier, handled) = (delivery.identifier, delivery.handled(at: now.time))
    note(.deliveryProgress(identifier, handled))
    keepDocuments(of: delivery, handled)
    memory.provisional[session] = nil
    announce(.handled(delivery: identifier), delivery.application, session)
    log("\(identifier): handled")
    if memory.drags[identifier]?.state == .dropped { memory.dropTargets[identifier] = session }
    startBaggageTime(of: identifier)
    if !memory.scenes.contains(session, of: delivery.application) { overfull.insert(delivery.application) }
    answerWaiters(
      of: identifier,
      .delivered(Delivered(session: session, outcome: delivery.progress.outcome, delivery: identifier)))
  }

  // MARK: Closing and refreshing

  /// Closes the scene of a session that is gone, if it has one or one is being opened. Its host then hears that the session is gone for good.
  mutating func closeScene(of session: Session, _ animation: Text, isTold: Bool) {
    memory.refreshes[session.identifier] = nil
    let (identifier, application) = (session.identifier, session.application)
    guard memory.hosts[application] != nil else { return }
    if session.isConnected || memory.opened.contains(identifier, of: application) {
      memory.opened.insert(identifier, for: application)
      memory.closing.insert(identifier, for: application)
      memory.closings[identifier] = animation
      work(on: identifier, of: application)
    } else if isTold {
      tellDiscards(to: application)
    }
  }

  private mutating func close(_ key: Lane.Key, _ animation: Text, _ host: Host) {
    // The host may have refused to open it meanwhile.
    guard memory.opened.remove(key.session, for: key.application) else { return wasClosed(key) }
    begin(.destroying, .destroy(key.session, animation: animation), key, host)
  }

  private mutating func wasClosed(_ key: Lane.Key) {
    memory.closings[key.session] = nil
    memory.closing.remove(key.session, for: key.application)
    if let host = memory.hosts[key.application] { memory.unread.remove(key.session, for: host.connection) }
    next(key)
    tellDiscards(to: key.application)
  }

  /// Passes on a refresh while the scene is in the background, once for all requests since the last time.
  mutating func passOnRefresh(of session: Session) {
    guard memory.refreshes[session.identifier] != nil, session.isConnected, session.state == .background else { return }
    work(on: session.identifier, of: session.application)
  }
}

extension HostAnswer {
  /// The reason why the answer is not a yes.
  fileprivate var failure: String? {
    switch self {
    case .done, .configuration, .operation: nil
    case .refused(let why), .failed(let why): why.string
    case .timedOut: "no answer came in time"
    case .gone: "the host has left"
    }
  }
}

extension InterchangeError {
  /// The reason why a host did not take a delivery; `nil` if it did. The host's words about a private delivery are for nobody else.
  fileprivate init?(_ answer: HostAnswer, of application: Text, isPrivate: Bool) {
    switch answer {
    case .done, .configuration, .operation: return nil
    case .timedOut: self.init(.hostTimeout, "the host of \(application) did not answer in time")
    case _ where isPrivate: self.init(.hostRefused, "the host of \(application) refused it")
    case .refused(let why): self.init(.hostRefused, "the host of \(application) refused it: \(why)")
    case .failed(let why): self.init(.hostRefused, "the host of \(application) could not be asked: \(why)")
    case .gone: self.init(.hostRefused, "the host of \(application) left")
    }
  }
}
