import Baggage
import DBus
import DBusTestSupport
import ExitTestSupport
import Glibc
import SceneModel
import Testing

/// Files of a file system that does not answer. Each test runs in a process of its own: a child that another test starts at the same time would also
/// wait for the files, when it closes the descriptors that it has inherited.
@Suite(.ownThreads, .enabled(if: SilentFileSystem.isPossible, Comment(rawValue: SilentFileSystem.reason)))
struct SilentFileTests {
  @Test func `files that do not answer stop nobody, and what asks for them is refused`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      let store = stores.store()
      let files = try #require(SilentFileSystem(size: 10))
      let (path, file) = (files.path, try opened(files.path))
      try await store.keep([1])
      let (piped, held) = (try pipe("piped"), try opened(files.path))
      #expect(try await store.keep(held, as: 9) == 10)
      files.fallSilent()
      /// Each way that leads to such a file.
      @Sendable func touch(_ way: Int) async throws(InterchangeError) {
        switch way {
        case 0: _ = try await store.copy(path, as: 1)
        case 1: _ = try await store.copy(file, as: 2)
        case 2: _ = try await store.keep(file, as: 3)
        case 3: _ = try await store.check(fileAt: url(path), at: place)
        case 4: _ = try await store.open(path)
        case 5: _ = try await store.open(9)
        case 6: _ = try await store.open(9, for: "org.example.Box")
        default: try await store.setSnapshot(of: other, type: "image/png", from: file)
        }
      }
      let begin = ContinuousClock.now
      let refusals = (0..<BaggageLimits.fileThreads).map { way in
        Task { await refusal(of: try await touch(way)) }
      }
      // An operation that needs no such file continues at once.
      try await withLimit(.seconds(5), "the store") {
        try await store.keep([2], of: other)
        #expect(try await store.open(of: other).0.bytes() == [2])
        #expect(try await store.open().0.bytes() == [1])
        #expect(try await store.keep(piped.readEnd, as: 4) == nil)
        #expect(try await store.open(4).0.text == "piped")
        #expect(try await store.copy(try pipe("copied").readEnd, as: 5) == 6)
      }
      for refusal in refusals {
        let error = try await refusal.value
        // The time limit of a picture is shorter.
        #expect(error?.name == .sourceGone || error?.name == .limitsExceeded, "\(error as Any)")
      }
      #expect(ContinuousClock.now - begin < .seconds(20))
      // All threads are held: another file waits for one of them, but not for ever.
      let good = stores.directory.write([3])
      let error = await refusal(of: try await store.copy(good, as: 6))
      #expect(error?.name == .limitsExceeded && error?.message.contains("do not answer") ?? false, "\(error as Any)")
      await store.free([delivery])
      try await store.keep([4], of: other)
      // The threads return when the kernel releases them.
      withExtendedLifetime(consume files) {}
      try await eventually("a thread is free") { (try? await store.copy(good, as: 7)) == 1 }
      await store.close()
    }
  }

  @Test func `a store ends while the kernel holds its threads`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      let store = stores.store()
      let files = try #require(SilentFileSystem(size: 10))
      let path = files.path
      files.fallSilent()
      let refused = Task { await refusal(of: try await store.copy(path)) }
      try await store.keep([1], of: other)
      try await withLimit(.seconds(5), "the end") { await store.close() }
      #expect(try await refused.value?.name == .cancelled)
    }
  }

  @Test func `a file that falls silent in its middle is waited for no longer than a silent pipe`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      let store = stores.store(silence: silence)
      let files = try #require(SilentFileSystem(size: 3_000_000, reads: 8))
      let path = files.path
      let error = await refusal(of: try await store.copy(path))
      #expect(error?.name == .sourceGone && error?.message.contains("sent nothing") ?? false, "\(error as Any)")
      #expect(stores.spooled() == [])
      await store.close()
    }
  }

  /// So the store closes such files on threads of their own. A message that brings one closes it on its connection's loop, as `docs/security.md`
  /// says.
  @Test func `closing a descriptor waits for its file system`() async {
    await #expect(processExitsWith: .success) {
      let files = try #require(SilentFileSystem(size: 10))
      let file = try opened(files.path)
      files.fallSilent()
      let loop = try EventLoop()
      let isClosed = Lock(false)
      loop.execute {
        file.close()
        isClosed.withLock { $0 = true }
      }
      await #expect(throws: LimitExceeded.self) {
        try await eventually("the loop", within: .seconds(2)) { isClosed.withLock(\.self) }
      }
      withExtendedLifetime(consume files) {}
      try await eventually("the loop goes on") { isClosed.withLock(\.self) }
      await loop.stop()
    }
  }
}
