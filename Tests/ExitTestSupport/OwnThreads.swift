import DBusTestSupport
package import Testing

extension Trait where Self == OwnThreads {
  /// Runs a test on threads of its own.
  ///
  /// Every test with `#expect(processExitsWith:)` has this trait. Swift has one thread for each processor, and the expectation
  /// blocks one of them until the process has ended. If all threads are busy when the process ends, Swift Testing cannot ask for
  /// its status, and a thread that waits for processes polls without a pause until it can.
  package static var ownThreads: Self { OwnThreads() }
}

package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Executor()) { try await function() }
  }

  /// Runs each job on a thread of its own.
  private final class Executor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      do {
        try OwnThread.start { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      } catch {
        fatalError("\(error)")
      }
    }
  }
}
