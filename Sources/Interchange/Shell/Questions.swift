import DBus
import InterchangeCore
import InterchangeTurns
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore
import TextRules

// The calls that change nothing. They reach the core and the store by `storedBook`, `store` and `ask` only, which first store everything that was
// decided: no answer shows what the store may still refuse. This is the only place where a question ends the turn.
extension Interchange {
  /// The core, for questions.
  var storedBook: PromptBook {
    _read {
      storeEverything()
      yield prompter.book
    }
  }

  var store: SessionStore {
    storeEverything()
    return prompter.store
  }

  /// Asks the core a question for which it may have to read from the store.
  func ask<Answer>(
    _ question: (inout Prompter) throws(StoreError) -> Result<Answer, InterchangeError>
  ) throws(InterchangeError) -> Answer {
    storeEverything()
    let answer = try stored { () throws(StoreError) in try question(&prompter) }
    readOnLater()
    return try answer.get()
  }

  func storedSession(_ identifier: UniqueIdentifier) throws(InterchangeError) -> Session? {
    storeEverything()
    // Not by `storedBook`, which copies the core: a list of all objects asks a hundred thousand times.
    if let session = prompter.book.rememberedSession(identifier) { return session }
    return try stored { () throws(StoreError) in try prompter.store.session(identifier) }
  }

  /// The session of an object.
  func storedSession(at path: ObjectPath) throws(InterchangeError) -> Session {
    if let session = try storedSession(session(at: path)) { return session }
    throw .noSession(at: path)
  }

  /// Gives the store's errors their names on the bus.
  func stored<Result>(_ read: () throws(StoreError) -> Result) throws(InterchangeError) -> Result {
    do throws(StoreError) {
      return try read()
    } catch {
      throw InterchangeError(.storageFailed, "the store cannot be read: \(error.message)")
    }
  }

  /// Refuses a sandbox that asks about another application.
  private func refuseForeign(_ application: Text, _ caller: Caller, _ what: String) throws(InterchangeError) {
    if caller.mayTouch(application) { return }
    throw InterchangeError(.accessDenied, "a sandboxed application may \(what) only")
  }

  // MARK: Events

  func eventSequence() -> UInt64 { store.lastEventSequence }

  func oldestSequence() -> UInt64 { store.firstEventSequence - 1 }

  func events(_ call: Call, since sequence: UInt64, limit: UInt32) throws -> [EventRow] {
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
    let page = try page(limit, after: sequence, for: call) { start, count throws(StoreError) in
      try store.events(after: start ?? 0, of: caller.isSandboxed ? caller.application : nil, limit: count)
    } next: {
      $0.sequence
    } bytes: {
      // The document has the names of the arguments as well.
      $0.arguments.count + 256
    }
    return (page ?? []).map { EventRow($0.sequence, $0.name.string, $0.argumentsWithTime.string) }
  }

  // MARK: Decisions and deliveries

  func explain(_ reply: Reply<String>, _ document: Text) throws {
    let call = reply.call
    if call.isAbandoned { throw InterchangeError(.noReply, "the caller has left") }
    let payload = try readPayload(document)
    let caller = callers.caller(of: call)
    guard let (answer, consulting) = storedBook.consultation(on: payload, from: caller) else {
      return _ = reply.send(try explanation(payload, nil, caller))
    }
    if let answer { return _ = reply.send(try explanation(payload, answer, caller)) }
    aside(.ruleCalls, bytes: document.count, for: reply) { () throws(InterchangeError) in
      await self.answers(consulting)[0]
    } _: { answer in
      do { reply.send(try self.explanation(payload, answer, caller)) } catch { reply.fail(error) }
    }
  }

  private func explanation(
    _ payload: Payload, _ consultation: Consultation?, _ caller: Caller
  ) throws(InterchangeError) -> String {
    let now = moment
    let decision = try ask { prompter throws(StoreError) in
      try prompter.explain(payload, consultation: consultation, from: caller, at: now)
    }
    return try decision.explained { explanation throws(InterchangeError) in
      try hideSecrets(of: &explanation.candidates)
    }.json.string
  }

  /// Leaves out why a private session would take the payload: the reason reveals what the session shows.
  private func hideSecrets(of candidates: inout [Candidate]) throws(InterchangeError) {
    for place in candidates.indices {
      guard let session = try storedSession(candidates[place].session), session.isPrivate || session.hasSecrets else {
        continue
      }
      candidates[place].because =
        "hidden: the session is private, or its host keeps values with it that nobody else may read"
    }
  }

  func delivery(_ reply: Reply<Text, Text>, _ identifier: Text) throws {
    let caller = callers.caller(of: reply.call)
    let named = try deliveryIdentifier(identifier)
    guard let delivery = try stored({ () throws(StoreError) in try store.delivery(named) }) else {
      throw InterchangeError.noDelivery(identifier.string)
    }
    if caller.isSandboxed, caller.application.isEmpty || delivery.sender != caller.application {
      throw InterchangeError(
        .accessDenied, "a sandboxed caller may not do that with the delivery \(named), which another sent")
    }
    // A sandboxed caller asks about its own deliveries. Outside a sandbox, where a shell has a new name for each call, the sender is known while
    // somebody waits.
    let isSender =
      caller.isSandboxed || caller.connection != nil && storedBook.confidant(of: named) == caller.connection
    reply.send(
      Text(delivery.progress.state.rawValue),
      try delivery.story(isHidden: delivery.isPrivate && !isSender, hidesRule: caller.isSandboxed)
    )
  }

  func deliveries(_ call: Call, in state: Text, after: Text, limit: UInt32) throws -> [DeliveryRow] {
    let caller = callers.caller(of: call)
    if caller.isSandboxed, caller.application.isEmpty {
      throw InterchangeError(.accessDenied, "a sandboxed caller may list the deliveries to its own application only")
    }
    let wanted = DeliveryState(rawValue: state.string)
    if wanted == nil, !state.isEmpty {
      let states = DeliveryState.allCases.map { quoted($0.rawValue) }.listed("or")
      throw InterchangeError(.invalidArgs, "state: expected \"\", \(states), got \(quoted(state.string))")
    }
    let missing = InterchangeError(.noSuchDelivery, "there is no delivery \(quoted(after.string)) to go on from")
    let start = UniqueIdentifier(after)
    if start == nil, !after.isEmpty { throw missing }
    let application = caller.isSandboxed ? caller.application : nil
    let page = try page(limit, after: start, for: call) { start, count throws(StoreError) in
      try store.deliveries(in: wanted, of: application, after: start, limit: count)
    } next: {
      $0.identifier
    } bytes: {
      $0.application.count
    }
    guard let page else { throw missing }
    return page.map { delivery in
      DeliveryRow(
        "\(delivery.identifier)", delivery.progress.state.rawValue, delivery.application.string,
        delivery.progress.session.map(InterchangeNames.path(ofSession:)) ?? .root)
    }
  }

  // MARK: Sessions

  func isSession(_ path: ObjectPath) -> Bool {
    guard let identifier = InterchangeNames.session(at: path) else { return false }
    // The object of each call is looked up, and a call to a session that the core knows ends no turn.
    if prompter.book.knows(identifier) { return true }
    // If the session cannot be read, the call to it reports this: to say that it does not exist would be a lie.
    do { return try store.session(identifier) != nil } catch { return true }
  }

  func sessionElements(_ call: Call) throws -> [String] {
    let caller = callers.caller(of: call)
    if caller.isSandboxed, caller.application.isEmpty { return [] }
    var elements: [String] = []
    try stored { () throws(StoreError) in
      try store.forEachSession(of: caller.isSandboxed ? caller.application : nil) { session in
        elements.append(String(InterchangeNames.path(ofSession: session.identifier).lastElement))
      }
    }
    return elements
  }

  func session(_ access: PropertyAccess) throws -> Session {
    let session = try storedSession(at: access.path)
    guard let call = access.call else { return session.asSeen }
    let caller = callers.caller(of: call)
    try refuseForeign(session.application, caller, "read the sessions of its own application")
    return prompter.book.isHost(caller, of: session.application) ? session : session.asSeen
  }

  func sessions(_ call: Call, of application: Text, after: Text, limit: UInt32) throws -> [SessionRow] {
    let caller = callers.caller(of: call)
    let start = SessionReference.identifier(after)
    let missing = InterchangeError(.noSuchSession, "there is no session \(quoted(after.string)) to go on from")
    if start == nil, !after.isEmpty { throw missing }
    try refuseForeign(application, caller, "list the sessions of its own application")
    if !application.isEmpty, !storedBook.hasHeard(of: application) {
      throw InterchangeError.noApplication(application)
    }
    let page = try page(limit, after: start, for: call) { start, count throws(StoreError) in
      // The rows, and not the sessions, which may keep some megabytes each.
      try store.sessions(of: application.isEmpty ? nil : application, after: start, limit: count)?.sessions.map {
        session in
        let session = session.asSeen
        let bytes = session.application.count + session.configuration.count + session.shownTitle.count
        return (
          identifier: session.identifier, bytes: bytes + session.targetContentIdentifier.count,
          row: SessionRow(
            InterchangeNames.path(ofSession: session.identifier), session.application.string,
            session.configuration.string, session.state.rawValue, session.targetContentIdentifier.string,
            session.shownTitle.string, session.lastActivated.unsigned)
        )
      }
    } next: {
      $0.identifier
    } bytes: {
      $0.bytes
    }
    guard let page else { throw missing }
    return page.map(\.row)
  }

  // MARK: Applications

  func isApplication(_ path: ObjectPath) -> Bool {
    InterchangeNames.application(at: path).map { prompter.book.manifest(of: $0) != nil } ?? false
  }

  func applicationElements(_ call: Call) -> [String] {
    let caller = callers.caller(of: call)
    return storedBook.applications.filter { caller.mayTouch($0) }
      .map { String(InterchangeNames.path(ofApplication: $0).lastElement) }
  }

  func manifest(_ access: PropertyAccess) throws -> (manifest: Manifest, file: Text, isAttached: Bool) {
    guard let identifier = InterchangeNames.application(at: access.path),
      let manifest = storedBook.manifest(of: identifier)
    else { throw InterchangeError(.unknownObject, "there is no application at \(access.path)") }
    if let call = access.call { try refuseForeign(identifier, callers.caller(of: call), "read about itself") }
    return (manifest, storedBook.manifestFile(of: identifier), storedBook.isHostAttached(to: identifier))
  }

  func applications(_ call: Call) -> [ApplicationRow] {
    let caller = callers.caller(of: call)
    return storedBook.applications.filter { caller.mayTouch($0) }.map { identifier in
      ApplicationRow(
        identifier.string, InterchangeNames.path(ofApplication: identifier),
        storedBook.manifest(of: identifier)?.name.string ?? "", storedBook.isHostAttached(to: identifier))
    }
  }

  func handlers(_ call: Call, of type: Text) throws -> [HandlerRow] {
    try refuseSandbox(call, "ask who takes a type")
    let handlers = try ask { prompter throws(StoreError) in try prompter.handlers(of: type) }
    return handlers.map { HandlerRow($0.string, storedBook.manifest(of: $0)?.name.string ?? "") }
  }

  func preferredApplication(_ call: Call, for type: Text) throws -> Text {
    try refuseSandbox(call, "ask for a preferred application")
    return storedBook.preferredApplication(for: type) ?? .empty
  }

  func preferredApplications(_ call: Call) throws -> [PreferenceRow] {
    try refuseSandbox(call, "ask for preferred applications")
    return storedBook.preferredApplications.map { PreferenceRow($0.type.string, $0.application.string) }
  }

  func rules(_ call: Call) throws -> [RuleRow] {
    try refuseSandbox(call, "read the rules")
    return storedBook.rulesWithMatches.map { rule, matches in
      RuleRow(rule.name.string, rule.file.string, UInt32(rule.line), matches)
    }
  }

  // MARK: Pages

  /// As many rows as the caller wants and as fit: a message of the bus takes 128 MiB, and others wait while the rows are read.
  ///
  /// The rows are read a thousand at a time, or fewer long ones, so that no more are read than fit. Whoever wants many rows rests afterwards, as after
  /// every long call.
  private func page<Row, Position>(
    _ limit: UInt32, after start: Position?, for call: Call, read: (Position?, Int) throws(StoreError) -> [Row]?,
    next: (Row) -> Position, bytes: (Row) -> Int
  ) throws(InterchangeError) -> [Row]? {
    let wanted = limit == 0 ? 100_000 : Int(min(limit, 100_000))
    var rows: [Row] = []
    var (start, bytesLeft) = (start, 16 << 20)
    if call.isAbandoned { throw InterchangeError(.noReply, "the caller has left") }
    while rows.count < wanted {
      let count = min(1_000, wanted - rows.count)
      guard let some = try stored({ () throws(StoreError) in try read(start, count) }) else { return nil }
      for row in some {
        // The bytes of a row beside its texts.
        bytesLeft -= bytes(row) + 256
        if bytesLeft < 0, !rows.isEmpty { return rows }
        rows.append(row)
      }
      guard let last = some.last else { break }
      start = next(last)
    }
    return rows
  }
}

extension StoredEvent {
  /// The arguments of the event, with its time.
  fileprivate var argumentsWithTime: Text {
    // The service has written the arguments as an object.
    let open = document.string.dropLast()
    return Text("\(open)\(open.utf8.count > 1 ? "," : "")\"time\":\"\(instant.rfc3339)\"}")
  }
}

extension StoredDelivery {
  /// The route of a delivery and its reasons, its time, and its end.
  ///
  /// - Parameters:
  ///   - isHidden: Whether to name only the window, without its content.
  ///   - hidesRule: Whether the reader is sandboxed: the rules are the person's.
  fileprivate func story(isHidden: Bool, hidesRule: Bool) throws -> Text {
    guard let document = Decision.document(ofStored: self.decision),
      case .dictionary(var story)? = try? JSON.value(document)
    else { return .empty }
    if isHidden { story = StoredDelivery.withoutContent(story) }
    if hidesRule { story["rule"] = nil }
    if let session = self.progress.session {
      story["session"] = .string(Text("\(session)"))
      redirect(&story, to: session)
    }
    story["created"] = .string(Text(self.created.rfc3339))
    story["deadline"] = .string(Text(self.deadline.rfc3339))
    if !self.progress.isOpen {
      var ending = UserInfo()
      ending["time"] = self.progress.ended.map { .string(Text($0.rfc3339)) }
      ending["state"] = .string(Text(self.progress.state.rawValue))
      ending["error"] = self.progress.error.map { .string($0.name) }
      ending["message"] = self.progress.error.map { .string($0.message) }
      story["ended"] = .dictionary(ending)
    }
    return JSON.text(of: .dictionary(story))
  }

  /// After a redirect, a delivery has another session than its decision chose.
  private func redirect(_ decision: inout UserInfo, to session: UniqueIdentifier) {
    let identifier = Value.string(Text("\(session)"))
    var chosen: Value?
    if case .dictionary(let fields)? = decision["chosen"] { chosen = fields["session"] }
    let isAsDecided = self.progress.outcome.isEmpty || decision["outcome"] == .string(self.progress.outcome)
    if isAsDecided, chosen == nil || chosen == identifier { return }
    decision["outcome"] = .string(self.progress.outcome)
    decision["chosen"] = .dictionary([
      "session": identifier, "path": .string(Text(InterchangeNames.path(ofSession: session).rawValue)),
      "because": "it was redirected there",
    ])
  }

  private static func withoutContent(_ whole: UserInfo) -> UserInfo {
    var shown = UserInfo()
    shown["outcome"] = whole["outcome"]
    let parts: [(Text, Text)] = [("application", "chosen"), ("configuration", "chosen"), ("chosen", "session")]
    for (key, part) in parts {
      guard case .dictionary(let fields)? = whole[key], let value = fields[part] else { continue }
      shown[key] = .dictionary([part: value])
    }
    return shown
  }
}
