package import DBusTestSupport

extension RunningCommand {
  /// Waits until none of the program's threads wakes any more. Two seconds show it: a thread that polls does so at least once a second.
  package func rests(within limit: Duration = usualLimit) async throws {
    let processIdentifier = processIdentifier
    try await eventually("two seconds in which no thread wakes", within: limit) {
      let before = ContextSwitches.now(ofProcess: processIdentifier)
      try await ContinuousClock().sleep(for: .seconds(2))
      return ContextSwitches.since(before, ofProcess: processIdentifier).isEmpty
    }
  }
}
