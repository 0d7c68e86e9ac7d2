internal import DBus
internal import FoundationEssentials
internal import Glibc
internal import SceneModel

extension OwnedFileDescriptor {
  /// Makes a sealed memory file with these bytes.
  static func memoryFile(_ data: Data) throws(StagedoorError) -> OwnedFileDescriptor {
    do throws(CodingError) {
      return try data.withUnsafeBytes { bytes in
        Result { () throws(CodingError) in try memoryFile(bytes) }
      }.get()
    } catch {
      throw StagedoorError(.loadFailed, "the data: \(error)")
    }
  }

  /// Opens a file for reading, and returns its size too.
  static func opening(_ file: URL) async throws(StagedoorError) -> (OwnedFileDescriptor, size: Int?) {
    guard let path = FileURL.path(of: Text(file.absoluteString)) else {
      throw StagedoorError(.loadFailed, "\(file.absoluteString) is not a local file")
    }
    return try await EventLoop.forLoading { _ throws(StagedoorError) in
      let number = Glibc.open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      if number < 0 { throw .loadFailed(file.absoluteString, errno) }
      let opened = OwnedFileDescriptor(owning: number)
      var status = stat()
      guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw StagedoorError(.loadFailed, "\(file.absoluteString) is not a regular file")
      }
      return (opened, Int(status.st_size))
    }
  }

  var isRegularFile: Bool {
    withRawValue { number in
      var status = stat()
      return fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
  }

  // MARK: Reading

  /// The limits of the size of a content that another process sends.
  struct Bound: Sendable {
    /// The size that the source stated. A pipe ends when its writer has finished, and also when its writer dies.
    var size: Int?
    /// The largest size that the reader takes; `nil` for a content of this process.
    var limit: Int?

    static let none = Bound()
  }

  /// Reads to the end, or until the task is cancelled: the descriptor can be a pipe with a slow writer.
  func readToEnd(
    _ bound: Bound = .none, on loop: EventLoop, _ progress: ItemProgress
  ) async throws(StagedoorError) -> Data {
    if let size = bound.size, let limit = bound.limit, size > limit { throw .tooMuch(limit) }
    var data = Data()
    try await read(bound, on: loop, progress) { data.append(contentsOf: $0) }
    return data
  }

  /// Copies the content piece by piece into a new file, in a folder that nobody else can read.
  func copy(
    toFileNamed name: String?, _ bound: Bound, on loop: EventLoop, _ progress: ItemProgress
  ) async throws(StagedoorError) -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path(percentEncoded: false)
    let path = "\(folder)/\(Self.fileName(name))"
    if mkdir(folder, 0o700) != 0 { throw .loadFailed(folder, errno) }
    do throws(StagedoorError) {
      if let size = bound.size, bound.limit != nil, let free = Self.freeSpace(folder), size > free {
        throw .loadFailed(path, ENOSPC)
      }
      let number = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if number < 0 { throw .loadFailed(path, errno) }
      let file = OwnedFileDescriptor(owning: number)
      var written: Int64 = 0
      try await read(bound, on: loop, progress) { piece throws(StagedoorError) in
        let code = piece.withUnsafeBytes { file.write($0, at: written) }
        if code != 0 { throw .loadFailed(path, code) }
        written += Int64(piece.count)
      }
      return URL(filePath: path, directoryHint: .notDirectory)
    } catch {
      unlink(path)
      rmdir(folder)
      throw error
    }
  }

  /// The last part of a suggested name, short enough for a file system, with its extension.
  private static func fileName(_ suggested: String?) -> String {
    let name = suggested?.split(separator: "/").last.map(String.init) ?? ""
    if ["", ".", ".."].contains(name) || name.contains("\0") { return "item" }
    if name.utf8.count <= 255 { return name }
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    let suffix = name[dot...].utf8.count <= 32 ? String(name[dot...]) : ""
    var stem = Substring(name.dropLast(suffix.count))
    while stem.utf8.count + suffix.utf8.count > 255 { stem.removeLast() }
    // One letter may have any number of accents.
    return (stem.isEmpty ? "item" : stem) + suffix
  }

  private static func freeSpace(_ folder: String) -> Int? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }

  private func read(
    _ bound: Bound, on loop: EventLoop, _ progress: ItemProgress,
    _ take: (ArraySlice<UInt8>) throws(StagedoorError) -> Void
  ) async throws(StagedoorError) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let most = bound.limit.map { bound.size ?? $0 }
    // A file has its own offset; an earlier reader may have left the offset at the end.
    var total = 0
    var isPipe = false
    while true {
      if isPipe { await loop.readable(withRawValue(\.self)) }
      if Task.isCancelled { throw .waitWasCancelled }
      let count = withRawValue { number in
        let wanted = most.map { min(buffer.count - 1, $0 - total) + 1 } ?? buffer.count
        return isPipe ? Glibc.read(number, &buffer, wanted) : pread(number, &buffer, wanted, off_t(total))
      }
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == ESPIPE, !isPipe {
          isPipe = true
          continue
        }
        // The source closed its end of the socket before it had sent everything.
        if errno == ECONNRESET {
          throw StagedoorError(.sourceGone, "the source was interrupted after \(total) bytes")
        }
        throw .loadFailed("the item", errno)
      }
      // One byte more than there may be is enough to know.
      if let most, count > most - total {
        if bound.size == nil { throw .tooMuch(most) }
        throw StagedoorError(.limitsExceeded, "the source stated \(most) bytes, and sent more")
      }
      try take(buffer[..<count])
      total += count
      progress.update(completedByteCount: total)
    }
    if let size = bound.size, total < size {
      throw StagedoorError(.sourceGone, "the source stated \(size) bytes, and ended after \(total)")
    }
  }
}

/// The threads on which loads wait for a disk or take long, however many loads there are.
private enum LoadThreads {
  private static let count = 4
  private static let threads = Lock<[(loop: EventLoop, loads: Int)]>([])

  /// The thread with the fewest loads, a new one if all are busy.
  static func take() throws(StagedoorError) -> EventLoop {
    let loop: Result<EventLoop, ConnectionError> = threads.withLock { threads in
      if threads.count < count, threads.allSatisfy({ $0.loads > 0 }) {
        do throws(ConnectionError) { threads.append((try EventLoop(name: "load"), 0)) } catch {
          if threads.isEmpty { return .failure(error) }
        }
      }
      let idlest = threads.indices.min { threads[$0].loads < threads[$1].loads } ?? 0
      threads[idlest].loads += 1
      return .success(threads[idlest].loop)
    }
    do throws(ConnectionError) { return try loop.get() } catch {
      throw StagedoorError(.loadFailed, "no thread can be started for the load: \(error)")
    }
  }

  static func giveBack(_ loop: EventLoop) {
    threads.withLock { threads in
      if let index = threads.firstIndex(where: { $0.loop === loop }) { threads[index].loads -= 1 }
    }
  }
}

extension EventLoop {
  /// Runs `body` on a thread that may block. If the load or the waiting task is cancelled, `body` is cancelled too.
  static func forLoading<Loaded: Sendable>(
    _ progress: ItemProgress? = nil, _ body: @escaping @Sendable (EventLoop) async throws(StagedoorError) -> Loaded
  ) async throws(StagedoorError) -> Loaded {
    let loop = try LoadThreads.take()
    defer { LoadThreads.giveBack(loop) }
    return try await loop.run { isolation throws(StagedoorError) in
      let loop = isolation.loop
      let loading = loop.task { () async -> Result<Loaded, StagedoorError> in
        if Task.isCancelled { return .failure(.waitWasCancelled) }
        do throws(StagedoorError) { return .success(try await body(loop)) } catch { return .failure(error) }
      }
      let number = progress?.whenCancelled { loading.cancel() }
      defer { progress?.forget(number ?? nil) }
      return try await withTaskCancellationHandler {
        await loading.value
      } onCancel: {
        loading.cancel()
      }.get()
    }
  }
}

extension StagedoorError {
  fileprivate static func tooMuch(_ limit: Int) -> StagedoorError {
    StagedoorError(
      .limitsExceeded,
      "the data is longer than the \(limit) bytes that this application takes: see Application.loadLimit")
  }

  fileprivate static func loadFailed(_ what: String, _ code: Int32) -> StagedoorError {
    StagedoorError(.loadFailed, "\(what): \(String(cString: strerror(code)))")
  }
}
