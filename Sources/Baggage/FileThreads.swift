import CFiles
import DBus
import Glibc
package import SceneModel

/// Threads for files that the service did not make.
///
/// A file system may never answer: that of a dead server, or one that a program plays. The kernel then holds the thread, and nobody can stop it. So
/// each piece of such work has a thread of its own, and its caller can stop waiting. A thread that the kernel holds counts until it returns.
package final class FileThreads: Sendable {
  private let limit: Int

  private struct State {
    var count = 0
    /// Work for which there was no thread.
    var waiting: [Job] = []
  }

  fileprivate final class Job: Sendable {
    let work: @Sendable () -> Void
    /// What becomes of it if no thread can begin; `nil` if it then waits for the thread of another job.
    let refuse: (@Sendable () -> Void)?
    init(refuse: (@Sendable () -> Void)? = nil, work: @escaping @Sendable () -> Void) {
      (self.work, self.refuse) = (work, refuse)
    }
  }

  private let state = Lock(State())

  package init(atMost limit: Int) { self.limit = limit }

  /// Runs `body` on a thread, and returns its result. When the task is cancelled, nobody waits for the result any more: the thread releases it.
  package nonisolated(nonsending) func run<Value: Sendable>(
    _ place: String, _ body: @escaping @Sendable () throws(InterchangeError) -> Value
  ) async throws(InterchangeError) -> Value {
    let answer = Answer<Result<Value, InterchangeError>>()
    let job = Job {
      answer.give(.failure(InterchangeError(.limitsExceeded, "\(place): the service cannot begin a thread for files")))
    } work: {
      do throws(InterchangeError) { answer.give(.success(try body())) } catch { answer.give(.failure(error)) }
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if answer.wait(continuation) { begin(job) }
      }
    } onCancel: {
      answer.give(nil)
    }
    if let result { return try result.get() }
    if withdraw(job) {
      throw InterchangeError(
        .limitsExceeded,
        "\(place): \(limit) files are waited for already, and their file systems do not answer")
    }
    throw .calledOff(place)
  }

  /// Closes a file on a thread, when nobody else has it any more: closing, too, asks the file system.
  func close(_ descriptor: OwnedFileDescriptor) { begin(Job(work: { withExtendedLifetime(descriptor) {} })) }

  private func withdraw(_ job: Job) -> Bool {
    state.withLock { state in
      guard let place = state.waiting.firstIndex(where: { $0 === job }) else { return false }
      state.waiting.remove(at: place)
      return true
    }
  }

  private func begin(_ job: Job) {
    let isFree = state.withLock { state in
      if state.count == limit {
        state.waiting.append(job)
        return false
      }
      state.count += 1
      return true
    }
    if !isFree { return }
    // The job belongs to its work alone, and is released with the end of that.
    let first = Lock<Job?>(job)
    let code = BlockingThread.start { [self] in
      pthread_setname_np(pthread_self(), "baggage-file")
      if let job = first.withLock({ $0.take() }) { work(on: job) }
    }
    if code != 0 {
      // The next thread that ends its work takes this over, if there is one.
      let refused = state.withLock { state in
        state.count -= 1
        state.waiting.append(job)
        if state.count > 0 { return [] as [Job] }
        defer { state.waiting.removeAll { $0.refuse != nil } }
        return state.waiting
      }
      for job in refused { job.refuse?() }
    }
  }

  /// The work of a thread: its own job, and then those that wait.
  private func work(on job: Job) {
    var next: Job? = job
    while let job = next {
      job.work()
      next = state.withLock { state in
        if state.waiting.isEmpty {
          state.count -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
    }
  }
}

/// A result for which somebody waits, or waits no more.
private final class Answer<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value?, Never>?
    var isOver = false
  }

  private let state = Lock(State())

  /// Returns whether the answer is still wanted.
  func wait(_ continuation: CheckedContinuation<Value?, Never>) -> Bool {
    let isOver = state.withLock { state in
      if !state.isOver { state.continuation = continuation }
      return state.isOver
    }
    if isOver { continuation.resume(returning: nil) }
    return !isOver
  }

  /// The first answer counts; `nil` ends the wait.
  func give(_ value: Value?) {
    let continuation = state.withLock { state in
      state.isOver = true
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: value)
  }
}
