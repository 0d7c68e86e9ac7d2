public import StagedoorKit

extension Application {
  /// The place of the window that shows this: it continues an activity of the same type, with the same target identifier. `nil` if there
  /// is none.
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
