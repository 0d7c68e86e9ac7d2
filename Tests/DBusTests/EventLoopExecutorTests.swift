import DBus
import DBusTestSupport
import ExitTestSupport
import FoundationEssentials
import Testing

/// A loop is the executor of actors and tasks.
@Suite(.timeLimit(.minutes(5))) struct EventLoopExecutorTests {
  private struct Refusal: Error, Equatable { let reason: String }

  @Test(.ownThreads) func `whoever claims to be on the loop and is not traps`() async {
    await #expect(processExitsWith: .failure) {
      let loop = try EventLoop()
      EventLoopGuest(loop).addAssumingIsolation(1)
    }
    await #expect(processExitsWith: .failure) {
      let (loop, other) = (try EventLoop(), try EventLoop())
      let guest = EventLoopGuest(loop)
      await other.run { _ in guest.addAssumingIsolation(1) }
    }
  }

  @Test func `run comes back with the value, to where it came from`() async throws {
    let loop = try EventLoop()
    let guest = EventLoopGuest(loop)
    let value = await loop.run { _ in loop.isCurrent ? "on the loop" : "elsewhere" }
    #expect(value == "on the loop")
    #expect(!loop.isCurrent)
    let sum = await loop.run { _ in
      await guest.add(1)
      await Task.yield()
      await guest.add(2)
      return (await guest.numbers, loop.isCurrent)
    }
    #expect(sum.0 == [1, 2] && sum.1)
    await loop.stop()
  }

  @Test func `run comes back with the error, of its type`() async throws {
    let loop = try EventLoop()
    do throws(Refusal) {
      _ = try await loop.run { (_) async throws(Refusal) -> Int in throw Refusal(reason: "not today") }
      Issue.record("no error came")
    } catch {
      #expect(error == Refusal(reason: "not today"))
    }
    await loop.stop()
  }

  @Test func `run within run, on one loop and across two`() async throws {
    let (first, second) = (try EventLoop(), try EventLoop())
    let places = await first.run { _ in
      let outer = first.isCurrent
      let inner = await second.run { _ in second.isCurrent && !first.isCurrent }
      let same = await first.run { _ in first.isCurrent }
      return [outer, inner, same, first.isCurrent]
    }
    #expect(places == [true, true, true, true])
    await first.stop()
    await second.stop()
  }

  @Test func `a task that is cancelled sees it on the loop`() async throws {
    let loop = try EventLoop()
    let waiting = Task {
      await loop.run { _ in
        while !Task.isCancelled { await Task.yield() }
        return loop.isCurrent
      }
    }
    waiting.cancel()
    #expect(await waiting.value)
    await loop.stop()
  }

  @Test(arguments: [
    ("short", "short"), ("exactly-fifteen", "exactly-fifteen"), ("longer than fifteen bytes", "longer than fif"),
  ])
  func `the thread has the loop's name`(name: String, expected: String) async throws {
    let loop = try EventLoop(name: name)
    let found = try await loop.run { _ in try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
    #expect(found == "\(expected)\n")
    await loop.stop()
  }
}
