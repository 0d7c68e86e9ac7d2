/// The keys that can make a condition true, as far as an index can tell: never fewer, and sometimes more.
package enum Cover: Hashable, Sendable {
  case keys([Text])
  /// The keys that begin with one of these.
  case prefixes([Text])
  /// Any key.
  case everything
}

extension Condition {
  package var cover: Cover {
    switch self {
    case .always: return .everything
    case .never: return .keys([])
    case .comparison(let comparison): return comparison.cover
    case .not: return .everything
    case .and(let conditions):
      return Cover.narrowest(conditions.map(\.cover))
    case .or(let conditions):
      return conditions.map(\.cover).reduce(.keys([])) { $0.union($1) }
    }
  }
}

extension Cover {
  fileprivate init(prefix: Text) { self = prefix.isEmpty ? .everything : .prefixes([prefix]) }

  private var texts: [Text] {
    switch self {
    case .keys(let texts), .prefixes(let texts): texts
    case .everything: []
    }
  }

  /// If all must be true, the narrowest covers the whole.
  package static func narrowest(_ covers: [Cover]) -> Cover { covers.min { $0.breadth < $1.breadth } ?? .everything }

  private var breadth: (Int, Int) {
    switch self {
    case .keys(let keys): (0, keys.count)
    case .prefixes(let prefixes): (1, prefixes.count)
    case .everything: (2, 0)
    }
  }

  fileprivate func union(_ other: Cover) -> Cover {
    switch (self, other) {
    case (.everything, _), (_, .everything): .everything
    case (.keys(let some), .keys(let others)): .keys(some + others)
    // A key begins with itself.
    default: .prefixes(texts + other.texts)
    }
  }
}

extension Comparison {
  fileprivate var cover: Cover {
    // The index looks for the key itself, and these comparisons need a folded key.
    guard options.isEmpty else { return .everything }
    switch relation {
    case .text(let key, .equal): return .keys([key])
    case .oneOf(let keys): return .keys(keys)
    case .text(let prefix, .beginsWith): return Cover(prefix: prefix)
    case .text(let pattern, .like):
      let head = pattern.string.utf8.prefix { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "?") }
      return head.count == pattern.count ? .keys([pattern]) : Cover(prefix: Text(String(decoding: head, as: UTF8.self)))
    case .text, .matches: return .everything
    }
  }
}
