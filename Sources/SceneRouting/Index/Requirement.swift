import SceneModel

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
