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
