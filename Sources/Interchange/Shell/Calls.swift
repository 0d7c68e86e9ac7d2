import DBus
import InterchangeCore
import InterchangeTurns
import InterchangeWire
import SceneModel

// Turns calls into a closed `Ask`, with every value checked. The core decides about them.
extension Interchange {
  /// A call that changes something: `reply` answers it once the change is stored.
  ///
  /// - Parameter descriptors: The descriptors that came with the call. They belong to the call until it is answered, or until the baggage store takes
  ///   them.
  func call(
    _ call: Call, _ ask: Ask, bringing descriptors: [OwnedFileDescriptor] = [], as number: CallNumber? = nil,
    _ reply: @escaping (CallAnswer) -> Void
  ) {
    let number = number ?? newCallNumber()
    let caller = callers.caller(of: call)
    call.forgetDescriptors()
    call.forgetCredentials()
    replies[number] = reply
    if !descriptors.isEmpty {
      do throws(InterchangeError) {
        let charge = try hold(descriptors.count, of: .callDescriptors, for: caller)
        replies[number] = { answer in withExtendedLifetime(charge) { reply(answer) } }
        luggage[number] = descriptors
      } catch {
        replies[number] = nil
        return reply(.refused(error))
      }
    }
    feed(.call(number, caller, ask))
  }

  /// Gives a cue to the prompter.
  func feed(_ cue: Cue) {
    if isClosed { return }
    if prompter.isFull { endTurn() }
    // If the store cannot be read, the end of the turn reports this.
    _ = try? prompter.take(cue, at: moment)
    endTurnLater()
  }

  // MARK: Before the core

  /// Works on a call before the core gets it: asks a portal, looks at files, reads a picture, or asks rules. The call fails if its sender has too many
  /// such calls.
  ///
  /// - Parameter goOn: Continues with the result, in the same turn of the loop, also if the sender has left meanwhile: it may not want the answer.
  func aside<Value, each Answer: BusValue>(
    _ kind: Resource, bytes: Int, for reply: Reply<repeat each Answer>,
    _ work: @escaping () async throws(InterchangeError) -> Value, _ goOn: @escaping (Value) -> Void
  ) {
    let caller = callers.caller(of: reply.call)
    let charges: [Holding]
    do throws(InterchangeError) {
      charges = [try hold(1, of: kind, for: caller), try hold(bytes, of: .asideBytes, for: caller)]
    } catch {
      _ = reply.fail(error)
      return
    }
    reply.call.forgetDescriptors()
    connection.loop.task {
      let result: Result<Value, InterchangeError>
      do throws(InterchangeError) { result = .success(try await work()) } catch { result = .failure(error) }
      if await hasLeft(reply.call, caller, charges[0]) {
        log.debug("\(reply.call.member): its caller has left, and it goes on")
        reply.call.abandon()
      }
      switch result {
      case .success(let value): goOn(value)
      case .failure(let error): CallAnswer.refused(error).fail(reply)
      }
    }
  }

  /// A sandbox pays, however many connections it has: only the bus knows of one of these.
  private func hasLeft(_ call: Call, _ caller: Caller, _ charge: Holding) async -> Bool {
    guard caller.isSandboxed, let name = call.sender else { return charge.isOfDeparted }
    do throws(CallError) { return try await connection.owner(of: name) == nil } catch { return false }
  }

  /// Charges the caller until the result is destroyed.
  func hold(_ amount: Int, of resource: Resource, for caller: Caller) throws(InterchangeError) -> Holding {
    try prompter.book.hold(amount, of: resource, for: caller.principal)
  }
}

extension Interchange {
  func drop(_ activity: UserActivity, _ reply: DeliveryReply) throws {
    call(reply.call, .deliver(Payload(activity), digest: .empty, size: 0)) { $0.send(to: reply) }
  }

  func deliver(_ reply: DeliveryReply, _ document: Text) throws {
    let payload = try readPayload(document)
    handIn(
      payload, digest: payload.options.token == nil ? .empty : Digest(of: document).hex, size: document.count, reply)
  }

  func handIn(
    _ payload: Payload, bringing descriptors: [OwnedFileDescriptor] = [], digest: Text, size: Int,
    _ reply: DeliveryReply
  ) {
    redeem(payload, descriptors, digest: digest, size: size, reply) { payload, descriptors in
      self.call(reply.call, .deliver(payload, digest: digest, size: size), bringing: descriptors) {
        $0.send(to: reply)
      }
    }
  }

  func deliverEach(_ reply: Reply<[DeliveryResult]>, _ document: Text) throws {
    let payload = try readPayload(document)
    let digest = Digest(of: Text("each \(document)")).hex
    redeem(payload, [], digest: digest, size: document.count, reply) { payload, descriptors in
      let ask = Ask.deliverEach(payload, digest: digest, size: document.count)
      self.call(reply.call, ask, bringing: descriptors) { answer in
        switch answer {
        case .deliveredEach(let items): reply.send(items.map(\.result))
        case let other: other.fail(reply)
        }
      }
    }
  }

  func cancelDelivery(_ reply: Reply<>, _ identifier: Text) throws {
    call(reply.call, .cancel(try deliveryIdentifier(identifier))) { $0.send(to: reply) }
  }

  func redirectDelivery(_ reply: Reply<String>, _ identifier: Text, to session: ObjectPath) throws {
    let delivery = try deliveryIdentifier(identifier)
    guard let target = InterchangeNames.session(at: session) else {
      throw InterchangeError(.noSuchSession, "there is no session \(session)")
    }
    call(reply.call, .redirect(delivery, to: target)) { answer in
      if case .outcome(let outcome) = answer { reply.send(outcome.string) } else { answer.fail(reply) }
    }
  }

  func deferDelivery(_ reply: Reply<>, _ identifier: Text, seconds: UInt32) throws {
    call(reply.call, .putOff(try deliveryIdentifier(identifier), seconds: seconds)) { $0.send(to: reply) }
  }

  func finishDelivery(_ reply: Reply<>, _ identifier: Text, _ error: Text, _ message: Text) throws {
    let delivery = try deliveryIdentifier(identifier)
    let isReserved = ["org.stagedoor", "org.freedesktop"].contains { "\(error).".hasPrefix("\($0).") }
    guard error.isEmpty || !isReserved && (try? ErrorName(error.string)) != nil else {
      throw InterchangeError(
        .invalidArgs,
        "error: expected \"\", or the name of an error such as org.example.Error.Away, outside org.stagedoor and org.freedesktop, got \(quoted(error.string))"
      )
    }
    if message.count > Limits.text {
      throw InterchangeError(
        .limitsExceeded, "message: expected at most \(Limits.text) bytes, got \(message.count)")
    }
    call(reply.call, .finish(delivery, error: error, message: message)) { $0.send(to: reply) }
  }

  func deliveryIdentifier(_ text: Text) throws(InterchangeError) -> UniqueIdentifier {
    if let identifier = UniqueIdentifier(text) { return identifier }
    throw .noDelivery(text.string)
  }

  // MARK: Applications

  func register(_ reply: Reply<ObjectPath>, _ manifest: Text) throws {
    try refuseSandbox(reply.call, "register an application")
    let read: Manifest
    do throws(Faults) {
      read = try Manifest(Array(manifest.string.utf8), types: types)
    } catch {
      throw InterchangeError(manifest: error)
    }
    call(reply.call, .register(read, size: manifest.count)) { answer in
      if case .application(let identifier) = answer {
        reply.send(InterchangeNames.path(ofApplication: identifier))
      } else {
        answer.fail(reply)
      }
    }
  }

  func unregister(_ reply: Reply<>, _ application: Text) throws {
    call(reply.call, .unregister(application)) { $0.send(to: reply) }
  }

  func setPreferredApplication(_ reply: Reply<>, for type: Text, _ identifier: Text) throws {
    try refuseSandbox(reply.call, "set a preferred application")
    call(reply.call, .prefer(identifier.isEmpty ? nil : identifier, type: type)) { $0.send(to: reply) }
  }

  func attachHost(
    of identifier: Text, connected: [ObjectPath], _ options: HostOptions, _ reply: Reply<ObjectPath, [ObjectPath]>
  ) throws {
    let shown = connected.compactMap { InterchangeNames.session(at: $0) }
    let unknown = connected.filter { InterchangeNames.session(at: $0) == nil }.map { Text($0.rawValue) }
    let ask = Ask.attach(application: identifier, shown: shown, unknown: unknown, options)
    call(reply.call, ask) { answer in
      guard case .attached(let application, let discarded) = answer else { return answer.fail(reply) }
      reply.send(
        InterchangeNames.path(ofApplication: application), discarded.map { ObjectPath(unchecked: $0.string) })
    }
  }

  func newSession(_ reply: DeliveryReply, of configuration: Text) throws {
    let application = try application(at: reply.call.path)
    call(reply.call, .newSession(application: application, configuration: configuration)) { $0.send(to: reply) }
  }

  func adoptSession(
    _ reply: Reply<ObjectPath>, _ configuration: Text, _ activity: Text, _ title: Text
  ) throws {
    let application = try application(at: reply.call.path)
    let shown = activity.isEmpty ? nil : try readActivity(activity, as: "activity")
    call(reply.call, .adopt(application: application, configuration: configuration, shown, title: title)) { answer in
      guard case .adopted(let session) = answer else { return answer.fail(reply) }
      reply.send(InterchangeNames.path(ofSession: session))
    }
  }

  func postNotification(_ reply: Reply<>, _ name: Text, _ userInfo: Text) throws {
    let application = try application(at: reply.call.path)
    _ = try self.userInfo(userInfo, as: "user_info")
    call(reply.call, .post(application: application, name: name, userInfo: userInfo)) { $0.send(to: reply) }
  }

  // MARK: Sessions

  func activate(_ reply: Reply<String, String>, _ activity: Text) throws {
    let session = try session(at: reply.call.path)
    var payload = Payload()
    payload.options.session = Text("\(session)")
    if !activity.isEmpty { payload.items = [Item(activities: [try readActivity(activity, as: "activity")])] }
    call(reply.call, .activate(session, payload, size: activity.count)) { answer in
      guard case .delivered(let delivered) = answer else { return answer.fail(reply) }
      reply.send(delivered.outcome.string, "\(delivered.delivery)")
    }
  }

  func refresh(_ reply: Reply<>) throws {
    call(reply.call, .refresh(try session(at: reply.call.path))) { $0.send(to: reply) }
  }

  func destroy(_ reply: Reply<>, _ animation: Text) throws {
    call(reply.call, .destroy(try session(at: reply.call.path), animation: animation)) { $0.send(to: reply) }
  }

  func setState(_ reply: Reply<>, _ state: Text) throws {
    let session = try session(at: reply.call.path)
    guard let wanted = SceneState(rawValue: state.string), wanted != .unattached else {
      // A caller that may not set it should hear that first.
      try refuseOthersThanHost(reply.call)
      throw InterchangeError(
        .invalidArgs,
        "state: expected \"foregroundActive\", \"foregroundInactive\" or \"background\", got \(quoted(state.string))")
    }
    call(reply.call, .setState(session, wanted)) { $0.send(to: reply) }
  }

  func disconnect(_ reply: Reply<>) throws {
    call(reply.call, .disconnect(try session(at: reply.call.path))) { $0.send(to: reply) }
  }

  func setProperty(
    _ property: SessionProperty, to text: Text, _ access: PropertyAccess, _ reply: Reply<>
  ) throws {
    let session = try session(at: access.path)
    try refuseOthersThanHost(reply.call)
    call(reply.call, .write(session, try writing(property, text))) { $0.send(to: reply) }
  }

  private func writing(_ property: SessionProperty, _ text: Text) throws -> SessionWriting {
    switch property {
    case .title: return .title(text)
    case .userActivity: return .userActivity(try activity(text, property))
    case .stateRestorationActivity: return .stateRestorationActivity(try activity(text, property))
    case .userInfo: return .userInfo(try userInfo(text, as: property.rawValue))
    case .canActivatePredicate: return .canActivatePredicate(try predicate(text, property))
    case .prefersToActivatePredicate: return .prefersToActivatePredicate(try predicate(text, property))
    }
  }

  func session(at path: ObjectPath) throws(InterchangeError) -> UniqueIdentifier {
    if let identifier = InterchangeNames.session(at: path) { return identifier }
    throw .noSession(at: path)
  }

  private func application(at path: ObjectPath) throws(InterchangeError) -> Text {
    if let identifier = InterchangeNames.application(at: path) { return identifier }
    throw InterchangeError(.unknownObject, "there is no application at \(path)")
  }

  // MARK: Documents

  private var rules: ReadingRules { ReadingRules(types: types) }

  /// Reads a document of a caller. The error names the place of a fault. If the text is something else altogether, the error names the argument or
  /// property and the expected document.
  private func read<Result>(
    _ document: Text, as name: String, _ expected: String, _ read: (Text) throws(Fault) -> Result
  ) throws(InterchangeError) -> Result {
    do throws(Fault) {
      return try read(document)
    } catch {
      // The places of a payload begin in the document itself.
      let isInPayload = name == "payload" && !error.place.isEmpty
      let before =
        isInPayload ? "" : error.place.isEmpty ? name : error.place.hasPrefix("line ") ? "\(name), " : "\(name)."
      // The text does not even begin like a document.
      let isForeign = error.kind == .invalid && error.place == "line 1, column 1"
      let reason = isForeign ? "expected \(expected) in JSON, got \(quoted(document.string))" : error.reason
      throw InterchangeError(payload: Fault(error.kind, at: before + error.place, reason))
    }
  }

  func readPayload(_ document: Text) throws(InterchangeError) -> Payload {
    try read(document, as: "payload", "a payload") { text throws(Fault) in try Payload(json: text, rules) }
  }

  /// - Parameter name: The name in the error.
  private func readActivity(_ document: Text, as name: String) throws(InterchangeError) -> UserActivity {
    try read(document, as: name, "an activity") { text throws(Fault) in try UserActivity(json: text, rules) }
  }

  private func activity(_ text: Text, _ property: SessionProperty) throws -> UserActivity? {
    text.isEmpty ? nil : try readActivity(text, as: property.rawValue)
  }

  /// - Parameter name: The name in the error.
  private func userInfo(_ text: Text, as name: String) throws -> UserInfo {
    text.isEmpty
      ? UserInfo() : try read(text, as: name, "a dictionary") { text throws(Fault) in try JSON.dictionary(text) }
  }

  private func predicate(_ text: Text, _ property: SessionProperty) throws -> Text {
    if text.isEmpty { return text }
    do throws(PredicateError) {
      return try Predicate(text).source
    } catch {
      throw InterchangeError(.invalidPredicate, "\(property.rawValue): \(error)")
    }
  }

  // MARK: Access

  /// Refuses everyone but the host, before the document is read.
  private func refuseOthersThanHost(_ call: Call) throws {
    let session = try storedSession(at: call.path)
    try storedBook.requireHost(callers.caller(of: call), of: session.application)
  }

  func refuseSandbox(_ call: Call, _ what: String) throws(InterchangeError) {
    let caller = callers.caller(of: call)
    if caller.isSandboxed {
      // Nobody reads the error then.
      if caller.application.isEmpty, hints.isNews(call.member, at: settings.now()) {
        log.warning(
          "\(call.member) was refused, because the service could not identify the caller. A caller that does not wait for the answer, such as "
            + "dbus-send without --print-reply, leaves too soon.")
      }
      throw InterchangeError(.accessDenied, "a sandboxed application may not \(what)")
    }
  }
}

extension CallAnswer {
  func send(to reply: Reply<>) { if case .done = self { reply.send() } else { fail(reply) } }

  func send(to reply: DeliveryReply) {
    guard case .delivered(let delivered) = self else { return fail(reply) }
    reply.send(
      InterchangeNames.path(ofSession: delivered.session), delivered.outcome.string, "\(delivered.delivery)")
  }

  func fail<each Value: BusValue>(_ reply: Reply<repeat each Value>) {
    guard case .refused(let error) = self else { preconditionFailure("a call is answered with what it asked for") }
    if error == .callerLeft { reply.call.abandon() }
    reply.fail(error)
  }
}

extension InterchangeError {
  static func noSession(at path: ObjectPath) -> InterchangeError {
    InterchangeError(.unknownObject, "there is no session at \(path)")
  }
}

extension DeliveredItem {
  /// (session, outcome, delivery), or ("/", error, message) for a refused item.
  fileprivate var result: DeliveryResult {
    switch self {
    case .delivered(let delivered):
      DeliveryResult(
        InterchangeNames.path(ofSession: delivered.session), delivered.outcome.string, "\(delivered.delivery)")
    case .refused(let error): DeliveryResult(.root, error.errorName.string, error.message)
    }
  }
}
