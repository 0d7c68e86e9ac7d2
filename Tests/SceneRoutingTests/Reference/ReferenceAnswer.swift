import SceneModel
import SceneRouting

/// The part of a decision that the rules determine.
struct ReferenceAnswer: Equatable {
  enum Outcome: Equatable {
    case created, activated, restored
    case refused(Refusal.Reason)
  }

  var outcome: Outcome
  var session: UniqueIdentifier?
  /// The application of the session.
  var application: Text?
  /// The configuration of the session, which may differ from the one that step 4 chooses.
  var configuration: Text?
  var role: Text?
  /// The activity that becomes the session's current activity.
  var showing: UserActivity?
  var because: SessionReason?
}

/// Thrown when a step refuses.
struct ReferenceRefusal: Error {
  let reason: Refusal.Reason

  init(_ reason: Refusal.Reason) { self.reason = reason }
}

extension ReferenceAnswer {
  /// The answer of a decision, about a session that it makes or one that the world has.
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
