package import DBus
package import InterchangeWire
package import SceneModel
import SceneRouting
import SessionStore

// What the root object is asked.
extension Interchange: InterchangeCalls {
  package func drop(_ activity: UserActivity, _ reply: DeliveryReply) throws {
    try deliver(Payload(activity), fingerprint: .empty, from: callers.caller(of: reply.call), reply)
  }

  package func deliver(_ document: Text, _ reply: DeliveryReply) throws {
    let payload = try read { () throws(Fault) in try Payload(json: document, rules) }
    try deliver(payload, fingerprint: document, from: callers.caller(of: reply.call), reply)
  }

  package func explain(_ document: Text, _ call: Call) throws -> Text {
    let payload = try read { () throws(Fault) in try Payload(json: document, rules) }
    let caller = callers.caller(of: call)
    try bringIn(for: payload)
    let request = Request(
      payload, from: sender(caller), newSession: newIdentifier(), listsCandidates: true)
    let decision = SceneRouting.decide(state, request, at: settings.now())
    // A sandbox reads its own application's sessions only.
    let isForeign = caller.isSandboxed && decision.explanation.application != caller.application
    return JSON.text(of: try withoutSecrets(decision.document(withCandidates: !isForeign)))
  }

  package func deliverEach(_ document: Text, _ reply: Reply<[DeliveryResult]>) throws {
    try begin(reply.call)
    let payload = try read { () throws(Fault) in try Payload(json: document, rules) }
    let caller = callers.caller(of: reply.call)
    try refuseFiles(payload, caller)
    let fingerprint = Text("each \(document)")
    if let first = try firstDelivery(payload.options.token, fingerprint, caller) {
      reply.send(try results(of: first))
      return
    }
    try refuseMore(payload.items.count)
    try bringIn(for: payload)
    let now = settings.now()
    try collect(refuse: { reply.fail($0) }) { share in
      let results = try carryOutEach(payload, fingerprint, caller, &share, now)
      share.speak.append { _ in reply.send(results) }
    }
  }

  private func carryOutEach(
    _ payload: Payload, _ fingerprint: Text, _ caller: Caller, _ share: inout Turn.Share, _ now: Instant
  ) throws -> [DeliveryResult] {
    let batch = try read { () throws(Fault) in
      try decideEach(&state, payload, from: sender(caller), at: now, newSession: newIdentifier)
    }
    if let refusal = batch.refusal { throw InterchangeError(refusal) }
    for undo in batch.undos { share.onRefusal(revert: undo) }
    var results: [DeliveryResult] = []
    for (decision, single) in zip(batch.decisions, payload.split) {
      if case .refused(let refusal) = decision.outcome {
        results.append(DeliveryResult(.root, InterchangeError(refusal).errorName.rawValue, ""))
      } else {
        let answer = try carryOut(decision, single, fingerprint: fingerprint, caller, &share, now)
        results.append(
          DeliveryResult(
            InterchangeNames.path(ofSession: answer.session), answer.outcome.string, "\(answer.delivery)"))
      }
    }
    if payload.options.token != nil { share.keepAnswer(answer(results)) }
    return results
  }

  /// What a batch under a token was answered, as it is stored with the first of its deliveries.
  private func answer(_ results: [DeliveryResult]) -> Text {
    JSON.text(
      of: .array(
        results.map { result in
          let (path, outcome, delivery) = result.members
          return .array([path.rawValue, outcome, delivery].map { .string(Text($0)) })
        }))
  }

  private func results(of first: StoredDelivery) throws -> [DeliveryResult] {
    guard case .array(let rows) = try read({ () throws(Fault) in try JSON.value(first.answer) }) else { return [] }
    return rows.compactMap { row in
      guard case .array(let cells) = row else { return nil }
      let texts = cells.compactMap { if case .string(let text) = $0 { text.string } else { nil } }
      guard texts.count == 3 else { return nil }
      return DeliveryResult(ObjectPath(unchecked: texts[0]), texts[1], texts[2])
    }
  }

  // MARK: Questions

  package func eventSequence() -> UInt64 {
    endTurn()
    return sequence
  }

  package func delivery(_ identifier: Text, _ call: Call) throws -> (state: Text, decision: Text) {
    let delivery = try storedDelivery(identifier, call)
    // A sandboxed caller asks for its own. Outside, where a shell has a new name for each call, nobody is known to have sent it.
    let isHidden = delivery.isPrivate && !callers.caller(of: call).isSandboxed
    let state = Text(delivery.progress.state.rawValue)
    return (state, isHidden ? try withoutContent(delivery.decision) : delivery.decision)
  }

  private func storedDelivery(_ identifier: Text, _ call: Call) throws -> StoredDelivery {
    endTurn()
    let caller = callers.caller(of: call)
    if let identifier = UniqueIdentifier(identifier),
      let delivery = try stored({ () throws(StoreError) in try store.delivery(identifier) })
    {
      if !caller.isSandboxed || !caller.application.isEmpty && delivery.sender == caller.application { return delivery }
    }
    throw InterchangeError(
      .noSuchDelivery, "there is no delivery \(quoted(identifier.string)), or it is not kept any more")
  }

  package func deliveries(in state: Text, after: Text, limit: UInt32, _ call: Call) throws -> [DeliveryRow] {
    endTurn()
    try refuseSandbox(call, "list deliveries")
    let wanted = DeliveryState(rawValue: state.string)
    if wanted == nil, !state.isEmpty {
      let states = DeliveryState.allCases.map { quoted($0.rawValue) }.joined(separator: ", ", last: " or ")
      throw InterchangeError(.invalidArgs, "state: expected \"\", \(states), got \(quoted(state.string))")
    }
    let start = UniqueIdentifier(after)
    if start == nil, !after.isEmpty { throw noDelivery(after) }
    let page = try stored { () throws(StoreError) in
      try store.deliveries(in: wanted, after: start, limit: Self.page(limit))
    }
    guard let page else { throw noDelivery(after) }
    return page.map { delivery in
      DeliveryRow(
        "\(delivery.identifier)", delivery.progress.state.rawValue, delivery.application.string,
        delivery.progress.session.map(InterchangeNames.path(ofSession:)) ?? .root)
    }
  }

  private func noDelivery(_ identifier: Text) -> InterchangeError {
    InterchangeError(.noSuchDelivery, "there is no delivery \(quoted(identifier.string)) to go on from")
  }

  package func sessions(of application: Text, after: Text, limit: UInt32, _ call: Call) throws -> [SessionRow] {
    endTurn()
    let caller = callers.caller(of: call)
    let start = SessionReference.identifier(after)
    let missing = InterchangeError(.noSuchSession, "there is no session \(quoted(after.string)) to go on from")
    if start == nil, !after.isEmpty { throw missing }
    if caller.isSandboxed, application != caller.application || application.isEmpty {
      throw InterchangeError(.accessDenied, "a sandboxed application may list the sessions of its own application only")
    }
    let page = try stored { () throws(StoreError) in
      try store.sessions(of: application.isEmpty ? nil : application, after: start, limit: Self.page(limit))
    }
    guard let page else { throw missing }
    return page.map(\.asSeen).map { session in
      SessionRow(
        InterchangeNames.path(ofSession: session.identifier), session.application.string, session.configuration.string,
        session.state.rawValue, session.targetContentIdentifier.string, session.title.string,
        session.lastActivated.unsigned)
    }
  }

  package func events(since sequence: UInt64, limit: UInt32, _ call: Call) throws -> [EventRow] {
    endTurn()
    let first = store.firstEventSequence
    let last = store.lastEventSequence
    guard sequence <= last else {
      throw InterchangeError(
        .eventsGone, "there is no event \(sequence) yet, and the newest is \(last): go on from \(last)")
    }
    guard sequence + 1 >= first else {
      throw InterchangeError(
        .eventsGone, "the events after \(sequence) are kept from number \(first) on only: go on from \(first - 1)")
    }
    let caller = callers.caller(of: call)
    let page = try stored { () throws(StoreError) in
      try store.events(after: sequence, limit: Self.page(limit))
    }
    return page.filter { !caller.isSandboxed || $0.application == caller.application }
      .map { EventRow($0.sequence, $0.name.string, $0.arguments.string) }
  }

  /// As many as fit: a row has some hundred bytes, and a message of the bus 128 MiB.
  private static func page(_ limit: UInt32) -> Int { limit == 0 ? 100_000 : Int(min(limit, 100_000)) }

  // MARK: Deliveries that wait

  package func cancelDelivery(_ identifier: Text, _ reply: Reply<>) throws {
    let delivery = try storedDelivery(identifier, reply.call)
    guard delivery.progress.state == .held else {
      throw InterchangeError(
        .requestDenied, "the delivery \(delivery.identifier) is \(delivery.progress.state.rawValue), and no longer held"
      )
    }
    let cancelled = InterchangeError(.cancelled, "it was cancelled while it was held")
    try bringIn(delivery.application)
    try collect(refuse: { reply.fail($0) }) { share in
      try end(delivery, .cancelled, cancelled, &share, settings.now())
      share.speak.append { _ in reply.send() }
    }
  }

  package func redirectDelivery(_ identifier: Text, to session: ObjectPath, _ reply: Reply<String>) throws {
    let delivery = try storedDelivery(identifier, reply.call)
    guard let target = InterchangeNames.session(at: session),
      let found = try stored({ () throws(StoreError) in try store.session(target) })
    else { throw InterchangeError(.noSuchSession, "there is no session \(session)") }
    guard found.application == delivery.application else {
      throw InterchangeError(
        .requestDenied, "the delivery is for \(delivery.application), and that is a session of \(found.application)")
    }
    guard delivery.progress.isOpen else {
      throw InterchangeError(
        .requestDenied, "the delivery \(delivery.identifier) is \(delivery.progress.state.rawValue) already")
    }
    let now = settings.now()
    var payload = try read { () throws(Fault) in try Payload(json: delivery.payload, rules) }
    payload.options = PayloadOptions()
    payload.options.session = Text("\(target)")
    payload.options.isPrivate = delivery.isPrivate
    try bringIn(found.application)
    let request = Request(payload, newSession: target)
    let decision = SceneRouting.decide(state, request, at: now)
    if case .refused(let refusal) = decision.outcome { throw InterchangeError(refusal) }
    try collect(refuse: { reply.fail($0) }) { share in
      try redirect(delivery, decision, &share, now)
      share.speak.append { _ in reply.send(decision.outcome.name.string) }
    }
  }

  // MARK: Applications

  package func register(_ manifest: Text, _ reply: Reply<ObjectPath>) throws {
    try refuseSandbox(reply.call, "register an application")
    let read: Manifest
    do throws(Faults) {
      read = try Manifest(Array(manifest.string.utf8), types: state.types)
    } catch {
      throw InterchangeError(manifest: error)
    }
    if let file = manifestFiles[read.identifier], !file.isEmpty {
      throw InterchangeError(.requestDenied, "\(read.identifier) is installed: \(file)")
    }
    var registered = read
    // A command line is taken from what is installed only.
    registered.exec = nil
    try bringIn(registered.identifier)
    let path = InterchangeNames.path(ofApplication: registered.identifier)
    endTurn()
    try collect(refuse: { reply.fail($0) }) { share in
      try replaceManifest(registered, file: .empty, &share)
      share.speak.append { _ in reply.send(path) }
    }
  }

  package func setPreferredApplication(_ identifier: Text, for type: Text, _ reply: Reply<>) throws {
    try begin(reply.call)
    try refuseSandbox(reply.call, "set a preferred application")
    if !identifier.isEmpty {
      guard let manifest = state.manifest(of: identifier) else {
        throw InterchangeError(
          .noSuchApplication,
          "there is no application \(quoted(identifier.string)): install a manifest of that name, or register it")
      }
      guard manifest.activityTypes.contains(type) else {
        throw InterchangeError(
          .routing("org.stagedoor.Error.ActivityTypeNotDeclared"),
          "\(identifier) does not declare \(quoted(type.string)): add it to NSUserActivityTypes in its manifest")
      }
    }
    let before = state.preferredApplication(for: type)
    let application = identifier.isEmpty ? nil : identifier
    state.setPreferredApplication(application, for: type)
    var share = Turn.Share(refuse: { reply.fail($0) })
    share.onRefusal { $0.state.setPreferredApplication(before, for: type) }
    share.records.append(.preference(type: type, application: application))
    share.speak.append { _ in reply.send() }
    add(share)
  }

  package func preferredApplication(for type: Text, _ call: Call) throws -> Text {
    try refuseSandbox(call, "ask for a preferred application")
    return state.preferredApplication(for: type) ?? .empty
  }

  // MARK: Small pieces

  var rules: ReadingRules { ReadingRules(types: state.types) }

  func read<Result>(_ body: () throws(Fault) -> Result) throws(InterchangeError) -> Result {
    do throws(Fault) {
      return try body()
    } catch {
      throw InterchangeError(payload: error)
    }
  }

  func refuseSandbox(_ call: Call, _ what: String) throws(InterchangeError) {
    if callers.caller(of: call).isSandboxed {
      throw InterchangeError(.accessDenied, "a sandboxed application may not \(what)")
    }
  }
}
