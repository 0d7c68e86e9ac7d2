/// An event that the service announced to everyone.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for try await event in try await stagedoor.events() {
///   if case .routed(let routing) = event.kind { print(event.sequence, routing.outcome, event.session) }
/// }
/// ```
public struct Event: Sendable, Hashable {
  /// The kind of the event.
  ///
  /// ```swift
  /// func isEnd(_ event: Event) -> Bool { if case .sessionDiscarded = event.kind { true } else { false } }
  /// ```
  public enum Kind: Sendable, Hashable {
    /// A delivery's session is decided and stored; the host may not have the delivery yet.
    case routed(Routing)
    /// The host has taken a delivery.
    case handled(DeliveryIdentifier)
    /// The host has taken a delivery to pass it on, and will tell its end.
    case forwarded(DeliveryIdentifier)
    /// A delivery failed.
    case deliveryFailed(DeliveryIdentifier, StagedoorError)
    /// No host took a delivery before its deadline, and nothing can start its application.
    case unclaimed(DeliveryIdentifier)
    /// A session has a scene of this configuration.
    case sessionConnected(configuration: String)
    /// The state of a scene changed.
    case sessionStateChanged(ActivationState)
    /// A session has no scene any more.
    case sessionDisconnected
    /// A session is gone for good.
    case sessionDiscarded(DismissalAnimation)
    /// Somebody asked a scene to bring its content up to date.
    case sessionRefreshRequested
    /// An event that this module does not know.
    case other(String)
  }

  /// The route of a delivery.
  ///
  /// ```swift
  /// func describe(_ routing: Event.Routing) -> String {
  ///   "\(routing.outcome) a \(routing.configuration) for \(routing.activityType)"
  /// }
  /// ```
  public struct Routing: Sendable, Hashable {
    /// The delivery.
    public let delivery: DeliveryIdentifier
    /// How the service found the session.
    public let outcome: Delivery.Outcome
    /// The session's configuration.
    public let configuration: String
    /// The type of the activity that routed it; "" for a private delivery.
    public let activityType: String
    /// The key of that activity; "" for a private delivery.
    public let targetContentIdentifier: String
  }

  /// The number of the event. Numbers are consecutive, and never go back while the service keeps its store.
  public let sequence: UInt64
  /// The identifier of the event's application.
  public let application: String
  /// The event's session.
  public let session: SessionIdentifier
  /// The kind of the event.
  public let kind: Kind
  /// The signal's name on the bus, such as "Routed".
  package let name: String
  /// The signal's arguments by their names on the bus, without the number. A stored event also has its "time", a date of RFC 3339.
  package let arguments: [String: String]
}
