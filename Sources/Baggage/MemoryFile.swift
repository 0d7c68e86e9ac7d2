import CFiles
import DBus
import Glibc
import SceneModel

/// Files without a name, in memory.
enum MemoryFile {
  /// An empty file that can be written to until it is sealed.
  static func make(_ place: String) throws(InterchangeError) -> OwnedFileDescriptor {
    let number = memfd_create("stagedoor", UInt32(MFD_CLOEXEC | MFD_ALLOW_SEALING))
    if number < 0 { throw InterchangeError(.storageFailed, place, "no memory file can be made", errno) }
    return OwnedFileDescriptor(owning: number)
  }

  /// From now on nobody changes the content or its length, whoever has a descriptor.
  static func seal(_ file: OwnedFileDescriptor, _ place: String) throws(InterchangeError) {
    let seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE
    let (result, error) = file.withRawValue { (fcntl($0, F_ADD_SEALS, seals), errno) }
    if result != 0 { throw InterchangeError(.storageFailed, place, "the memory file cannot be sealed", error) }
  }
}

extension OwnedFileDescriptor {
  /// Writes all of the bytes from an offset on. Answers the number of the error, or 0.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    withRawValue { number in
      var written = 0
      while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        let count = pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return count == 0 ? EIO : errno }
        written += count
      }
      return 0
    }
  }

  /// What the descriptor is of, and how long it is; `nil` where it is of nothing.
  var status: stat? {
    var status = stat()
    return withRawValue { fstat($0, &status) } == 0 ? status : nil
  }
}
