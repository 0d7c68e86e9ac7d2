internal import DBus

extension PrivateBus {
  /// The environment for a process whose session bus is this bus: that of this process, without the variables that an outer bus sets for
  /// the programs it starts.
  ///
  /// ```swift
  /// try await withPrivateBus { bus in
  ///   let result = try await Command(
  ///     "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId",
  ///     environment: bus.environment
  ///   ).run()
  ///   print(result.standardOutput)
  /// }
  /// ```
  public var environment: [String: String] {
    var environment = Programs.environment.filter { !$0.key.hasPrefix("DBUS_STARTER_") }
    environment["DBUS_SESSION_BUS_ADDRESS"] = address.rawValue
    return environment
  }

  /// The same environment with a fresh home: `HOME`, `TMPDIR` and the `XDG_…` folders are new and empty. They are removed with the bus.
  ///
  /// ```swift
  /// try await withPrivateBus { bus in
  ///   let first = try bus.environmentWithFreshHome()
  ///   let second = try bus.environmentWithFreshHome()
  ///   print(first["HOME"] != second["HOME"])  // true
  /// }
  /// ```
  public func environmentWithFreshHome() throws -> [String: String] {
    let home = try folder.makeFresh("home")
    var environment = environment
    environment["HOME"] = home
    let folders = [
      "TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data",
      "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "state",
    ]
    for (variable, name) in folders {
      try PrivateFolder.make("\(home)/\(name)")
      environment[variable] = "\(home)/\(name)"
    }
    return environment
  }
}
