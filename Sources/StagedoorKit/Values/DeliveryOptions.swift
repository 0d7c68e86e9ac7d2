/// What the sender of a delivery wishes.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let activity = UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1")
///
/// var options = DeliveryOptions()
/// options.disposition = .new
/// options.wait = .handled
/// options.deadline = .seconds(5)
/// let delivery = try await stagedoor.deliver(activity, options)
/// print("the application has it: \(delivery.session)")
/// ```
public struct DeliveryOptions: Sendable, Hashable {
  /// Whether a session may, or must, be made.
  ///
  /// ```swift
  /// var options = DeliveryOptions()
  /// options.disposition = .existingOnly
  /// ```
  public enum Disposition: String, Sendable, Hashable, CaseIterable {
    /// The session that fits, or a new one.
    case auto
    /// Always a new session: what is dropped at the edge of the screen.
    case new
    /// As `auto`, and without a key an existing session rather than a new one.
    case existing
    /// Never a new session.
    case existingOnly
  }

  /// When the sender is answered.
  ///
  /// ```swift
  /// var options = DeliveryOptions()
  /// options.wait = .handled
  /// ```
  public enum Wait: String, Sendable, Hashable, CaseIterable {
    /// Once it is decided and stored.
    case routed
    /// Once the application has taken it.
    case handled
  }

  /// How a new window appears.
  ///
  /// ```swift
  /// var options = DeliveryOptions()
  /// options.presentationStyle = .prominent
  /// ```
  public enum PresentationStyle: String, Sendable, Hashable, CaseIterable {
    /// As the system likes.
    case automatic
    /// Beside the others.
    case standard
    /// In front of the others.
    case prominent
  }

  /// Whether a session may, or must, be made.
  public var disposition = Disposition.auto
  /// Exactly this session, whatever it takes. Not beside ``application``, ``configuration``, ``role`` or ``disposition``.
  public var session: SessionIdentifier?
  /// Only this application.
  public var application: String?
  /// Only this configuration.
  public var configuration: String?
  /// A role other than the usual one.
  public var role: SessionRole?
  /// The session that the user acted in: it wins a tie.
  public var requestingSession: SessionIdentifier?
  /// How a new window appears.
  public var presentationStyle = PresentationStyle.automatic
  /// The sender's own name for this request. Asked again with the same name and the same payload, the service gives its first answer and does
  /// nothing: so one can ask again where an answer did not come.
  public var token: String?
  /// The time from acceptance to the application's answer; the service's own, 20 seconds, where it is `nil`.
  public var deadline: Duration?
  /// When the sender is answered.
  public var wait = Wait.routed
  /// What lets a window come to the front. It is handed on as it came.
  public var activationToken: String?
  /// Nothing of what is delivered is shown to anyone but its sender and its host.
  public var isPrivate = false
  /// Refuse what nobody knows, rather than pass it over.
  public var isStrict = false

  /// As most deliveries are.
  public init() {}
}
