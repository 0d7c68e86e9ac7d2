package import DBus
import Glibc
package import SceneModel

/// Keeps the bytes and the descriptors of parcels, and the snapshots of sessions.
///
/// The work is done on a thread of its own, which begins when the first content is kept: a disk may be slow, and calls are answered meanwhile. A
/// content belongs to a delivery, under a number that the caller gives, and stays until the delivery is freed. When one content of a delivery is
/// refused, the caller frees the delivery; its earlier contents are still there.
///
/// A descriptor has one owner: the baggage store owns a descriptor that is handed in from the moment that `keep` returns, and the caller owns a
/// descriptor that it opens.
package final class BaggageStore: Sendable {
  private struct State {
    var keeper: BaggageKeeper?
    /// The number of calls to the keeper.
    var calls: UInt64 = 0
    var running = 0
  }

  private let state = Lock(State())
  private let spool: Spool?
  private let threads = FileThreads(atMost: BaggageLimits.fileThreads)
  private let silence: Duration

  /// - Parameters:
  ///   - directory: The directory for the spool, which is made when something is kept. `nil` keeps everything in memory files.
  ///   - isSynced: Whether contents are on the disk before anyone hears that they are kept.
  ///   - silence: The time for which a source may send nothing, and a reader may take nothing.
  package init(directory: String?, isSynced: Bool, silence: Duration = BaggageLimits.silence) {
    self.silence = silence
    spool = directory.map { Spool(parent: $0, isSynced: isSynced) }
  }

  /// Calls off the copies, and ends the thread. The spool stays.
  package func close() async {
    let keeper = state.withLock { state in
      defer { state.keeper = nil }
      return state.keeper
    }
    guard let keeper else { return }
    await keeper.end()
    await keeper.loop.stop()
  }

  // MARK: Keeping

  package func keep(
    _ bytes: [UInt8], as number: Int, of delivery: UniqueIdentifier, at place: String
  ) async throws(InterchangeError) {
    try await inside { keeper throws(InterchangeError) in try await keeper.keep(bytes, as: number, of: delivery, place)
    }
  }

  /// Copies a file, and returns its size. The file is opened once.
  ///
  /// - Parameter limit: The most bytes; a longer file is refused.
  package func copy(
    fileAt url: Text, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64, at place: String
  ) async throws(InterchangeError) -> Int64 {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.copy(fileAt: url, as: number, of: delivery, atMost: limit, place)
    }
  }

  /// Checks that a file can be opened in its place. Returns its size, and its URL without symbolic links; `nil` if it has none.
  package func check(
    fileAt url: Text, at place: String
  ) async throws(InterchangeError) -> (size: Int64?, canonicalURL: Text?) {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.look(fileAt: url, isCanonical: false, place) { ($0.size, $0.canonicalURL) }
    }
  }

  /// Opens a file, and returns what `body` makes of it, which may wait for a disk.
  ///
  /// - Parameter isCanonical: Whether a symbolic link anywhere in the path is an error.
  package func look<Value: Sendable>(
    fileAt url: Text, isCanonical: Bool = false, at place: String,
    _ body: @escaping @Sendable (OwnedFileDescriptor) -> Value
  ) async throws(InterchangeError) -> Value {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.look(fileAt: url, isCanonical: isCanonical, place) { body($0.descriptor) }
    }
  }

  /// Holds a sender's descriptor, and returns the size of a file.
  package func keep(
    _ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, at place: String
  ) async throws(InterchangeError) -> Int64? {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.keep(descriptor, as: number, of: delivery, place)
    }
  }

  /// Reads a descriptor to its end, however slowly the bytes come, and returns their number.
  package func copy(
    _ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64,
    at place: String
  ) async throws(InterchangeError) -> Int64 {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.copy(descriptor, as: number, of: delivery, atMost: limit, place)
    }
  }

  // MARK: Opening

  /// Returns a new, read-only descriptor of a content, and its size. A pipe or a socket is handed out itself, and once.
  ///
  /// - Parameter sandbox: The sandboxed application that opens it; `nil` for a program outside. A sandboxed application reads a file through a pipe.
  package func open(
    _ number: Int, of delivery: UniqueIdentifier, for sandbox: Text?, at place: String
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.open(number, of: delivery, for: sandbox, place)
    }
  }

  /// Accepts what `open` returned and nobody has got: a pipe or a socket can be opened again then.
  package func putBack(_ descriptor: OwnedFileDescriptor, _ number: Int, of delivery: UniqueIdentifier) async {
    _ = try? await inside { keeper throws(InterchangeError) in await keeper.putBack(descriptor, number, of: delivery) }
  }

  /// Returns a read-only descriptor of a file in its place, and its size.
  package func open(
    fileAt url: Text, of delivery: UniqueIdentifier, for sandbox: Text?, at place: String
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.open(fileAt: url, of: delivery, for: sandbox, place)
    }
  }

  /// Returns the descriptor that a host gets for one from a source: a pipe or a socket itself, and of a file a new, read-only descriptor.
  package func open(
    _ descriptor: OwnedFileDescriptor, of delivery: UniqueIdentifier, for sandbox: Text?, at place: String
  ) async throws(InterchangeError) -> OwnedFileDescriptor {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.handOut(descriptor, of: delivery, to: sandbox, place).0
    }
  }

  /// A memory file that nobody can change. On any thread.
  package static func memoryFile(_ bytes: [UInt8]) throws(InterchangeError) -> OwnedFileDescriptor {
    try InterchangeError.inMemory("the data") { () throws(CodingError) in try .memoryFile(bytes) }
  }

  // MARK: Freeing

  /// Removes the contents of deliveries, and calls off copies for them.
  package func free(_ deliveries: [UniqueIdentifier]) async {
    if isUnused || deliveries.isEmpty { return }
    // Without a thread the baggage store holds no descriptors, and the next start sweeps the spool.
    _ = try? await inside { keeper throws(InterchangeError) in await keeper.free(deliveries) }
  }

  /// Removes some of a delivery's contents.
  package func free(_ numbers: [Int], of delivery: UniqueIdentifier) async {
    if isUnused || numbers.isEmpty { return }
    _ = try? await inside { keeper throws(InterchangeError) in await keeper.free(numbers, of: delivery) }
  }

  /// Removes contents of other deliveries that an earlier service has left. For the start, before anything is kept.
  package func sweep(keeping deliveries: Set<UniqueIdentifier>) async throws(InterchangeError) {
    if isUnused { return }
    try await inside { keeper throws(InterchangeError) in try await keeper.sweep(keeping: deliveries) }
    await retire()
  }

  // MARK: Snapshots

  /// Reads a snapshot, which replaces the last one of its session.
  package func setSnapshot(
    of session: UniqueIdentifier, type: Text, isPrivate: Bool = false, from descriptor: OwnedFileDescriptor
  ) async throws(InterchangeError) {
    try await inside { keeper throws(InterchangeError) in
      try await keeper.setSnapshot(of: session, type: type, isPrivate: isPrivate, from: descriptor)
    }
  }

  /// Returns the type of a snapshot, whether the window was private when it was set, and a new read-only descriptor of it, or a pipe for a sandboxed
  /// application.
  package func openSnapshot(
    of session: UniqueIdentifier, for sandbox: Text?
  ) async throws(InterchangeError) -> (type: Text, isPrivate: Bool, data: OwnedFileDescriptor) {
    try await inside { keeper throws(InterchangeError) in try await keeper.openSnapshot(of: session, for: sandbox) }
  }

  package func removeSnapshots(of sessions: [UniqueIdentifier]) async throws(InterchangeError) {
    if isUnused || sessions.isEmpty { return }
    try await inside { keeper throws(InterchangeError) in try await keeper.removeSnapshots(of: sessions) }
  }

  /// Removes the snapshots of all other sessions. For the start.
  package func sweepSnapshots(
    where isKept: @Sendable (_ session: UniqueIdentifier, _ isPrivate: Bool) async -> Bool
  ) async throws(InterchangeError) {
    if isUnused { return }
    var gone: [UniqueIdentifier] = []
    let all = try await inside { keeper throws(InterchangeError) in try await keeper.sessionsWithSnapshots() }
    for (session, isPrivate) in all where await !isKept(session, isPrivate) { gone.append(session) }
    try await removeSnapshots(of: gone)
    await retire()
  }

  // MARK: The thread

  /// Whether nothing is or was kept. This starts no thread to find out.
  private var isUnused: Bool { state.withLock { $0.keeper == nil } && !(spool?.exists ?? false) }

  /// Runs `body` with the keeper, in a task that resumes on the keeper's thread.
  private func inside<Value: Sendable>(
    _ body: @Sendable (BaggageKeeper) async throws(InterchangeError) -> Value
  ) async throws(InterchangeError) -> Value {
    let keeper = try enter()
    defer { state.withLock { $0.running -= 1 } }
    return try await withTaskExecutorPreference(keeper.loop.taskExecutor) {
      () async throws(InterchangeError) -> Value in
      try await body(keeper)
    }
  }

  private func enter() throws(InterchangeError) -> BaggageKeeper {
    let entered: Result<BaggageKeeper, InterchangeError> = state.withLock { state in
      do throws(ConnectionError) {
        let keeper =
          if let there = state.keeper { there } else {
            BaggageKeeper(try EventLoop(name: "baggage"), spool, threads, silence: silence)
          }
        state.keeper = keeper
        state.calls += 1
        state.running += 1
        return .success(keeper)
      } catch {
        return .failure(InterchangeError(.limitsExceeded, "the service cannot begin a thread for items: \(error)"))
      }
    }
    return try entered.get()
  }

  /// Ends the thread if nothing needs it: most services sweep at the start and are then idle.
  private func retire() async {
    let (keeper, calls) = state.withLock { ($0.keeper, $0.calls) }
    guard let keeper, await keeper.isIdle else { return }
    let isRetired = state.withLock { state in
      // Somebody has used the keeper since.
      if state.running > 0 || state.calls != calls { return false }
      state.keeper = nil
      return true
    }
    if isRetired { keeper.loop.beginStopping() }
  }
}
