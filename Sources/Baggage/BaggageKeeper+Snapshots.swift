import DBus
import Glibc
import SceneModel

/// The snapshots, in the order in which they were set, the oldest first.
struct Snapshots {
  enum Content {
    case file(String)
    case memory([UInt8])
  }

  struct Snapshot {
    let type: Text
    /// Whether the window was private when it was set.
    let isPrivate: Bool
    let content: Content
    let size: Int
    /// The number of the call that set it: of two calls for one session the later one counts, whichever ends first.
    let number: UInt64

    var charge: Int { max(size, BaggageLimits.smallestSnapshot) }
  }

  private(set) var all: [UniqueIdentifier: Snapshot] = [:]
  private(set) var bytes = 0

  mutating func set(_ snapshot: Snapshot?, of session: UniqueIdentifier) -> Snapshot? {
    let earlier = all.removeValue(forKey: session)
    bytes += (snapshot?.charge ?? 0) - (earlier?.charge ?? 0)
    if let snapshot { all[session] = snapshot }
    return earlier
  }

  var oldest: UniqueIdentifier? { all.min { $0.value.number < $1.value.number }?.key }
}

extension BaggageKeeper {
  func setSnapshot(
    of session: UniqueIdentifier, type: Text, isPrivate: Bool, from descriptor: OwnedFileDescriptor
  ) async throws(InterchangeError) {
    guard let name = SnapshotName(session, type, isPrivate: isPrivate) else {
      throw InterchangeError(.invalidArgs, "type: expected a shorter content type")
    }
    // Those of an earlier service get lower numbers.
    _ = try loadedSnapshots()
    let number = nextNumber()
    let place = "data"
    try await working(for: session, .snapshot, place) { keeper throws(InterchangeError) in
      let bytes = try await keeper.read(
        try await keeper.withoutWaiting(try await keeper.source(descriptor, for: session, place)))
      // No other snapshot comes in between from here on.
      try keeper.store(bytes, name, number, place)
    }
  }

  private func read(_ source: Source) async throws(InterchangeError) -> [UInt8] {
    defer { if source.kind == .file { threads.close(source.descriptor) } }
    var bytes: [UInt8] = []
    var wait = Wait()
    while true {
      // Space is taken as the bytes come: a silent pipe costs next to nothing.
      let (count, offset) = (min(BaggageLimits.buffer, BaggageLimits.snapshot + 1 - bytes.count), Int64(bytes.count))
      let (more, piece) = try await with(source) { () throws(InterchangeError) in
        try source.bytes(count, at: offset)
      }
      bytes += more
      if bytes.count > BaggageLimits.snapshot {
        throw .tooLong(Int64(BaggageLimits.snapshot), at: source.place)
      }
      if Task.isCancelled { throw .calledOff(source.place) }
      switch piece {
      case .bytes: wait = Wait()
      case .later: await wait.more(of: source, on: loop)
      case .end: return bytes
      }
    }
  }

  private func store(
    _ bytes: [UInt8], _ name: SnapshotName, _ number: UInt64, _ place: String
  ) throws(InterchangeError) {
    if let there = snapshots?.all[name.session], there.number > number { return }
    if let spool {
      let unfinished = try spool.begin(name.text, in: Spool.snapshots, nextNumber())
      do throws(InterchangeError) {
        try unfinished.file.store(bytes, at: 0, place)
        try spool.finish(unfinished)
      } catch {
        spool.abandon(unfinished, in: Spool.snapshots)
        throw error
      }
    }
    let content: Snapshots.Content = spool == nil ? .memory(bytes) : .file(name.text)
    let snapshot = Snapshots.Snapshot(
      type: name.type, isPrivate: name.isPrivate, content: content, size: bytes.count, number: number)
    if let earlier = snapshots?.set(snapshot, of: name.session) { removeFile(of: earlier, but: name.text) }
    while let all = snapshots, all.bytes > BaggageLimits.snapshots, let oldest = all.oldest {
      removeSnapshot(of: oldest)
    }
  }

  func openSnapshot(
    of session: UniqueIdentifier, for sandbox: Text?
  ) throws(InterchangeError) -> (type: Text, isPrivate: Bool, data: OwnedFileDescriptor) {
    if let snapshot = try loadedSnapshots().all[session] {
      switch snapshot.content {
      case .memory(let bytes): return (snapshot.type, snapshot.isPrivate, try BaggageStore.memoryFile(bytes))
      case .file(let name):
        if let (file, size) = try spool?.open(name, in: Spool.snapshots) {
          let source = Source(.spooled, file, size: size, "the snapshot")
          return (snapshot.type, snapshot.isPrivate, try handOut(source, of: session, to: sandbox))
        }
        // Somebody has removed the file.
        _ = snapshots?.set(nil, of: session)
      }
    }
    throw InterchangeError(.noSuchItem, "the session has no snapshot")
  }

  func removeSnapshots(of sessions: [UniqueIdentifier]) throws(InterchangeError) {
    _ = try loadedSnapshots()
    for session in sessions {
      callOff(for: session)
      removeSnapshot(of: session)
    }
  }

  func sessionsWithSnapshots() throws(InterchangeError) -> [(session: UniqueIdentifier, isPrivate: Bool)] {
    try loadedSnapshots().all.map { ($0.key, $0.value.isPrivate) }
  }

  private func removeSnapshot(of session: UniqueIdentifier) {
    if let earlier = snapshots?.set(nil, of: session) { removeFile(of: earlier, but: nil) }
  }

  private func removeFile(of snapshot: Snapshots.Snapshot, but name: String?) {
    // The next service finds a file that cannot be removed, and counts it again.
    if case .file(let earlier) = snapshot.content, earlier != name { try? spool?.remove(earlier, in: Spool.snapshots) }
  }

  /// Reads the names of the files from an earlier service, once.
  private func loadedSnapshots() throws(InterchangeError) -> Snapshots {
    if let snapshots { return snapshots }
    var loaded = Snapshots()
    for file in try (spool?.snapshotFiles() ?? []).sorted(by: { $0.written < $1.written }) {
      guard let name = SnapshotName(file.name) else { continue }
      let snapshot = Snapshots.Snapshot(
        type: name.type, isPrivate: name.isPrivate, content: .file(file.name), size: file.size, number: nextNumber())
      // A crash may have come after a snapshot of another type was written and before the earlier one was removed.
      if let earlier = loaded.set(snapshot, of: name.session) { removeFile(of: earlier, but: file.name) }
    }
    snapshots = loaded
    return loaded
  }
}
