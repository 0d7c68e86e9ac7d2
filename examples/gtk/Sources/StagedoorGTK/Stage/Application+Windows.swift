public import StagedoorKit

extension Application {
  /// The place of the window that shows an activity: the window's own activity has the same type and the same target identifier. `nil` if
  /// no window does.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// let tom = UserActivity("org.example.Cats.view", targetContentIdentifier: "Tom")
  /// let place = GtkStage.application?.window(showing: tom) ?? .edge
  /// ```
  public func window(showing activity: UserActivity) -> DropPlace? {
    let session = openSessions.first { session in
      guard let shown = scene(of: session.identifier)?.userActivity else { return false }
      return shown.activityType == activity.activityType
        && shown.targetContentIdentifier == activity.targetContentIdentifier
    }
    return session.map { .window($0.identifier) }
  }
}
