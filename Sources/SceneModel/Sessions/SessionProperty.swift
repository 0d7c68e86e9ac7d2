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
  package var targetContentIdentifier: Text { userActivity?.targetContentIdentifier ?? openedContent }

  /// "" for no value.
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

  /// The title in a list: the title of the activity stands in if the host has set none.
  package var shownTitle: Text { title.isEmpty ? shownActivity?.title ?? .empty : title }
}
