import SceneModel

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
