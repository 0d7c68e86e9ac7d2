import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

/// How a sender is answered.
typealias Finish = @Sendable (Result<Answer, InterchangeError>) -> Void

/// What one delivery is answered with.
struct Answer: Sendable {
  let session: UniqueIdentifier
  let outcome: Text
  let delivery: UniqueIdentifier
}

// The way of a drop, downwards: its document is read, its sender looked at, a token's first answer found; the sessions that it may go to
// are brought in; it is decided; what was decided is made true in the state, and put into the turn with what there is to say.
extension Interchange {
  func deliver(_ payload: Payload, fingerprint: Text, from caller: Caller, _ reply: DeliveryReply) throws {
    let finish: Finish = { outcome in
      switch outcome {
      case .success(let answer):
        reply.send(
          InterchangeNames.path(ofSession: answer.session), answer.outcome.string, "\(answer.delivery)")
      case .failure(let error): reply.fail(error)
      }
    }
    try begin(reply.call)
    try refuseFiles(payload, caller)
    if let (answer, isOpen) = try firstAnswer(payload.options, fingerprint, caller) {
      let mustWait = isOpen && payload.options.wait == .handled && !isHost(caller, of: answer.session)
      if mustWait { waiting.add(reply.call.sender, until: answer.delivery, finish) } else { finish(.success(answer)) }
      return
    }
    try collect(refuse: { finish(.failure($0)) }) { share in
      let answer = try decide(payload, fingerprint: fingerprint, caller, reply.call, &share)
      if payload.options.wait == .handled, !isHost(caller, of: answer.session) {
        share.onceStored { me in me.waiting.add(reply.call.sender, until: answer.delivery, finish) }
      } else {
        share.onceStored { _ in finish(.success(answer)) }
      }
    }
  }

  /// Decides one payload and adds what comes of it to a share of the turn.
  func decide(
    _ payload: Payload, fingerprint: Text, _ caller: Caller, _ call: Call, _ share: inout Turn.Share
  ) throws -> Answer {
    try refuseMoreSessions(1)
    let request = Request(payload, from: sender(caller), newSession: newIdentifier())
    try bringIn(for: request)
    try refuseForeignWindows(payload, caller)
    let now = settings.now()
    let decision = SceneRouting.decide(state, request, at: now)
    letOthersIn(after: call, fingerprint, decision.steps)
    if let fact = decision.fact { share.onRefusal(revert: state.apply(fact)) }
    return try carryOut(decision, payload, fingerprint: fingerprint, caller, &share, now)
  }

  func sender(_ caller: Caller) -> Sender {
    Sender(hosts: hostedApplication(of: caller), isSandboxed: caller.isSandboxed)
  }

  /// A host that waited for itself might wait for ever.
  private func isHost(_ caller: Caller, of session: UniqueIdentifier) -> Bool {
    guard let name = caller.name, let application = state.application(of: session) else { return false }
    return hosts[application]?.owner == name
  }

  /// Whose scenes a caller hosts. One that hosts several is mostly taken for the first by identifier.
  private func hostedApplication(of caller: Caller) -> Text? {
    guard let name = caller.name else { return nil }
    return hosted[name]?.min()
  }

  func newIdentifier() -> UniqueIdentifier { UniqueIdentifier(using: &randomNumbers) }

  func refuseMoreSessions(_ count: Int) throws(InterchangeError) {
    if sessionCount + count > settings.maximumSessions {
      throw InterchangeError(
        .limitsExceeded, "there are at most \(settings.maximumSessions) sessions, and there might be more")
    }
  }

  /// Nobody holds more than there is room left for others: who fills what there is fills half of it, the next one half of the rest.
  ///
  /// Answers what it takes of the room: as many deliveries of the usual size as it is long.
  ///
  /// - Parameter length: Of the document as it came, which is kept as long as somebody waits.
  func room(
    for delivery: StoredDelivery, of length: Int = 0, from caller: Caller
  ) throws(InterchangeError) -> Int {
    let room = 1 + max(length, delivery.payload.count) / 4096
    let (taken, own) = (deadlines.room, deadlines.room(of: caller.counted))
    if taken + own + room > settings.maximumHeld {
      throw InterchangeError(
        .limitsExceeded,
        "there are \(settings.maximumHeld) places for deliveries that wait for their applications, one for each 4 KiB; \(taken) are taken, "
          + "\(own) of them by this sender, who may have as many as are left: try later")
    }
    return room
  }

  /// What was decided, and has been made true in the state: what is stored of it, and what there is to say.
  ///
  /// - Parameter fingerprint: What another document under its token is known by; `nil` where its token is kept with another delivery.
  func carryOut(
    _ decision: Decision, _ payload: Payload, fingerprint: Text?, _ caller: Caller, _ share: inout Turn.Share,
    _ now: Instant
  ) throws(InterchangeError) -> Answer {
    if case .refused(let refusal) = decision.outcome { throw InterchangeError(refusal) }
    guard let session = decision.outcome.session else { preconditionFailure("what is not refused has a session") }
    let delivery = newIdentifier()
    var record = record(of: delivery, decision, payload, fingerprint, caller, session, now)
    if let fact = decision.fact {
      let previous = try keep(fact, for: delivery, isPrivate: payload.options.isPrivate, &share)
      if let previous { record.previous = previous }
    }
    let room = try room(for: record, of: fingerprint?.count ?? 0, from: caller)
    share.records.append(.delivery(record))
    for effect in decision.effects { act(on: effect, decision, delivery, payload, &share, now) }
    // At once, since there is a limit to them.
    deadlines.add(delivery, at: record.deadline, of: caller.counted, taking: room, self)
    share.onRefusal { $0.deadlines.remove(delivery) }
    let isPrivate = payload.options.isPrivate
    let sender = isPrivate || payload.hasOwnProcess ? caller.name : nil
    share.onceStored { me in
      if let sender { me.senders[delivery] = sender }
      me.log.info("\(delivery): \(decision.outcome.name) \(isPrivate ? "a session" : "\(session)")")
    }
    return Answer(session: session, outcome: decision.outcome.name, delivery: delivery)
  }

  private func record(
    of delivery: UniqueIdentifier, _ decision: Decision, _ payload: Payload, _ fingerprint: Text?, _ caller: Caller,
    _ session: UniqueIdentifier, _ now: Instant
  ) -> StoredDelivery {
    let application = decision.explanation.application ?? .empty
    let progress = DeliveryProgress(
      stateOfOpen(to: application), isOpen: true, session: session,
      outcome: decision.outcome.name)
    var record = StoredDelivery(
      identifier: delivery, application: application, sender: caller.key,
      token: fingerprint == nil ? nil : payload.options.token, created: now,
      deadline: now.adding(seconds: payload.options.deadline),
      progress: progress)
    if record.token != nil { record.fingerprint = fingerprint ?? .empty }
    record.sourceApplication = hostedApplication(of: caller) ?? caller.application
    record.isPrivate = payload.options.isPrivate
    record.routing = decision.explanation.routingActivity.map {
      RoutingPlace(item: Int64($0.item), activity: Int64($0.activity))
    }
    record.decision = decision.json
    record.payload = payload.json
    return record
  }

  private func act(
    on effect: Effect, _ decision: Decision, _ delivery: UniqueIdentifier, _ payload: Payload,
    _ share: inout Turn.Share, _ now: Instant
  ) {
    switch effect {
    case .announceSession(let session):
      share.onceStored { me in
        me.connection.objectAdded(at: InterchangeNames.path(ofSession: session))
      }
    // It is announced together with what else that changes.
    case .announceActivity: break
    case .announceRouting: announceRouting(decision, of: delivery, isPrivate: payload.options.isPrivate, &share, now)
    case .handOver(let session):
      let application = decision.explanation.application ?? .empty
      share.onceTold { me in me.handOver(delivery, to: session, of: application) }
    }
  }

  /// Where it goes. What a private delivery is about, nobody hears.
  func announceRouting(
    _ decision: Decision, of delivery: UniqueIdentifier, isPrivate: Bool, _ share: inout Turn.Share, _ now: Instant
  ) {
    guard let routing = decision.routing, let session = decision.outcome.session else { return }
    announce(
      .routed(
        outcome: decision.outcome.name, configuration: routing.configuration,
        activityType: isPrivate ? .empty : routing.activityType,
        targetContentIdentifier: isPrivate ? .empty : routing.targetContentIdentifier, delivery: delivery),
      application: routing.application, session: session, in: &share, at: now)
  }

  /// What is to be said of a delivery that goes to an application now: without a host that takes it, it waits.
  func stateOfOpen(to application: Text) -> DeliveryState { hosts[application]?.isReady ?? false ? .routed : .held }

  // MARK: What is found out before

  /// A sandbox hands things to others, and does not open their windows for nothing.
  private func refuseForeignWindows(_ payload: Payload, _ caller: Caller) throws(InterchangeError) {
    guard caller.isSandboxed, payload.items.isEmpty else { return }
    let named = payload.options.session.flatMap(SessionReference.identifier)
    guard let application = payload.options.application ?? named.flatMap(state.application(of:)),
      application != caller.application || caller.application.isEmpty
    else { return }
    throw InterchangeError(
      .accessDenied, "a sandboxed application may open windows of its own only, unless it hands something to them")
  }

  /// A sandbox cannot name files outside: it sends descriptors.
  func refuseFiles(_ payload: Payload, _ caller: Caller) throws {
    guard caller.isSandboxed else { return }
    for item in payload.items {
      for representation in item.representations {
        guard case .file(let url) = representation.content else { continue }
        throw InterchangeError(
          .accessDenied,
          "a sandboxed application may not name files such as \(quoted(url.string)): send a descriptor or a portal's key"
        )
      }
    }
  }

  /// The same token and document again get the first answer.
  private func firstAnswer(
    _ options: PayloadOptions, _ fingerprint: Text, _ caller: Caller
  ) throws -> (answer: Answer, isOpen: Bool)? {
    guard let first = try firstDelivery(options.token, fingerprint, caller) else { return nil }
    // Who waits for a host was refused then, and that is not remembered.
    if options.wait == .handled, [.failed, .cancelled].contains(first.progress.state) { return nil }
    // Nor has anyone taken this one since.
    if options.wait == .handled, first.progress.state == .routed, !first.progress.isOpen {
      throw InterchangeError.nobodyTook(first.identifier)
    }
    guard let session = first.progress.session else { return nil }
    let answer = Answer(session: session, outcome: first.progress.outcome, delivery: first.identifier)
    return (answer, first.progress.isOpen)
  }

  /// What was made under a token: of what was tried again the last.
  func firstDelivery(_ token: Text?, _ fingerprint: Text, _ caller: Caller) throws -> StoredDelivery? {
    guard let token else { return nil }
    endTurn()
    let made = try stored { () throws(StoreError) in try store.deliveries(token: token, sender: caller.key) }
    var found: StoredDelivery?
    for identifier in made {
      guard let delivery = try storedDelivery(identifier) else { continue }
      guard delivery.fingerprint == fingerprint else {
        throw InterchangeError(
          .invalidPayload,
          "options.token: expected the same document as before under \(quoted(token.string)), got another")
      }
      found = delivery
    }
    return found
  }

  func storedSession(_ identifier: UniqueIdentifier) throws(InterchangeError) -> Session? {
    try stored { () throws(StoreError) in try store.session(identifier) }
  }

  func storedDelivery(_ identifier: UniqueIdentifier) throws(InterchangeError) -> StoredDelivery? {
    try stored { () throws(StoreError) in try store.delivery(identifier) }
  }

  func openDeliveries(of application: Text) throws(InterchangeError) -> [DeliverySummary] {
    try stored { () throws(StoreError) in try store.openDeliveries(of: application) }
  }

  /// What the store refuses has a name on the bus.
  func stored<Result>(_ read: () throws(StoreError) -> Result) throws(InterchangeError) -> Result {
    do throws(StoreError) {
      return try read()
    } catch {
      throw InterchangeError(.storageFailed, "the store cannot be read: \(error.message)")
    }
  }
}

extension InterchangeError {
  static func nobodyTook(_ delivery: UniqueIdentifier) -> InterchangeError {
    InterchangeError(
      .hostTimeout, "no host took the delivery \(delivery) in time; it has been routed, and its session stays")
  }

  init(_ refusal: Refusal) { self.init(.routing(refusal.errorName), refusal.message) }
}

extension Instant {
  func adding(seconds: Double) -> Instant { Instant(microseconds: microseconds + Int64(seconds * 1_000_000)) }
}

extension Payload {
  fileprivate var hasOwnProcess: Bool {
    items.contains { item in
      item.activities.contains { $0.visibility == .ownProcess }
        || item.representations.contains { $0.visibility == .ownProcess }
    }
  }
}
