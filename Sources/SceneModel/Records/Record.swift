/// One change, as it is stored.
///
/// Each says how something is from now on, whatever it was before. So a record that is applied to rows which know it
/// already changes nothing, and the log can be replayed from any position at or before the last that the rows have.
package enum Record: Hashable, Sendable {
  /// A session was made, or something about it changed. Its application and its creation never do.
  indirect case session(Session)
  /// A session was chosen: small, because this is what happens most.
  indirect case sessionActivated(SessionActivation)
  case sessionDiscarded(UniqueIdentifier)
  /// A delivery was made.
  indirect case delivery(StoredDelivery)
  /// A delivery went on.
  indirect case deliveryProgress(UniqueIdentifier, DeliveryProgress)
  /// A delivery went to another session, which showed something before.
  indirect case deliveryRedirected(UniqueIdentifier, DeliveryProgress, PreviouslyShown)
  /// Something was announced. Its number follows the last one's.
  indirect case event(StoredEvent)
  /// Which application takes an activity type; `nil` for none.
  case preference(type: Text, application: Text?)
  /// The host of an application has to be told that this session is gone.
  case discardOwed(application: Text, session: UniqueIdentifier)
  case discardTold(application: Text, session: UniqueIdentifier)
  /// What a delivery carries.
  indirect case baggage(Baggage)
  /// Nobody opens anymore what a delivery carried.
  case baggageReleased(UniqueIdentifier)
}

/// What a delivery carries, as a service that begins has to know it.
package struct BaggageSummary: Hashable, Sendable {
  package let delivery: UniqueIdentifier
  /// The delivery's.
  package let session: UniqueIdentifier?
  package let bytes: Int
  /// Somebody still waits for the delivery.
  package let isOpen: Bool

  package init(delivery: UniqueIdentifier, session: UniqueIdentifier?, bytes: Int, isOpen: Bool) {
    (self.delivery, self.session, self.bytes, self.isOpen) = (delivery, session, bytes, isOpen)
  }
}

/// What becomes of a session when it is chosen. What is `nil` stays as it was.
package struct SessionActivation: Hashable, Sendable {
  package var session: UniqueIdentifier
  package var instant: Instant
  package var userActivity: UserActivity?
  package var openedContent: Text?
  package var title: Text?
  package var isPrivate: Bool?
  package var shownBy: UniqueIdentifier?

  package init(
    session: UniqueIdentifier, at instant: Instant, userActivity: UserActivity? = nil, openedContent: Text? = nil,
    title: Text? = nil, isPrivate: Bool? = nil, shownBy: UniqueIdentifier? = nil
  ) {
    self.session = session
    self.instant = instant
    self.userActivity = userActivity
    self.openedContent = openedContent
    self.title = title
    self.isPrivate = isPrivate
    self.shownBy = shownBy
  }

  /// Adds what came later.
  package mutating func add(_ later: SessionActivation) {
    instant = later.instant
    userActivity = later.userActivity ?? userActivity
    openedContent = later.openedContent ?? openedContent
    title = later.title ?? title
    isPrivate = later.isPrivate ?? isPrivate
    shownBy = later.shownBy ?? shownBy
  }

  package func apply(to session: inout Session) {
    session.lastActivated = instant
    if let userActivity { session.userActivity = userActivity }
    if let openedContent { session.openedContent = openedContent }
    if let title { session.title = title }
    if let isPrivate { session.isPrivate = isPrivate }
    if let shownBy { session.shownBy = shownBy }
  }
}

/// Something that was announced on the bus.
package struct StoredEvent: Hashable, Sendable {
  /// They begin at 1, and none is left out.
  package var sequence: UInt64
  /// The signal's.
  package var name: Text
  package var application: Text
  /// By name, as a JSON object.
  package var arguments: Text
  package var instant: Instant

  package init(sequence: UInt64, name: Text, application: Text, arguments: Text, at instant: Instant) {
    self.sequence = sequence
    self.name = name
    self.application = application
    self.arguments = arguments
    self.instant = instant
  }
}
