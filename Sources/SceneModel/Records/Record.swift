/// One change, as it is stored.
///
/// Each record states the new condition, whatever the earlier one was. So applying a record to rows that have it already changes nothing, and the log
/// can be replayed from any position up to the last that the rows have.
package enum Record: Hashable, Sendable {
  /// A session was made or changed. Its application and its creation never change.
  indirect case session(Session)
  /// A session was chosen. This record is small, because it is the most frequent.
  indirect case sessionActivated(SessionActivation)
  case sessionDiscarded(UniqueIdentifier)
  /// A delivery was made.
  indirect case delivery(StoredDelivery)
  indirect case deliveryProgress(UniqueIdentifier, DeliveryProgress)
  /// A delivery went to another session, which showed this content before.
  indirect case deliveryRedirected(UniqueIdentifier, DeliveryProgress, PreviouslyShown)
  /// An event was announced. Its number follows the last one.
  indirect case event(StoredEvent)
  /// The preferred application for an activity type; `nil` for none.
  case preference(type: Text, application: Text?)
  /// The host of an application must hear that this session is gone.
  case discardOwed(application: Text, session: UniqueIdentifier)
  case discardTold(application: Text, session: UniqueIdentifier)
  indirect case baggage(Baggage)
  /// The contents of a delivery were released.
  case baggageReleased(UniqueIdentifier)
}

/// The data about the contents of a delivery that a starting service needs.
package struct BaggageSummary: Hashable, Sendable {
  package let delivery: UniqueIdentifier
  package let session: UniqueIdentifier?
  package let bytes: Int
  package let isOpen: Bool

  package init(delivery: UniqueIdentifier, session: UniqueIdentifier?, bytes: Int, isOpen: Bool) {
    (self.delivery, self.session, self.bytes, self.isOpen) = (delivery, session, bytes, isOpen)
  }
}

/// The changes of a session that was chosen. Values that are `nil` stay.
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

  /// Whether the session only comes to the front.
  package var showsTheSame: Bool { userActivity == nil && openedContent == nil && title == nil && isPrivate == nil }

  /// Adds the changes of a later choice.
  package mutating func add(_ later: SessionActivation) {
    instant = later.instant
    userActivity = later.userActivity ?? userActivity
    openedContent = later.openedContent ?? openedContent
    title = later.title ?? title
    isPrivate = later.isPrivate ?? isPrivate
    shownBy = later.shownBy ?? shownBy
  }

  /// The bytes that the session keeps more afterwards: what `Session.growth` finds, without a look at what an activation leaves alone.
  package func growth(of session: Session) -> Int {
    var growth = 0
    if let userActivity, userActivity != session.userActivity {
      growth += userActivity.json.count - (session.userActivity?.json.count ?? 0)
    }
    if let openedContent { growth += openedContent.count - session.openedContent.count }
    if let title { growth += title.count - session.title.count }
    return growth
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

/// An event that was announced on the bus.
package struct StoredEvent: Hashable, Sendable {
  /// The numbers begin at 1, without gaps.
  package var sequence: UInt64
  /// The name of the signal.
  package var name: Text
  package var application: Text
  /// The short form of the arguments, or their document from an earlier version.
  package var arguments: Text
  package var instant: Instant

  package init(sequence: UInt64, name: Text, application: Text, arguments: Text, at instant: Instant) {
    self.sequence = sequence
    self.name = name
    self.application = application
    self.arguments = arguments
    self.instant = instant
  }

  /// The arguments by name, as a JSON object.
  package var document: Text { arguments.hasPrefix("{") ? arguments : Event(self)?.arguments ?? "{}" }
}
