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

extension GtkStage {
  /// Waits, by a timer of GTK's loop. After one `Task.sleep`, a program would wake once a second until it ends.
  ///
  /// ```swift
  /// let note = Label("saved")
  /// try await GtkStage.sleep(for: .seconds(3))
  /// note.text = ""
  /// ```
  public static func sleep(for duration: Duration) async throws {
    let sleeper = Sleeper()
    let milliseconds = duration / .milliseconds(1)
    try await withTaskCancellationHandler {
      try await suspended { continuation in
        sleeper.continuation = continuation
        Timeout.run(after: UInt32(max(0, min(milliseconds, 4e9)))) { sleeper.wake() }
      }
    } onCancel: {
      Task { @MainActor in sleeper.wake() }
    }
    try Task.checkCancellation()
  }

  /// Runs work that takes long on another thread, such as reading a file, so that the windows stay alive meanwhile.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let file = URL(filePath: "/usr/share/pixmaps/cat.png")
  /// let size = try await GtkStage.onThread { try Data(contentsOf: file).count }
  /// ```
  public static func onThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await suspended { continuation in
      let job = Box<@Sendable () -> Void> { continuation.resume(with: Result(catching: work)) }
      g_thread_pool_push(threads, job.given, nil)
    }
  }

  /// Threads of GLib, which end when they have had nothing to do for a while.
  private static let threads = g_thread_pool_new(
    { job, _ in if let job { Box<@Sendable () -> Void>.taken(job)() } }, nil, 4, 0, nil)
}

@MainActor private final class Sleeper {
  var continuation: CheckedContinuation<Void, any Error>?

  func wake() {
    continuation?.resume()
    continuation = nil
  }
}
