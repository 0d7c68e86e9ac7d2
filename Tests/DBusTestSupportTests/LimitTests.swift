import DBusTestSupport
import Testing

@Suite struct LimitTests {
  @Test func `what comes in time is returned, and what is thrown is thrown`() async throws {
    struct Thrown: Error {}
    #expect(try await withLimit(usualLimit, "a number") { 7 } == 7)
    await #expect(throws: Thrown.self) { try await withLimit(usualLimit, "nothing") { throw Thrown() } }
  }

  @Test func `what never comes is an error in time, whether or not it heeds its cancellation`() async throws {
    let (over, end) = AsyncStream<Void>.makeStream()
    let error = await #expect(throws: LimitExceeded.self) {
      try await withLimit(.milliseconds(20), "what never comes") {
        // Nobody cancels this task until the end of the test: if the limit waited for the task, the test would not end.
        await Task.detached { for await _ in over {} }.value
      }
    }
    end.finish()
    #expect(error?.description == "waited 0.02 seconds for what never comes, and it did not come")
  }

  @Test func `the body of an exceeded limit is cancelled`() async throws {
    let (cancelled, continuation) = AsyncStream<Void>.makeStream()
    await #expect(throws: LimitExceeded.self) {
      try await withLimit(.milliseconds(20), "what never comes") {
        await withTaskCancellationHandler {
          for await _ in AsyncStream<Void>(unfolding: { try? await ContinuousClock().sleep(for: .seconds(1000)) }) {}
        } onCancel: {
          continuation.yield()
        }
      }
    }
    #expect(try await collect(1, from: cancelled).count == 1)
  }

  @Test func `a cancelled task does not wait for its limit`() async throws {
    let task = Task {
      try await withLimit(.seconds(1000), "what never comes") { try await ContinuousClock().sleep(for: .seconds(1000)) }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) {
      try await withLimit(usualLimit, "the end of the task") { try await task.value }
    }
  }

  @Test func `collect takes as many as were asked for, or says what came`() async throws {
    let (numbers, continuation) = AsyncStream<Int>.makeStream()
    for number in 1...3 { continuation.yield(number) }
    #expect(try await collect(2, from: numbers) == [1, 2])
    let error = await #expect(throws: LimitExceeded.self) {
      try await collect(2, from: numbers, within: .milliseconds(20))
    }
    #expect(error?.details == "what came: [3]")
    #expect(try await collect(0, from: numbers) == [])
    continuation.finish()
    #expect(try await collect(2, from: numbers) == [])
  }

  @Test func `eventually looks until it holds, and not for ever`() async throws {
    let (steps, continuation) = AsyncStream<Int>.makeStream()
    for number in 1...3 { continuation.yield(number) }
    try await eventually("the third step") { try await collect(1, from: steps) == [3] }
    let error = await #expect(throws: LimitExceeded.self) {
      try await eventually("the impossible", within: .milliseconds(20)) { false }
    }
    #expect(error?.what == "the impossible")
  }
}
