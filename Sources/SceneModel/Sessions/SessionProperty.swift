/// What a host writes about its session.
package enum SessionProperty: String, CaseIterable, Sendable {
  case title = "Title"
  case userActivity = "UserActivity"
  case stateRestorationActivity = "StateRestorationActivity"
  case userInfo = "UserInfo"
  case canActivatePredicate = "CanActivatePredicate"
  case prefersToActivatePredicate = "PrefersToActivatePredicate"
}

extension Session {
  /// What the bus says it shows.
  package var targetContentIdentifier: Text { userActivity?.targetContentIdentifier ?? openedContent }

  /// "" where there is nothing.
  package func text(of property: SessionProperty) -> Text {
    switch property {
    case .title: title
    case .userActivity: userActivity?.json ?? .empty
    case .stateRestorationActivity: stateRestorationActivity?.json ?? .empty
    case .userInfo: userInfo.isEmpty ? .empty : JSON.text(of: .dictionary(userInfo))
    case .canActivatePredicate: canActivatePredicate
    case .prefersToActivatePredicate: prefersToActivatePredicate
    }
  }

  /// What people read in a list: the title of the activity stands in for one that no host has set.
  package var shownTitle: Text { title.isEmpty ? shownActivity?.title ?? .empty : title }
}
