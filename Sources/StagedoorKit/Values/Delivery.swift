internal import DBus

/// What became of something that was handed in.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// print(delivery.identifier, delivery.session, delivery.outcome)
/// ```
public struct Delivery: Sendable, Hashable, Identifiable {
  /// How its session was found.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// if try await stagedoor.drop("org.example.Cats.view", "cat1").outcome == .created { print("a new window") }
  /// ```
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// A new session was made.
    case created
    /// A session that was there received it.
    case activated
    /// The same, and its scene is made again.
    case restored
  }

  /// What the delivery is called.
  public let identifier: DeliveryIdentifier
  /// Where it went.
  public let session: SessionIdentifier
  /// How that was found.
  public let outcome: Outcome

  /// The same identifier.
  public var id: DeliveryIdentifier { identifier }

  init(_ identifier: DeliveryIdentifier, session: SessionIdentifier, outcome: Outcome) {
    self.identifier = identifier
    self.session = session
    self.outcome = outcome
  }

  /// What the service answered.
  init(_ session: String, _ outcome: String, _ delivery: String) throws(StagedoorError) {
    guard let identifier = DeliveryIdentifier(delivery), let session = SessionIdentifier(session),
      let outcome = Outcome(rawValue: outcome)
    else { throw .unexpectedReply("no delivery: \(session), \(outcome), \(delivery)") }
    self.init(identifier, session: session, outcome: outcome)
  }
}

/// How far a delivery has come.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// for try await state in try await stagedoor.progress(of: delivery.identifier) {
///   if case .failed(let error) = state { print("it came to nothing: \(error)") } else { print(state) }
/// }
/// ```
public enum DeliveryState: Sendable, Hashable {
  /// Its application is not there yet.
  case held
  /// Its session is decided. For an application that nobody hosts that is all; otherwise the host has it before it.
  case routed
  /// The application has taken it.
  case handled
  /// It came to nothing.
  case failed(StagedoorError)
  /// Somebody cancelled it.
  case cancelled

  /// Whether nothing more can become of it, where somebody hosts its application.
  public var isFinal: Bool {
    switch self {
    case .held, .routed: false
    case .handled, .failed, .cancelled: true
    }
  }

  /// As the service spells it. It does not say why something failed when it is asked later.
  init?(_ text: String) {
    switch text {
    case "held": self = .held
    case "routed": self = .routed
    case "handled": self = .handled
    case "failed": self = .failed(StagedoorError(.hostRefused, "it came to nothing before anyone asked why"))
    case "cancelled": self = .cancelled
    default: return nil
    }
  }
}

/// A delivery in a list.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for waiting in try await stagedoor.deliveries(in: .held) { print(waiting.identifier, waiting.application) }
/// ```
public struct DeliveryRecord: Sendable, Hashable, Identifiable {
  /// What it is called.
  public let identifier: DeliveryIdentifier
  /// How far it has come.
  public let state: DeliveryState
  /// Whose it is.
  public let application: String
  /// Where it went; `nil` where that is gone.
  public let session: SessionIdentifier?

  /// The same identifier.
  public var id: DeliveryIdentifier { identifier }
}
