import SceneModel

/// A condition as it stands for one session: what its host set, else what its manifest says.
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
