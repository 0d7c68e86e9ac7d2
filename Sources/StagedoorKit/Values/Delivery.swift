/// The result of handing something in.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// print(delivery.identifier, delivery.session, delivery.outcome)
/// ```
public struct Delivery: Sendable, Hashable, Identifiable {
  /// How the service found the session.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// if try await stagedoor.drop("org.example.Cats.view", "cat1").outcome == .created { print("a new window") }
  /// ```
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// The service made a new session.
    case created
    /// An existing session got the delivery.
    case activated
    /// An existing session got the delivery, and its scene is made again.
    case restored
  }

  /// The identifier of the delivery.
  public let identifier: DeliveryIdentifier
  /// The session of the delivery.
  public let session: SessionIdentifier
  /// How the service found the session.
  public let outcome: Outcome

  /// The same identifier.
  public var id: DeliveryIdentifier { identifier }

  /// Reads the service's answer.
  init(_ session: String, _ outcome: String, _ delivery: String) throws(StagedoorError) {
    guard let identifier = DeliveryIdentifier(delivery), let session = SessionIdentifier(session),
      let outcome = Outcome(rawValue: outcome)
    else { throw .unexpectedReply("not a delivery: \(session), \(outcome), \(delivery)") }
    (self.identifier, self.session, self.outcome) = (identifier, session, outcome)
  }
}

/// The state of a delivery.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// for try await state in try await stagedoor.progress(of: delivery.identifier) {
///   if case .failed(let error) = state { print("it failed: \(error)") } else { print(state) }
/// }
/// ```
public enum DeliveryState: Sendable, Hashable {
  /// The application has no host yet.
  case held
  /// The session is decided. For an application without a host this state is final; otherwise the host has not taken the delivery yet.
  case routed
  /// The application has taken the delivery to pass it on, and will tell its end.
  case forwarded
  /// The application has taken the delivery.
  case handled
  /// The delivery failed.
  case failed(StagedoorError)
  /// Somebody cancelled the delivery.
  case cancelled

  /// Whether this state is final for an application with a host.
  public var isFinal: Bool {
    switch self {
    case .held, .routed, .forwarded: false
    case .handled, .failed, .cancelled: true
    }
  }

  /// The word on the bus.
  package var word: String {
    switch self {
    case .held: "held"
    case .routed: "routed"
    case .forwarded: "forwarded"
    case .handled: "handled"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }

  /// Reads the word on the bus, which does not say why a delivery failed.
  init?(_ word: String) {
    let failed = Self.failed(StagedoorError(.hostRefused, "the delivery failed; `delivery(_:)` has the reason"))
    let states = [.held, .routed, .forwarded, .handled, failed, .cancelled]
    guard let state = states.first(where: { $0.word == word }) else { return nil }
    self = state
  }
}

/// A delivery in a list.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for waiting in try await stagedoor.deliveries(in: .held) { print(waiting.identifier, waiting.application) }
/// ```
public struct DeliveryRecord: Sendable, Hashable, Identifiable {
  /// The identifier of the delivery.
  public let identifier: DeliveryIdentifier
  /// The state of the delivery.
  public let state: DeliveryState
  /// The application of the delivery.
  public let application: String
  /// The session of the delivery; `nil` if the session was destroyed.
  public let session: SessionIdentifier?

  /// The same identifier.
  public var id: DeliveryIdentifier { identifier }
}
