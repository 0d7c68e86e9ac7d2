import SceneModel

/// The place of a session in the index: the reason to be concerned with a key, and the conditions that must hold for the key.
///
/// A session that prefers a key but cannot take it is not concerned with it. So both conditions count, and the narrower one files the session: a
/// window that prefers everything and can take one photograph is found by that photograph.
struct Filing: Hashable, Sendable {
  let interest: Interest
  let can: Requirement?
  let prefers: Requirement?

  init(can: Requirement) { (interest, self.can, prefers) = (.can, can, nil) }
  init(can: Requirement?, prefers: Requirement) { (interest, self.can, self.prefers) = (.prefers, can, prefers) }

  func holds(for key: inout AskedKey) -> Bool { (can?.evaluate(&key) ?? true) && (prefers?.evaluate(&key) ?? true) }

  var cover: Cover { Cover.narrowest([can, prefers].compactMap { $0?.cover }) }
}

/// The reason why a session may be concerned with a key.
enum Interest: CaseIterable { case can, prefers, shown }

/// A condition as it is kept with a session. Almost all conditions ask for one key, which then stands in the entry itself.
enum Requirement: Sendable, Hashable {
  case equals(Text)
  case general(Condition)

  init(_ condition: Condition) {
    if case .comparison(let comparison) = condition, comparison.options.isEmpty,
      case .text(let key, .equal) = comparison.relation
    {
      self = .equals(key)
    } else {
      self = .general(condition)
    }
  }

  @inline(__always)
  func evaluate(_ key: inout AskedKey) -> Bool {
    switch self {
    case .equals(let wanted): wanted == key.text
    case .general(let condition): condition.evaluate(&key)
    }
  }

  var condition: Condition {
    switch self {
    case .equals(let key): .comparison(.equal, key)
    case .general(let condition): condition
    }
  }

  var cover: Cover {
    switch self {
    case .equals(let key): .keys([key])
    case .general(let condition): condition.cover
    }
  }
}
