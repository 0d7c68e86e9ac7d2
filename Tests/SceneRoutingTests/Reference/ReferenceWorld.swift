import SceneModel

/// Everything that is known at one moment, in unordered lists.
struct ReferenceWorld {
  var manifests: [Manifest] = []
  var sessions: [Session] = []
  /// Each type occurs once.
  var preferences: [ReferencePreference] = []

  func manifest(of application: Text) -> Manifest? { manifests.first { $0.identifier == application } }

  func session(_ identifier: UniqueIdentifier) -> Session? { sessions.first { $0.identifier == identifier } }

  /// The sessions of an application that take part in routing: those whose configuration is in its manifest.
  func sessions(of manifest: Manifest) -> [Session] {
    sessions.filter { session in
      session.application == manifest.identifier
        && manifest.configurations.contains { $0.role == session.role && $0.name == session.configuration }
    }
  }
}

struct ReferencePreference {
  let type: Text
  let application: Text
}

extension Manifest {
  func configurations(of role: Text) -> [SceneConfiguration] { configurations.filter { $0.role == role } }
}

/// The condition of one session: the one that its host set, or else the one of its manifest.
enum ReferenceCondition {
  case notSet
  case set(Predicate)
  case unreadable

  init(_ stored: Text, else manifest: Predicate?) {
    if stored.isEmpty {
      self = manifest.map { .set($0) } ?? .notSet
    } else {
      self = (try? Predicate(stored)).map { .set($0) } ?? .unreadable
    }
  }

  var isSet: Bool { if case .set = self { true } else { false } }
  var isUnreadable: Bool { if case .unreadable = self { true } else { false } }

  func holds(for key: Text, unlessSet: Bool) -> Bool {
    if case .set(let predicate) = self { predicate.evaluate(key) } else { unlessSet }
  }
}

extension ReferenceWorld {
  func conditions(of session: Session) -> (can: ReferenceCondition, prefers: ReferenceCondition) {
    let configuration = manifest(of: session.application)?.configurations(of: session.role)
      .first { $0.name == session.configuration }
    return (
      can: ReferenceCondition(session.canActivatePredicate, else: configuration?.conditions.can),
      prefers: ReferenceCondition(session.prefersToActivatePredicate, else: configuration?.conditions.prefers)
    )
  }
}
