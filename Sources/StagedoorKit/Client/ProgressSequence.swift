internal import DBus
internal import InterchangeWire
internal import SceneModel

extension Stagedoor {
  /// The state of a delivery now, and its final state as soon as the service announces it.
  ///
  /// ``DeliveryState/routed`` is final for a delivery that no host took before its deadline, to an application that nothing can start.
  public func progress(of delivery: DeliveryIdentifier) async throws(StagedoorError) -> ProgressSequence {
    try await progress(of: delivery, outlivesService: false)
  }

  private func progress(
    of delivery: DeliveryIdentifier, outlivesService: Bool
  ) async throws(StagedoorError) -> ProgressSequence {
    // `Handled`, `DeliveryFailed` and `Unclaimed` each name the delivery third.
    let feed = try await ServiceFeed(
      connection,
      MatchRule(
        sender: InterchangeNames.bus, path: InterchangeNames.root, interface: InterchangeNames.interchange,
        arguments: [2: delivery.description]))
    do throws(StagedoorError) {
      return ProgressSequence(stagedoor: self, feed: feed, delivery: delivery, first: try await step(of: delivery))
    } catch  where outlivesService && error.saysServiceLeft {
      // The next instance of the service is asked as soon as it is there.
      return ProgressSequence(stagedoor: self, feed: feed, delivery: delivery, first: nil)
    }
  }

  /// The state, and whether it is final: the decision of a delivery that is over says when it ended.
  fileprivate func step(of identifier: DeliveryIdentifier) async throws(StagedoorError) -> ProgressSequence.Step {
    let (state, decision) = try await delivery(identifier)
    let hasEnded = try Value(document: decision.json)["ended"] != nil
    return ProgressSequence.Step(state: state, isLast: hasEnded || state.isFinal)
  }

  /// Waits for the end of a delivery, and throws if the delivery failed.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
  /// try await stagedoor.finished(delivery.identifier)
  /// print("the application has it")
  /// ```
  ///
  /// - Returns: ``DeliveryState/handled``, or ``DeliveryState/routed`` if the application has no host.
  @discardableResult
  public func finished(_ delivery: DeliveryIdentifier) async throws(StagedoorError) -> DeliveryState {
    try await finished(delivery, outlivesService: false)
  }

  /// With `outlivesService`, a service that has left is awaited from the beginning: it has just stored the delivery.
  @discardableResult
  package func finished(
    _ delivery: DeliveryIdentifier, outlivesService: Bool
  ) async throws(StagedoorError) -> DeliveryState {
    var steps = try await progress(of: delivery, outlivesService: outlivesService).makeAsyncIterator()
    while try await steps.next() != nil {}
    // A wait that was cancelled has seen a state that is not the last.
    switch steps.last.flatMap({ $0.isLast ? $0.state : nil }) {
    case .failed(let error): throw error
    case .cancelled: throw StagedoorError(.cancelled, "the delivery \(delivery) was cancelled")
    case .handled: return .handled
    case .routed: return .routed
    case .held, .forwarded, nil: throw .waitWasCancelled
    }
  }
}

/// The states of a delivery, the final one last. See ``Stagedoor/progress(of:)``. The sequence can be iterated once.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// for try await state in try await stagedoor.progress(of: delivery.identifier) { print(state) }
/// ```
public struct ProgressSequence: AsyncSequence, Sendable {
  /// A state.
  public typealias Element = DeliveryState
  /// The reason why the sequence cannot continue.
  public typealias Failure = StagedoorError

  let stagedoor: Stagedoor
  let feed: ServiceFeed
  let delivery: DeliveryIdentifier
  let first: Step?

  struct Step: Sendable, Hashable {
    let state: DeliveryState
    let isLast: Bool
  }

  /// Begins with the present state.
  public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

  /// Returns one state after the other.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
  /// var steps = try await stagedoor.progress(of: delivery.identifier).makeAsyncIterator()
  /// if let step = try await steps.next() { print(step) }
  /// ```
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let sequence: ProgressSequence
    fileprivate var last: Step?
    /// Whether a step may have been missed, so that the service is asked.
    fileprivate var mustAsk = false

    /// Waits for a state; `nil` after the last, or if the waiting task was cancelled.
    public mutating func next() async throws(StagedoorError) -> DeliveryState? {
      if let last, last.isLast { return nil }
      if last == nil, let first = sequence.first { return told(first) }
      while true {
        guard let step = try await step() else { if Task.isCancelled { return nil } else { continue } }
        guard step.state == last?.state else { return told(step) }
        last = step
        // The state is the same, but it has become final since it was reported.
        if step.isLast { return nil }
      }
    }

    /// Waits for a state; `nil` after the last, or if the waiting task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(StagedoorError) -> DeliveryState? {
      try await next()
    }

    private mutating func told(_ step: Step) -> DeliveryState {
      last = step
      return step.state
    }

    private mutating func step() async throws(StagedoorError) -> Step? {
      if mustAsk { return try await asked() }
      switch try await sequence.feed.next() {
      case nil: return nil
      case .signal(let signal):
        switch Event(signal)?.kind {
        case .handled: return Step(state: .handled, isLast: true)
        case .forwarded: return Step(state: .forwarded, isLast: false)
        case .deliveryFailed(_, let error):
          return Step(state: error.code == .cancelled ? .cancelled : .failed(error), isLast: true)
        case .unclaimed: return Step(state: .routed, isLast: true)
        default: return nil
        }
      case .owner(let owner):
        mustAsk = owner != nil
        return nil
      }
    }

    private mutating func asked() async throws(StagedoorError) -> Step? {
      do throws(StagedoorError) {
        let step = try await sequence.stagedoor.step(of: sequence.delivery)
        mustAsk = false
        return step
      } catch  where error.saysServiceLeft || error.code == .taskCancelled {
        // The feed reports the next owner; after a cancellation the next task asks.
        mustAsk = error.code == .taskCancelled
        return nil
      }
    }
  }
}
