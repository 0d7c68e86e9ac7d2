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

  // MARK: Reading

  /// Reads to the end, or until the load is cancelled: the descriptor can be a pipe with a slow writer.
  ///
  /// - Parameter size: The size that the source stated. A pipe ends when its writer has finished, and also when its writer dies.
  func readToEnd(
    _ size: Int? = nil, _ progress: ItemProgress = ItemProgress()
  ) async throws(StagedoorError) -> Data {
    try await EventLoop.forReading(progress) { loop throws(StagedoorError) in
      var data = Data()
      try await self.read(size, on: loop, progress) { data.append(contentsOf: $0) }
      return data
    }
  }

  /// Copies the content piece by piece into a new file, in a folder that nobody else can read.
  func copy(
    toFileNamed name: String?, _ size: Int?, _ progress: ItemProgress
  ) async throws(StagedoorError) -> URL {
    try await EventLoop.forReading(progress) { loop throws(StagedoorError) in
      let last = name?.split(separator: "/").last.map(String.init) ?? ""
      let isName = !["", ".", ".."].contains(last) && !last.contains("\0")
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path(percentEncoded: false)
      let path = "\(folder)/\(isName ? last : "item")"
      if mkdir(folder, 0o700) != 0 { throw .loadFailed(folder, errno) }
      do throws(StagedoorError) {
        let number = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if number < 0 { throw .loadFailed(path, errno) }
        let file = OwnedFileDescriptor(owning: number)
        try await self.read(size, on: loop, progress) { piece throws(StagedoorError) in
          let code = piece.withUnsafeBytes { file.write($0) }
          if code != 0 { throw .loadFailed(path, code) }
        }
        return URL(filePath: path, directoryHint: .notDirectory)
      } catch {
        unlink(path)
        rmdir(folder)
        throw error
      }
    }
  }

  /// Writes all of the bytes, and returns the code of an error, or 0.
  private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = withRawValue { Glibc.write($0, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count) }
      if count < 0, errno != EINTR { return errno }
      rest = rest.dropFirst(max(0, count))
    }
    return 0
  }

  private func read(
    _ size: Int?, on loop: EventLoop, _ progress: ItemProgress,
    _ take: (ArraySlice<UInt8>) throws(StagedoorError) -> Void
  ) async throws(StagedoorError) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    // A file has its own offset; an earlier reader may have left the offset at the end.
    var total = 0
    var isPipe = false
    while true {
      if isPipe { await loop.readable(withRawValue(\.self)) }
      if Task.isCancelled { throw .loadWasCancelled }
      let count = withRawValue { number in
        isPipe ? Glibc.read(number, &buffer, buffer.count) : pread(number, &buffer, buffer.count, off_t(total))
      }
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == ESPIPE, !isPipe {
          isPipe = true
          continue
        }
        throw .loadFailed("the item", errno)
      }
      try take(buffer[..<count])
      total += count
      progress.update(completedByteCount: total)
    }
    if let size, total < size {
      throw StagedoorError(.sourceGone, "the source stated \(size) bytes, and ended after \(total)")
    }
  }
}

extension EventLoop {
  /// Runs `body` on a thread of its own, where it may wait for a disk or take long.
  static func forLoading<Loaded: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws(StagedoorError) -> Loaded
  ) async throws(StagedoorError) -> Loaded {
    let loop: EventLoop
    do throws(ConnectionError) { loop = try EventLoop(name: "load") } catch { throw StagedoorError(error) }
    defer { loop.beginStopping() }
    return try await loop.run { isolation throws(StagedoorError) in try await body(isolation.loop) }
  }

  /// Runs `body` in the same way, and cancels it with the load or with the task that waits for it.
  fileprivate static func forReading<Loaded: Sendable>(
    _ progress: ItemProgress, _ body: @escaping @Sendable (EventLoop) async throws(StagedoorError) -> Loaded
  ) async throws(StagedoorError) -> Loaded {
    try await forLoading { loop throws(StagedoorError) in
      let reading = loop.task { () async -> Result<Loaded, StagedoorError> in
        do throws(StagedoorError) { return .success(try await body(loop)) } catch { return .failure(error) }
      }
      progress.whenCancelled { reading.cancel() }
      return try await withTaskCancellationHandler {
        await reading.value
      } onCancel: {
        reading.cancel()
      }.get()
    }
  }
}

extension StagedoorError {
  fileprivate static func loadFailed(_ what: String, _ code: Int32) -> StagedoorError {
    StagedoorError(.loadFailed, "\(what): \(String(cString: strerror(code)))")
  }
}
