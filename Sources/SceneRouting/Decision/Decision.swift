package import SceneModel

/// The answer of the decider: a decision, or the sessions that it must look at first.
package enum Answer: Sendable {
  case decided(Decision)
  /// Nothing is decided yet. Let the state learn these sessions, and ask again.
  case needs(Need)
}

/// The reason why there is no answer yet, or none at all.
package enum Stop: Error {
  case refused(Refusal)
  case needs(Need)

  static func refusal(_ reason: Refusal.Reason, _ message: String) -> Stop { .refused(Refusal(reason, message)) }
}

/// Where a payload goes, what this changes, and why. It is read in many places and never changes, so it is not copied.
package final class Decision: Sendable {
  package let outcome: Outcome
  /// The change to store and then to apply with `State.apply`; `nil` for a refusal.
  package let fact: Fact?
  /// The content of the signal `Routed`; `nil` for a refusal.
  package let routing: Routing?
  package let explanation: Explanation
  /// The part of the payload that reaches the application; `nil` for all of it.
  package let passedOn: PassedOn?
  /// The number of steps that the decision took.
  package let steps: Int

  init(
    _ outcome: Outcome, _ fact: Fact?, _ routing: Routing?, _ explanation: consuming Explanation,
    passedOn: consuming PassedOn? = nil, steps: Int
  ) {
    self.outcome = outcome
    self.fact = fact
    self.routing = routing
    self.explanation = explanation
    self.passedOn = passedOn
    self.steps = steps
  }

  /// The same decision with another explanation.
  package func explained<Failure>(
    _ change: (inout Explanation) throws(Failure) -> Void
  ) throws(Failure) -> Decision {
    var explanation = explanation
    try change(&explanation)
    return Decision(outcome, fact, routing, explanation, passedOn: passedOn, steps: steps)
  }

  /// The same decision; the message of a refusal ends with `sentence`.
  package func withRefusal(ending sentence: String) -> Decision {
    guard case .refused(let refusal) = outcome, !sentence.isEmpty else { return self }
    let longer = Refusal(refusal.reason, refusal.message + sentence)
    return Decision(.refused(longer), fact, routing, explanation, passedOn: passedOn, steps: steps)
  }
}

package enum Outcome: Hashable, Sendable {
  case created(UniqueIdentifier)
  case activated(UniqueIdentifier)
  /// An existing session whose scene was connected, and has been released since.
  case restored(UniqueIdentifier)
  case refused(Refusal)

  /// The outcome in the bus's spelling.
  package var name: Text {
    switch self {
    case .created: "created"
    case .activated: "activated"
    case .restored: "restored"
    case .refused: "refused"
    }
  }

  package var session: UniqueIdentifier? {
    switch self {
    case .created(let session), .activated(let session), .restored(let session): session
    case .refused: nil
    }
  }
}

/// A change, stated as the new condition.
package enum Fact: Hashable, Sendable {
  indirect case sessionMade(Session)
  /// A session was chosen, and may have got new content.
  case sessionActivated(UniqueIdentifier, at: Instant, showing: Shown?)
}

/// The content that a session gets.
package enum Shown: Hashable, Sendable {
  /// The activity becomes the session's current activity.
  case activity(UserActivity)
  /// A file or a link without an activity. A session without an activity is found by it, so that the same file comes to the same session.
  case content(Text)
}

/// The content of the signal `Routed`.
package struct Routing: Hashable, Sendable {
  package let application: Text
  package let configuration: Text
  package let activityType: Text
  package let targetContentIdentifier: Text

  package init(application: Text, configuration: Text, activityType: Text, targetContentIdentifier: Text) {
    self.application = application
    self.configuration = configuration
    self.activityType = activityType
    self.targetContentIdentifier = targetContentIdentifier
  }
}

package struct Refusal: Error, Hashable, Sendable {
  package enum Reason: String, CaseIterable, Sendable {
    case noActivity = "NoActivity"
    case activityTypeNotDeclared = "ActivityTypeNotDeclared"
    case activityExpired = "ActivityExpired"
    case noSuchApplication = "NoSuchApplication"
    case noSuchSession = "NoSuchSession"
    case noSuchConfiguration = "NoSuchConfiguration"
    case noMatchingSession = "NoMatchingSession"
    case multipleScenesNotSupported = "MultipleScenesNotSupported"
    case requestDenied = "RequestDenied"
    case roleMismatch = "RoleMismatch"
    // D-Bus itself has names for these.
    case limitsExceeded = "LimitsExceeded"
    case accessDenied = "AccessDenied"
  }

  package let reason: Reason
  /// A sentence that stands by itself, without its full stop.
  package let message: String

  init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// The name of the error on the bus.
  package var errorName: Text {
    let isOfDBus = reason == .limitsExceeded || reason == .accessDenied
    return Text((isOfDBus ? "org.freedesktop.DBus.Error." : "org.stagedoor.Error.") + reason.rawValue)
  }
}
