/// A delivery: what was handed in, what was decided about it, and how far it got.
package struct StoredDelivery: Hashable, Sendable {
  package let identifier: UniqueIdentifier
  package var application: Text
  /// Who counts as one sender, for tokens and for asking about it: a sandboxed application's identifier, "" for all
  /// others.
  package var sender: Text
  /// The sender's own name for the request.
  package var token: Text?
  package var created: Instant
  package var deadline: Instant
  package var progress: DeliveryProgress

  /// What the host is told about where it comes from; "" for nothing.
  package var sourceApplication: Text = .empty
  /// The digest of the document that came, after the name of the call that it came with, in hexadecimal; "" where there is no token. A second
  /// document under the same token is compared with it.
  package var fingerprint: Text = .empty
  package var isPrivate = false
  package var routing: RoutingPlace?
  /// What the session showed before: it is put back when the delivery fails. Emptied once it cannot be put back any more.
  package var previous = PreviouslyShown()
  /// What the whole call was answered, where it made more than this delivery; "" elsewhere.
  package var answer: Text = .empty
  /// As a document.
  package var decision: Text = .empty
  /// As a document; "" once the delivery is spent.
  package var payload: Text = .empty

  package init(
    identifier: UniqueIdentifier, application: Text, sender: Text = .empty, token: Text? = nil, created: Instant,
    deadline: Instant, progress: DeliveryProgress
  ) {
    self.identifier = identifier
    self.application = application
    self.sender = sender
    self.token = token
    self.created = created
    self.deadline = deadline
    self.progress = progress
  }
}

package enum DeliveryState: String, CaseIterable, Sendable {
  case held, routed, handled, failed, cancelled
}

/// What changes about a delivery.
package struct DeliveryProgress: Hashable, Sendable {
  package var state: DeliveryState
  /// Somebody still waits for it: the host has not acknowledged it, and no end was put to it. It is kept as long as
  /// that is so. The state does not say it: `routed` may be the last word, or not.
  package var isOpen: Bool
  package var session: UniqueIdentifier?
  package var outcome: Text
  package var attempt: Int64 = 1
  /// How often a host has left while it had this.
  package var departures: Int64 = 0
  package var error: DeliveryError?
  /// When the delivery was over; `nil` while it is open, and where a version ended it that did not note the time.
  package var ended: Instant?

  package init(
    _ state: DeliveryState, isOpen: Bool, session: UniqueIdentifier? = nil, outcome: Text = .empty, attempt: Int64 = 1,
    departures: Int64 = 0, error: DeliveryError? = nil, ended: Instant? = nil
  ) {
    self.state = state
    self.isOpen = isOpen
    self.session = session
    self.outcome = outcome
    self.attempt = attempt
    self.departures = departures
    self.error = error
    self.ended = ended
  }
}

package struct DeliveryError: Hashable, Sendable {
  package var name: Text
  package var message: Text

  package init(name: Text, message: Text) {
    self.name = name
    self.message = message
  }
}

/// Which activity routed a payload; an item without one was routed by its content.
package struct RoutingPlace: Hashable, Sendable {
  package var item: Int64
  package var activity: Int64?

  package init(item: Int64, activity: Int64?) {
    self.item = item
    self.activity = activity
  }
}

/// What a session showed.
package struct PreviouslyShown: Hashable, Sendable {
  package var userActivity: UserActivity?
  package var openedContent: Text
  package var title: Text
  package var isPrivate: Bool
  /// The delivery that had given it that.
  package var shownBy: UniqueIdentifier?

  package init(
    userActivity: UserActivity? = nil, openedContent: Text = .empty, title: Text = .empty, isPrivate: Bool = false,
    shownBy: UniqueIdentifier? = nil
  ) {
    self.userActivity = userActivity
    self.openedContent = openedContent
    self.title = title
    self.isPrivate = isPrivate
    self.shownBy = shownBy
  }

  package mutating func forgetDocuments() { (userActivity, openedContent, title) = (nil, .empty, .empty) }

  package init(_ session: Session) {
    self.init(
      userActivity: session.userActivity, openedContent: session.openedContent, title: session.title,
      isPrivate: session.isPrivate, shownBy: session.shownBy)
  }
}

/// A delivery as lists have it, without its documents.
package struct DeliverySummary: Hashable, Sendable {
  package let identifier: UniqueIdentifier
  package let application: Text
  package let sender: Text
  package let token: Text?
  package let created: Instant
  package let deadline: Instant
  package var progress: DeliveryProgress
  /// What its sender keeps from others; told of open deliveries only.
  package var isPrivate = false
  /// The delivery that gave its session what it showed before; told of open deliveries only.
  package var previousBy: UniqueIdentifier?

  package init(
    identifier: UniqueIdentifier, application: Text, sender: Text, token: Text?, created: Instant, deadline: Instant,
    progress: DeliveryProgress
  ) {
    self.identifier = identifier
    self.application = application
    self.sender = sender
    self.token = token
    self.created = created
    self.deadline = deadline
    self.progress = progress
  }
}

extension StoredDelivery {
  /// The delivery is over, and can neither be handed to another host nor be taken back: one that was handled may go elsewhere until its deadline.
  package func isSpent(at now: Instant) -> Bool {
    !progress.isOpen && (progress.state != .handled || deadline < now)
  }

  /// Nothing came of the delivery. Where a later one to the same session fails as well, the session shows again what it showed before both.
  package var cameToNothing: Bool { progress.state == .failed || progress.state == .cancelled }

  /// Drops the documents that nobody needs of a delivery that is spent. The decision and the fingerprint stay.
  package mutating func forgetDocuments() {
    payload = .empty
    if !cameToNothing { previous.forgetDocuments() }
  }

  package var summary: DeliverySummary {
    var summary = DeliverySummary(
      identifier: identifier, application: application, sender: sender, token: token, created: created,
      deadline: deadline, progress: progress)
    if progress.isOpen { (summary.isPrivate, summary.previousBy) = (isPrivate, previous.shownBy) }
    return summary
  }
}
