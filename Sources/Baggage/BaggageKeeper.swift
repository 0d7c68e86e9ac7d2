import DBus
import Glibc
import SceneModel

/// The part of the room on its own thread. It owns the descriptors that it holds; the caller owns a descriptor that it opens.
///
/// Between two pieces of a copy other work may run here: the delivery may be freed, which ends the copy, and others may be copied.
actor BaggageKeeper {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  /// `nil` if everything is in memory.
  let spool: Spool?

  private var held: [UniqueIdentifier: [Int: Held]] = [:]
  private var heldCount = 0
  /// The reads for a delivery or a session, each with the function that calls it off.
  private var underway: [UniqueIdentifier: [UInt64: @Sendable () -> Void]] = [:]
  private var lastNumber: UInt64 = 0
  /// Deliveries that could not be removed from the spool.
  private var unfreed: Set<UniqueIdentifier> = []
  var snapshots: Snapshots?
  private var isEnding = false

  /// A descriptor from a sender, or a memory file.
  private enum Held {
    case file(OwnedFileDescriptor)
    /// A pipe or a socket. Its entry stays after the descriptor was handed out, so that the refusal can say so.
    case stream(OwnedFileDescriptor?)
  }

  init(_ loop: EventLoop, _ spool: Spool?) { (self.loop, self.spool) = (loop, spool) }

  /// Whether nothing would be lost with the keeper.
  var isIdle: Bool { held.isEmpty && underway.isEmpty && unfreed.isEmpty && (spool != nil || snapshots == nil) }

  func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Bytes

  func keep(
    _ bytes: [UInt8], as number: Int, of delivery: UniqueIdentifier, _ place: String
  ) throws(InterchangeError) {
    let target = try begin(number, of: delivery, place)
    do throws(InterchangeError) {
      try Target.write(bytes, target.file, at: 0, place)
      try finish(target, number, of: delivery, place)
    } catch {
      abandon(target, of: delivery)
      throw error
    }
  }

  // MARK: Copying

  func copy(
    fileAt url: Text, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64, _ place: String
  ) async throws(InterchangeError) -> Int64 {
    try await copy(try Source(fileAt: url, place), as: number, of: delivery, atMost: limit)
  }

  func copy(
    _ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64,
    _ place: String
  ) async throws(InterchangeError) -> Int64 {
    try await copy(try Source(descriptor, place), as: number, of: delivery, atMost: limit)
  }

  /// Reads a source to its end, piece by piece.
  private func copy(
    _ source: Source, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64
  ) async throws(InterchangeError) -> Int64 {
    let place = source.place
    if let size = source.size, size > limit { throw BaggageKeeper.tooLong(limit, place) }
    let progress = Progress()
    return try await reading(for: delivery, .progress(progress), place) { keeper throws(InterchangeError) in
      let target = try keeper.begin(number, of: delivery, place)
      do throws(InterchangeError) {
        let size = try await keeper.copy(source.withoutWaiting(), to: target.file, atMost: limit, progress)
        try keeper.finish(target, number, of: delivery, place)
        return size
      } catch {
        keeper.abandon(target, of: delivery)
        throw error
      }
    }
  }

  private func copy(
    _ source: Source, to file: OwnedFileDescriptor, atMost limit: Int64, _ progress: Progress
  ) async throws(InterchangeError) -> Int64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: BaggageLimits.piece, alignment: 4096)
    defer { buffer.deallocate() }
    var size: Int64 = 0
    // The bytes that this turn may still copy.
    var share = BaggageLimits.piece
    var isCopiedByKernel = source.kind == .file
    while true {
      // One byte beyond the limit shows that there are more.
      let room = limit - size
      let count = room < Int64(share) ? Int(room) + 1 : share
      if isCopiedByKernel, let copied = source.copyPiece(of: count, at: size, to: file) {
        size += Int64(copied)
        share -= copied
      } else {
        isCopiedByKernel = false
        switch try source.read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: size) {
        case .end: return size
        case .later:
          await loop.readable(source.descriptor.withRawValue(\.self))
          share = BaggageLimits.piece
        case .bytes(let read):
          try Target.write(UnsafeRawBufferPointer(rebasing: buffer[..<read]), file, at: size, source.place)
          size += Int64(read)
          share -= read
        }
      }
      progress.size.withLock { $0 = size }
      if size > limit { throw BaggageKeeper.tooLong(limit, source.place) }
      if share <= 0 {
        await letOthers()
        share = BaggageLimits.piece
      }
      if Task.isCancelled { throw .calledOff(source.place) }
    }
  }

  static func tooLong(_ limit: Int64, _ place: String) -> InterchangeError {
    InterchangeError(.limitsExceeded, "\(place): has more than the \(limit) bytes that may be kept")
  }

  /// Lets everything run that waits for the thread.
  private func letOthers() async {
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
  }

  /// The bytes that were copied.
  final class Progress: Sendable {
    let size = Lock<Int64>(0)
  }

  /// The time that reading may take.
  enum Patience {
    case within(Duration)
    /// Any time, as long as bytes keep coming.
    case progress(Progress)
  }

  /// Runs `body` until it ends, its caller is cancelled, the delivery that it reads for is freed, or its time is over.
  func reading<Value: Sendable>(
    for owner: UniqueIdentifier, _ patience: Patience, _ place: String,
    _ body: @escaping @Sendable (isolated BaggageKeeper) async throws(InterchangeError) -> Value
  ) async throws(InterchangeError) -> Value {
    // A wait on a loop that has ended returns at once, again and again.
    if isEnding { throw .calledOff(place) }
    let number = nextNumber()
    let task = loop.task { () async -> Result<Value, InterchangeError> in
      do throws(InterchangeError) { return .success(try await body(self)) } catch { return .failure(error) }
    }
    underway[owner, default: [:]][number] = { task.cancel() }
    let alarm = loop.task { [loop] in
      switch patience {
      case .within(let time): await loop.sleep(for: time)
      case .progress(let progress):
        var (before, since) = (Int64(-1), ContinuousClock.now)
        while !Task.isCancelled {
          let (size, now) = (progress.size.withLock(\.self), ContinuousClock.now)
          if size != before { (before, since) = (size, now) }
          if now - since >= BaggageLimits.silence { break }
          await loop.sleep(for: BaggageLimits.silence / 8)
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
    underway[owner]?[number] = nil
    if underway[owner]?.isEmpty ?? false { underway[owner] = nil }
    alarm.cancel()
    if case .failure(let error) = result, error.name == .cancelled, await alarm.value {
      switch patience {
      case .within(let time):
        throw InterchangeError(.limitsExceeded, "\(place): the end of the data did not come within \(time)")
      case .progress(let progress):
        throw InterchangeError(
          .sourceGone,
          "\(place): the source sent nothing for \(BaggageLimits.silence), after \(progress.size.withLock(\.self)) bytes"
        )
      }
    }
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

    static func write(
      _ bytes: UnsafeRawBufferPointer, _ file: OwnedFileDescriptor, at offset: Int64, _ place: String
    ) throws(InterchangeError) {
      let error = file.write(bytes, at: offset)
      if error != 0 { throw InterchangeError(.storageFailed, place, "the content cannot be stored", error) }
    }

    static func write(
      _ bytes: [UInt8], _ file: OwnedFileDescriptor, at offset: Int64, _ place: String
    ) throws(InterchangeError) {
      let error = bytes.withUnsafeBytes { file.write($0, at: offset) }
      if error != 0 { throw InterchangeError(.storageFailed, place, "the content cannot be stored", error) }
    }
  }

  private func begin(
    _ number: Int, of delivery: UniqueIdentifier, _ place: String
  ) throws(InterchangeError) -> Target {
    if let spool { return .spool(try spool.begin("\(number)", in: delivery.description, nextNumber())) }
    try refuseTooMany(place)
    return .memory(try InterchangeError.inMemory(place) { () throws(CodingError) in try .emptyMemoryFile() })
  }

  private func finish(
    _ target: Target, _ number: Int, of delivery: UniqueIdentifier, _ place: String
  ) throws(InterchangeError) {
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
  ) throws(InterchangeError) -> Int64? {
    let source = try Source(descriptor, place)
    try refuseTooMany(place)
    hold(source.kind == .file ? .file(descriptor) : .stream(descriptor), number, of: delivery)
    return source.size
  }

  private func hold(_ one: Held, _ number: Int, of delivery: UniqueIdentifier) {
    if let earlier = held[delivery]?.removeValue(forKey: number) { letGo(earlier) }
    held[delivery, default: [:]][number] = one
    heldCount += 1
  }

  private func letGo(_ one: Held) {
    switch one {
    case .file(let descriptor), .stream(let descriptor?):
      descriptor.close()
      heldCount -= 1
    case .stream(nil): break
    }
  }

  private func refuseTooMany(_ place: String) throws(InterchangeError) {
    guard BaggageKeeper.hasRoom else {
      throw InterchangeError(
        .limitsExceeded,
        "\(place): the service may open no more files; wait until deliveries are released, or raise its limit (ulimit -n)"
      )
    }
    if heldCount < BaggageLimits.descriptors { return }
    throw InterchangeError(
      .limitsExceeded,
      "\(place): the service holds \(heldCount) descriptors for deliveries already; send data or a file, or wait until others are released"
    )
  }

  /// Whether the process can have some more descriptors. If a message's descriptors find no room, the service loses its connection to the bus, so
  /// some are left free.
  private static var hasRoom: Bool {
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
    _ number: Int, of delivery: UniqueIdentifier, _ place: String
  ) throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    switch held[delivery]?[number] {
    case .file(let descriptor):
      let source = try Source(descriptor, place)
      return (try source.opened(), source.size)
    case .stream(let descriptor?):
      // From here on the caller owns the descriptor.
      held[delivery]?[number] = .stream(nil)
      heldCount -= 1
      return (descriptor, nil)
    case .stream(nil):
      throw InterchangeError(.sourceGone, "\(place): has been opened before, and a pipe or a socket can be read once")
    case nil: break
    }
    if let (file, size) = try spool?.open("\(number)", in: delivery.description) { return (file, size) }
    throw InterchangeError(
      .sourceGone, "\(place): the service has the content no longer; a descriptor is held until the service ends")
  }

  func open(
    fileAt url: Text, _ place: String
  ) throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64) {
    let source = try Source(fileAt: url, place)
    return (source.descriptor, source.size ?? 0)
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
    // Deliveries that could not be removed for lack of descriptors are tried again next time; a sweep removes them at the latest.
    for delivery in unfreed.union(deliveries) {
      do throws(InterchangeError) {
        try spool.remove(delivery.description)
        unfreed.remove(delivery)
      } catch {
        unfreed.insert(delivery)
      }
    }
  }

  /// Removes some of a delivery's contents.
  func free(_ numbers: [Int], of delivery: UniqueIdentifier) {
    for number in numbers {
      if let one = held[delivery]?.removeValue(forKey: number) { letGo(one) }
      // What cannot be removed now goes with its delivery.
      try? spool?.remove("\(number)", in: delivery.description)
    }
    if held[delivery]?.isEmpty ?? false { held[delivery] = nil }
    spool?.removeIfEmpty(delivery.description)
  }

  func callOff(for owner: UniqueIdentifier) {
    for callOff in (underway[owner] ?? [:]).values { callOff() }
  }
}
