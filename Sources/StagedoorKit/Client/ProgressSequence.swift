internal import DBus
internal import InterchangeWire
internal import SceneModel

extension Stagedoor {
  /// The state of a delivery, now and after each step. The sequence ends with the final state: ``DeliveryState/isFinal``.
  ///
  /// If the application has no host and nothing can start one, the delivery ends as ``DeliveryState/routed`` at its deadline. The sequence listens to
  /// no signal of this end; it asks for the state from time to time.
  public func progress(of delivery: DeliveryIdentifier) async throws(StagedoorError) -> ProgressSequence {
    // `Handled` and `DeliveryFailed` both name the delivery third.
    let feed = try await ServiceFeed(
      connection,
      MatchRule(
        sender: InterchangeNames.bus, path: InterchangeNames.root, interface: InterchangeNames.interchange,
        arguments: [2: delivery.description]))
    let first = try await step(of: delivery)
    return ProgressSequence(stagedoor: self, feed: feed, delivery: delivery, first: first)
  }

  /// The state, and whether it is final.
  fileprivate func step(of identifier: DeliveryIdentifier) async throws(StagedoorError) -> ProgressSequence.Step {
    let (state, decision) = try await delivery(identifier)
    if state != .routed { return ProgressSequence.Step(state: state, isLast: state.isFinal) }
    if try await isHosted(decision.application?.value ?? "") {
      return ProgressSequence.Step(state: state, isLast: false)
    }
    // When a host leaves, its delivery is held again; the service has noticed the departure by now.
    let now = try await self.delivery(identifier).state
    return ProgressSequence.Step(state: now, isLast: now == .routed || now.isFinal)
  }

  private func isHosted(_ application: String) async throws(StagedoorError) -> Bool {
    do throws(StagedoorError) {
      return try await property(
        "HostAttached", at: InterchangeNames.path(ofApplication: Text(application)), in: InterchangeNames.application)
    } catch  where error.code == .unknownObject {
      return false
    }
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
    var last: DeliveryState?
    for try await state in try await progress(of: delivery) { last = state }
    switch last {
    case .failed(let error): throw error
    case .cancelled: throw StagedoorError(.cancelled, "the delivery \(delivery) was cancelled")
    case .handled, .routed: return last ?? .routed
    case .held, nil: throw StagedoorError(.taskCancelled, "the task that waited was cancelled")
    }
  }
}

/// The steps of a delivery. See ``Stagedoor/progress(of:)``. The sequence can be iterated once.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// for try await state in try await stagedoor.progress(of: delivery.identifier) { print(state) }
/// ```
public struct ProgressSequence: AsyncSequence, Sendable {
  /// A step.
  public typealias Element = DeliveryState
  /// The reason why the sequence cannot continue.
  public typealias Failure = StagedoorError

  let stagedoor: Stagedoor
  let feed: ServiceFeed
  let delivery: DeliveryIdentifier
  let first: Step

  struct Step: Sendable, Hashable {
    let state: DeliveryState
    let isLast: Bool
  }

  /// The first and the longest pause between two questions for the state.
  private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(30))

  /// Begins with the present state.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Returns one step after the other.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
  /// var steps = try await stagedoor.progress(of: delivery.identifier).makeAsyncIterator()
  /// if let step = try await steps.next() { print(step) }
  /// ```
  public struct Iterator: AsyncIteratorProtocol {
    private let sequence: ProgressSequence
    private var reader: ServiceFeed.Reader
    private var last: Step?
    private var pause = ProgressSequence.pauses.first

    fileprivate init(_ sequence: ProgressSequence) {
      self.sequence = sequence
      reader = ServiceFeed.Reader(sequence.feed)
    }

    /// Waits for a step; `nil` after the last, or if the waiting task was cancelled.
    public mutating func next() async throws(StagedoorError) -> DeliveryState? { try await next(isolation: nil) }

    /// Waits for a step; `nil` after the last, or if the waiting task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(StagedoorError) -> DeliveryState? {
      guard let before = last else { return told(sequence.first) }
      if before.isLast { return nil }
      while true {
        guard let step = try await step() else { if Task.isCancelled { return nil } else { continue } }
        if step.state != before.state { return told(step) }
        last = step
        // The state is the same, but it has become final since it was reported.
        if step.isLast { return nil }
      }
    }

    private mutating func told(_ step: Step) -> DeliveryState {
      last = step
      return step.state
    }

    private mutating func step() async throws(StagedoorError) -> Step? {
      switch await reader.next(within: pause) {
      case .end: if Task.isCancelled { return nil } else { throw .busHasGone }
      case .signal(let signal):
        switch Event(signal)?.kind {
        case .handled: return Step(state: .handled, isLast: true)
        case .deliveryFailed(_, let error):
          return Step(state: error.code == .cancelled ? .cancelled : .failed(error), isLast: true)
        default: return nil
        }
      case .owner(nil): return nil
      case .nothing:
        pause = Swift.min(pause * 2, ProgressSequence.pauses.longest)
        return try await asked()
      case .owner: return try await asked()
      }
    }

    private func asked() async throws(StagedoorError) -> Step? {
      do throws(StagedoorError) {
        return try await sequence.stagedoor.step(of: sequence.delivery)
      } catch  where error.saysServiceLeft || error.code == .taskCancelled {
        return nil
      }
    }
  }
}
