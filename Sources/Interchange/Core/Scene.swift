package import SceneModel
import SceneRouting

// The life of a session's scene. `docs/lives.md` shows the same states as a table.
//
//   unattached ──connect──► foregroundInactive ◄──report──► foregroundActive, background
//       ▲                           │                                │
//       └────────disconnect─────────┴────────────────────────────────┘
//
// A discarded session is no session any more: only a record remains, and its host must hear of it.
extension Session {
  /// The session has a scene.
  func connected() -> Session {
    var session = self
    (session.isConnected, session.hasBeenConnected, session.state) = (true, true, .foregroundInactive)
    return session
  }

  /// The session's scene is gone, and the session stays.
  func disconnected() -> Session {
    var session = self
    (session.isConnected, session.state) = (false, .unattached)
    return session
  }

  /// The host of a connected scene reports its state.
  func reporting(_ state: SceneState, at now: Instant) throws(InterchangeError) -> Session {
    guard self.isConnected else {
      throw InterchangeError(.invalidArgs, "the session is not connected, so its state is \"unattached\"")
    }
    var session = self
    if state == .foregroundActive, session.state != state { session.lastActivated = now }
    session.state = state
    return session
  }

  /// The host has chosen another configuration, as it was asked before the scene is connected.
  func configured(as configuration: Text) -> Session {
    var session = self
    session.configuration = configuration
    return session
  }
}

// MARK: - Content, and who sees it

extension Session {
  /// The properties that only the host uses. It may write the content of a private delivery there.
  static let hostsOwn: [SessionProperty] = [
    .stateRestorationActivity, .userInfo, .canActivatePredicate, .prefersToActivatePredicate,
  ]

  /// Whether a field is hidden from all but the host and the sender of a private delivery.
  package func hides(_ field: SessionField) -> Bool {
    switch field {
    case .configuration, .state, .connected: false
    case .targetContentIdentifier, .written(.userActivity), .written(.title): self.isPrivate
    case .written: self.isPrivate || self.hasSecrets
    }
  }

  /// The host's own fields that are not empty.
  private var ownFields: [SessionField] {
    Session.hostsOwn.filter { !text(of: $0).isEmpty }.map { .written($0) }
  }

  /// The session in the form that everyone may see.
  package var asSeen: Session {
    if !self.isPrivate, !self.hasSecrets { return self }
    var seen = self
    if self.isPrivate { (seen.title, seen.userActivity, seen.openedContent) = (.empty, nil, .empty) }
    (seen.stateRestorationActivity, seen.userInfo) = (nil, UserInfo())
    (seen.canActivatePredicate, seen.prefersToActivatePredicate) = (.empty, .empty)
    return seen
  }

  /// The host has written a value.
  func writing(_ writing: SessionWriting) -> Session {
    var session = self
    switch writing {
    case .title(let title): session.title = title
    case .userActivity(let activity): session.show(activity)
    case .stateRestorationActivity(let activity): session.stateRestorationActivity = activity
    case .userInfo(let userInfo): session.userInfo = userInfo
    case .canActivatePredicate(let predicate): session.canActivatePredicate = predicate
    case .prefersToActivatePredicate(let predicate): session.prefersToActivatePredicate = predicate
    }
    if self.isPrivate, Session.hostsOwn.contains(writing.property), !session.text(of: writing.property).isEmpty {
      session.hasSecrets = true
    }
    return session
  }

  /// The host has set the activity that the session shows. The session stays private while this is the content of a private delivery.
  private mutating func show(_ activity: UserActivity?) {
    let isSame =
      activity.map { ($0.activityType, $0.key) == (self.userActivity?.activityType, self.userActivity?.key) } ?? false
    if self.isPrivate, !isSame { (self.isPrivate, self.title) = (false, .empty) }
    (self.userActivity, self.openedContent, self.shownBy) = (activity, .empty, nil)
  }

  /// The session in public; `nil` if it keeps a private activity beside the content of a public delivery.
  var madePublic: Session? {
    if self.userActivity != nil, !self.openedContent.isEmpty { return nil }
    var session = self
    (session.isPrivate, session.title) = (false, .empty)
    return session
  }

  /// A delivery has failed: the session shows its previous content again.
  func showingAgain(_ previous: PreviouslyShown) -> Session {
    var session = self
    session.userActivity = previous.userActivity
    session.openedContent = previous.openedContent
    session.shownBy = previous.shownBy
    // The host's title for a private window is removed with the private content; otherwise the host chose it for the present content.
    if session.isPrivate != previous.isPrivate { session.title = previous.title }
    session.isPrivate = previous.isPrivate
    return session
  }

  /// The fields that differ for others between two states of the session.
  func fieldsShown(otherThan before: Session) -> [SessionField] {
    let isOther = before.isPrivate != self.isPrivate
    var changed: [SessionField] = []
    if isOther || before.userActivity != self.userActivity { changed.append(.written(.userActivity)) }
    if isOther || before.targetContentIdentifier != targetContentIdentifier { changed.append(.targetContentIdentifier) }
    // The title reveals the content, so a private title is hidden as well.
    if isOther || self.isPrivate && !changed.isEmpty || before.title != self.title { changed.append(.written(.title)) }
    if isOther { changed += ownFields }
    return changed
  }

  /// The fields that the host's writing changes for others.
  func fields(writtenFrom before: Session, _ property: SessionProperty) -> [SessionField] {
    var changed: [SessionField] = [.written(property)]
    if property == .userActivity { changed.append(.targetContentIdentifier) }
    if property == .userActivity, before.isPrivate { changed.append(.written(.title)) }
    if before.isPrivate != self.isPrivate { changed += ownFields.filter { !changed.contains($0) } }
    return changed
  }
}

extension SessionActivation {
  /// A delivery gives content to a session.
  init(_ before: Session, shows shown: Shown, by delivery: UniqueIdentifier?, isPrivate: Bool, at instant: Instant) {
    // What does not change is left out, so that neither the log nor the row has it written again. A window that is or was private says so: the store
    // overwrites what such a record leaves.
    self.init(
      session: before.identifier, at: instant,
      isPrivate: isPrivate || before.isPrivate || before.hasSecrets ? isPrivate : nil, shownBy: delivery)
    switch shown {
    case .activity(let activity):
      if activity != before.userActivity { userActivity = activity }
      // It would be visible if the activity has no key of its own.
      if !before.openedContent.isEmpty { openedContent = .empty }
    case .content(let key):
      openedContent = key
      // The session keeps its activity, and with it its privacy.
      if before.userActivity != nil, before.isPrivate { self.isPrivate = true }
    }
    if before.isPrivate, self.isPrivate == false, !before.title.isEmpty { title = .empty }
  }
}
