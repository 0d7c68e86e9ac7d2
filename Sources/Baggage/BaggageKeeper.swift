import DBus
import Glibc
import SceneModel

/// The part of the baggage store on its own thread. It owns the descriptors that it holds; the caller owns a descriptor that it opens.
///
/// This thread touches the spool, pipes and sockets only: a file that the service did not make belongs to the ``FileThreads``. Between two pieces of
/// a copy other work may run here: the delivery may be freed, which ends the copy, and others may be copied.
actor BaggageKeeper {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  /// `nil` if everything is in memory.
  let spool: Spool?
  let threads: FileThreads
  private let silence: Duration
  /// The disk's own threads: no small content waits until a large one is on the disk.
  private let syncs = FileThreads(atMost: BaggageLimits.fileThreads)

  private var held: [UniqueIdentifier: [Int: Held]] = [:]
  private var heldCount = 0
  /// The contents that sandboxed applications read, by application.
  var feeds: [Text: Int] = [:]
  /// The work for a delivery or a session.
  var underway: [UniqueIdentifier: [UInt64: Underway]] = [:]
  private var lastNumber: UInt64 = 0
  /// Deliveries that could not be removed from the spool, those that were tried last at the end.
  private var unfreed: [UniqueIdentifier] = []
  /// How many of them are tried again when others are freed.
  private static let triedAgain = 16
  var snapshots: Snapshots?
  private var isEnding = false

  /// A descriptor from a sender, or a memory file.
  private enum Held {
    case file(OwnedFileDescriptor)
    /// A pipe or a socket. Its entry stays after the descriptor was handed out, so that the refusal can say so.
    case stream(OwnedFileDescriptor?)
  }

  struct Underway {
    /// The number of the content that is taken.
    let content: Int?
    let callOff: @Sendable () -> Void
  }

  init(_ loop: EventLoop, _ spool: Spool?, _ threads: FileThreads, silence: Duration) {
    (self.loop, self.spool, self.threads, self.silence) = (loop, spool, threads, silence)
  }

  /// Whether the keeper can be discarded without losing anything.
  var isIdle: Bool { held.isEmpty && underway.isEmpty && unfreed.isEmpty && (spool != nil || snapshots == nil) }

  func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Bytes

  func keep(
    _ bytes: [UInt8], as number: Int, of delivery: UniqueIdentifier, _ place: String
  ) async throws(InterchangeError) {
    try await working(for: delivery, taking: number, .progress(Progress()), place) { keeper throws(InterchangeError) in
      let target = try keeper.begin(number, of: delivery, place)
      do throws(InterchangeError) {
        try target.file.store(bytes, at: 0, place)
        try await keeper.finish(target, size: Int64(bytes.count), number, of: delivery, place)
      } catch {
        keeper.abandon(target, of: delivery)
        throw error
      }
    }
  }

  // MARK: Sources

  /// Looks at a descriptor, for a delivery or a session.
  func source(
    _ descriptor: OwnedFileDescriptor, for owner: UniqueIdentifier, taking content: Int? = nil, _ place: String
  ) async throws(InterchangeError) -> Source {
    if let source = try Source(recognizing: descriptor, place) { return source }
    // The thread may block for ever, so it gets a duplicate of its own.
    let copy = try descriptor.duplicate(place)
    return try await opening(for: owner, taking: content, place) { () throws(InterchangeError) in
      try Source(lookingAt: copy, place)
    }
  }

  /// Opens or looks at a file, where it stops nobody.
  private func opening<Value: Sendable>(
    for owner: UniqueIdentifier?, taking content: Int? = nil, _ place: String,
    _ body: @escaping @Sendable () throws(InterchangeError) -> Value
  ) async throws(InterchangeError) -> Value {
    try await working(for: owner, taking: content, .opening, place) { keeper throws(InterchangeError) in
      try await keeper.threads.run(place, body)
    }
  }

  /// The same source for a reader that never blocks.
  func withoutWaiting(_ source: Source) async throws(InterchangeError) -> Source {
    source.isForeign
      ? try await threads.run(source.place) { () throws(InterchangeError) in try source.withoutWaiting() }
      : try source.withoutWaiting()
  }

  /// Does a piece of work with a source, where it stops nobody.
  func with<Value: Sendable>(
    _ source: Source, _ body: @escaping @Sendable () throws(InterchangeError) -> Value
  ) async throws(InterchangeError) -> Value {
    source.kind == .file ? try await threads.run(source.place, body) : try body()
  }

  // MARK: Copying

  func copy(
    fileAt url: Text, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64, _ place: String
  ) async throws(InterchangeError) -> Int64 {
    try await copy(as: number, of: delivery, atMost: limit, place) { keeper throws(InterchangeError) in
      try await keeper.opening(for: delivery, taking: number, place) { () throws(InterchangeError) in
        try Source(fileAt: url, isCanonical: false, place)
      }
    }
  }

  func copy(
    _ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64,
    _ place: String
  ) async throws(InterchangeError) -> Int64 {
    try await copy(as: number, of: delivery, atMost: limit, place) { keeper throws(InterchangeError) in
      try await keeper.source(descriptor, for: delivery, taking: number, place)
    }
  }

  /// Reads a source to its end, piece by piece.
  private func copy(
    as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64, _ place: String,
    from open: @escaping @Sendable (isolated BaggageKeeper) async throws(InterchangeError) -> Source
  ) async throws(InterchangeError) -> Int64 {
    let progress = Progress()
    return try await working(for: delivery, taking: number, .progress(progress), place) {
      keeper throws(InterchangeError) in
      let opened = try await open(keeper)
      defer { if opened.kind == .file { keeper.threads.close(opened.descriptor) } }
      if let size = opened.size, size > limit { throw .tooLong(limit, at: place) }
      let source = try await keeper.withoutWaiting(opened)
      let target = try keeper.begin(number, of: delivery, place)
      do throws(InterchangeError) {
        let size = try await keeper.copy(source, to: target, atMost: limit, progress)
        try await keeper.finish(target, size: size, number, of: delivery, place)
        return size
      } catch {
        keeper.abandon(target, of: delivery)
        throw error
      }
    }
  }

  private func copy(
    _ source: Source, to target: Target, atMost limit: Int64, _ progress: Progress
  ) async throws(InterchangeError) -> Int64 {
    let file = target.file
    var (size, synced) = (Int64(0), Int64(0))
    // The bytes that this turn may still copy.
    var share = BaggageLimits.piece
    var wait = Wait()
    while true {
      // One byte beyond the limit shows that there are more.
      let rest = limit - size
      let (count, offset) = (rest < Int64(share) ? Int(rest) + 1 : share, size)
      switch try await with(
        source,
        { () throws(InterchangeError) in
          try source.copyPiece(of: count, at: offset, to: file)
        })
      {
      case .end: return size
      case .later:
        await wait.more(of: source, on: loop)
        share = BaggageLimits.piece
      case .bytes(let copied):
        wait = Wait()
        size += Int64(copied)
        share -= copied
      }
      progress.size.withLock { $0 = size }
      if size > limit { throw .tooLong(limit, at: source.place) }
      if size - synced >= BaggageLimits.synced {
        try await sync(target, source.place)
        synced = size
      }
      if share <= 0 {
        await letOthers()
        share = BaggageLimits.piece
      }
      if Task.isCancelled { throw .calledOff(source.place) }
    }
  }

  /// The wait for a source without bytes. If the kernel calls the source readable, and it is still empty, the wait takes some time.
  struct Wait {
    private var hasWaited = false

    mutating func more(of source: Source, on loop: EventLoop) async {
      if hasWaited { await loop.sleep(for: BaggageLimits.lookAgain) }
      hasWaited = true
      await loop.readable(source.descriptor.withRawValue(\.self))
    }
  }

  /// Lets everything run that waits for the thread.
  func letOthers() async {
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
  }

  /// The bytes that were copied.
  final class Progress: Sendable {
    let size = Lock<Int64>(0)
  }

  /// The time that work may take.
  enum Patience {
    case opening
    case snapshot
    /// Any time, as long as bytes keep coming.
    case progress(Progress)
  }

  func end(_ number: UInt64, of owner: UniqueIdentifier) {
    underway[owner]?[number] = nil
    if underway[owner]?.isEmpty ?? false { underway[owner] = nil }
  }

  /// Runs `body` until it ends, its caller is cancelled, its delivery or its content is freed, or its time is over.
  ///
  /// - Parameter content: The number of the content that `body` takes for the delivery.
  func working<Value: Sendable>(
    for owner: UniqueIdentifier?, taking content: Int? = nil, _ patience: Patience, _ place: String,
    _ body: @escaping @Sendable (isolated BaggageKeeper) async throws(InterchangeError) -> Value
  ) async throws(InterchangeError) -> Value {
    // A wait on a loop that has ended returns at once, again and again.
    if isEnding { throw .calledOff(place) }
    let number = nextNumber()
    let task = loop.task { () async -> Result<Value, InterchangeError> in
      do throws(InterchangeError) { return .success(try await body(self)) } catch { return .failure(error) }
    }
    // What belongs to no delivery is called off by its caller alone, and by the end.
    let owner = owner ?? BaggageKeeper.nobody
    underway[owner, default: [:]][number] = Underway(content: content) { task.cancel() }
    let alarm = loop.task { [loop, silence] in
      switch patience {
      case .opening: await loop.sleep(for: BaggageLimits.fileTime)
      case .snapshot: await loop.sleep(for: BaggageLimits.snapshotTime)
      case .progress(let progress):
        var (before, since) = (Int64(-1), SuspendingClock.now)
        while !Task.isCancelled {
          let (size, now) = (progress.size.withLock(\.self), SuspendingClock.now)
          if size != before { (before, since) = (size, now) }
          if now - since >= silence { break }
          await loop.sleep(for: silence / 8)
        }
      }
      let isLate = !Task.isCancelled
      if isLate { task.cancel() }
      return isLate
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    end(number, of: owner)
    alarm.cancel()
    if case .failure(let error) = result, error.name == .cancelled, await alarm.value {
      switch patience {
      case .opening:
        throw InterchangeError(
          .sourceGone, "\(place): the file system did not answer within \(BaggageLimits.fileTime)")
      case .snapshot:
        throw InterchangeError(
          .limitsExceeded, "\(place): the end of the data did not come within \(BaggageLimits.snapshotTime)")
      case .progress(let progress):
        throw InterchangeError(
          .sourceGone,
          "\(place): the source sent nothing for \(silence), after \(progress.size.withLock(\.self)) bytes"
        )
      }
    }
    // Its content may have been freed after it ended, and before it is heard of here.
    if case .success = result, task.isCancelled { throw .calledOff(place) }
    return try result.get()
  }

  // MARK: Targets

  /// A file that is being written.
  private enum Target {
    case spool(Spool.Unfinished)
    case memory(OwnedFileDescriptor)

    var file: OwnedFileDescriptor {
      switch self {
      case .spool(let unfinished): unfinished.file
      case .memory(let file): file
      }
    }
  }

  private func begin(
    _ number: Int, of delivery: UniqueIdentifier, _ place: String
  ) throws(InterchangeError) -> Target {
    if let spool { return .spool(try spool.begin("\(number)", in: delivery.description, nextNumber())) }
    try refuseTooMany(place)
    return .memory(try InterchangeError.inMemory(place) { () throws(CodingError) in try .emptyMemoryFile() })
  }

  /// What was written is on the disk when this returns. A disk may need long for much, and other contents are kept meanwhile.
  private func sync(_ target: Target, _ place: String) async throws(InterchangeError) {
    guard case .spool(let unfinished) = target, let spool, spool.isSynced else { return }
    try await syncs.run(place) { () throws(InterchangeError) in try spool.sync(unfinished) }
  }

  private func finish(
    _ target: Target, size: Int64, _ number: Int, of delivery: UniqueIdentifier, _ place: String
  ) async throws(InterchangeError) {
    if size > BaggageLimits.piece { try await sync(target, place) }
    // Nobody may wait for it any more.
    if Task.isCancelled { throw .calledOff(place) }
    switch target {
    case .spool(let unfinished): try spool?.finish(unfinished)
    case .memory(let file):
      // Others may have begun since.
      try refuseTooMany(place)
      try InterchangeError.inMemory(place) { () throws(CodingError) in try file.seal() }
      hold(.file(file), number, of: delivery)
    }
  }

  private func abandon(_ target: Target, of delivery: UniqueIdentifier) {
    if case .spool(let unfinished) = target { spool?.abandon(unfinished, in: delivery.description) }
  }

  // MARK: Descriptors

  func keep(
    _ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, _ place: String
  ) async throws(InterchangeError) -> Int64? {
    let source = try await source(descriptor, for: delivery, taking: number, place)
    try refuseTooMany(place)
    switch source.kind {
    case .file, .sealed, .memory, .spooled: hold(.file(descriptor), number, of: delivery)
    case .fifo, .pipe, .socket: hold(.stream(descriptor), number, of: delivery)
    }
    return source.size
  }

  private func hold(_ one: Held, _ number: Int, of delivery: UniqueIdentifier) {
    if let earlier = held[delivery]?.removeValue(forKey: number) { letGo(earlier) }
    held[delivery, default: [:]][number] = one
    heldCount += 1
  }

  private func letGo(_ one: Held) {
    switch one {
    case .file(let descriptor):
      if descriptor.isInMemory {
        descriptor.close()
      } else {
        threads.close(OwnedFileDescriptor(owning: descriptor.release()))
      }
      heldCount -= 1
    case .stream(let descriptor?):
      descriptor.close()
      heldCount -= 1
    case .stream(nil): break
    }
  }

  private func refuseTooMany(_ place: String) throws(InterchangeError) {
    try refuseWithoutSpace(place)
    if heldCount < BaggageLimits.descriptors { return }
    throw InterchangeError(
      .limitsExceeded,
      "\(place): the service holds \(heldCount) descriptors for deliveries already; send data or a file, or wait until others are released"
    )
  }

  func refuseWithoutSpace(_ place: String) throws(InterchangeError) {
    if !BaggageKeeper.hasSpace {
      throw InterchangeError(
        .limitsExceeded,
        "\(place): the service may open no more files; wait until deliveries are released, or raise its limit (ulimit -n)"
      )
    }
  }

  /// Whether the process can have some more descriptors. The service loses its connection to the bus when it cannot take a message's descriptors, so
  /// some are left free. A process that may have 1,024 has enough for everything within the limits.
  private static var hasSpace: Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < 1024,
      let directory = opendir("/proc/self/fd")
    else { return true }
    defer { closedir(directory) }
    // Two of the names are the directory and its parent, and one descriptor belongs to the directory itself.
    var open = -3
    while readdir(directory) != nil { open += 1 }
    return open + reserve < Int(limit.rlim_cur)
  }

  /// For the descriptors of a message or two, and for files that are opened meanwhile.
  private static let reserve = 11

  // MARK: Opening

  func open(
    _ number: Int, of delivery: UniqueIdentifier, for sandbox: Text?, _ place: String
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    switch held[delivery]?[number] {
    case .file(let descriptor): return try await handOut(descriptor, of: delivery, to: sandbox, place)
    case .stream(let descriptor?):
      // From here on the caller owns the descriptor.
      held[delivery]?[number] = .stream(nil)
      heldCount -= 1
      return (descriptor, nil)
    case .stream(nil):
      throw InterchangeError(.sourceGone, "\(place): has been opened before, and a pipe or a socket can be read once")
    case nil: break
    }
    if let (file, size) = try spool?.open("\(number)", in: delivery.description) {
      return (try handOut(Source(.spooled, file, size: size, place), of: delivery, to: sandbox), size)
    }
    throw InterchangeError(
      .sourceGone, "\(place): the service no longer has the content: it keeps a descriptor only until the service ends")
  }

  /// Takes back a pipe or a socket that nobody has got after all.
  func putBack(_ descriptor: OwnedFileDescriptor, _ number: Int, of delivery: UniqueIdentifier) {
    if case .stream(nil) = held[delivery]?[number] {
      held[delivery]?[number] = .stream(descriptor)
      heldCount += 1
    }
  }

  /// Opens a file in its place, and returns what `body` makes of it.
  func look<Value: Sendable>(
    fileAt url: Text, isCanonical: Bool, _ place: String, _ body: @escaping @Sendable (Source) -> Value
  ) async throws(InterchangeError) -> Value {
    try await opening(for: nil, place) { () throws(InterchangeError) in
      body(try Source(fileAt: url, isCanonical: isCanonical, place))
    }
  }

  func open(
    fileAt url: Text, of delivery: UniqueIdentifier, for sandbox: Text?, _ place: String
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    // A sandboxed program may be able to change a folder of the path. It must not reach another file by a link that it puts there.
    let source = try await look(fileAt: url, isCanonical: sandbox != nil, place) { $0 }
    return (try handOut(source, of: delivery, to: sandbox), source.size)
  }

  /// A descriptor for whoever opens the content of `descriptor`, and the size of a file. Each opener of a file has an offset of its own.
  func handOut(
    _ descriptor: OwnedFileDescriptor, of delivery: UniqueIdentifier, to sandbox: Text?, _ place: String
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    if let source = try Source(recognizing: descriptor, place) {
      switch source.kind {
      case .sealed: return (try source.openedAgain().descriptor, source.size)
      case .memory:
        return (try handOut(sandbox == nil ? source.openedAgain() : source, of: delivery, to: sandbox), source.size)
      default: return (descriptor, source.size)
      }
    }
    let copy = try descriptor.duplicate(place)
    let source = try await opening(for: delivery, place) { () throws(InterchangeError) in
      let source = try Source(lookingAt: copy, place)
      return source.kind == .file && sandbox == nil ? try source.openedAgain() : source
    }
    return (try handOut(source, of: delivery, to: sandbox), source.size)
  }

  /// A sandboxed opener gets no file, which it could open again for writing, but a pipe from which the file comes.
  func handOut(
    _ source: Source, of owner: UniqueIdentifier, to sandbox: Text?
  ) throws(InterchangeError) -> OwnedFileDescriptor {
    guard let sandbox, [.file, .memory, .spooled].contains(source.kind) else { return source.descriptor }
    return try feed(source, of: owner, to: sandbox)
  }

  // MARK: Freeing

  func sweep(keeping deliveries: Set<UniqueIdentifier>) throws(InterchangeError) {
    try spool?.sweep(keeping: deliveries)
  }

  /// Calls off all reads, and begins no more.
  func end() {
    isEnding = true
    for owner in underway.keys { callOff(for: owner) }
  }

  func free(_ deliveries: [UniqueIdentifier]) {
    for delivery in deliveries {
      callOff(for: delivery)
      for one in (held.removeValue(forKey: delivery) ?? [:]).values { letGo(one) }
    }
    guard let spool else { return }
    // Deliveries that could not be removed for lack of descriptors are tried again, some each time; a sweep removes them at the latest.
    let again = unfreed.prefix(BaggageKeeper.triedAgain)
    unfreed.removeFirst(again.count)
    for delivery in again + deliveries {
      do throws(InterchangeError) {
        try spool.remove(delivery.description)
      } catch {
        unfreed.append(delivery)
      }
    }
  }

  /// Removes some of a delivery's contents.
  func free(_ numbers: [Int], of delivery: UniqueIdentifier) {
    for number in numbers {
      callOff(for: delivery) { $0 == number }
      if let one = held[delivery]?.removeValue(forKey: number) { letGo(one) }
      // What cannot be removed now is removed with its delivery.
      try? spool?.remove("\(number)", in: delivery.description)
    }
    if held[delivery]?.isEmpty ?? false { held[delivery] = nil }
    spool?.removeIfEmpty(delivery.description)
  }

  func callOff(for owner: UniqueIdentifier, where isMeant: (_ content: Int?) -> Bool = { _ in true }) {
    for work in (underway[owner] ?? [:]).values where isMeant(work.content) { work.callOff() }
  }

  private static let nobody = UniqueIdentifier(high: 0, low: 0)
}
