import SceneModel
import SceneRouting

/// What of a decision the rules settle.
struct ReferenceAnswer: Equatable {
  enum Outcome: Equatable {
    case created, activated, restored
    case refused(Refusal.Reason)
  }

  var outcome: Outcome
  var session: UniqueIdentifier?
  /// The session's own.
  var application: Text?
  /// The session's own, which need not be the one that step 4 chooses.
  var configuration: Text?
  var role: Text?
  /// Becomes the session's current activity.
  var showing: UserActivity?
  var because: SessionReason?
}

/// Thrown where a step refuses.
struct ReferenceRefusal: Error {
  let reason: Refusal.Reason

  init(_ reason: Refusal.Reason) { self.reason = reason }
}

extension ReferenceAnswer {
  /// What the decision says, of a session that it makes or of one that the world has.
  init(_ decision: Decision, in world: ReferenceWorld) {
    let session: Session?
    switch (decision.outcome, decision.fact) {
    case (.refused(let refusal), _):
      self.init(outcome: .refused(refusal.reason))
      return
    case (.created(let identifier), .sessionMade(let made)?):
      session = made
      self.init(outcome: .created, session: identifier, showing: made.userActivity)
    case (.activated(let identifier), .sessionActivated(_, at: _, let shown)?):
      session = world.session(identifier)
      self.init(outcome: .activated, session: identifier, showing: shown?.activity)
    case (.restored(let identifier), .sessionActivated(_, at: _, let shown)?):
      session = world.session(identifier)
      self.init(outcome: .restored, session: identifier, showing: shown?.activity)
    default:
      self.init(outcome: .created)
      return
    }
    because = decision.explanation.sessionReason
    application = session?.application
    configuration = session?.configuration
    role = session?.role
  }
}

extension Shown {
  fileprivate var activity: UserActivity? { if case .activity(let activity) = self { activity } else { nil } }
}
