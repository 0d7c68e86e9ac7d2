package import DBusTestSupport

extension RunningCommand {
  /// Waits until no thread of it wakes any more. Two seconds are enough to see it: what looks after itself does so each second.
  package func rests() async throws {
    let processIdentifier = processIdentifier
    try await eventually("two seconds in which no thread wakes") {
      let before = ContextSwitches.now(ofProcess: processIdentifier)
      try await ContinuousClock().sleep(for: .seconds(2))
      return ContextSwitches.since(before, ofProcess: processIdentifier).isEmpty
    }
  }
}
