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

/// The isolation of code that runs on an ``EventLoop``'s thread without an actor of its own. See ``EventLoop/run(_:)``.
///
/// ```swift
/// let loop = try EventLoop()
/// let isThere = await loop.run { isolation in isolation.loop.isCurrent }
/// print(isThere)  // true
/// await loop.stop()
/// ```
public actor LoopIsolation {
  /// The loop.
  public nonisolated let loop: EventLoop

  /// The loop, as Swift's concurrency knows it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(loop: EventLoop) { self.loop = loop }

  func run<Value: Sendable, Failure: Error>(
    _ body: @Sendable (isolated LoopIsolation) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    // Without any work here, the compiler (6.3) leaves the change of threads to `body`, which may not make one.
    loop.checkIsolated()
    return try await body(self)
  }
}

/// The executor on which a task that waits for the loop resumes.
///
/// A continuation resumes on the executor that its *task* prefers, and changes to the actor of its isolation only then. A task without a preference
/// goes through Swift's thread pool, with two changes of threads to stay where it was. So a task that waits for an event of the loop prefers this
/// executor while it waits.
///
/// The executor is not the loop itself: the runtime would then regard every `await` of a task without a preference as a change of executors, and put
/// it at the end of the queue.
// `loop` is set while the loop is made, before anyone else has seen either object.
package final class LoopTaskExecutor: TaskExecutor, @unchecked Sendable {
  /// The loop owns this executor, and every task that waits on the loop keeps the loop alive.
  unowned(unsafe) var loop: EventLoop?

  package func enqueue(_ job: consuming ExecutorJob) { loop?.add(.preferred(UnownedJob(job))) }
}

/// One task that waits for one event of a loop.
// Loop only, all of it.
private final class LoopWait: LoopResident, @unchecked Sendable {
  let loop: EventLoop
  private var continuation: CheckedContinuation<Void, Never>?
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

  func evict() { end() }
}
