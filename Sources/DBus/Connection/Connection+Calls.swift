internal import CDBus

/// The calls whose replies have not come, or have not been taken.
struct PendingCalls {
  enum Outcome {
    case reply(MessageBox)
    case failure(CallError)
  }

  enum State {
    /// It was sent, and the task that sent it has not begun to wait.
    case sent
    case awaited(UnsafeContinuation<Outcome, Never>)
    case ended(Outcome)
  }

  struct Entry {
    var state = State.sent
    /// The one that may answer, if it is known: a reply from anyone else is a forgery.
    let answerer: BusName?
  }

  private(set) var entries: [UInt32: Entry] = [:]
  private var lastSerial = UInt64.random(in: .min ... .max)

  /// Serials that nobody guesses. dbus-daemon passes on replies that nobody asked for, and the owner of a well-known name is not known before its
  /// answer. If serials counted from one, anyone could answer.
  mutating func nextSerial() -> UInt32 {
    while true {
      // SplitMix64
      lastSerial &+= 0x9E37_79B9_7F4A_7C15
      var mixed = lastSerial
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      let serial = UInt32(truncatingIfNeeded: mixed ^ (mixed >> 31))
      if serial != 0 && entries[serial] == nil { return serial }
    }
  }

  mutating func add(_ serial: UInt32, answerer: BusName?) { entries[serial] = Entry(answerer: answerer) }

  /// The reply and the waiting task each call this; the second of them brings both together.
  mutating func end(_ serial: UInt32, with outcome: Outcome) {
    guard let entry = entries[serial] else { return }
    switch entry.state {
    case .sent: entries[serial]?.state = .ended(outcome)
    case .ended: break
    case .awaited(let continuation):
      entries[serial] = nil
      continuation.resume(returning: outcome)
    }
  }

  mutating func wait(for serial: UInt32, _ continuation: UnsafeContinuation<Outcome, Never>) {
    switch entries[serial]?.state {
    case .ended(let outcome):
      entries[serial] = nil
      continuation.resume(returning: outcome)
    case .sent: entries[serial]?.state = .awaited(continuation)
    case .awaited, nil: continuation.resume(returning: .failure(.disconnected))
    }
  }
}

extension Connection {
  /// Calls a method and returns its values. The values are encoded and decoded on the caller's thread, not on the loop.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// let (mood, volume) = try await connection.call(
  ///   to: "org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter", "State", UInt32(7),
  ///   timeout: .seconds(2), returning: String.self, Double.self)
  /// print(mood, volume)
  /// ```
  ///
  /// - Parameters:
  ///   - destination: The name to call; `nil` between two peers.
  ///   - path: The object to call.
  ///   - interface: The method's interface.
  ///   - member: The method.
  ///   - arguments: Its arguments.
  ///   - timeout: The longest time to wait; `nil` waits as long as the connection lasts.
  ///   - types: The types of the reply's values. A reply with other types throws ``CallError/unexpectedReply(_:)``.
  public nonisolated(nonsending) func call<each Argument: BusValue, each Value: BusValue>(
    to destination: BusName?, at path: ObjectPath, _ interface: InterfaceName?, _ member: MemberName,
    _ arguments: repeat each Argument, timeout: Duration? = .seconds(25), returning types: repeat (each Value).Type
  ) async throws(CallError) -> (repeat each Value) {
    let reply = try await reply(
      to: try Self.methodCall(to: destination, at: path, interface, member, repeat each arguments), timeout: timeout)
    do throws(CodingError) {
      return try reply.values(as: repeat each types)
    } catch {
      throw .unexpectedReply(error)
    }
  }

  /// Calls a method that returns one value. The context determines the type of the value.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// let greeting: String = try await connection.call(
  ///   to: "org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann")
  /// print(greeting)
  /// ```
  @_disfavoredOverload
  public nonisolated(nonsending) func call<each Argument: BusValue, Value: BusValue>(
    to destination: BusName?, at path: ObjectPath, _ interface: InterfaceName?, _ member: MemberName,
    _ arguments: repeat each Argument, timeout: Duration? = .seconds(25)
  ) async throws(CallError) -> Value {
    let reply = try await reply(
      to: try Self.methodCall(to: destination, at: path, interface, member, repeat each arguments), timeout: timeout)
    do throws(CodingError) {
      return try reply.values(as: Value.self)
    } catch {
      throw .unexpectedReply(error)
    }
  }

  /// Calls a method without waiting: the peer sends no reply, not even an error.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// try connection.send(to: "org.example.Log", at: "/org/example/Log", "org.example.Log", "Note", "hello")
  /// ```
  public nonisolated func send<each Argument: BusValue>(
    to destination: BusName?, at path: ObjectPath, _ interface: InterfaceName?, _ member: MemberName,
    _ arguments: repeat each Argument
  ) throws(CodingError) {
    var message = try Message.methodCall(to: destination, at: path, interface, member, repeat each arguments)
    message.setNoReply()
    send(message)
  }

  /// Sends a call that you made, and returns its reply. An error reply is thrown.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// let call = try Message.methodCall(to: .bus, at: "/", "org.freedesktop.DBus", "GetId")
  /// let reply = try await connection.reply(to: call)
  /// print(reply.signature, try reply.variants())
  /// ```
  public nonisolated(nonsending) func reply(
    to call: consuming Message, timeout: Duration? = .seconds(25)
  ) async throws(CallError) -> Message {
    try await replied(to: call, timeout: timeout).get()
  }

  /// Waits on the loop. The error is a value, not thrown: see ``onLoopAndBack(_:)``.
  private func replied(to call: consuming Message, timeout: Duration?) async -> Result<Message, CallError> {
    if Task.isCancelled { return .failure(.cancelled) }
    guard isOpen else { return .failure(.disconnected) }
    if call.carriesDescriptors, !canSendFileDescriptors {
      return .failure(.invalidArguments(.tooManyFileDescriptors))
    }
    // A peer's reply must not overtake the announcements made before the call.
    flushAnnouncements()
    let answerer = call.destination.flatMap { $0.isUnique || $0 == .bus ? $0 : nil }
    // A message that was read from bytes has a foreign serial, which may be that of another call.
    let unnumbered: Message
    do throws(CallError) {
      unnumbered = call.bytes != nil || call.serial == 0 ? call : try Self.withoutSerial(call)
    } catch {
      return .failure(error)
    }
    let serial = transmit(unnumbered, serial: calls.nextSerial())
    if serial == 0 { return .failure(.disconnected) }
    calls.add(serial, answerer: answerer)
    let timer = timeout.map { timeout in
      loop.timers.schedule(at: timeout.deadline) { [unowned self] in
        loop.enter(self) { $0.calls.end(serial, with: .failure(.timedOut)) }
      }
    }
    let outcome = await withTaskExecutorPreference(loop.taskExecutor) {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { calls.wait(for: serial, $0) }
      } onCancel: {
        loop.execute { self.assumeIsolated { $0.calls.end(serial, with: .failure(.cancelled)) } }
      }
    }
    if let timer { loop.timers.cancel(timer) }
    switch outcome {
    case .failure(let error): return .failure(error)
    case .reply(let box):
      let reply = Message(retaining: box.message.raw)
      if let error = reply.errorReply { return .failure(.replied(error)) }
      return .success(reply)
    }
  }

  /// Runs `body` on the loop, and then returns to the isolation of the caller, with a result or with an error.
  ///
  /// Every public function that throws goes to the loop and back through this one, or through one like it. The optimizer of Swift 6.3 leaves out the
  /// way back from another isolation if only a `throw` follows. A caller that relies on that way, as the callers of `nonisolated(nonsending)`
  /// functions do, would go on, on the loop's thread, with the rights of its own actor. After a value the way back is always there.
  nonisolated(nonsending) func onLoopAndBack<Value: Sendable>(
    _ body: @Sendable (isolated Connection) async throws(CallError) -> Value
  ) async throws(CallError) -> Value {
    try await result(of: body).get()
  }

  private func result<Value: Sendable>(
    of body: @Sendable (isolated Connection) async throws(CallError) -> Value
  ) async -> Result<Value, CallError> {
    do throws(CallError) { return .success(try await body(self)) } catch { return .failure(error) }
  }

  private static func methodCall<each Argument: BusValue>(
    to destination: BusName?, at path: ObjectPath, _ interface: InterfaceName?, _ member: MemberName,
    _ arguments: repeat each Argument
  ) throws(CallError) -> Message {
    do {
      var draft = try Message.Draft(
        DBUS_MESSAGE_TYPE_METHOD_CALL, to: destination, about: path, interface, member,
        .checked(of: repeat (each Argument).self))
      repeat try (each arguments).write(to: &draft.writer)
      if try draft.mustBeginAgain() { repeat try (each arguments).write(to: &draft.writer) }
      return try draft.finish()
    } catch {
      throw .invalidArguments(error)
    }
  }

  private static func withoutSerial(_ call: borrowing Message) throws(CallError) -> Message {
    guard let copy = dbus_message_copy(call.raw) else { throw .invalidArguments(.outOfMemory) }
    return Message(owning: copy)
  }

  func completeCall(with reply: consuming Message) {
    let serial = reply.replySerial
    guard let entry = calls.entries[serial] else { return }
    // The bus itself answers for names that are unknown and for peers that have gone.
    if let answerer = entry.answerer, let sender = reply.sender, sender != answerer, sender != .bus { return }
    calls.end(serial, with: .reply(MessageBox(reply)))
  }

  func failAllCalls() {
    for serial in calls.entries.keys { calls.end(serial, with: .failure(.disconnected)) }
  }
}
