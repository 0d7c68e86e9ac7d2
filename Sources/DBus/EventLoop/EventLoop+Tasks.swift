// Tasks for a program that lives on its loops alone.
//
// Swift's own threads belong to libdispatch, which checks them once a second, from their first job to the end of the process. A program that must
// sleep while nothing happens gives them no job: it starts tasks with `task`, and waits with `sleep` and `readable`.
extension EventLoop {
  /// Does what `Task.init` does. The task resumes on this loop whenever it waited, and is isolated to no actor.
  @discardableResult
  package func task<Success: Sendable>(
    @_inheritActorContext @_implicitSelfCapture _ body: sending @escaping @isolated(any) () async -> Success
  ) -> Task<Success, Never> {
    Task(executorPreference: taskExecutor, operation: body)
  }

  /// The same for a task that may fail.
  @discardableResult
  package func task<Success: Sendable>(
    @_inheritActorContext @_implicitSelfCapture _ body: sending @escaping @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: taskExecutor, operation: body)
  }

  /// The same for an actor that lives on this loop, and for work that changes between such actors. A task with a preferred executor goes through the
  /// loop's queue at each of these changes, and this one does not. What it waits for must bring it back to the loop, as the functions of a connection
  /// and of a loop do.
  package func actorTask(
    @_inheritActorContext @_implicitSelfCapture _ body: sending @escaping @isolated(any) () async -> Void
  ) {
    // The task begins on the actor of its body: a closure around the body would begin on the thread pool.
    Task(operation: body)
  }

  /// Waits until `duration` has passed, the task is cancelled, or the loop stops.
  package nonisolated(nonsending) func sleep(for duration: Duration) async {
    let deadline = duration.deadline
    await wait { wait in
      let token = wait.loop.timers.schedule(at: deadline) { wait.end() }
      return { wait.loop.timers.cancel(token) }
    }
  }

  /// Waits until `descriptor` is readable or its other side has hung up, the task is cancelled, or the loop stops. Only one task may wait at a time,
  /// and the descriptor must stay open meanwhile.
  package nonisolated(nonsending) func readable(_ descriptor: Int32) async { await ready(descriptor, .readable) }

  /// The same until something can be written to `descriptor`.
  package nonisolated(nonsending) func writable(_ descriptor: Int32) async { await ready(descriptor, .writable) }

  private nonisolated(nonsending) func ready(_ descriptor: Int32, _ events: DescriptorEvents) async {
    await wait { wait in
      wait.loop.descriptors.add(descriptor, events: events) { _ in wait.end() }
      return { wait.loop.descriptors.remove(descriptor) }
    }
  }

  private nonisolated(nonsending) func wait(
    _ begin: @escaping @Sendable (LoopWait) -> @Sendable () -> Void
  ) async {
    let wait = LoopWait(on: self)
    await withTaskExecutorPreference(taskExecutor) {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          execute { wait.begin(continuation, begin) }
        }
      } onCancel: {
        execute { wait.end() }
      }
    }
  }
}

/// One task that waits for one event of a loop.
// Loop only, all of it.
private final class LoopWait: LoopResident, @unchecked Sendable {
  let loop: EventLoop
  private var continuation: CheckedContinuation<Void, Never>?
  /// Removes the event that would end the wait.
  private var removeEvent: (() -> Void)?
  /// The wait may be cancelled before it has begun.
  private var isOver = false

  init(on loop: EventLoop) { self.loop = loop }

  func begin(_ continuation: CheckedContinuation<Void, Never>, _ begin: (LoopWait) -> () -> Void) {
    if isOver || !loop.isRunning { return continuation.resume() }
    self.continuation = continuation
    loop.moveIn(self)
    removeEvent = begin(self)
  }

  func end() {
    isOver = true
    guard let continuation else { return }
    self.continuation = nil
    removeEvent?()
    removeEvent = nil
    loop.moveOut(self)
    continuation.resume()
  }

  func drain() -> Bool { false }
  func evict() { end() }
}
