import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// Compares a text with the stored one. With `STAGEDOOR_RECORD=1` it stores the text instead.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let path = "\(Repository.path)/Tests/CommandTests/Snapshots/\(name).txt"
  if ProcessInfo.processInfo.environment["STAGEDOOR_RECORD"] != nil {
    try Data(text.utf8).write(to: URL(filePath: path))
    return
  }
  let kept = try? String(contentsOf: URL(filePath: path), encoding: .utf8)
  #expect(text == kept, "it differs from \(path)", sourceLocation: sourceLocation)
}

extension String {
  /// The text without identifiers and times, which change with each run.
  var normalized: String {
    replacing(#/\b[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}\b/#) { _ in
      "00000000-0000-0000-0000-000000000000"
    }
    .replacing(#/\b[0-9a-f]{8}\b/#) { _ in "00000000" }
    .replacing(#/\b\d{4}-\d\d-\d\dT[\d:.]+Z\b/#) { _ in "2026-01-01T00:00:00Z" }
  }
}
