package import SceneModel

/// Where a payload goes, what that changes, and why.
package struct Decision: Sendable {
  package let outcome: Outcome
  /// What is to be stored, and then made true with `State.apply`; `nil` for a refusal.
  package let fact: Fact?
  /// What the signal `Routed` tells; `nil` for a refusal.
  package let routing: Routing?
  package var explanation: Explanation
  /// How many steps the conditions took that were asked.
  package internal(set) var steps = 0

  init(_ outcome: Outcome, _ fact: Fact, _ routing: Routing, _ explanation: Explanation) {
    self.outcome = outcome
    self.fact = fact
    self.routing = routing
    self.explanation = explanation
  }

  init(refusing refusal: Refusal, _ explanation: Explanation) {
    outcome = .refused(refusal)
    fact = nil
    routing = nil
    self.explanation = explanation
  }

  /// What is to be said and done once the fact is stored, in this order. None for a refusal.
  package var effects: [Effect] {
    guard let fact, let routing else { return [] }
    switch fact {
    case .sessionMade(let session):
      return [.announceSession(session.identifier), .announceRouting(routing), .handOver(to: session.identifier)]
    case .sessionActivated(let session, at: _, showing: .activity):
      return [.announceActivity(of: session), .announceRouting(routing), .handOver(to: session)]
    case .sessionActivated(let session, at: _, showing: _):
      return [.announceRouting(routing), .handOver(to: session)]
    }
  }
}

package enum Outcome: Hashable, Sendable {
  /// A new session.
  case created(UniqueIdentifier)
  /// A session that was there.
  case activated(UniqueIdentifier)
  /// A session that was there, whose scene had been connected and was released since.
  case restored(UniqueIdentifier)
  case refused(Refusal)

  /// As the bus says it.
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

/// Something that is so from now on.
package enum Fact: Hashable, Sendable {
  indirect case sessionMade(Session)
  /// A session was chosen, and something given to it to show.
  case sessionActivated(UniqueIdentifier, at: Instant, showing: Shown?)
}

/// What a session is given to show.
package enum Shown: Hashable, Sendable {
  /// It is its current activity from now on.
  case activity(UserActivity)
  /// A file or a link without an activity. A session that has no activity is known by it, so that the same file finds it again.
  case content(Text)
}

/// Something that is to be done.
package enum Effect: Hashable, Sendable {
  /// The session appears, with all of its properties.
  case announceSession(UniqueIdentifier)
  /// Its current activity is another one.
  case announceActivity(of: UniqueIdentifier)
  /// The signal `Routed`.
  case announceRouting(Routing)
  /// The host is asked to show it, or the delivery is held until there is one.
  case handOver(to: UniqueIdentifier)
}

/// What the signal `Routed` tells.
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

/// Why nothing comes of a request.
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
    /// D-Bus itself has a name for it.
    case limitsExceeded = "LimitsExceeded"
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
    Text((reason == .limitsExceeded ? "org.freedesktop.DBus.Error." : "org.stagedoor.Error.") + reason.rawValue)
  }
}
