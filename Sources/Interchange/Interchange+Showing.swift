import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

// What sessions show: how a delivery gives them something else, how that is put back where nothing comes of it, and what others see of it.
extension Interchange {
  /// Puts what becomes of a session into the share. Answers what it showed before, where it is given something to show.
  func keep(
    _ fact: Fact, for delivery: UniqueIdentifier, isPrivate: Bool, _ share: inout Turn.Share
  ) throws(InterchangeError) -> PreviouslyShown? {
    switch fact {
    case .sessionMade(var session):
      session.shownBy = delivery
      share.set(session)
      sessionCount += 1
      share.onRefusal { $0.sessionCount -= 1 }
      return PreviouslyShown()
    case .sessionActivated(let identifier, at: let instant, showing: nil):
      var activated = share.sessions[identifier] ?? turn.sessions[identifier]
      activated?.lastActivated = instant
      share.set(activated, by: SessionActivation(session: identifier, at: instant))
      return nil
    case .sessionActivated(let identifier, at: let instant, showing: let shown?):
      guard let before = try session(identifier, in: share) else {
        throw InterchangeError(.storageFailed, "the session \(identifier) cannot be read")
      }
      let activation = SessionActivation(before, shows: shown, by: delivery, isPrivate: isPrivate, at: instant)
      var after = before
      activation.apply(to: &after)
      share.set(after, by: activation)
      announceShown(before, after, in: &share)
      return PreviouslyShown(before)
    }
  }

  /// Nothing comes of a delivery: its session shows again what it showed before, unless it was given something newer since.
  func putBack(_ delivery: StoredDelivery, _ before: Session, _ share: inout Turn.Share) throws(InterchangeError) {
    guard before.shownBy == delivery.identifier else { return }
    let previous = try whatStood(before: delivery)
    var after = before
    after.userActivity = previous.userActivity
    after.openedContent = previous.openedContent
    after.shownBy = previous.shownBy
    // What a host calls a private window goes with what is private about it; else it called it so knowing what it shows.
    if after.isPrivate != previous.isPrivate { after.title = previous.title }
    after.isPrivate = previous.isPrivate
    share.onRefusal(revert: state.update(after))
    share.set(after)
    announceShown(before, after, in: &share)
  }

  /// What the session showed before a delivery, and before those under it of which nothing came since.
  private func whatStood(before delivery: StoredDelivery) throws(InterchangeError) -> PreviouslyShown {
    var previous = delivery.previous
    // One that was redirected there and back stands under itself.
    var seen: Set<UniqueIdentifier> = [delivery.identifier]
    while let giver = previous.shownBy, seen.insert(giver).inserted,
      let earlier = try storedDelivery(giver),
      earlier.progress.state == .failed || earlier.progress.state == .cancelled
        || earlier.progress.session != delivery.progress.session
    {
      previous = earlier.previous
    }
    return previous
  }

  /// Tells what others see of the change: of a private session that something changed, and not what. Where it shows the same as before
  /// nothing did.
  func announceShown(_ before: Session, _ after: Session, in share: inout Turn.Share) {
    let isPrivate = after.isPrivate
    let isOther = before.isPrivate != isPrivate
    var changed: [MemberName] = []
    if isOther || before.userActivity != after.userActivity { changed.append("UserActivity") }
    if isOther || before.targetContentIdentifier != after.targetContentIdentifier {
      changed.append("TargetContentIdentifier")
    }
    // Its title tells of what it shows, so it is hidden as well.
    if isOther || isPrivate && !changed.isEmpty || before.title != after.title { changed.append("Title") }
    if isOther { changed += Session.hostsOwn.filter { !after.text(of: $0).isEmpty }.map(\.name) }
    if !changed.isEmpty { share.onceStored { me in me.announce(changed, of: after) } }
  }

  /// Properties of a session that are others now.
  func announce(_ properties: [MemberName], of session: Session) {
    let path = InterchangeNames.path(ofSession: session.identifier)
    for property in properties {
      if session.hides(property) {
        connection.propertyInvalidated(property, of: InterchangeNames.session, at: path)
      } else {
        connection.propertyChanged(property, of: InterchangeNames.session, at: path)
      }
    }
  }
}

extension SessionProperty {
  var name: MemberName { MemberName(unchecked: rawValue) }
}

extension Session {
  /// What a host writes for itself, and may write what a private delivery was about.
  static let hostsOwn: [SessionProperty] = [
    .stateRestorationActivity, .userInfo, .canActivatePredicate, .prefersToActivatePredicate,
  ]

  /// What is kept from all but its host, and the sender of a private delivery.
  func hides(_ property: MemberName) -> Bool {
    if Session.hostsOwn.contains(where: { $0.name == property }) { return isPrivate || hasSecrets }
    return isPrivate && ["UserActivity", "TargetContentIdentifier", "Title"].contains(property)
  }

  /// Its host says what it shows. That is private as long as it is what a private delivery was about.
  mutating func show(_ activity: UserActivity?) {
    let isSame = activity.map { ($0.activityType, $0.key) == (userActivity?.activityType, userActivity?.key) } ?? false
    if isPrivate, !isSame { (isPrivate, title) = (false, .empty) }
    (userActivity, openedContent, shownBy) = (activity, .empty, nil)
  }

  /// As everyone may see it.
  var asSeen: Session {
    if !isPrivate, !hasSecrets { return self }
    var seen = self
    if isPrivate { (seen.title, seen.userActivity, seen.openedContent) = (.empty, nil, .empty) }
    (seen.stateRestorationActivity, seen.userInfo) = (nil, UserInfo())
    (seen.canActivatePredicate, seen.prefersToActivatePredicate) = (.empty, .empty)
    return seen
  }
}

extension SessionActivation {
  /// A delivery gives a session something to show.
  init(_ before: Session, shows shown: Shown, by delivery: UniqueIdentifier, isPrivate: Bool, at instant: Instant) {
    self.init(session: before.identifier, at: instant, isPrivate: isPrivate, shownBy: delivery)
    switch shown {
    case .activity(let activity):
      userActivity = activity
      // It would be told where the activity has no key of its own.
      if !before.openedContent.isEmpty { openedContent = .empty }
    case .content(let key):
      openedContent = key
      // The activity that it has stays, and stays what it was.
      if before.userActivity != nil, before.isPrivate { self.isPrivate = true }
    }
    if before.isPrivate, self.isPrivate == false, !before.title.isEmpty { title = .empty }
  }
}
