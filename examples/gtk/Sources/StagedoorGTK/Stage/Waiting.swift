internal import CGtk4

extension GtkStage {
  /// Suspends the task until the continuation resumes it. A plain continuation, and the end of a task that somebody waits for, resume through the
  /// thread pool of libdispatch, which then wakes once a second until the process ends.
  static func suspended<Value: Sendable>(
    _ body: @MainActor (CheckedContinuation<Value, any Error>) -> Void
  ) async throws -> Value {
    try await withTaskExecutorPreference(MainLoop.executor) { try await withCheckedThrowingContinuation { body($0) } }
  }
}

/// Runs the jobs of tasks on the main thread, in GLib's loop.
private final class MainLoop: TaskExecutor {
  static let executor = MainLoop()

  func enqueue(_ job: consuming ExecutorJob) {
    g_idle_add_full(
      G_PRIORITY_DEFAULT,
      { job in
        if let job {
          Box<UnownedJob>.taken(job).runSynchronously(on: MainLoop.executor.asUnownedTaskExecutor())
        }
        return 0
      }, Box(UnownedJob(job)).given, nil)
  }
}

/// Work that is done once, for everyone who waits for its result.
@MainActor final class Once<Value: Sendable> {
  private var result: Result<Value, any Error>?
  private var waiting: [CheckedContinuation<Value, any Error>] = []

  init(_ work: @escaping @MainActor () async throws -> Value) {
    Task { @MainActor in
      let result: Result<Value, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      self.result = result
      for continuation in waiting { continuation.resume(with: result) }
      waiting = []
    }
  }

  var value: Value {
    get async throws {
      if let result { return try result.get() }
      return try await GtkStage.suspended { waiting.append($0) }
    }
  }
}
