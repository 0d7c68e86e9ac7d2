import Glibc

extension StoreDirectory {
  /// Replaces the write-ahead log by a copy, cut to its length after the last successful commit, and syncs the copy.
  ///
  /// A failed fsync cannot be repeated: the kernel has forgotten which pages it could not write, and reports success. Only pages that are written
  /// anew are tried anew. And a refused transaction may stand complete at the log's end; a process that opens the file would believe it.
  ///
  /// - Parameter length: `nil` if it is unknown, which keeps the whole log.
  func mendWriteAheadLog(length: Int64?) throws(StoreError) {
    let log = open(writeAheadLog, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if log < 0 {
      if errno == ENOENT, length ?? 0 == 0 { return }
      throw StoreError(writeAheadLog, "cannot be opened", errno)
    }
    defer { close(log) }
    var status = stat()
    if fstat(log, &status) != 0 { throw StoreError(writeAheadLog, "cannot be looked at", errno) }
    let length = min(length.map { Int($0) } ?? .max, Int(status.st_size))
    // If nothing more can be written, at least the refused transaction is removed.
    if ftruncate(log, length) != 0 { throw StoreError(writeAheadLog, "cannot be cut", errno) }

    do throws(StoreError) {
      try replaceWriteAheadLog(byCopyOf: log, length)
    } catch {
      removeUnfinishedLog()
      throw error
    }
    try sync()
  }

  private var copyOfLog: String { writeAheadLog + "-mended" }

  /// A copy that was not finished takes space on a disk that may have none, and may have private content.
  func removeUnfinishedLog() { unlink(copyOfLog) }

  private func replaceWriteAheadLog(byCopyOf log: Int32, _ length: Int) throws(StoreError) {
    let copy = open(copyOfLog, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if copy < 0 { throw StoreError(copyOfLog, "cannot be made", errno) }
    defer { close(copy) }
    try StoreDirectory.copy(log, to: copy, length, copyOfLog)
    if fdatasync(copy) != 0 { throw StoreError(copyOfLog, "cannot be synced", errno) }
    if rename(copyOfLog, writeAheadLog) != 0 { throw StoreError(copyOfLog, "cannot be renamed", errno) }
  }

  private static func copy(_ log: Int32, to copy: Int32, _ length: Int, _ path: String) throws(StoreError) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var offset = 0
    while offset < length {
      let count = pread(log, &buffer, min(buffer.count, length - offset), offset)
      if count <= 0 { throw StoreError(path, "cannot be copied", count == 0 ? EIO : errno) }
      var written = 0
      while written < count {
        let more = buffer[written..<count].withUnsafeBytes {
          pwrite(copy, $0.baseAddress, $0.count, offset + written)
        }
        if more <= 0 { throw StoreError(path, "cannot be copied", more == 0 ? EIO : errno) }
        written += more
      }
      offset += count
    }
  }
}
