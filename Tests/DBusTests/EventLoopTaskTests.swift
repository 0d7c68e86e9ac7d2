import DBusTestSupport
import Glibc
import Testing

@testable import DBus

/// Tasks that start on a loop, and what they wait for.
@Suite(.timeLimit(.minutes(5))) struct EventLoopTaskTests {
  @Test func `a task goes on where it began, whatever it waited for`() async throws {
    let loop = try EventLoop()
    let pipe = try OwnedFileDescriptor.pipe()
    let readEnd = pipe.readEnd.withRawValue { $0 }
    let places = loop.task {
      var places = [loop.isCurrent]
      await loop.sleep(for: .milliseconds(1))
      places.append(loop.isCurrent)
      await loop.readable(readEnd)
      places.append(loop.isCurrent)
      await loop.task {}.value
      places.append(loop.isCurrent)
      return places
    }
    _ = pipe.writeEnd.withRawValue { write($0, "!", 1) }
    let found = try await withLimit(usualLimit, "the task") { await places.value }
    #expect(found == [true, true, true, true])
    pipe.readEnd.close()
    await loop.stop()
  }

  @Test func `a task is isolated as one of Task's would be`() async throws {
    actor Resident {
      nonisolated let loop: EventLoop
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      private var steps = 0

      init(on loop: EventLoop) { self.loop = loop }

      func go() async -> Int {
        await loop.task {
          steps += 1
          await loop.sleep(for: .milliseconds(1))
          steps += 1
        }.value
        return steps
      }
    }
    let loop = try EventLoop()
    let resident = Resident(on: loop)
    #expect(try await withLimit(usualLimit, "its steps") { await resident.go() } == 2)
    await loop.stop()
  }

  @Test func `whoever sleeps no longer than its task and its loop`() async throws {
    let loop = try EventLoop()
    let cancelled = loop.task { await loop.sleep(for: .seconds(3_600)) }
    try await eventually("it sleeps") { await loop.run { _ in loop.timers.millisecondsToNext() > 0 } }
    cancelled.cancel()
    try await withLimit(usualLimit, "the end of the one that was cancelled") { await cancelled.value }

    let cancelledBefore = loop.task {
      await Task.yield()
      await loop.sleep(for: .seconds(3_600))
    }
    cancelledBefore.cancel()
    try await withLimit(usualLimit, "the end of the one that was cancelled first") { await cancelledBefore.value }

    let left = loop.task { await loop.sleep(for: .seconds(3_600)) }
    await loop.stop()
    try await withLimit(usualLimit, "the end of the one whose loop stopped") { await left.value }
  }

  @Test func `code that runs on a loop comes back to it after each call`() async throws {
    try await withPeers { _, client in
      let loop = client.loop
      let stays = try await loop.run { _ in
        var stays = loop.isCurrent
        for _ in 0..<10 {
          try await client.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping")
          stays = stays && loop.isCurrent
        }
        return stays
      }
      #expect(stays)
    }
  }
}
