/// The log of the service. Each line is one sentence, and no line has private content.
package struct Log: Sendable {
  package enum Level: String, Comparable, Sendable {
    case error, warning, info, debug

    /// The number of syslog and the journal.
    package var priority: Int {
      switch self {
      case .error: 3
      case .warning: 4
      case .info: 6
      case .debug: 7
      }
    }

    package static func < (one: Level, other: Level) -> Bool { one.priority < other.priority }
  }

  private let level: Level
  private let write: @Sendable (Level, String) -> Void

  /// - Parameter level: The least important level that is written. Other lines are not even composed.
  package init(_ level: Level = .info, _ write: @escaping @Sendable (Level, String) -> Void) {
    self.level = level
    self.write = write
  }

  package func error(_ line: @autoclosure () -> String) { say(.error, line) }
  package func warning(_ line: @autoclosure () -> String) { say(.warning, line) }
  package func info(_ line: @autoclosure () -> String) { say(.info, line) }
  package func debug(_ line: @autoclosure () -> String) { say(.debug, line) }

  private func say(_ line: Level, _ text: () -> String) { if line <= level { write(line, text()) } }
}
