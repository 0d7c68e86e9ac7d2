import Baggage
import DBus
import DBusTestSupport
import ExitTestSupport
import Glibc
import SceneModel
import Testing

private func session(_ number: Int) -> UniqueIdentifier { UniqueIdentifier(high: 7, low: UInt64(number)) }

/// The optimiser of this compiler crashes where it puts this into its caller.
@inline(never) private func set(
  _ store: BaggageStore, _ number: Int, _ text: String, _ type: Text = "image/png"
) async throws {
  try await store.setSnapshot(of: session(number), type: type, from: try pipe(text).readEnd)
}

private func shown(_ store: BaggageStore, _ number: Int) async throws(InterchangeError) -> String {
  let (type, _, file) = try await store.openSnapshot(of: session(number), for: nil)
  return "\(type): \(file.text)"
}

private func expectNone(_ store: BaggageStore, _ number: Int, _ place: SourceLocation = #_sourceLocation) async {
  let error = await refusal(of: try await shown(store, number), place)
  #expect(error == InterchangeError(.noSuchItem, "the session has no snapshot"), sourceLocation: place)
}

/// Sets the first session's snapshot.
private func setting(_ store: BaggageStore, _ pipe: OwnedFileDescriptor) -> Task<Void, any Error> {
  Task { try await store.setSnapshot(of: session(1), type: "image/png", from: pipe) }
}

/// Whether the whole content of a pipe has been read.
private func isRead(_ pipe: OwnedFileDescriptor) -> Bool {
  pipe.withRawValue { number in
    var count: Int32 = -1
    return ioctl(number, UInt(FIONREAD), &count) == 0 && count == 0
  }
}

/// Pictures of windows.
@Suite struct SnapshotTests {
  private let stores = BaggageStores()
  private var store: BaggageStore { stores.first }

  private var both: [BaggageStore] { [stores.store(isSynced: true), stores.inMemory()] }

  @Test func `a snapshot is opened with its type until another takes its place`() async throws {
    for store in both {
      await expectNone(store, 1)
      try await set(store, 1, "one")
      try await set(store, 2, "two", "text/x-é; name=\"a/b%.\"")
      #expect(try await shown(store, 1) == "image/png: one")
      #expect(try await shown(store, 1) == "image/png: one")
      #expect(try await shown(store, 2) == "text/x-é; name=\"a/b%.\": two")
      let (_, _, earlier) = try await store.openSnapshot(of: session(1), for: nil)
      try await set(store, 1, "1", "public.jpeg")
      try await store.setSnapshot(
        of: session(2), type: "image/png", from: try opened(stores.directory.write("file".utf8)))
      #expect(try await shown(store, 1) == "public.jpeg: 1")
      #expect(try await shown(store, 2) == "image/png: file")
      #expect(earlier.text == "one")
      try await store.removeSnapshots(of: [session(1), session(3)])
      await expectNone(store, 1)
      #expect(try await shown(store, 2) == "image/png: file")
    }
    #expect(TemporaryDirectory.names(in: "\(stores.spool)/snapshots") == ["\(session(2)).image%2Fpng"])
  }

  @Test func `snapshots are there after a restart, and those of sessions that are not kept are removed`() async throws {
    var store = stores.store()
    for number in 1...4 { try await set(store, number, "\(number)") }
    await store.close()
    // A crash may leave an unfinished file, and a snapshot that another has replaced.
    stores.directory.write([1], to: "spool/snapshots/unfinished-1")
    stores.directory.write([1], to: "spool/snapshots/\(session(1)).image%2fpng")
    symlink("/etc/passwd", "\(stores.spool)/snapshots/\(session(9)).image%2Fpng")
    let later = stores.directory.write("later".utf8, to: "spool/snapshots/\(session(2)).text")
    var times = [timespec(tv_sec: 4_000_000_000, tv_nsec: 0), timespec(tv_sec: 4_000_000_000, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, later, &times, 0) == 0)
    store = stores.store()
    #expect(try await shown(store, 1) == "image/png: 1")
    #expect(try await shown(store, 2) == "text: later")
    await store.close()

    store = stores.store()
    try await store.sweepSnapshots { kept, _ in kept != session(3) && kept != session(4) }
    #expect(
      TemporaryDirectory.names(in: "\(stores.spool)/snapshots") == ["\(session(1)).image%2Fpng", "\(session(2)).text"])
    await expectNone(store, 3)
    await expectNone(store, 9)
    #expect(try await shown(store, 1) == "image/png: 1")
    await store.close()

    store = stores.store()
    try await set(store, 1, "first of this run")
    #expect(try await shown(store, 1) == "image/png: first of this run")
  }

  @Test func `a snapshot of a megabyte is kept, and one byte more is refused`() async throws {
    for store in both {
      let bytes = pattern(BaggageLimits.snapshot)
      try await store.setSnapshot(of: session(1), type: "image/png", from: try opened(stores.directory.write(bytes)))
      let large = try opened(stores.directory.write(bytes + [1]))
      let error = await refusal(of: try await store.setSnapshot(of: session(1), type: "image/jpeg", from: large))
      #expect(error == InterchangeError(.limitsExceeded, "data: has more than the 1048576 bytes that may be kept"))
      let (type, _, file) = try await store.openSnapshot(of: session(1), for: nil)
      #expect(type == "image/png" && file.bytes() == bytes, "the last one stays")
    }
  }

  @Test func `data that does not end in time is refused, and the last snapshot stays`() async throws {
    try await set(store, 1, "one")
    let pipe = try pipe("begun", isEnded: false)
    let start = ContinuousClock.now
    let error = await refusal(of: try await store.setSnapshot(of: session(1), type: "image/png", from: pipe.readEnd))
    #expect(error?.name == .limitsExceeded)
    #expect(error?.message == "data: the end of the data did not come within 5.0 seconds")
    #expect(ContinuousClock.now - start >= BaggageLimits.snapshotTime)
    #expect(try await shown(store, 1) == "image/png: one")
  }

  /// It has a process of its own, because the store waits for data no longer than five seconds.
  @Test(.ownThreads) func `of two for one session the later counts, and none comes back after its session`() async {
    await #expect(processExitsWith: .success) {
      let store = BaggageStore(directory: nil, isSynced: false)
      let slow = try pipe("slow", isEnded: false)
      let first = setting(store, slow.readEnd)
      try await eventually("the first is read") { isRead(slow.readEnd) }
      try await set(store, 1, "quick")
      slow.writeEnd.close()
      try await first.value
      #expect(try await shown(store, 1) == "image/png: quick")
      let endless = try pipe("endless", isEnded: false)
      let last = setting(store, endless.readEnd)
      try await eventually("the last is read") { isRead(endless.readEnd) }
      try await store.removeSnapshots(of: [session(1)])
      let error = await #expect(throws: InterchangeError.self) { try await last.value }
      #expect(error?.name == .cancelled)
      await expectNone(store, 1)
      await store.close()
    }
  }

  @Test func `when there are too many bytes the oldest go, and one that was set again is no longer old`() async throws {
    for store in [stores.store(), stores.inMemory()] {
      let picture = try BaggageStore.memoryFile(pattern(BaggageLimits.snapshot))
      func add(_ number: Int) async throws {
        try await store.setSnapshot(of: session(number), type: "image/png", from: picture)
      }
      let most = BaggageLimits.snapshots / BaggageLimits.snapshot
      for number in 1...most { try await add(number) }
      try await add(1)
      _ = try await shown(store, 2)
      try await add(most + 1)
      await expectNone(store, 2)
      for number in [1, 3, most, most + 1] { _ = try await store.openSnapshot(of: session(number), for: nil) }
      // A small snapshot takes a place as well.
      try await set(store, most + 2, "x")
      await expectNone(store, 3)
      await store.close()
    }
    #expect(TemporaryDirectory.names(in: "\(stores.spool)/snapshots").count == 256)
  }

  @Test func `a type that no file can be named after is refused`() async throws {
    let type = Text("image/" + String(repeating: "x", count: 249))
    let pipe = try pipe("x")
    let error = await refusal(of: try await store.setSnapshot(of: session(1), type: type, from: pipe.readEnd))
    #expect(error?.name == .invalidArgs)
  }
}
