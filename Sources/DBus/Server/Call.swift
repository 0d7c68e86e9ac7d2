internal import CDBus
internal import Synchronization

/// A call that came in, and the one place that answers it.
///
/// A handler that wants to know more than the arguments takes the call first:
///
/// ```swift
/// var greeter = Interface("org.example.Greeter")
/// greeter.method("Greet", in: "name", out: "greeting") { (call: Call, name: String) -> String in
///   "Hello, \(name)! You are \(call.sender ?? "a peer"), and I am at \(call.path)."
/// }
/// ```
///
/// Whatever a handler does, the caller gets exactly one reply: the first that is made counts, and a call that everyone
/// has let go of unanswered is answered with an error.
public final class Call: Sendable {
  /// The connection on which it came.
  public let connection: Connection
  let message: Message
  private let isAnswered = Atomic(false)

  // Set on the loop, before anyone but the loop has seen the call, and not again.
  /// Who calls, where the connection asks before each call: see ``Connection/identifyCallers(admittingStrangers:)``.
  public nonisolated(unsafe) private(set) var knownCredentials: Credentials?

  // Set on the loop before its method begins, and only what that begins reads it.
  /// What the method that was found for it answers with.
  nonisolated(unsafe) private var replySignature = Signature.empty
  // As the signature.
  /// How many values its arguments may hold.
  nonisolated(unsafe) private(set) var valueLimit = Interface.usualValueLimit
  // As the signature.
  /// The property that it sets.
  nonisolated(unsafe) private var changed: (property: MemberName, interface: InterfaceName)?

  /// Between two peers there is no bus that fills in the sender, and what a peer writes there is worth nothing.
  private let isFromBus: Bool
  /// For a question about another object than the one that was called.
  private let otherPath: ObjectPath?

  init(_ message: consuming Message, on connection: Connection, isFromBus: Bool, about otherPath: ObjectPath? = nil) {
    self.isFromBus = isFromBus
    self.otherPath = otherPath
    self.message = message
    self.connection = connection
  }

  deinit {
    if !isAnswered.load(ordering: .relaxed) {
      fail(ErrorReply(.noReply, "the service let the call go without an answer"))
    }
  }

  /// Who calls, by unique name; `nil` between two peers.
  public var sender: BusName? { isFromBus ? message.sender : nil }
  /// The object that is called.
  public var path: ObjectPath { otherPath ?? message.path ?? .root }
  /// The interface that was named; a caller may leave it out.
  public var interface: InterfaceName? { message.interface }
  /// The method.
  public var member: MemberName { message.member ?? MemberName(unchecked: "") }
  /// The types of its arguments.
  public var signature: Signature { message.signature }
  /// Its arguments, whatever they are.
  public func variants() throws(CodingError) -> [Variant] { try message.variants() }
  var carriesDescriptors: Bool { dbus_message_contains_unix_fds(message.raw) != 0 }
  /// Whether the caller waits for the reply.
  public var expectsReply: Bool { message.expectsReply }

  /// Who calls, as the bus knows it. The bus is asked once for each sender.
  public func credentials() async throws(CallError) -> Credentials {
    if let knownCredentials { return knownCredentials }
    return try await connection.credentials(of: sender)
  }

  /// The same call as if it had been made of the object at `path`; it is not the one that is answered.
  func asking(about path: ObjectPath) -> Call {
    let call = Call(Message(retaining: message.raw), on: connection, isFromBus: isFromBus, about: path)
    call.isAnswered.store(true, ordering: .relaxed)
    call.knownCredentials = knownCredentials
    return call
  }

  func identify(as credentials: Credentials) { knownCredentials = credentials }
  /// The method that was found for it.
  func isMeant(for method: Interface.MethodEntry) {
    replySignature = method.outSignature
    valueLimit = method.valueLimit
  }

  /// Its arguments, once their types are known to fit.
  func decodeValues<each Value: BusValue>() throws(CodingError) -> (repeat each Value) {
    try message.decodeValues(limit: valueLimit)
  }

  /// Where it succeeds, everyone is told of the property's new value before it is answered.
  func changes(_ property: MemberName, of interface: InterfaceName) { changed = (property, interface) }
}

// MARK: - Answers

extension Call {
  /// Answers with `values`, of the types that its method has declared. Returns whether this was the answer: `false` where there was one
  /// before.
  @discardableResult
  func reply<each Value: BusValue>(_ values: repeat each Value) -> Bool {
    guard takeAnswer() else { return false }
    // The reply waits behind the announcement: both take the same way to the loop.
    if let changed { connection.propertyChanged(changed.property, of: changed.interface, at: path) }
    guard message.expectsReply else { return true }
    do {
      connection.send(try Message.methodReturn(to: message, checked: replySignature, repeat each values))
    } catch {
      refuse(error)
    }
    return true
  }

  /// Answers with an error. Returns whether this was the answer.
  @discardableResult
  func fail(_ error: any Error) -> Bool {
    guard takeAnswer() else { return false }
    guard message.expectsReply else { return true }
    let reply = ErrorReply(answering: error)
    do {
      connection.send(try Message.error(to: message, reply.name, reply.text))
    } catch {
      refuse(error)
    }
    return true
  }

  /// Lets go of the call with what it takes to refuse it later; `nil` where nobody waits for the answer.
  func refusal(_ error: ErrorReply) -> CallQueue.Refusal? {
    guard takeAnswer(), message.expectsReply else { return nil }
    return .init(destination: sender, serial: message.serial, error: error)
  }

  /// Whether it has not been answered yet; it has from now on.
  private func takeAnswer() -> Bool { !isAnswered.exchange(true, ordering: .relaxed) }

  /// The answer does not fit into a message; that it does not always does.
  private func refuse(_ fault: CodingError) {
    let reply = fault.errorReply
    if let message = try? Message.error(to: message, reply.name, "the reply cannot be sent: \(reply.text)") {
      connection.send(message)
    }
  }
}

/// The answer to a call, for a handler that answers later: at the end of its batch, or from elsewhere.
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
/// A reply that is dropped is answered with an error, so no caller waits for nothing.
public struct Reply<each Value: BusValue>: Sendable {
  /// The call that it answers.
  public let call: Call

  /// Answers. Returns whether this was the answer: `false` where there was one before.
  @discardableResult
  public func send(_ values: repeat each Value) -> Bool { call.reply(repeat each values) }

  /// Answers with an error. Returns whether this was the answer: `false` where there was one before.
  @discardableResult
  public func fail(_ error: any Error) -> Bool { call.fail(error) }
}
