import StoreTestSupport

extension DiskFaults {
  /// - Returns: Whether a call failed.
  @discardableResult
  static func during(
    _ calls: Set<Call>, in directory: TemporaryDirectory, error: Int32, after: Int = 0, count: Int = .max,
    _ body: () throws -> Void
  ) rethrows -> Bool {
    try during(calls, in: directory.path, error: error, after: after, count: count, body)
  }

  static func beforeEachWrite(
    in directory: TemporaryDirectory, _ look: @escaping () -> Void, during body: () throws -> Void
  ) rethrows { try beforeEachWrite(in: directory.path, look, during: body) }

  static func reads(in directory: TemporaryDirectory, _ body: () throws -> Void) rethrows -> Int {
    try reads(in: directory.path, body)
  }
}
