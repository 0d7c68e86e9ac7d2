/// A received signal.
///
/// ```swift
/// let connection = try await Connection.session()
/// let signals = try await connection.signals(MatchRule(interface: "org.example.Player", member: "TrackChanged"))
/// for await signal in signals {
///   let (title, seconds) = try signal.values(as: String.self, UInt32.self)
///   print(title, seconds, signal.sender ?? "a peer", signal.path)
/// }
/// ```
public struct ReceivedSignal: Sendable {
  private let box: MessageBox
  /// The sender; `nil` between two peers.
  public let sender: BusName?

  init(_ message: borrowing Message, sender: BusName?) {
    // libdbus converts the byte order of a foreign message at the first read. This read happens here, before several tasks may read the message at
    // once.
    _ = MessageReader(message.raw)
    box = MessageBox(message)
    self.sender = sender
  }

  /// The object that emitted it.
  public var path: ObjectPath { box.message.path ?? .root }
  /// The interface of the signal.
  public var interface: InterfaceName { box.message.interface ?? InterfaceName(unchecked: "") }
  /// The name of the signal.
  public var member: MemberName { box.message.member ?? MemberName(unchecked: "") }
  /// The types of the signal's values.
  public var signature: Signature { box.message.signature }

  /// All values of the signal, as Swift types.
  public func values<each Value: BusValue>(
    as types: repeat (each Value).Type
  ) throws(CodingError) -> (repeat each Value) {
    try box.message.values(as: repeat each types)
  }

  /// The values of the signal, of any types.
  public func variants() throws(CodingError) -> [Variant] { try box.message.variants() }
}

/// What happens to a new signal while a sequence holds as many as it may.
///
/// ```swift
/// let connection = try await Connection.session()
/// let latest = try await connection.signals(MatchRule(interface: "org.example.Meter"), buffering: .newest(1))
/// for await signal in latest { print(signal.member, latest.dropped) }
/// ```
public enum SignalBuffering: Sendable, Hashable {
  /// Keeps the newest signals, and drops the oldest.
  case newest(Int)
  /// Keeps the oldest signals, and drops the new one.
  case oldest(Int)

  var limit: Int {
    switch self {
    case .newest(let limit), .oldest(let limit): max(1, limit)
    }
  }
}

/// The signals that fit a rule, from the time when the bus knew the rule.
///
/// The sequence holds as many signals as its ``SignalBuffering`` allows; ``dropped`` counts the others. It ends with its connection, with the task
/// that waits for it, or with ``cancel()``. The bus removes the rule when the sequence is destroyed.
///
/// ```swift
/// let connection = try await Connection.session()
/// let signals = try await connection.signals(MatchRule(sender: "org.example.Player"))
/// for await signal in signals where signal.member == "Stopped" { break }
/// ```
public final class SignalStream: AsyncSequence, Sendable {
  /// A signal.
  public typealias Element = ReceivedSignal
  /// The sequence ends, and never fails.
  public typealias Failure = Never

  fileprivate typealias Waiter = UnsafeContinuation<ReceivedSignal?, Never>

  fileprivate struct State {
    var buffer: [ReceivedSignal] = []
    /// The index of the oldest signal: taking one does not move the others.
    var head = 0
    var dropped = 0
    var isFinished = false
    /// The waiting tasks, in the order in which they came.
    var waiters: [(number: UInt64, continuation: Waiter)] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Lock(State())
  private let loop: EventLoop
  private let buffering: SignalBuffering
  /// Removes the rule. It is called at least once, and acts only once.
  private let onEnd: @Sendable () -> Void

  init(on loop: EventLoop, buffering: SignalBuffering, onEnd: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.buffering = buffering
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  /// The number of signals that were dropped because nobody took them in time.
  public var dropped: Int { state.withLock(\.dropped) }

  /// Ends the sequence now. The signals that it holds can still be taken.
  public func cancel() {
    finish()
    onEnd()
  }

  /// Returns an iterator. Two tasks share the signals; each signal goes to one of them.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Returns one signal after another.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// let iterator = try await connection.signals(MatchRule(member: "Changed")).makeAsyncIterator()
  /// let first = await iterator.next()
  /// print(first?.path ?? .root)
  /// ```
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let stream: SignalStream

    /// Waits for a signal; `nil` when the sequence has ended, or the waiting task was cancelled.
    public func next() async -> ReceivedSignal? { await stream.next() }

    /// Waits for a signal; `nil` when the sequence has ended, or the waiting task was cancelled.
    public func next(isolation actor: isolated (any Actor)?) async -> ReceivedSignal? { await stream.next() }
  }

  func yield(_ signal: ReceivedSignal) {
    let waiter = state.withLock { state -> Waiter? in
      if state.isFinished { return nil }
      if !state.waiters.isEmpty { return state.waiters.removeFirst().continuation }
      if state.buffer.count - state.head >= buffering.limit {
        state.dropped += 1
        if case .oldest = buffering { return nil }
        state.removeFirst()
      }
      state.buffer.append(signal)
      return nil
    }
    waiter?.resume(returning: signal)
  }

  func finish() {
    let waiters = state.withLock { state in
      state.isFinished = true
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter.continuation.resume(returning: nil) }
  }

  private nonisolated(nonsending) func next() async -> ReceivedSignal? {
    if let signal = state.withLock({ $0.removeFirst() }) { return signal }
    return await withTaskExecutorPreference(loop.taskExecutor) { await wait() }
  }

  private nonisolated(nonsending) func wait() async -> ReceivedSignal? {
    let number = state.withLock { state in
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let ready = state.withLock { state -> ReceivedSignal?? in
          if let signal = state.removeFirst() { return .some(signal) }
          if state.isFinished || Task.isCancelled { return .some(nil) }
          state.waiters.append((number, continuation))
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
        return state.waiters.remove(at: index).continuation
      }
      waiter?.resume(returning: nil)
    }
  }
}

extension SignalStream.State {
  @discardableResult
  fileprivate mutating func removeFirst() -> ReceivedSignal? {
    if head == buffer.count { return nil }
    let signal = buffer[head]
    head += 1
    if head == buffer.count {
      buffer.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 32 && head * 2 > buffer.count {
      // A long queue that never runs empty must not keep the signals that were taken.
      buffer.removeFirst(head)
      head = 0
    }
    return signal
  }
}
