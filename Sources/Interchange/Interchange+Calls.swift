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
    let payload = try readPayload(document)
    try deliver(payload, fingerprint: fingerprint(of: document, payload), from: callers.caller(of: reply.call), reply)
  }

  package func explain(_ document: Text, _ call: Call) throws -> Text {
    if call.isAbandoned { throw InterchangeError(.noReply, "the caller has left") }
    let payload = try readPayload(document)
    let caller = callers.caller(of: call)
    try refuseFiles(payload, caller)
    let request = Request(
      payload, from: sender(caller), newSession: newIdentifier(), listsCandidates: true)
    try bringIn(for: request)
    var decision = SceneRouting.decide(state, request, at: settings.now())
    // To list what a decision passes by takes longer than the decision.
    call.tookLong()
    if caller.isSandboxed, decision.explanation.application != caller.application {
      // A sandbox reads its own application's sessions only.
      decision.explanation.candidates = []
    } else {
      try hideSecrets(of: &decision.explanation.candidates)
    }
    return decision.json
  }

  package func deliverEach(_ document: Text, _ reply: Reply<[DeliveryResult]>) throws {
    try begin(reply.call)
    let payload = try readPayload(document)
    let caller = callers.caller(of: reply.call)
    try refuseFiles(payload, caller)
    let fingerprint = fingerprint(of: Text("each \(document)"), payload)
    if let first = try firstDelivery(payload.options.token, fingerprint, caller) {
      reply.send(try results(of: first))
      return
    }
    try refuseMoreSessions(payload.items.count)
    try bringIn(forEachOf: payload, from: sender(caller))
    let now = settings.now()
    try collect(refuse: { reply.fail($0) }) { share in
      let results = try carryOutEach(payload, fingerprint, caller, reply.call, &share, now)
      share.onceStored { _ in reply.send(results) }
    }
  }

  private func carryOutEach(
    _ payload: Payload, _ fingerprint: Text, _ caller: Caller, _ call: Call, _ share: inout Turn.Share, _ now: Instant
  ) throws -> [DeliveryResult] {
    let batch = try read { () throws(Fault) in
      try decideEach(&state, payload, from: sender(caller), at: now, newSession: newIdentifier)
    }
    letOthersIn(after: call, fingerprint, batch.steps)
    if let refusal = batch.refusal { throw InterchangeError(refusal) }
    for undo in batch.undos { share.onRefusal(revert: undo) }
    var results: [DeliveryResult] = []
    // The first delivery has the token for all of them.
    var isFirst = true
    for (decision, single) in zip(batch.decisions, payload.split) {
      if case .refused(let refusal) = decision.outcome {
        results.append(DeliveryResult(.root, InterchangeError(refusal).errorName.rawValue, ""))
      } else {
        let answer = try carryOut(
          decision, single, fingerprint: isFirst ? fingerprint : nil, caller, &share, now)
        isFirst = false
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

  // MARK: Deliveries that wait

  package func cancelDelivery(_ identifier: Text, _ reply: Reply<>) throws {
    // What is brought in may be discarded with that, and end what goes there.
    try bringIn(try storedDelivery(identifier, reply.call) { $0.sender == $1 }.application)
    let delivery = try storedDelivery(identifier, reply.call) { $0.sender == $1 }
    guard delivery.progress.state == .held else {
      throw InterchangeError(
        .requestDenied, "the delivery \(delivery.identifier) is \(delivery.progress.state.rawValue), and no longer held"
      )
    }
    let cancelled = InterchangeError(.cancelled, "it was cancelled while it was held")
    try collect(refuse: { reply.fail($0) }) { share in
      try end(delivery, .cancelled, cancelled, &share, settings.now())
      share.onceStored { _ in reply.send() }
    }
  }

  package func redirectDelivery(_ identifier: Text, to session: ObjectPath, _ reply: Reply<String>) throws {
    // What is brought in may be discarded with that, and end what goes there.
    try bringIn(try storedDelivery(identifier, reply.call) { $0.application == $1 }.application)
    let delivery = try storedDelivery(identifier, reply.call) { $0.application == $1 }
    guard let target = InterchangeNames.session(at: session),
      let found = try storedSession(target)
    else { throw InterchangeError(.noSuchSession, "there is no session \(session)") }
    guard found.application == delivery.application else {
      throw InterchangeError(
        .requestDenied, "the delivery is for \(delivery.application), and that is a session of \(found.application)")
    }
    let now = settings.now()
    // Its window may have taken it before anyone saw that it is the wrong one.
    guard delivery.progress.isOpen || delivery.progress.state == .handled && now < delivery.deadline else {
      throw InterchangeError(
        .requestDenied,
        "the delivery \(delivery.identifier) is \(delivery.progress.state.rawValue), and its time is over")
    }
    var payload = try read { () throws(Fault) in try Payload(json: delivery.payload, rules) }
    payload.options = PayloadOptions()
    payload.options.session = Text("\(target)")
    payload.options.isPrivate = delivery.isPrivate
    let request = Request(payload, newSession: target)
    let decision = SceneRouting.decide(state, request, at: now)
    if case .refused(let refusal) = decision.outcome { throw InterchangeError(refusal) }
    try collect(refuse: { reply.fail($0) }) { share in
      try redirect(delivery, decision, from: callers.caller(of: reply.call), &share, now)
      share.onceStored { _ in reply.send(decision.outcome.name.string) }
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
    let size = max(manifest.count, 4096)
    let others = registeredSizes.reduce(0) { $1.key == read.identifier ? $0 : $0 + $1.value }
    if others + size > settings.maximumRegistered {
      throw InterchangeError(
        .limitsExceeded,
        "manifests that are registered take at most \(settings.maximumRegistered) bytes together, and others have \(others) of them: install "
          + "this one instead")
    }
    var registered = read
    // A command line is taken from what is installed only.
    registered.exec = nil
    let path = InterchangeNames.path(ofApplication: registered.identifier)
    endTurn()
    try collect(refuse: { reply.fail($0) }) { share in
      try replaceManifest(registered, file: .empty, &share)
      registeredSizes[registered.identifier] = size
      share.onceStored { _ in reply.send(path) }
    }
  }

  package func setPreferredApplication(_ identifier: Text, for type: Text, _ reply: Reply<>) throws {
    try begin(reply.call)
    try refuseSandbox(reply.call, "set a preferred application")
    if type.count > Limits.name {
      throw InterchangeError(
        .limitsExceeded, "activity_type: expected at most \(Limits.name) bytes, got \(type.count)")
    }
    if !identifier.isEmpty {
      guard let manifest = state.manifest(of: identifier) else {
        throw InterchangeError(
          .noSuchApplication,
          "there is no application \(quoted(identifier.string)): install a manifest of that name, or register it")
      }
      let content = ContentType(type, as: .asked)
      let isTaken = content.map { type in manifest.contentTypes.contains { state.types.conforms(type, to: $0) } }
      guard manifest.activityTypes.contains(type) || isTaken ?? false else {
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
    share.onceStored { _ in reply.send() }
    add(share)
  }

  package func preferredApplication(for type: Text, _ call: Call) throws -> Text {
    try refuseSandbox(call, "ask for a preferred application")
    return state.preferredApplication(for: type) ?? .empty
  }

  // MARK: Small pieces

  /// A document of a megabyte, or conditions that take a million steps, are some milliseconds: before its sender goes on, others do.
  func letOthersIn(after call: Call, _ document: Text, _ steps: Int) {
    if document.count > 1 << 20 || steps > 1 << 20 { call.tookLong() }
  }

  var rules: ReadingRules { ReadingRules(types: state.types) }

  func read<Result>(_ body: () throws(Fault) -> Result) throws(InterchangeError) -> Result {
    do throws(Fault) {
      return try body()
    } catch {
      throw InterchangeError(payload: error)
    }
  }

  /// Reads a document that somebody handed in. A fault in it says where it is; where all of it is something else, the argument or property that it was
  /// handed in as is named, and what it should be.
  func read<Result>(
    _ document: Text, as name: String, _ expected: String, _ read: (Text) throws(Fault) -> Result
  ) throws(InterchangeError) -> Result {
    do throws(Fault) {
      return try read(document)
    } catch {
      // It does not even begin as one.
      if error.place == "line 1, column 1" {
        throw InterchangeError(
          .invalidPayload, "\(name): expected \(expected) in JSON, got \(quoted(document.string))")
      }
      let fault = Fault(error.kind, at: error.place.isEmpty ? name : error.place, error.reason)
      throw InterchangeError(payload: fault)
    }
  }

  private func readPayload(_ document: Text) throws(InterchangeError) -> Payload {
    try read(document, as: "payload", "a payload") { text throws(Fault) in try Payload(json: text, rules) }
  }

  /// - Parameter name: what a refusal calls it.
  func readActivity(_ document: Text, as name: String) throws(InterchangeError) -> UserActivity {
    try read(document, as: name, "an activity") { text throws(Fault) in try UserActivity(json: text, rules) }
  }

  func refuseSandbox(_ call: Call, _ what: String) throws(InterchangeError) {
    let caller = callers.caller(of: call)
    if caller.isSandboxed {
      // Nobody reads the error then.
      if caller.application.isEmpty, hints.isNews(call.member, at: settings.now()) {
        log.warning(
          "\(call.member) was refused to a caller that nothing is known of: where it does not wait for the answer, as dbus-send without "
            + "--print-reply, it has left before anyone could look")
      }
      throw InterchangeError(.accessDenied, "a sandboxed application may not \(what)")
    }
  }
}
