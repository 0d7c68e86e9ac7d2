/// Something that the service told everyone.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for try await event in try await stagedoor.events() {
///   if case .routed(let routing) = event.kind { print(event.sequence, routing.outcome, event.session) }
/// }
/// ```
public struct Event: Sendable, Hashable {
  /// What happened.
  ///
  /// ```swift
  /// func isEnd(_ event: Event) -> Bool { if case .sessionDiscarded = event.kind { true } else { false } }
  /// ```
  public enum Kind: Sendable, Hashable {
    /// A delivery's session is decided and stored; the host may not have it yet.
    case routed(Routing)
    /// The host has taken a delivery.
    case handled(DeliveryIdentifier)
    /// A delivery came to nothing.
    case deliveryFailed(DeliveryIdentifier, StagedoorError)
    /// A session has a scene of this configuration.
    case sessionConnected(configuration: String)
    /// A scene came nearer to the user, or went.
    case sessionStateChanged(ActivationState)
    /// A session has no scene any more.
    case sessionDisconnected
    /// A session is gone for good.
    case sessionDiscarded(DismissalAnimation)
    /// Somebody wants a scene to be drawn anew.
    case sessionRefreshRequested
    /// Something that this module does not know.
    case other(String)
  }

  /// Where a delivery went.
  ///
  /// ```swift
  /// func describe(_ routing: Event.Routing) -> String {
  ///   "\(routing.outcome) a \(routing.configuration) for \(routing.activityType)"
  /// }
  /// ```
  public struct Routing: Sendable, Hashable {
    /// The delivery.
    public let delivery: DeliveryIdentifier
    /// How its session was found.
    public let outcome: Delivery.Outcome
    /// The session's configuration.
    public let configuration: String
    /// What routed it; "" for a private one.
    public let activityType: String
    /// What it is about; "" for a private one.
    public let targetContentIdentifier: String
  }

  /// Its number. Numbers are consecutive, and never go back while the service keeps its store.
  public let sequence: UInt64
  /// The identifier of the application that it is about.
  public let application: String
  /// The session that it is about.
  public let session: SessionIdentifier
  /// What happened.
  public let kind: Kind
  /// The signal's name on the bus, such as "Routed".
  public let name: String
  /// The signal's arguments by their names on the bus, without the number; and, of an event that is kept, its "time", a date of RFC 3339.
  public let arguments: [String: String]
}
