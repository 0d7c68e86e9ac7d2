extension Command {
  /// An executable of this package, built together with the test that runs it. The test's target must depend on it.
  ///
  /// ```swift
  /// let result = try await Command.built("private-bus", "--daemon", "--", "printenv", "DBUS_SESSION_BUS_ADDRESS").run()
  /// print(result.standardOutput)  // unix:path=…
  /// ```
  public static func built(
    _ name: String, _ arguments: String..., environment: [String: String]? = nil, input: String = ""
  ) -> Command {
    Command(Programs.built(name), arguments: arguments, environment: environment, input: input)
  }
}
