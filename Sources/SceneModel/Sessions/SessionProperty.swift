/// A property that a host writes to its session.
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
