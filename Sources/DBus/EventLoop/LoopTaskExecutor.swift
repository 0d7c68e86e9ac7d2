/// Where a task that waits on the loop goes on when it is woken.
///
/// A continuation is resumed on the executor that its *task* prefers, and only then changes to the actor that it is isolated to. A task that
/// prefers none goes by way of Swift's thread pool: two changes of threads to stay where it was. So whoever waits for
/// something that happens on the loop prefers this while it waits.
///
/// It is not the loop itself: the runtime would take every `await` of a task without a preference for a change of executors,
/// and put it at the end of the queue.
// `loop` is set while the loop is made, before anyone else has seen either.
package final class LoopTaskExecutor: TaskExecutor, @unchecked Sendable {
  /// Has this, and is had by whoever waits on it.
  unowned(unsafe) var loop: EventLoop?

  package func enqueue(_ job: consuming ExecutorJob) { loop?.add(.preferred(UnownedJob(job))) }
}
