internal import Glibc

extension PrivateBus {
  /// The program that runs as the bus.
  ///
  /// ```swift
  /// for kind in PrivateBus.Kind.available {
  ///   let bus = try await PrivateBus.start(kind)
  ///   print(kind, bus.address)
  ///   await bus.stop()
  /// }
  /// ```
  public enum Kind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The reference implementation's `dbus-daemon`.
    case daemon
    /// `dbus-broker`, without systemd.
    case broker

    /// The kinds to test on: always dbus-daemon, and dbus-broker if it is on PATH or unpacked in `.build/tools`, and starts.
    public static let available: [Kind] = [.daemon] + (broker.starts ? [.broker] : [])

    /// The name of the program.
    public var description: String { "dbus-\(rawValue)" }

    private var starts: Bool {
      guard let path = Programs.path(of: description),
        let null = try? FileDescriptors.null(),
        let pid = try? Spawn(
          executable: path, arguments: [description, "--version"], environment: Programs.environment,
          descriptors: [null, null, null]
        ).start()
      else { return false }
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
      return status == 0
    }
  }
}
