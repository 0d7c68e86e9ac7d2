internal import CDBus
internal import Synchronization

/// An incoming call, and the one place that answers it.
///
/// A handler that needs more than the arguments takes the call as its first parameter:
///
/// ```swift
/// var greeter = Interface("org.example.Greeter")
/// greeter.method("Greet", in: "name", out: "greeting") { (call: Call, name: String) -> String in
///   "Hello, \(name)! You are \(call.sender ?? "a peer"), and I am at \(call.path)."
/// }
/// ```
///
/// The caller gets exactly one reply, whatever a handler does: the first reply counts. A call that everyone has released without an answer is
/// answered with an error.
public final class Call: Sendable {
  /// The connection on which it came.
  public let connection: Connection
  /// The unique name of the caller; `nil` between two peers.
  public let sender: BusName?
  // Changes on the loop only, before anybody else has the call.
  @exclusivity(unchecked) private(set) nonisolated(unsafe) var message: Message
  private let isAnswered = Atomic(false)
  // Set on the loop, while the call waits for its turn, or by its handler.
  /// Whether the caller is known to have left the bus, so that nobody reads the answer.
  @exclusivity(unchecked) package private(set) nonisolated(unsafe) var isAbandoned = false
  // As above.
  /// Whether the call is not carried out, because too many calls of callers that have left wait already.
  package private(set) nonisolated(unsafe) var isCrowdedOut = false

  // Set on the loop, once, before any other code has seen the call.
  /// The caller's credentials, if the connection finds them out before each call: see ``Connection/identifyCallers(admittingStrangers:)``.
  public nonisolated(unsafe) private(set) var knownCredentials: Credentials?

  // Set on the loop before the method begins, and read only by code that this begins.
  /// The signature of the method's reply.
  nonisolated(unsafe) private var replySignature = Signature.empty
  // As for the signature.
  /// The number of values that the arguments may hold.
  nonisolated(unsafe) private(set) var valueLimit = Interface.usualValueLimit
  // As for the signature.
  /// The property that the call sets.
  nonisolated(unsafe) private var changed: (property: MemberName, interface: InterfaceName)?

  /// The path, if the question is about another object than the called one.
  private let otherPath: ObjectPath?

  /// Between two peers no bus fills in the sender, and a peer could write any sender.
  convenience init(_ message: consuming Message, on connection: Connection, isFromBus: Bool) {
    let sender = isFromBus ? message.sender : nil
    self.init(message, from: sender, on: connection)
  }

  private init(
    _ message: consuming Message, from sender: BusName?, on connection: Connection, about otherPath: ObjectPath? = nil
  ) {
    self.sender = sender
    self.otherPath = otherPath
    self.message = message
    self.connection = connection
  }

  deinit {
    if !isAnswered.load(ordering: .relaxed) {
      fail(ErrorReply(.noReply, "the service let the call go without an answer"))
    }
  }

  /// The object that is called.
  public var path: ObjectPath { otherPath ?? message.path ?? .root }
  /// The interface in the message; a caller may leave it out.
  public var interface: InterfaceName? { message.interface }
  /// The method.
  public var member: MemberName { message.member ?? MemberName(unchecked: "") }
  /// The types of its arguments.
  public var signature: Signature { message.signature }
  /// The arguments, of any types.
  public func variants() throws(CodingError) -> [Variant] { try message.variants() }
  var carriesDescriptors: Bool { dbus_message_contains_unix_fds(message.raw) != 0 }
  /// Whether the caller waits for the reply.
  public var expectsReply: Bool { message.expectsReply }

  /// The caller's credentials, from the bus. The connection asks the bus once for each sender.
  public func credentials() async throws(CallError) -> Credentials {
    if let knownCredentials { return knownCredentials }
    return try await connection.credentials(of: sender)
  }

  /// The same call as if it had been made to the object at `path`. The copy is not answered.
  func asking(about path: ObjectPath) -> Call {
    let call = Call(Message(retaining: message.raw), from: sender, on: connection, about: path)
    call.isAnswered.store(true, ordering: .relaxed)
    call.knownCredentials = knownCredentials
    return call
  }

  func identify(as credentials: Credentials) { knownCredentials = credentials }
  /// Nobody asks again who the caller is. Its credentials have a descriptor, and a call may wait for its answer for an hour. On the loop.
  package func forgetCredentials() { knownCredentials = nil }
  /// The caller has left before its answer: the bus would answer each answer with an error. On the loop.
  package func abandon() { isAbandoned = true }
  func crowdOut() { isCrowdedOut = true }

  /// Closes all descriptors that came with the call, if there are any, and forgets its arguments. A message may bring hundreds of descriptors that no
  /// argument names, and a call may wait for its answer for an hour. On the loop, after the arguments were decoded and before anybody else has the call.
  package func forgetDescriptors() {
    if carriesDescriptors, let head = try? Message.head(of: message) { message = head }
  }
  /// Records the method that was found for the call.
  func isMeant(for method: Interface.MethodEntry) {
    replySignature = method.outSignature
    valueLimit = method.valueLimit
  }

  /// The arguments, after their types were checked.
  func decodeValues<each Value: BusValue>() throws(CodingError) -> (repeat each Value) {
    try message.decodeValues(limit: valueLimit)
  }

  /// When the call succeeds, the property's new value is announced before the reply.
  func changes(_ property: MemberName, of interface: InterfaceName) { changed = (property, interface) }
}

// MARK: - Answers

extension Call {
  /// Answers with `values`, which have the types that the method declares. Returns whether this was the answer: `false` if the call had been answered
  /// before.
  @discardableResult
  func reply<each Value: BusValue>(_ values: repeat each Value) -> Bool {
    guard takeAnswer() else { return false }
    // The reply waits behind the announcement: both go to the loop in order.
    if let changed { connection.propertyChanged(changed.property, of: changed.interface, at: path) }
    guard isAwaited else { return true }
    do {
      var draft = try Message.Draft(replyTo: message, replySignature)
      repeat try (each values).write(to: &draft.writer)
      if try draft.mustBeginAgain() { repeat try (each values).write(to: &draft.writer) }
      connection.send(try draft.finish())
    } catch {
      refuse(error)
    }
    return true
  }

  /// Answers with an error. Returns whether this was the answer.
  @discardableResult
  func fail(_ error: any Error) -> Bool {
    guard takeAnswer() else { return false }
    guard isAwaited else { return true }
    let reply = ErrorReply(answering: error)
    do {
      connection.send(try Message.error(to: message, reply.name, reply.text))
    } catch {
      refuse(error)
    }
    return true
  }

  /// Releases the call, and keeps what is needed to refuse it later; `nil` if nobody waits for the answer.
  func refusal(_ error: ErrorReply, to sender: CallQueue.Sender) -> CallQueue.Refusal? {
    guard takeAnswer(), isAwaited else { return nil }
    return .init(sender: sender, serial: message.serial, error: error)
  }

  private var isAwaited: Bool { message.expectsReply && !isAbandoned }

  /// Claims the right to answer. Returns false if the call has been answered.
  private func takeAnswer() -> Bool { !isAnswered.exchange(true, ordering: .relaxed) }

  /// Answers that the values do not fit into a message. The error always does.
  private func refuse(_ fault: CodingError) {
    let reply = fault.errorReply
    if let message = try? Message.error(to: message, reply.name, "the reply cannot be sent: \(reply.text)") {
      connection.send(message)
    }
  }
}

/// The answer to a call, for a handler that answers later: at the end of a batch, or from elsewhere.
///
/// ```swift
/// var clock = Interface("org.example.Clock")
/// clock.method("WaitForNoon", out: "said") { (reply: Reply<String>) in
///   Task {
///     try await Task.sleep(for: .seconds(3600))
///     reply.send("noon")
///   }
/// }
/// ```
///
/// A reply that is dropped answers with an error, so no caller waits in vain.
public struct Reply<each Value: BusValue>: Sendable {
  /// The call that it answers.
  public let call: Call

  /// Answers the call. Returns whether this was the answer: `false` if the call had been answered before.
  @discardableResult
  public func send(_ values: repeat each Value) -> Bool { call.reply(repeat each values) }

  /// Answers with an error. Returns whether this was the answer: `false` if the call had been answered before.
  @discardableResult
  public func fail(_ error: any Error) -> Bool { call.fail(error) }
}
