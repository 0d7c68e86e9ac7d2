// For a program that lives on its loops alone.
//
// Swift's own threads are libdispatch's, and libdispatch looks after them once a second, from the first job that they were given to the
// end of the process. A program that is to sleep where nothing happens gives them none: its tasks begin with `task`, and wait with `sleep` and `readable`.
extension EventLoop {
  /// What `Task.init` does, for a task that goes on here whenever it was waiting and is isolated to no actor.
  @discardableResult
  package func task<Success: Sendable>(
    @_inheritActorContext @_implicitSelfCapture _ body: sending @escaping @isolated(any) () async -> Success
  ) -> Task<Success, Never> {
    Task(executorPreference: taskExecutor) { await body() }
  }

  /// The same for one that may fail.
  @discardableResult
  package func task<Success: Sendable>(
    @_inheritActorContext @_implicitSelfCapture _ body: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: taskExecutor) { try await body() }
  }

  /// Waits until `duration` has passed; less where the task is cancelled or the loop stops.
  package nonisolated(nonsending) func sleep(for duration: Duration) async {
    let deadline = duration.deadline
    await wait { wait in
      let token = wait.loop.timers.schedule(at: deadline) { wait.end() }
      return { wait.loop.timers.cancel(token) }
    }
  }

  /// Waits until `descriptor` can be read, or its other side has hung up; less where the task is cancelled or the loop stops. One waits at a time, and
  /// the descriptor stays open meanwhile.
  package nonisolated(nonsending) func readable(_ descriptor: Int32) async {
    await wait { wait in
      wait.loop.descriptors.add(descriptor, events: .readable) { _ in wait.end() }
      return { wait.loop.descriptors.remove(descriptor) }
    }
  }

  private nonisolated(nonsending) func wait(
    _ begin: @escaping @Sendable (LoopWait) -> @Sendable () -> Void
  ) async {
    let wait = LoopWait(on: self)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        execute { wait.begin(continuation, begin) }
      }
    } onCancel: {
      execute { wait.end() }
    }
  }
}

/// One task that waits for one thing that happens on a loop.
// Loop only, all of it.
private final class LoopWait: LoopResident, @unchecked Sendable {
  let loop: EventLoop
  private var continuation: CheckedContinuation<Void, Never>?
  /// Takes back what would end it.
  private var takeBack: (() -> Void)?
  /// It may be cancelled before it has begun.
  private var isOver = false

  init(on loop: EventLoop) { self.loop = loop }

  func begin(_ continuation: CheckedContinuation<Void, Never>, _ begin: (LoopWait) -> () -> Void) {
    if isOver || !loop.isRunning { return continuation.resume() }
    self.continuation = continuation
    loop.moveIn(self)
    takeBack = begin(self)
  }

  func end() {
    isOver = true
    guard let continuation else { return }
    self.continuation = nil
    takeBack?()
    takeBack = nil
    loop.moveOut(self)
    continuation.resume()
  }

  func drain() -> Bool { false }
  func evict() { end() }
}
