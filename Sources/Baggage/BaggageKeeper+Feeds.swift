import DBus
import Glibc
import SceneModel

// A program that has a descriptor of a file can open the file again, for writing too, if both belong to the same user: `/proc/self/fd` leads there
// even out of a sandbox. So a sandboxed application reads each file through a pipe.
extension BaggageKeeper {
  /// The end of a pipe from which a source comes: until its end, until nobody reads or the reader takes nothing for long, or until the owner, a
  /// delivery or a session, is freed.
  func feed(
    _ source: Source, of owner: UniqueIdentifier, to sandbox: Text
  ) throws(InterchangeError) -> OwnedFileDescriptor {
    if feeds[sandbox] ?? 0 >= BaggageLimits.feeds {
      throw InterchangeError(
        .limitsExceeded,
        "\(source.place): the application reads \(BaggageLimits.feeds) contents already: read them first")
    }
    try refuseWithoutSpace(source.place)
    let (readEnd, writeEnd): (OwnedFileDescriptor, OwnedFileDescriptor)
    do throws(CodingError) {
      (readEnd, writeEnd) = try OwnedFileDescriptor.pipe()
    } catch {
      throw InterchangeError(.storageFailed, source.place, "no pipe can be made", EMFILE)
    }
    Source.waits(false, writeEnd)
    feeds[sandbox, default: 0] += 1
    let number = nextNumber()
    let task = loop.task {
      let progress = Progress()
      _ = try? await working(for: owner, .progress(progress), source.place) { keeper throws(InterchangeError) in
        try await keeper.pour(source, into: writeEnd, progress)
      }
      // A call-off leaves the reader with less than the size that it was told.
      writeEnd.close()
      if source.kind == .file { threads.close(source.descriptor) }
      feeds[sandbox, default: 1] -= 1
      if feeds[sandbox] == 0 { feeds[sandbox] = nil }
      end(number, of: owner)
    }
    // The owner may be freed before the task begins.
    underway[owner, default: [:]][number] = Underway(content: nil) { task.cancel() }
    return readEnd
  }

  private func pour(
    _ source: Source, into pipe: OwnedFileDescriptor, _ progress: Progress
  ) async throws(InterchangeError) {
    var (size, share) = (Int64(0), BaggageLimits.piece)
    while true {
      let offset = size
      let (bytes, _) = try await with(source) { () throws(InterchangeError) in
        try source.bytes(BaggageLimits.buffer, at: offset)
      }
      if bytes.isEmpty { return }
      var rest = bytes[...]
      while !rest.isEmpty {
        if Task.isCancelled { throw .calledOff(source.place) }
        let (count, error) = pipe.withRawValue { number in
          rest.withUnsafeBytes { (write(number, $0.baseAddress, $0.count), errno) }
        }
        if count > 0 {
          rest = rest.dropFirst(count)
          size += Int64(count)
          progress.size.withLock { $0 = size }
        } else if error == EAGAIN {
          await loop.writable(pipe.withRawValue(\.self))
        } else if error != EINTR {
          // Nobody reads any more.
          throw .calledOff(source.place)
        }
      }
      share -= bytes.count
      if share <= 0 {
        await letOthers()
        share = BaggageLimits.piece
      }
    }
  }
}
