/// How far a type is from a type that it conforms to. The nearer comes first.
package struct TypeDistance: Comparable, Hashable, Sendable {
  package enum Level: UInt8, Comparable, CaseIterable, Sendable {
    /// The type itself, or an ancestor that is none of the following.
    case ancestor
    /// `image/*` and the like, and what only such a kind conforms to.
    case kind
    /// `public.data`, and what only that conforms to.
    case data
    /// `*/*`
    case everything

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  package let level: Level
  /// The steps from type to parent.
  package let steps: Int
  /// How many of its parameters the other type has not.
  package var lostParameters = 0

  /// The distance of a type to itself.
  package init() { self.init(.ancestor) }

  init(_ level: Level, steps: Int = 0) {
    self.level = level
    self.steps = steps
  }

  package var isZero: Bool { self == TypeDistance() }

  package static func < (one: Self, other: Self) -> Bool {
    (one.level, one.steps, one.lostParameters) < (other.level, other.steps, other.lostParameters)
  }
}
