package import SceneModel
package import SceneRouting

// The way of a drop, downwards: check the sender, find the first answer of a token, decide, and record the decision with its sayings and errands.
extension PromptBook {
  mutating func deliver(_ payload: Payload, _ digest: Text, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    try refuseForeignRights(payload, caller)
    try consult(Packing(payload, caller, .delivery(digest: digest), deliveries: [newIdentifier()]), number)
  }

  /// All contents of the payload are packed.
  mutating func conclude(_ packing: Packing, _ digest: Text, _ number: CallNumber) throws(Halt) {
    reply(
      try accept(packing, digest), to: number, packing.caller, waits: packing.payload.options.wait == .handled)
  }

  /// Answers a call like the earlier call with the same document and token. The contents that were packed for this call are freed, and its promises
  /// end unless the earlier delivery asks for them.
  mutating func answeredBefore(_ packing: Packing, _ number: CallNumber) throws(Halt) -> Bool {
    let (options, caller) = (packing.payload.options, packing.caller)
    // A payload that is put to the rules is not packed yet.
    var promises: [Promise] { packing.promises + packing.payload.items.promises(of: caller) }
    switch packing.purpose {
    case .delivery(let digest):
      guard let first = try firstAnswer(options, digest, caller) else { return false }
      endPromises(try promisesGivenUp(of: promises, for: first.answer.delivery, caller))
      reply(first.answer, to: number, caller, waits: first.isOpen && options.wait == .handled)
    case .eachItem(let digest):
      guard let first = try firstDelivery(options.token, digest, caller) else { return false }
      endPromises(promises)
      answer(number, .deliveredEach(first.deliveredItems))
    case .drop, .drag, .moreItems: return false
    }
    if packing.hasKept { step.errands.append(.free(Set(packing.deliveries).sorted())) }
    return true
  }

  mutating func refuseWhatIsRefused(_ packing: Packing) throws(Halt) {
    var steps = Limits.conditionSteps
    let decision = try decide(packing.payload, packing.caller, within: &steps)
    if case .refused(let refusal) = decision.outcome {
      throw .refused(error(of: refusal, packing.rule, packing.caller))
    }
  }

  /// Replies at once, or when the host has taken the delivery. A host that waited for itself might wait for ever, and who has left waits for nothing.
  mutating func reply(_ delivered: Delivered, to number: CallNumber, _ caller: Caller, waits: Bool) {
    guard waits, !caller.hasLeft, !isHost(caller, of: delivered.session) else {
      return answer(number, .delivered(delivered))
    }
    memory.waiters[delivered.delivery] = (memory.waiters[delivered.delivery] ?? []) + [number]
    if let connection = caller.connection {
      memory.waitingFor.insert(WaitingCall(call: number, delivery: delivered.delivery), for: connection)
    }
  }

  /// Decides one payload, and records the decision.
  mutating func accept(_ packing: Packing, _ digest: Text) throws(Halt) -> Delivered {
    let decision = try decideOnce(packing)
    let delivered = try carryOut(decision, packing, packing.payload, item: 0, digest)
    countMatch(of: packing.rule, isPrivate: packing.payload.options.isPrivate)
    return delivered
  }

  /// If the cue begins again because the chosen session had to be read, the decision is the same: it lacked nothing.
  private mutating func decideOnce(_ packing: Packing) throws(Halt) -> Decision {
    if let decided = known.decided {
      // The decision took an identifier.
      _ = newIdentifier()
      return decided
    }
    var steps = Limits.conditionSteps
    let decision = try decide(packing.payload, packing.caller, packing.rule, within: &steps)
    known.decided = decision
    return decision
  }

  mutating func decide(
    _ payload: Payload, _ caller: Caller, _ rule: RulesAnswer? = nil, within steps: inout Int
  ) throws(Halt) -> Decision {
    let request = Request(payload, from: sender(caller, payload.options), newSession: newIdentifier())
    let decision = try SceneRouting.decide(memory.routing, request, at: now.time, within: &steps).decision()
    return rule == nil ? decision : decision.explained { $0.rules = rule }
  }

  // MARK: Each item by itself

  /// Routes each item as if it had come alone, in the order of the payload. An item sees the effects of the earlier ones.
  mutating func deliverEach(_ payload: Payload, _ digest: Text, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    try refuseForeignRights(payload, caller)
    do throws(Fault) { try payload.refuseWhatIsNotForEach() } catch { throw .refused(InterchangeError(payload: error)) }
    let deliveries = payload.items.map { _ in newIdentifier() }
    try consult(Packing(payload, caller, .eachItem(digest: digest), deliveries: deliveries), number)
  }

  mutating func concludeEach(_ packing: Packing, _ digest: Text, _ number: CallNumber) throws(Halt) {
    let (payload, caller) = (packing.payload, packing.caller)
    let parts = packing.parts
    try askForAll(parts.map(\.payload), caller)
    var steps = Limits.conditionSteps
    var items: [DeliveredItem] = []
    // The first delivery has the token of all of them.
    var digestOfFirst: Text? = digest
    var first: UniqueIdentifier?
    for (place, part) in parts.enumerated() {
      func refuse(_ error: InterchangeError) {
        items.append(.refused(error))
        if part.payload.hasContents { step.errands.append(.free([packing.deliveries[place]])) }
      }
      if let failure = packing.failure(ofPart: place) {
        refuse(failure)
        continue
      }
      let decision = try decide(part.payload, caller, part.rule, within: &steps)
      if case .refused(let refusal) = decision.outcome {
        let error = error(of: refusal, part.rule, caller)
        if payload.options.batch == .allOrNothing {
          throw refused(error.name, "items[\(place)]: \(error.message)")
        }
        refuse(error)
        continue
      }
      if let full = known.full, full.item <= place {
        refuse(full.error)
        continue
      }
      let delivered: Delivered
      do throws(Halt) {
        delivered = try carryOut(
          decision, packing, part.payload, item: packing.firstItem(ofPart: place), digestOfFirst)
      } catch {
        guard case .refused(let error) = error, error.name == .limitsExceeded, payload.options.batch == .bestEffort
        else { throw error }
        // The item may have changed something before it met the limit.
        known.full = (place, error)
        throw .beginsAgain
      }
      digestOfFirst = nil
      countMatch(of: part.rule, isPrivate: payload.options.isPrivate)
      first = first ?? delivered.delivery
      items.append(.delivered(delivered))
    }
    if payload.options.token != nil, let first { storeAnswer(items, with: first) }
    answer(number, .deliveredEach(items))
  }

  /// Asks for everything that the items lack at once, so that the cue does not begin again for each item.
  private func askForAll(_ singles: [Payload], _ caller: Caller) throws(Halt) {
    var (needs, asked): ([Need], Set<Need>) = ([], [])
    var chosen: Set<UniqueIdentifier> = []
    let unused = UniqueIdentifier(high: 0, low: 0)
    for single in singles {
      let request = Request(single, from: sender(caller, single.options), newSession: unused)
      switch SceneRouting.decide(memory.routing, request, at: now.time) {
      case .needs(let need): if asked.insert(need).inserted { needs.append(need) }
      case .decided(let decision):
        if case .created = decision.outcome { continue }
        if let session = decision.outcome.session { chosen.insert(session) }
      }
    }
    if !needs.isEmpty { throw .lacks(.routing(needs)) }
    _ = try sessions(chosen.sorted())
  }

  /// Stores the answer to the call with the first of its deliveries, for the next call with the same token.
  private mutating func storeAnswer(_ items: [DeliveredItem], with delivery: UniqueIdentifier) {
    for place in step.records.indices {
      guard case .delivery(var record) = step.records[place], record.identifier == delivery else { continue }
      record.answer = DeliveredItem.document(of: items)
      step.records[place] = .delivery(record)
      memory.setAnswer(record.answer, of: delivery)
      return
    }
  }

  // MARK: Recording the decision

  /// - Parameters:
  ///   - item: The place of the payload's first item in the packing.
  ///   - digest: `nil` if another delivery has the token.
  private mutating func carryOut(
    _ decision: Decision, _ packing: Packing, _ payload: Payload, item: Int, _ digest: Text?
  ) throws(Halt) -> Delivered {
    let caller = packing.caller
    if case .refused(let refusal) = decision.outcome {
      throw .refused(error(of: refusal, decision.explanation.rules, caller))
    }
    guard let session = decision.outcome.session, let fact = decision.fact else {
      preconditionFailure("what is not refused has a session")
    }
    let isPrivate = payload.options.isPrivate
    let identifier = packing.delivery(of: item)
    // First, because the session may have to be read, and then the cue begins again.
    let previous = try show(fact, by: identifier, isPrivate)
    var record = record(identifier, decision, payload, digest, caller, session)
    if let previous { record.previous = previous }
    let holding = try ledger.charge(Allowance.size(of: record), of: .waiting, to: caller.principal)
    note(.delivery(record), holding)
    if record.progress.state == .routed { memory.remember(decision.passedOn?.payload ?? payload, of: identifier) }
    let baggage = packing.baggage(of: decision.passedOn?.payload ?? payload, firstItem: item, identifier)
    if var baggage {
      // Whoever has the token and the application's name takes up its promises.
      if record.token != nil, !baggage.promises.isEmpty { baggage.renewer = renewer(of: caller) }
      try addBaggage(baggage, of: caller)
    }
    if decision.passedOn != nil {
      freeWhatStays(packing, firstItem: item, count: payload.items.count, baggage, identifier)
      memory.drags[identifier]?.isWhole = false
    }
    if isPrivate || payload.hasOwnProcess { memory.deliveries[identifier]?.confidant = caller.connection }
    announceRouting(decision, of: identifier, isPrivate)
    try handOver(to: session, of: record.application)
    return Delivered(session: session, outcome: decision.outcome.name, delivery: identifier)
  }

  private mutating func record(
    _ delivery: UniqueIdentifier, _ decision: Decision, _ payload: Payload, _ digest: Text?, _ caller: Caller,
    _ session: UniqueIdentifier
  ) -> StoredDelivery {
    let application = decision.explanation.application ?? .empty
    let progress = DeliveryProgress(
      stateOfOpen(to: application), isOpen: true, session: session, outcome: decision.outcome.name)
    var record = StoredDelivery(
      identifier: delivery, application: application, sender: caller.tokenOwner,
      token: digest == nil ? nil : payload.options.token, created: now.time,
      deadline: now.time.adding(seconds: payload.options.deadline), progress: progress)
    if record.token != nil {
      record.fingerprint = digest ?? .empty
      // A redirect changes the session of a delivery, and not the answer to its sender.
      let delivered = Delivered(session: session, outcome: progress.outcome, delivery: delivery)
      record.answer = DeliveredItem.document(of: [.delivered(delivered)])
    }
    // Whoever passes on what came from elsewhere is not its source.
    if !payload.options.isFromStranger { record.sourceApplication = ownApplication(of: caller) ?? caller.application }
    record.isPrivate = payload.options.isPrivate
    // The explanation names a place in the payload that was handed in, and the record a place in its own payload.
    let routing = decision.passedOn.map(\.routingActivity) ?? decision.explanation.routingActivity
    record.routing = routing.map { RoutingPlace(item: Int64($0.item), activity: Int64($0.activity)) }
    record.decision = decision.told.stored
    record.payload = (decision.passedOn?.payload ?? payload).json
    return record
  }

  /// Makes the session, or gives it the content of a delivery. Returns what the session showed before, if it got content.
  mutating func show(
    _ fact: Fact, by delivery: UniqueIdentifier?, _ isPrivate: Bool
  ) throws(Halt) -> PreviouslyShown? {
    switch fact {
    case .sessionMade(var session):
      try refuseMoreSessions(of: session.application)
      session.shownBy = delivery
      try noteContent(.session(session), of: session.application)
      say(.sessionAppeared(session.identifier))
      return PreviouslyShown()
    case .sessionActivated(let identifier, at: let instant, showing: let shown):
      // Also if the session shows nothing new: a later reading in this turn would bring an older state.
      guard let before = try session(identifier) else {
        throw refused(.storageFailed, "the session \(identifier) cannot be read")
      }
      guard let shown else {
        note(.sessionActivated(SessionActivation(session: identifier, at: instant)))
        return nil
      }
      let staysPrivate = isPrivate || before.isPrivate && isAtWork(onPrivate: before)
      let activation = SessionActivation(before, shows: shown, by: delivery, isPrivate: staysPrivate, at: instant)
      try noteContent(.sessionActivated(activation), of: before.application)
      if isPrivate { memory.lanes[Lane.Key(application: before.application, session: identifier)]?.isSecret = true }
      if let after = memory.sessions[identifier] { announceShown(before, after) }
      return PreviouslyShown(before)
    }
  }

  /// Whether the host is at work on something that it was asked while the window was private: it may write the private content at any time.
  private func isAtWork(onPrivate session: Session) -> Bool {
    memory.lanes[Lane.Key(application: session.application, session: session.identifier)]?.isSecret ?? false
      || mayReadLate(of: session)
  }

  /// Whether a host of a window did not answer a private question, and may read the question later.
  func mayReadLate(of session: Session) -> Bool {
    memory.unread.keys.contains { memory.unread.contains(session.identifier, of: $0) }
  }

  /// Whether the host of a private window may not have read of the delivery that the window shows, or of a private one behind it. What it reports until
  /// then may be the content of another private delivery, or be followed by the content of this one.
  func awaitsReading(_ session: Session) -> Bool {
    let lane = memory.lanes[Lane.Key(application: session.application, session: session.identifier)]
    if mayReadLate(of: session) { return true }
    if let shown = session.shownBy {
      // The delivery may be over, and the host still at work on it.
      if lane?.act.inHand?.identifier == shown { return true }
      if let delivery = memory.deliveries[shown], delivery.progress.state != .forwarded { return true }
    }
    return memory.deliveriesToSession[session.identifier].contains {
      memory.deliveries[$0.identifier]?.isPrivate ?? false
    }
  }

  /// Announces the change as others may see it: of a private session, only that something changed.
  mutating func announceShown(_ before: Session, _ after: Session) {
    announce(after.fieldsShown(otherThan: before), of: after)
    forgetPicture(before, after)
  }

  /// A private window shows something that everyone may see: its picture is of the private content.
  mutating func forgetPicture(_ before: Session, _ after: Session) {
    if before.isPrivate, !after.isPrivate { step.errands.append(.forgetPicture(after.identifier)) }
  }

  mutating func announce(_ fields: [SessionField], of session: Session) {
    if fields.isEmpty { return }
    say(
      .sessionChanged(
        session.identifier, fields.filter { !session.hides($0) }, withheld: fields.filter { session.hides($0) }))
  }

  /// Announces the session. Nobody hears the content of a private delivery.
  mutating func announceRouting(_ decision: Decision, of delivery: UniqueIdentifier, _ isPrivate: Bool) {
    guard let routing = decision.routing, let session = decision.outcome.session else { return }
    announce(
      .routed(
        outcome: decision.outcome.name, configuration: routing.configuration,
        activityType: isPrivate ? .empty : routing.activityType,
        targetContentIdentifier: isPrivate ? .empty : routing.targetContentIdentifier, delivery: delivery),
      routing.application, session)
  }

  /// The state of an open delivery to an application now: without a ready host, it is held.
  func stateOfOpen(to application: Text) -> DeliveryState {
    memory.hosts[application]?.stage == .ready ? .routed : .held
  }

  /// Whether no host has an open delivery. Its record may say otherwise until the round of its application has come to it.
  func isHeld(_ delivery: OpenDelivery) -> Bool {
    switch delivery.progress.state {
    case .held: true
    case .routed: stateOfOpen(to: delivery.application) == .held && !isInHand(delivery)
    case .forwarded, .handled, .failed, .cancelled: false
    }
  }

  // MARK: Senders

  func sender(_ caller: Caller, _ options: PayloadOptions) -> Sender {
    var sender = Sender(isSandboxed: caller.isSandboxed || options.isFromStranger)
    if !options.isFromStranger {
      sender.hosts = ownApplication(of: caller)
      // An understudy hosts many applications, and means the one that it names.
      if let named = options.application, let host = memory.hosts[named], host.connection == caller.connection {
        sender.hosts = named
      }
      sender.application = caller.application.isEmpty ? nil : caller.application
    }
    if sender.isSandboxed, let named = options.session.flatMap({ SessionReference.identifier($0) }),
      let application = memory.routing.application(of: named),
      memory.hosts[application]?.options.acceptsSandboxed ?? false
    {
      sender.acceptedBy = application
    }
    return sender
  }

  /// The application whose scenes a caller hosts, and whose name it owns; of several, the first by identifier.
  func ownApplication(of caller: Caller) -> Text? { caller.connection.flatMap { memory.hosted.first(of: $0) } }

  func isHost(_ caller: Caller, of session: UniqueIdentifier) -> Bool {
    guard let connection = caller.connection, let application = memory.routing.application(of: session) else {
      return false
    }
    return memory.hosts[application]?.connection == connection
  }

  // MARK: Refusals before the decision

  /// Refuses what the sender may not hand in.
  func refuseForeignRights(_ payload: Payload, _ caller: Caller) throws(Halt) {
    try refuseFiles(payload, caller)
    if payload.options.origin == nil { return }
    let hosted = caller.connection.map { memory.hosted[$0] } ?? []
    if hosted.contains(where: { memory.routing.manifest(of: $0)?.forwards ?? false }) { return }
    throw refused(
      .accessDenied, "only the attached host of an application with StagedoorForwards may state an origin")
  }

  /// A sandbox may not name files outside. It sends descriptors.
  private func refuseFiles(_ payload: Payload, _ caller: Caller) throws(Halt) {
    let isFromStranger = payload.options.isFromStranger
    guard caller.isSandboxed || isFromStranger else { return }
    for item in payload.items {
      for activity in item.activities {
        if let url = activity.webpageURL, FileURL.hasScheme(url) { throw mayNotName(url.string, isFromStranger) }
      }
      for representation in item.representations {
        if case .file(let url) = representation.content { throw mayNotName(url.string, isFromStranger) }
        // The host would open these as well.
        if let file = URIList.firstFile(in: representation) { throw mayNotName(file, isFromStranger) }
      }
    }
  }

  private func mayNotName(_ file: String, _ isFromStranger: Bool) -> Halt {
    let (who, instead) =
      isFromStranger
      ? ("a payload with asStranger", "a descriptor") : ("a sandboxed application", "a descriptor or a portal's key")
    return refused(.accessDenied, "\(who) may not name files such as \(quoted(file)): send \(instead)")
  }

  /// An application may have as many sessions as it leaves for others. This is checked when a session is made, so existing sessions continue to work.
  private func refuseMoreSessions(of application: Text) throws(Halt) {
    let (limit, all, own) = (ledger.allowance.sessions, memory.places, memory.places(of: application))
    if all + own + 1 <= limit { return }
    throw refused(
      .limitsExceeded,
      "there are at most \(limit) sessions; \(all) exist, \(own) of them of \(application), which may have as many as are left for "
        + "others: destroy some that nobody needs")
  }

  /// Records what a session of an application keeps, unless it is longer than before and the limit is reached.
  mutating func noteContent(_ record: Record, of application: Text) throws(Halt) {
    let taken = memory.bytes(of: application)
    note(record)
    let more = memory.bytes(of: application).own - taken.own
    if let lack = lackOfSpace(for: more, of: application, beside: taken) { throw .refused(lack) }
  }

  /// The reason why the sessions of an application may not keep more; `nil` if they may. An application may have as many bytes as it leaves for others.
  func lackOfSpace(for more: Int, of application: Text, beside taken: (all: Int, own: Int)) -> InterchangeError? {
    let (limit, all, own) = (ledger.allowance.sessionBytes, taken.all, taken.own)
    if more <= 0 || all + own + more <= limit { return nil }
    return InterchangeError(
      .limitsExceeded,
      "sessions may keep \(limit) bytes together; \(all) are taken, \(own) of them by \(application), which may have as many as are left "
        + "for others, and this would be \(more) more: destroy sessions that nobody needs, or let them keep less")
  }

  // MARK: Tokens

  /// The first answer to the same token and document.
  func firstAnswer(
    _ options: PayloadOptions, _ digest: Text, _ caller: Caller
  ) throws(Halt) -> (answer: Delivered, isOpen: Bool)? {
    guard let first = try firstDelivery(options.token, digest, caller) else { return nil }
    // A call that waited for a host was refused then, and refusals are not remembered.
    if options.wait == .handled, [.failed, .cancelled].contains(first.progress.state) { return nil }
    // No host has taken this delivery since either.
    if options.wait == .handled, first.progress.state == .routed, !first.progress.isOpen {
      throw .refused(.nobodyTook(first.identifier))
    }
    if case .delivered(let delivered)? = first.deliveredItems.first { return (delivered, first.progress.isOpen) }
    guard let session = first.progress.session else { return nil }
    let delivered = Delivered(session: session, outcome: first.progress.outcome, delivery: first.identifier)
    return (delivered, first.progress.isOpen)
  }

  /// The delivery of a token; of several attempts, the last.
  func firstDelivery(_ token: Text?, _ digest: Text, _ caller: Caller) throws(Halt) -> StoredDelivery? {
    guard let token else { return nil }
    let key = TokenKey(token: token, owner: caller.tokenOwner)
    guard let stored = known.tokens[key] else { throw .lacks(.token(token, owner: key.owner)) }
    var found: StoredDelivery?
    for identifier in stored + (memory.tokens[key] ?? []) {
      guard let delivery = try delivery(identifier) else { continue }
      guard delivery.fingerprint == digest else {
        throw refused(
          .invalidPayload,
          "options.token: expected the same call and document as before under \(quoted(token.string)), activation token included, got another: use a new token"
        )
      }
      found = delivery
    }
    return found
  }
}

extension Answer {
  /// The decision. If routing needs sessions for it, the core lacks them.
  func decision() throws(Halt) -> Decision {
    switch self {
    case .decided(let decision): return decision
    case .needs(let need): throw .lacks(.routing([need]))
    }
  }
}

extension Decision {
  /// The decision in the form that anyone may read later.
  fileprivate var told: Decision {
    explanation.hidesContentType ? explained { $0.contentType = nil } : self
  }
}

extension Allowance {
  /// The bytes that a delivery counts for while it waits.
  static func size(of delivery: StoredDelivery) -> Int {
    max(smallestDelivery, delivery.payload.count + delivery.previous.roughSize)
  }
}

extension DeliveredItem {
  /// The stored form: `[[session's path, outcome, delivery], …]`, with `["/", error, message]` for a refused item.
  static func document(of items: [DeliveredItem]) -> Text {
    JSON.text(
      of: .array(
        items.map { item in
          switch item {
          case .delivered(let delivered):
            let path = SessionReference.path(of: delivered.session)
            return .array([.string(path), .string(delivered.outcome), .string(Text("\(delivered.delivery)"))])
          case .refused(let error):
            return .array([.string("/"), .string(error.errorName), .string(Text(error.message))])
          }
        }))
  }
}

extension StoredDelivery {
  /// The answer to the call that made the delivery.
  var deliveredItems: [DeliveredItem] {
    guard !self.answer.isEmpty, case .array(let rows)? = try? JSON.value(self.answer) else { return [] }
    return rows.compactMap { row in
      guard case .array(let cells) = row, cells.count == 3 else { return nil }
      let texts = cells.compactMap { if case .string(let text) = $0 { text } else { nil } }
      guard texts.count == 3 else { return nil }
      if let session = SessionReference.identifier(texts[0]), let delivery = UniqueIdentifier(texts[2]) {
        return .delivered(Delivered(session: session, outcome: texts[1], delivery: delivery))
      }
      return .refused(InterchangeError(.routing(texts[1]), texts[2].string))
    }
  }
}

extension InterchangeError {
  static func nobodyTook(_ delivery: UniqueIdentifier) -> InterchangeError {
    InterchangeError(
      .hostTimeout, "no host took the delivery \(delivery) in time, and nothing can start one; its session stays")
  }

  /// The delivery has waited too long for its host.
  static func notTaken(_ delivery: OpenDelivery) -> InterchangeError {
    InterchangeError(
      .hostTimeout, "the host of \(delivery.application) did not take the delivery \(delivery.identifier) in time")
  }

  /// There was no host in all that time.
  static func notAttached(_ delivery: OpenDelivery) -> InterchangeError {
    InterchangeError(
      .hostTimeout,
      "\(delivery.application) was started and did not attach, so no host took the delivery \(delivery.identifier) in time"
    )
  }

  package init(_ refusal: Refusal) { self.init(.routing(refusal.errorName), refusal.message) }
}

extension Instant {
  func adding(seconds: Double) -> Instant { Instant(microseconds: microseconds + Int64(seconds * 1_000_000)) }
}

extension Payload {
  var hasOwnProcess: Bool {
    items.contains { item in
      item.activities.contains { $0.visibility == .ownProcess }
        || item.representations.contains { $0.visibility == .ownProcess }
    }
  }
}
