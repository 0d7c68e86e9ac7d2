/// The subscribers, and the rules that the bus knows. Equal rules are added once.
struct Subscriptions {
  struct Subscriber {
    let rule: MatchRule
    // The end of the stream removes the subscriber, so the subscriber must not keep the stream alive.
    weak var stream: SignalStream?
    /// Whether it holds a rule of the connection, which it releases at its end.
    var holdsRule = false
    var watchesOwner = false
  }

  struct Rule {
    var count = 0
    /// The bus's answer, for a second subscriber that comes while the first still waits for it.
    var added: Task<Void, any Error>?
  }

  /// By member, because most rules name one; the others stand under `nil`.
  var subscribers: [MemberName?: [UInt64: Subscriber]] = [:]
  var rules: [MatchRule: Rule] = [:]
  /// Observes signals that were sent to this connection alone.
  var addressedObserver: (@Sendable (ReceivedSignal) -> Void)?
  var nextIdentifier: UInt64 = 0

  mutating func finishAll() {
    addressedObserver = nil
    for group in subscribers.values {
      for subscriber in group.values { subscriber.stream?.finish() }
    }
  }
}

extension Connection {
  /// Shows `observer` every signal that somebody sends to this connection alone. Such a signal needs no rule. Usually its sender meant a call,
  /// because some tools send signals by default. For logs.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.observeAddressedSignals { signal in
  ///   print("\(signal.member) came as a signal, and nobody answers those")
  /// }
  /// ```
  public nonisolated func observeAddressedSignals(_ observer: @escaping @Sendable (ReceivedSignal) -> Void) {
    onLoop { $0.subscriptions.addressedObserver = observer }
  }

  /// The signals that fit `rule`. When this returns the bus knows the rule: the stream misses no later signal.
  ///
  /// A rule with a well-known sender follows the name from owner to owner, and takes signals from its owner only.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// let signals = try await connection.signals(
  ///   MatchRule(sender: "org.example.Player", interface: "org.example.Player"), buffering: .newest(100))
  /// for await signal in signals { print(signal.member) }
  /// ```
  public nonisolated(nonsending) func signals(
    _ rule: MatchRule, buffering: SignalBuffering = .newest(1024)
  ) async throws(CallError) -> SignalStream {
    try await onLoopAndBack { connection throws(CallError) in try await connection.subscribe(rule, buffering) }
  }

  private func subscribe(_ rule: MatchRule, _ buffering: SignalBuffering) async throws(CallError) -> SignalStream {
    guard isOpen else { throw .disconnected }
    let identifier = subscriptions.nextIdentifier
    subscriptions.nextIdentifier += 1
    let stream = SignalStream(on: loop, buffering: buffering) { [weak self] in
      guard let self else { return }
      loop.execute { self.assumeIsolated { $0.unsubscribe(identifier, from: rule) } }
    }
    subscriptions.subscribers[rule.member, default: [:]][identifier] = .init(rule: rule, stream: stream)
    do {
      try await retain(rule)
      subscriptions.subscribers[rule.member]?[identifier]?.holdsRule = true
      if let sender = rule.sender, !sender.isUnique, sender != .bus {
        try await watchOwner(of: sender)
        subscriptions.subscribers[rule.member]?[identifier]?.watchesOwner = true
      }
    } catch {
      stream.cancel()
      throw error
    }
    if !isOpen { stream.finish() }
    return stream
  }

  private func unsubscribe(_ identifier: UInt64, from rule: MatchRule) {
    guard let subscriber = subscriptions.subscribers[rule.member]?.removeValue(forKey: identifier) else { return }
    if subscriptions.subscribers[rule.member]?.isEmpty == true { subscriptions.subscribers[rule.member] = nil }
    if subscriber.holdsRule { release(rule) }
    if subscriber.watchesOwner, let sender = rule.sender { unwatchOwner(of: sender) }
  }

  func deliverSignal(_ message: consuming Message) {
    // Between two peers no bus fills in the sender, and a peer could write any sender.
    let sender = uniqueName == nil ? nil : message.sender
    if sender == .bus { noteOwnerChange(message) }
    if let observer = subscriptions.addressedObserver, sender != nil, sender != .bus, message.destination != nil {
      observer(ReceivedSignal(message, sender: sender))
    }
    let groups = [subscriptions.subscribers[message.member], subscriptions.subscribers[nil]]
    var fitting: [SignalStream] = []
    for case let group? in groups {
      for subscriber in group.values {
        let owner = subscriber.rule.sender.flatMap { watchedNames[$0]?.owner }
        guard subscriber.rule.matches(message, sender: sender, owner: owner) else { continue }
        if let stream = subscriber.stream { fitting.append(stream) }
      }
    }
    if fitting.isEmpty { return }
    let signal = ReceivedSignal(message, sender: sender)
    for stream in fitting { stream.yield(signal) }
  }
}

// MARK: - The bus's rules

extension Connection {
  /// Tells the bus the rule, or waits with the subscriber that is telling it already.
  func retain(_ rule: MatchRule) async throws(CallError) {
    subscriptions.rules[rule, default: .init()].count += 1
    // Between two peers there is no bus, and every signal comes anyway.
    guard uniqueName != nil else { return }
    let task =
      subscriptions.rules[rule]?.added
      ?? loop.task { try await call(to: .bus, at: .bus, .bus, "AddMatch", rule.description) }
    subscriptions.rules[rule]?.added = task
    do {
      try await withTaskExecutorPreference(loop.taskExecutor) { try await task.value }
    } catch {
      // Forget the failure, so that the next subscriber tries again.
      if subscriptions.rules[rule]?.added == task { subscriptions.rules[rule]?.added = nil }
      release(rule)
      throw error as? CallError ?? .disconnected
    }
  }

  func release(_ rule: MatchRule) {
    guard let entry = subscriptions.rules[rule] else { return }
    if entry.count > 1 {
      subscriptions.rules[rule]?.count -= 1
      return
    }
    subscriptions.rules[rule] = nil
    guard uniqueName != nil, entry.added != nil else { return }
    // The bus carries out the calls of one connection in order, so a rule that is added again right away exists.
    try? send(to: .bus, at: .bus, .bus, "RemoveMatch", rule.description)
  }
}
