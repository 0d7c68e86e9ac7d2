/// A session: the part of a window that survives, whether the window is open or not.
///
/// A drop copies its session a few times.
public struct Session: Boxed, Hashable, Sendable {
  /// The box.
  public var fields: Shared<Fields>

  /// What a session has.
  public struct Fields: Hashable, Sendable {
    package fileprivate(set) var identifier: UniqueIdentifier
    package fileprivate(set) var application: Text
    package fileprivate(set) var role: Text
    package var configuration: Text
    package var state: SceneState
    package var isConnected: Bool
    package var hasBeenConnected: Bool
    package fileprivate(set) var created: Instant
    package var lastActivated: Instant
    package var title: Text
    package var userActivity: UserActivity?
    package var stateRestorationActivity: UserActivity?
    /// The file or link that opened the session without an activity; "" if there is none.
    package var openedContent: Text
    package var userInfo: UserInfo
    /// The condition that its host set, in the host's spelling; "" if the manifest's condition counts.
    package var canActivatePredicate: Text
    package var prefersToActivatePredicate: Text
    /// Whether it shows the content of a private delivery, which only the sender and the host may see.
    package var isPrivate: Bool
    /// Whether its host wrote properties during that time that may reveal the content. The session does not record which, so all of them stay hidden.
    package var hasSecrets = false
    /// The delivery that gave it the present content; `nil` if its host did, or if it shows nothing.
    package var shownBy: UniqueIdentifier?
  }

  package init(
    identifier: UniqueIdentifier, application: Text, role: Text = PayloadOptions.defaultRole, configuration: Text,
    state: SceneState = .unattached, isConnected: Bool = false, hasBeenConnected: Bool = false, created: Instant,
    lastActivated: Instant? = nil, title: Text = .empty, userActivity: UserActivity? = nil,
    stateRestorationActivity: UserActivity? = nil, openedContent: Text = .empty, userInfo: UserInfo = UserInfo(),
    canActivatePredicate: Text = .empty, prefersToActivatePredicate: Text = .empty, isPrivate: Bool = false,
    shownBy: UniqueIdentifier? = nil
  ) {
    fields = Shared(
      Fields(
        identifier: identifier, application: application, role: role, configuration: configuration, state: state,
        isConnected: isConnected, hasBeenConnected: hasBeenConnected, created: created,
        lastActivated: lastActivated ?? created, title: title, userActivity: userActivity,
        stateRestorationActivity: stateRestorationActivity, openedContent: openedContent, userInfo: userInfo,
        canActivatePredicate: canActivatePredicate, prefersToActivatePredicate: prefersToActivatePredicate,
        isPrivate: isPrivate, shownBy: shownBy))
  }

  /// The activity that it shows: while it is connected its current activity, otherwise its restoration activity, or else its last one.
  package var shownActivity: UserActivity? {
    self.isConnected ? self.userActivity : self.stateRestorationActivity ?? self.userActivity
  }
}

/// The state of a scene, from the nearest to the user to the farthest.
package enum SceneState: String, CaseIterable, Sendable, Comparable {
  case foregroundActive, foregroundInactive, background, unattached

  package static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

  package var rank: UInt8 {
    switch self {
    case .foregroundActive: 0
    case .foregroundInactive: 1
    case .background: 2
    case .unattached: 3
    }
  }
}

// MARK: - As a document

extension Session: Document {
  private static let keys: [StaticString] = [
    "persistentIdentifier", "application", "role", "configuration", "state", "connected", "hasBeenConnected", "created",
    "lastActivated", "title", "userActivity", "stateRestorationActivity", "openedContent", "userInfo",
    "canActivatePredicate", "prefersToActivatePredicate", "private", "secrets", "shownBy",
  ]

  package init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) {
    var (identifier, created, lastActivated): (UniqueIdentifier?, Instant?, Instant?)
    var session = Session(
      identifier: UniqueIdentifier(high: 0, low: 0), application: .empty, configuration: .empty,
      created: Instant(microseconds: 0))
    for (key, node) in try node.requireFields("a session", knowing: Session.keys, rules.isStrict) where !node.isNull {
      switch key {
      case "persistentIdentifier": identifier = try node.requireIdentifier()
      case "application": session.application = try node.requireName("an application's identifier")
      case "role": session.role = try node.requireName("a session role")
      case "configuration": session.configuration = try node.requireName("the name of a configuration")
      case "state": session.state = try node.requireChoice(SceneState.self)
      case "connected": session.isConnected = try node.requireBool()
      case "hasBeenConnected": session.hasBeenConnected = try node.requireBool()
      case "created": created = try node.requireDate()
      case "lastActivated": lastActivated = try node.requireDate()
      case "title": session.title = try node.requireText()
      case "userActivity": session.userActivity = try UserActivity(node, rules)
      case "stateRestorationActivity": session.stateRestorationActivity = try UserActivity(node, rules)
      case "openedContent": session.openedContent = try node.requireText()
      case "userInfo": session.userInfo = try node.requireDictionary()
      case "canActivatePredicate": session.canActivatePredicate = try node.requireText(atMost: Limits.predicate)
      case "prefersToActivatePredicate":
        session.prefersToActivatePredicate = try node.requireText(atMost: Limits.predicate)
      case "private": session.isPrivate = try node.requireBool()
      case "secrets": session.hasSecrets = try node.requireBool()
      case "shownBy": session.shownBy = try node.requireIdentifier()
      default: break
      }
    }
    guard let identifier else { throw node.missing("persistentIdentifier", "a UUID") }
    guard let created else { throw node.missing("created", "an RFC 3339 date") }
    if session.application.isEmpty { throw node.missing("application", "an application's identifier") }
    if session.configuration.isEmpty { throw node.missing("configuration", "the name of a configuration") }
    session.identifier = identifier
    session.created = created
    session.lastActivated = lastActivated ?? created
    self = session
  }

  package func write(to fields: inout some DocumentFields) {
    fields["application"] = self.application
    if !self.canActivatePredicate.isEmpty { fields["canActivatePredicate"] = self.canActivatePredicate }
    fields["configuration"] = self.configuration
    if self.isConnected { fields["connected"] = true }
    fields["created"] = Text(self.created.rfc3339)
    if self.hasBeenConnected { fields["hasBeenConnected"] = true }
    fields["lastActivated"] = Text(self.lastActivated.rfc3339)
    if !self.openedContent.isEmpty { fields["openedContent"] = self.openedContent }
    fields["persistentIdentifier"] = self.identifier
    if !self.prefersToActivatePredicate.isEmpty {
      fields["prefersToActivatePredicate"] = self.prefersToActivatePredicate
    }
    if self.isPrivate { fields["private"] = true }
    fields["role"] = self.role
    if self.hasSecrets { fields["secrets"] = true }
    fields["shownBy"] = self.shownBy
    fields["state"] = self.state
    fields["stateRestorationActivity"] = self.stateRestorationActivity
    if !self.title.isEmpty { fields["title"] = self.title }
    fields["userActivity"] = self.userActivity
    fields["userInfo"] = self.userInfo
  }
}

package enum SessionProperty: String, CaseIterable, Sendable {
  case title = "Title"
  case userActivity = "UserActivity"
  case stateRestorationActivity = "StateRestorationActivity"
  case userInfo = "UserInfo"
  case canActivatePredicate = "CanActivatePredicate"
  case prefersToActivatePredicate = "PrefersToActivatePredicate"
}

extension Session {
  /// The key in the property on the bus.
  package var targetContentIdentifier: Text { self.userActivity?.targetContentIdentifier ?? self.openedContent }

  /// "" for no value.
  package func text(of property: SessionProperty) -> Text {
    switch property {
    case .title: self.title
    case .userActivity: self.userActivity?.json ?? .empty
    case .stateRestorationActivity: self.stateRestorationActivity?.json ?? .empty
    case .userInfo: self.userInfo.isEmpty ? .empty : JSON.text(of: .dictionary(self.userInfo))
    case .canActivatePredicate: self.canActivatePredicate
    case .prefersToActivatePredicate: self.prefersToActivatePredicate
    }
  }

  /// The bytes of all that may be long. `Schema` adds up the same columns.
  package var keptBytes: Int { SessionProperty.allCases.reduce(self.openedContent.count) { $0 + text(of: $1).count } }

  /// The bytes that it keeps more than before. A document that both have is not written out, because it may be long.
  package func growth(since before: Session) -> Int {
    func more(_ property: SessionProperty) -> Int { text(of: property).count - before.text(of: property).count }
    var growth = self.openedContent.count - before.openedContent.count
    growth += more(.title) + more(.canActivatePredicate) + more(.prefersToActivatePredicate)
    if self.userActivity != before.userActivity { growth += more(.userActivity) }
    if self.stateRestorationActivity != before.stateRestorationActivity { growth += more(.stateRestorationActivity) }
    if self.userInfo != before.userInfo { growth += more(.userInfo) }
    return growth
  }

  /// The title in a list: the title of the activity stands in if the host has set none.
  package var shownTitle: Text { self.title.isEmpty ? shownActivity?.title ?? .empty : self.title }
}

// The keys by which a session is found among many: the key that it shows, and the keys of its host's conditions. Stores file sessions under them, so
// a change here requires a change of `Schema`.
extension Session {
  /// The key that the session shows; "" if it shows nothing, or nothing with a key.
  package var shownKey: Text { shownActivity.map { $0.key ?? .empty } ?? self.openedContent }

  /// The keys that the session's own conditions name; "" if the conditions may be true for other keys too, or do not parse. Empty if its host has set
  /// no conditions.
  package var conditionKeys: [Text] {
    do throws(PredicateError) {
      let can = try Session.cover(self.canActivatePredicate)
      // A session that prefers a key but cannot take it is not concerned with it.
      let prefers = try Session.cover(self.prefersToActivatePredicate).map {
        Cover.narrowest([can ?? .everything, $0])
      }
      var found: [Text] = []
      for cover in [can, prefers].compactMap(\.self) {
        guard case .keys(let keys) = cover else { return [.empty] }
        for key in keys where !found.contains(key) { found.append(key) }
        if found.count > Session.maximumKeys { return [.empty] }
      }
      return found
    } catch {
      return [.empty]
    }
  }

  private static func cover(_ predicate: Text) throws(PredicateError) -> Cover? {
    predicate.isEmpty ? nil : try Predicate(predicate).condition.cover
  }

  /// Each key is a row on the disk. A window waits for one thing, or for a few.
  private static let maximumKeys = 16
}
