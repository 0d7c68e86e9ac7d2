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
    let isOver = Gate()
    Timeout.run(after: UInt32(max(0, min(duration / .milliseconds(1), 4e9)))) { isOver.signal() }
    await withTaskCancellationHandler {
      await isOver.opened()
    } onCancel: {
      Task { @MainActor in isOver.signal() }
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
        if let job { Box<UnownedJob>.taken(job).runSynchronously(on: MainLoop.executor.asUnownedTaskExecutor()) }
        return 0
      }, Box(UnownedJob(job)).given, nil)
  }
}

/// A gate that opens once.
@MainActor final class Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, any Error>] = []

  func signal() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func opened() async {
    if isOpen { return }
    // The task may have to wait for its executor, and meanwhile the gate may have opened.
    try? await GtkStage.suspended { if isOpen { $0.resume() } else { waiting.append($0) } }
  }
}

/// Work that is done once, for everyone who waits for its result.
@MainActor final class Once<Value: Sendable> {
  private var result: Result<Value, any Error>?
  private let isDone = Gate()

  init(_ work: @escaping @MainActor () async throws -> Value) {
    Task { @MainActor in
      do { result = .success(try await work()) } catch { result = .failure(error) }
      isDone.signal()
    }
  }

  var value: Value {
    get async throws {
      await isDone.opened()
      guard let result else { throw CancellationError() }
      return try result.get()
    }
  }
}
