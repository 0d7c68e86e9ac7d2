public import DBus

extension PrivateBus {
  /// Lets the bus start `executable` when somebody calls `name` and nobody owns the name. When this returns, the bus knows the program.
  ///
  /// ```swift
  /// import DBus
  ///
  /// try await withPrivateBus { bus in
  ///   try await bus.install("org.example.Greeter", executable: "/usr/libexec/greeter", arguments: ["--quiet"])
  ///   let client = try await bus.connect()
  ///   let greeting: String = try await client.call(
  ///     to: "org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann")
  ///   print(greeting)
  ///   await client.close()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name that the program takes.
  ///   - executable: The program: a path, or a name on PATH.
  ///   - arguments: The program's arguments.
  ///   - environment: Variables of the program's environment in addition to those of the bus.
  public func install(
    _ name: BusName, executable: String, arguments: [String] = [], environment: [String: String] = [:]
  ) async throws {
    let path = try Programs.required(executable)
    try await backend.install(
      ActivatableService(name: name, command: [path] + arguments, environment: environment))
  }
}
