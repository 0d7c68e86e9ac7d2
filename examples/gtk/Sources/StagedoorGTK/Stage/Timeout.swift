internal import CGtk4

/// Runs something later, when GLib's loop has nothing more urgent to do.
enum Timeout {
  static func run(after milliseconds: UInt32 = 0, _ body: @escaping @MainActor () -> Void) {
    g_timeout_add_full(
      G_PRIORITY_DEFAULT_IDLE, milliseconds,
      { box in
        guard let box else { return 0 }
        let body = Box<@MainActor () -> Void>.value(of: box)
        // GLib calls on the main thread.
        MainActor.assumeIsolated { body() }
        return 0
      }, Box(body).given, { Box<@MainActor () -> Void>.release($0) })
  }
}
