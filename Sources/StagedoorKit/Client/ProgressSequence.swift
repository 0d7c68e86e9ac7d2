internal import DBus
internal import InterchangeWire
internal import SceneModel

extension Stagedoor {
  /// How far a delivery has come, now and with each step. It ends with its end: ``DeliveryState/isFinal``.
  ///
  /// An application that nobody hosts, and that nothing can start, takes nothing: its delivery ends as ``DeliveryState/routed`` at its
  /// deadline, without a word from the service; so it is asked from time to time.
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

  /// The state, and whether it is the last.
  fileprivate func step(of identifier: DeliveryIdentifier) async throws(StagedoorError) -> ProgressSequence.Step {
    let (state, decision) = try await delivery(identifier)
    if state != .routed { return ProgressSequence.Step(state: state, isLast: state.isFinal) }
    if try await isHosted(decision.application?.value ?? "") {
      return ProgressSequence.Step(state: state, isLast: false)
    }
    // A host that leaves has it held again, and one that left just now has done so by this time.
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

  /// Waits for the end of a delivery, and throws what it came to where that is nothing.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
  /// try await stagedoor.finished(delivery.identifier)
  /// print("the application has it")
  /// ```
  ///
  /// - Returns: ``DeliveryState/handled``, or ``DeliveryState/routed`` where nobody hosts the application.
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

/// The steps of a delivery. See ``Stagedoor/progress(of:)``. It can be gone through once.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// for try await state in try await stagedoor.progress(of: delivery.identifier) { print(state) }
/// ```
public struct ProgressSequence: AsyncSequence, Sendable {
  /// A step.
  public typealias Element = DeliveryState
  /// Why it cannot go on.
  public typealias Failure = StagedoorError

  let stagedoor: Stagedoor
  let feed: ServiceFeed
  let delivery: DeliveryIdentifier
  let first: Step

  struct Step: Sendable, Hashable {
    let state: DeliveryState
    let isLast: Bool
  }

  /// How soon, and at last how often, the service is asked about what it does not tell.
  private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(30))

  /// Begins with how far it is.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The next step, and the next.
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

    /// Waits for a step; `nil` after the last, or where the waiting task was cancelled.
    public mutating func next() async throws(StagedoorError) -> DeliveryState? { try await next(isolation: nil) }

    /// Waits for a step; `nil` after the last, or where the waiting task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(StagedoorError) -> DeliveryState? {
      guard let before = last else { return told(sequence.first) }
      if before.isLast { return nil }
      while true {
        guard let step = try await step() else { if Task.isCancelled { return nil } else { continue } }
        if step.state != before.state { return told(step) }
        last = step
        // It was told as if it went on.
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
