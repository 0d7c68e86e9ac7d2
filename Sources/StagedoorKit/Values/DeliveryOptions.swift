/// The options of a delivery.
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
    /// Always a new session, as for a drop at the edge of the screen.
    case new
    /// As `auto`, but without a key an existing session rather than a new one.
    case existing
    /// Never a new session.
    case existingOnly
  }

  /// When the service answers the sender.
  ///
  /// ```swift
  /// var options = DeliveryOptions()
  /// options.wait = .handled
  /// ```
  public enum Wait: String, Sendable, Hashable, CaseIterable {
    /// When the decision is stored.
    case routed
    /// When the application has taken the delivery.
    case handled
  }

  /// How a new window appears.
  ///
  /// ```swift
  /// var options = DeliveryOptions()
  /// options.presentationStyle = .prominent
  /// ```
  public enum PresentationStyle: String, Sendable, Hashable, CaseIterable {
    /// The system decides.
    case automatic
    /// Beside the other windows.
    case standard
    /// In front of the other windows.
    case prominent
  }

  /// Whether a session may, or must, be made.
  public var disposition = Disposition.auto
  /// Exactly this session, whatever its conditions. Cannot be combined with ``application``, ``configuration``, ``role`` or ``disposition``.
  public var session: SessionIdentifier?
  /// Only this application.
  public var application: String?
  /// Only this configuration.
  public var configuration: String?
  /// A role other than the usual one.
  public var role: SessionRole?
  /// The session that the user acted in. This session wins a tie.
  public var requestingSession: SessionIdentifier?
  /// How a new window appears.
  public var presentationStyle = PresentationStyle.automatic
  /// The sender's own name for this request. If the sender hands in the same payload with the same name again, the service returns its
  /// first answer and does nothing. So a sender can repeat a call that was not answered.
  public var token: String?
  /// The time from acceptance to the application's answer; `nil` for the service's default of 20 seconds.
  public var deadline: Duration?
  /// When the service answers the sender.
  public var wait = Wait.routed
  /// The token that lets a window come to the front. The host receives it unchanged.
  public var activationToken: String?
  /// Whether the content of the delivery is shown to its sender and its host only.
  public var isPrivate = false
  /// Whether the service loads promised data before it decides the delivery, so that this process can leave.
  public var keepsPromises = false
  /// Whether the service refuses unknown keys instead of ignoring them.
  public var isStrict = false

  /// The defaults.
  public init() {}
}
