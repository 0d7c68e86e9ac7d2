/// A delivery: what was handed in, what was decided, and its progress.
///
/// The fields stand in one shared box: a drop hands its delivery to the records, to the core's memory and to the store.
public struct StoredDelivery: Boxed, Hashable, Sendable {
  package let identifier: UniqueIdentifier
  /// The box.
  public var fields: Shared<Fields>

  /// What a delivery has.
  public struct Fields: Hashable, Sendable {
    package var application: Text
    /// The sender, for tokens and for questions about the delivery: a sandboxed application's identifier, "?" for sandboxed callers without one, or ""
    /// for programs outside a sandbox.
    package var sender: Text
    /// The sender's own name for the request.
    package var token: Text?
    package var created: Instant
    package var deadline: Instant
    package var progress: DeliveryProgress
    /// The origin that the host gets; "" for none.
    package var sourceApplication = Text.empty
    /// The digest of the document and of the name of its call, in hexadecimal; "" without a token. It is compared with a second document under the same
    /// token.
    package var fingerprint = Text.empty
    package var isPrivate = false
    package var routing: RoutingPlace?
    /// The previous content of the session, which returns if the delivery fails. Emptied when it can no longer return.
    package var previous = PreviouslyShown()
    /// The answer to the whole call, if the call made several deliveries; "" otherwise.
    package var answer = Text.empty
    /// The short form of the decision, or its document from an earlier version.
    package var decision = Text.empty
    /// The document of the payload; "" once the delivery is spent.
    package var payload = Text.empty
  }

  package init(
    identifier: UniqueIdentifier, application: Text, sender: Text = .empty, token: Text? = nil, created: Instant,
    deadline: Instant, progress: DeliveryProgress
  ) {
    self.identifier = identifier
    fields = Shared(
      Fields(
        application: application, sender: sender, token: token, created: created, deadline: deadline,
        progress: progress))
  }
}

package enum DeliveryState: String, CaseIterable, Sendable {
  case held, routed, forwarded, handled, failed, cancelled
}

/// The part of a delivery that changes.
package struct DeliveryProgress: Hashable, Sendable {
  package var session: UniqueIdentifier?
  package var state: DeliveryState
  /// Whether the delivery is open: its host has not acknowledged it, and it has not ended. An open delivery is kept. The state does not tell this:
  /// `routed` may be final or not.
  package var isOpen: Bool
  package var outcome: Text
  package var attempt: Int64 = 1
  /// The number of times that a host has left while it worked on the delivery.
  package var departures: Int64 = 0
  package var error: DeliveryError? {
    get { failure?.value }
    set { failure = newValue.map(Shared.init) }
  }
  /// In a box, because few deliveries fail, and the progress of each is copied some times.
  private var failure: Shared<DeliveryError>?
  /// The time of the delivery's end; `nil` while it is open, and if it ended under a version that did not record the time.
  package var ended: Instant?
  /// The new deadline, in the record of a delivery that is forwarded. It becomes the delivery's deadline, and is `nil` otherwise.
  package var deadline: Instant?

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

  package mutating func takeDeadline() -> Instant? {
    defer { deadline = nil }
    return deadline
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

/// The activity that routed a payload. A payload without one was routed by its content.
package struct RoutingPlace: Hashable, Sendable {
  package var item: Int64
  package var activity: Int64?

  package init(item: Int64, activity: Int64?) {
    self.item = item
    self.activity = activity
  }
}

/// The content that a session showed.
package struct PreviouslyShown: Hashable, Sendable {
  package var userActivity: UserActivity?
  package var openedContent: Text
  package var title: Text
  package var isPrivate: Bool
  /// The delivery that gave this content.
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

  /// About as many bytes as it takes. It is asked for each drop, so nothing is written out that is usually short.
  package var roughSize: Int {
    var size = openedContent.count + title.count
    guard let activity = userActivity else { return size }
    size += activity.activityType.count + (activity.targetContentIdentifier?.count ?? 0) + (activity.title?.count ?? 0)
    size += (activity.webpageURL?.count ?? 0) + (activity.persistentIdentifier?.count ?? 0)
    for word in activity.keywords { size += word.count }
    for word in activity.requiredUserInfoKeys { size += word.count }
    if !activity.userInfo.isEmpty { size += JSON.text(of: .dictionary(activity.userInfo)).count }
    return size
  }

  package mutating func forgetDocuments() { (userActivity, openedContent, title) = (nil, .empty, .empty) }

  package init(_ session: Session) {
    self.init(
      userActivity: session.userActivity, openedContent: session.openedContent, title: session.title,
      isPrivate: session.isPrivate, shownBy: session.shownBy)
  }
}

/// A delivery without its documents, as in lists.
package struct DeliverySummary: Hashable, Sendable {
  package let identifier: UniqueIdentifier
  package let application: Text
  package let sender: Text
  package let token: Text?
  package let created: Instant
  package var deadline: Instant
  package var progress: DeliveryProgress
  /// Whether the sender marked it as private; set for open deliveries only.
  package var isPrivate = false
  /// The delivery that gave its session the previous content; set for open deliveries only.
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

  package mutating func advance(to progress: DeliveryProgress) {
    self.progress = progress
    deadline = self.progress.takeDeadline() ?? deadline
  }
}

extension StoredDelivery {
  package mutating func advance(to progress: DeliveryProgress) {
    self.progress = progress
    self.deadline = self.progress.takeDeadline() ?? self.deadline
  }

  /// Whether the delivery is over for good, and can be neither handed to another host nor cancelled. A handled delivery may be redirected until its
  /// deadline.
  package func isSpent(at now: Instant) -> Bool {
    !self.progress.isOpen && (self.progress.state != .handled || self.deadline < now)
  }

  /// Whether the delivery failed or was cancelled. If a later delivery to the same session fails as well, the session shows again what it showed
  /// before both.
  package var cameToNothing: Bool { self.progress.state == .failed || self.progress.state == .cancelled }

  /// Drops the documents of a spent delivery. The decision and the fingerprint stay.
  package mutating func forgetDocuments() {
    self.payload = .empty
    if !cameToNothing { self.previous.forgetDocuments() }
  }

  package var summary: DeliverySummary {
    var summary = DeliverySummary(
      identifier: identifier, application: self.application, sender: self.sender, token: self.token,
      created: self.created,
      deadline: self.deadline, progress: self.progress)
    if self.progress.isOpen { (summary.isPrivate, summary.previousBy) = (self.isPrivate, self.previous.shownBy) }
    return summary
  }
}
