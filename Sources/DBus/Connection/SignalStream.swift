/// A signal that came in.
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
  /// Who emitted it; `nil` between two peers.
  public let sender: BusName?

  init(_ message: borrowing Message, sender: BusName?) {
    // libdbus turns the byte order of a foreign message round when it is first read. That is done here, before several
    // tasks may read it at once.
    _ = MessageReader(message.raw)
    box = MessageBox(message)
    self.sender = sender
  }

  /// The object that emitted it.
  public var path: ObjectPath { box.message.path ?? .root }
  /// Its interface.
  public var interface: InterfaceName { box.message.interface ?? InterfaceName(unchecked: "") }
  /// Its name.
  public var member: MemberName { box.message.member ?? MemberName(unchecked: "") }
  /// The types of its values.
  public var signature: Signature { box.message.signature }

  /// Its values, all of them, as Swift types.
  public func values<each Value: BusValue>(
    as types: repeat (each Value).Type
  ) throws(CodingError) -> (repeat each Value) {
    try box.message.values(as: repeat each types)
  }

  /// Its values, whatever they are.
  public func variants() throws(CodingError) -> [Variant] { try box.message.variants() }
}

/// What happens to a signal that comes while a sequence holds as many as it may.
///
/// ```swift
/// let connection = try await Connection.session()
/// let latest = try await connection.signals(MatchRule(interface: "org.example.Meter"), buffering: .newest(1))
/// for await signal in latest { print(signal.member, latest.dropped) }
/// ```
public enum SignalBuffering: Sendable, Hashable {
  /// Keeps the newest, and drops the oldest for it.
  case newest(Int)
  /// Keeps the oldest, and drops what comes.
  case oldest(Int)

  var limit: Int {
    switch self {
    case .newest(let limit), .oldest(let limit): max(1, limit)
    }
  }
}

/// The signals that fit a rule, from the moment the bus knew the rule.
///
/// The sequence holds at most what its ``SignalBuffering`` says; ``dropped`` tells what was over it. It ends with its connection, with the task
/// that waits on it, and with ``cancel()``. The rule goes from the bus when the sequence does.
///
/// ```swift
/// let connection = try await Connection.session()
/// let signals = try await connection.signals(MatchRule(sender: "org.example.Player"))
/// for await signal in signals where signal.member == "Stopped" { break }
/// ```
public final class SignalStream: AsyncSequence, Sendable {
  /// A signal.
  public typealias Element = ReceivedSignal
  /// It ends, and never fails.
  public typealias Failure = Never

  fileprivate typealias Waiter = UnsafeContinuation<ReceivedSignal?, Never>

  fileprivate struct State {
    var buffer: [ReceivedSignal] = []
    /// Where the oldest stands: taking one does not move the others.
    var head = 0
    var dropped = 0
    var isFinished = false
    /// Those who wait, in the order in which they came.
    var waiters: [(number: UInt64, continuation: Waiter)] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Lock(State())
  private let loop: EventLoop
  private let buffering: SignalBuffering
  /// Takes the rule back; called once at least, and does something once.
  private let onEnd: @Sendable () -> Void

  init(on loop: EventLoop, buffering: SignalBuffering, onEnd: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.buffering = buffering
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  /// How many signals were dropped because nobody took them in time.
  public var dropped: Int { state.withLock(\.dropped) }

  /// Ends the sequence now. What it holds can still be taken.
  public func cancel() {
    finish()
    onEnd()
  }

  /// Takes signals out. Two tasks at once share them; each signal goes to one.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// The next signal, and the next.
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
      defer { state.waiters = [] }
      return state.waiters
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
      // A long queue that never runs empty must not keep what was taken.
      buffer.removeFirst(head)
      head = 0
    }
    return signal
  }
}
