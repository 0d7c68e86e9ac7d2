import Glibc

/// Makes SQLite's reads, writes and syncs of the files of one directory fail.
package final class DiskFaults: FileWatcher {
  package typealias Call = WatchedFile.Call

  private struct Fault {
    let directory: String
    let calls: Set<Call>
    let error: Int32
    /// How many calls succeed first.
    var after: Int
    /// How many calls fail then.
    var count: Int
  }

  // The three variables below are only accessed while the mutex is held.
  nonisolated(unsafe) private static var faults: [Fault] = []
  // As above.
  nonisolated(unsafe) private static var watchers: [String: () -> Void] = [:]
  // As above.
  nonisolated(unsafe) private static var reads: [String: Int] = [:]
  // It has no state of its own.
  nonisolated(unsafe) private static let one = DiskFaults()

  private static func locked<Result>(_ body: () -> Result) -> Result { WatchedFile.locked(body) }

  /// Sees the files of all tests from now on.
  package static let install: Void = WatchedFile.show(to: one)

  /// - Returns: Whether a call failed.
  @discardableResult
  package static func during(
    _ calls: Set<Call>, in directory: String, error: Int32, after: Int = 0, count: Int = .max,
    _ body: () throws -> Void
  ) rethrows -> Bool {
    begin(calls, in: directory, error: error, after: after, count: count)
    defer { end(in: directory) }
    try body()
    return locked { faults.contains { $0.directory == directory && $0.count < count } }
  }

  /// Begins faults that last, for tests that run other code meanwhile.
  package static func begin(_ calls: Set<Call>, in directory: String, error: Int32, after: Int = 0, count: Int = .max) {
    locked { faults.append(Fault(directory: directory, calls: calls, error: error, after: after, count: count)) }
  }

  package static func end(in directory: String) { locked { faults.removeAll { $0.directory == directory } } }

  /// Calls `look` before each write that `body` makes.
  package static func beforeEachWrite(
    in directory: String, _ look: @escaping () -> Void, during body: () throws -> Void
  ) rethrows {
    locked { watchers[directory] = look }
    defer { locked { watchers[directory] = nil } }
    try body()
  }

  /// How many reads of files in the directory `body` makes.
  package static func reads(in directory: String, _ body: () throws -> Void) rethrows -> Int {
    locked { reads[directory] = 0 }
    try body()
    return locked { reads.removeValue(forKey: directory) ?? 0 }
  }

  package func error(of call: Call, _ path: String) -> Int32 {
    if call == .write { Self.locked { Self.watchers.first { path.hasPrefix($0.key) }?.value }?() }
    return Self.locked {
      if call == .read {
        for directory in Self.reads.keys where path.hasPrefix(directory) { Self.reads[directory, default: 0] += 1 }
      }
      for index in Self.faults.indices {
        let fault = Self.faults[index]
        guard path.hasPrefix(fault.directory), fault.calls.contains(call) else { continue }
        if fault.after > 0 {
          Self.faults[index].after -= 1
        } else if fault.count > 0 {
          Self.faults[index].count -= 1
          return fault.error
        }
      }
      return 0
    }
  }
}
