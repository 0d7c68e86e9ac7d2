import Baggage
import DBus
import DBusTestSupport
import ExitTestSupport
import Glibc
import SceneModel
import Testing

/// Descriptors, threads and the disk. Each test runs in a process of its own, where nobody else opens and closes.
@Suite(.ownThreads, .serialized) struct ResourceTests {
  /// The threads of stores with this name.
  private static func threads(_ name: String = "baggage") -> [String] {
    TemporaryDirectory.names(in: "/proc/self/task").map { number in
      // The thread may be gone by now, and its file with it.
      let file = open("/proc/self/task/\(number)/comm", O_RDONLY | O_CLOEXEC)
      return file < 0 ? "" : OwnedFileDescriptor(owning: file).text
    }.filter { $0 == "\(name)\n" }
  }

  @Test func `a store that keeps nothing has no thread, and after a sweep it has none again`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      var store = stores.store()
      await store.free([delivery])
      try await store.sweep(keeping: [])
      try await store.sweepSnapshots { _, _ in true }
      try await store.removeSnapshots(of: [delivery])
      #expect(Self.threads() == [])
      try await store.keep([1])
      try await store.setSnapshot(of: other, type: "image/png", from: try pipe("x").readEnd)
      #expect(Self.threads().count == 1)
      await store.close()
      store = stores.store()
      try await store.sweep(keeping: [delivery])
      try await store.sweepSnapshots { _, _ in true }
      try await eventually("the thread has ended") { Self.threads() == [] }
      #expect(try await store.open().0.bytes() == [1])
      #expect(try await store.openSnapshot(of: other, for: nil).data.text == "x")
      // A store that holds a descriptor keeps its thread.
      _ = try await store.keep(try pipe("held").readEnd, as: 1)
      try await store.sweep(keeping: [delivery])
      #expect(try await store.open(1).0.text == "held")
      await store.close()
      try await eventually("the thread has ended") { Self.threads() == [] }
    }
  }

  /// `make stress` runs ten thousand rounds.
  @Test func `many rounds leave no descriptor and no file behind`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      let store = stores.store()
      let path = stores.directory.write(pattern(100))
      func round() async throws {
        _ = try await store.copy(path, as: 0)
        _ = try await store.copy(try pipe("piped").readEnd, as: 1)
        _ = try await store.keep(try opened(path), as: 2)
        _ = try await store.keep(try BaggageStore.memoryFile([1]), as: 3)
        _ = try await store.keep(try pipe("x").readEnd, as: 4)
        _ = try await store.keep(try pipe("x").readEnd, as: 5)
        for number in 0..<5 { _ = try await store.open(number) }
        _ = try? await store.open(4)
        _ = try? await store.copy(path, as: 6, atMost: 10)
        _ = try? await store.copy("/", as: 7)
        _ = try await store.open(path)
        try await store.setSnapshot(of: other, type: "image/png", from: try opened(path))
        _ = try await store.openSnapshot(of: other, for: nil)
        await store.free([delivery])
      }
      for _ in 0..<10 { try await round() }
      let before = OpenDescriptors.count
      for _ in 0..<(getenv("STAGEDOOR_STRESS") == nil ? 1_000 : 10_000) { try await round() }
      #expect(OpenDescriptors.count <= before + 2, "\(OpenDescriptors.list)")
      #expect(TemporaryDirectory.paths(below: stores.spool) == ["snapshots", "snapshots/\(other).image%2Fpng"])
      await store.close()
    }
  }

  @Test func `a pipe that cannot be opened again is refused, so its sender makes nobody wait`() async {
    await #expect(processExitsWith: .success) {
      // Root may open every pipe.
      if getuid() == 0 {
        setgid(65534)
        setuid(65534)
      }
      let stores = BaggageStores()
      let store = stores.store()
      let (readEnd, writeEnd) = try pipe("x", isEnded: false)
      #expect(readEnd.withRawValue { fchmod($0, 0) } == 0)
      #expect(await refusal(of: try await store.copy(readEnd, as: 1))?.name == .invalidPayload)
      let picture = await refusal(of: try await store.setSnapshot(of: other, type: "image/png", from: readEnd))
      #expect(picture?.name == .invalidPayload)
      #expect(try await store.copy(try pipe("whole").readEnd, as: 2) == 5)
      writeEnd.close()
      await store.close()
    }
  }

  @Test func `without a descriptor left everything is refused, and goes on when there are some again`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      let store = stores.store()
      let path = stores.directory.write(pattern(100))
      let (file, pipe) = (try opened(path), try pipe("piped"))
      let picture = try opened(path)
      try await store.keep([1])
      _ = try await store.keep(file, as: 1)
      try await store.keep([2], of: other)
      try await store.setSnapshot(of: other, type: "image/png", from: picture)
      // So few descriptors that they run out in the middle of an operation that needs several, and none.
      for spare in 0..<4 {
        // Threads close the files that they had open.
        // A new thread has the name of the thread that made it.
        try await eventually("no thread has a file") { Self.threads("baggage-file") == [] && Self.threads().count == 1 }
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let before = limit
        limit.rlim_cur = 100
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        var taken: [Int32] = []
        while case let number = fcntl(0, F_DUPFD_CLOEXEC, 3), number >= 0 { taken.append(number) }
        for _ in 0..<spare { close(taken.removeLast()) }
        var errors = [
          await failure(of: try await store.keep([1], as: 7)), await failure(of: try await store.copy(path, as: 7)),
          await failure(of: try await store.open()),
          await failure(of: try await store.setSnapshot(of: other, type: "image/png", from: picture)),
          await failure(of: try await store.openSnapshot(of: other, for: nil)),
        ]
        if spare < 1 {
          errors += [
            await failure(of: try await store.check(fileAt: url(path), at: place)),
            await failure(of: try await store.open(1)), await failure(of: try BaggageStore.memoryFile([1])),
            await failure(of: try await BaggageStore(directory: nil, isSynced: false).keep([1])),
          ]
        }
        // A file that cannot be removed now is removed later.
        await store.free([other])
        for number in taken { close(number) }
        var after = before
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &after) == 0)
        for (index, error) in errors.enumerated() {
          #expect(
            error == nil ? spare > 0 : error?.name == .limitsExceeded, "\(spare), \(index): \(error?.message ?? "")")
        }
        await store.free([])
        await store.free([UniqueIdentifier(high: 9, low: 9)])
        #expect(TemporaryDirectory.names(in: "\(stores.spool)/\(other)") == [])
        try await store.keep([2], of: other)
      }
      #expect(try await store.copy(pipe.readEnd, as: 8) == 5)
      #expect(try await store.open().0.bytes() == [1])
      await store.free([delivery])
      #expect(stores.spooled() == [])
      await store.close()
    }
  }

  @Test func `a disk that takes no more refuses, and nothing half is left`() async {
    await #expect(processExitsWith: .success) {
      let stores = BaggageStores()
      let store = stores.store()
      let large = stores.directory.write(pattern(3_000_000))
      try await store.keep([1])
      // This limits the length of a file: the disk then refuses in the middle of a write.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 2_500_000, rlim_max: rlim_t(bitPattern: -1))
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let file = try opened(large)
      let refused = [
        await refusal(of: try await store.copy(large, as: 1)), await refusal(of: try await store.copy(file, as: 2)),
        await refusal(of: try await store.keep(pattern(3_000_000), as: 3)),
        await refusal(of: try await store.keep(pattern(3_000_000), of: other)),
      ]
      for error in refused {
        #expect(error?.name == .storageFailed)
        #expect(error?.message == "\(place): the content cannot be stored: File too large")
      }
      #expect(TemporaryDirectory.paths(below: stores.spool) == ["\(delivery)", "\(delivery)/0"])
      await store.close()
    }
  }
}
