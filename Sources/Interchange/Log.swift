/// Where the service says what it does. A line is one sentence; what is private is in none.
package struct Log: Sendable {
  package enum Level: Int, CaseIterable, Comparable, Sendable {
    case error = 3
    case warning = 4
    case info = 6
    case debug = 7

    package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
  }

  private let write: @Sendable (Level, String) -> Void

  package init(_ write: @escaping @Sendable (Level, String) -> Void) { self.write = write }

  package func error(_ line: String) { write(.error, line) }
  package func warning(_ line: String) { write(.warning, line) }
  package func info(_ line: String) { write(.info, line) }
  package func debug(_ line: String) { write(.debug, line) }
}
