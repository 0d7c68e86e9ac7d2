internal import CFiles
internal import Glibc

// Files without a name, in memory: for values that are too large for a message.
extension OwnedFileDescriptor {
  /// A sealed memory file with these bytes: nobody with a descriptor of the file can change its content or its length.
  ///
  /// ```swift
  /// let picture = try OwnedFileDescriptor.memoryFile([UInt8](repeating: 0, count: 1 << 20))
  /// let message = try Message.signal(from: "/camera", "org.example.Camera", "Taken", picture)
  /// print(message.signature)  // h
  /// ```
  public static func memoryFile(_ bytes: [UInt8]) throws(CodingError) -> OwnedFileDescriptor {
    try bytes.withUnsafeBufferPointer { bytes throws(CodingError) in try memoryFile(UnsafeRawBufferPointer(bytes)) }
  }

  /// A sealed memory file with a copy of these bytes.
  package static func memoryFile(_ bytes: UnsafeRawBufferPointer) throws(CodingError) -> OwnedFileDescriptor {
    let file = try emptyMemoryFile()
    let error = file.write(bytes, at: 0)
    if error != 0 { throw .fileDescriptorUnavailable(error) }
    try file.seal()
    return file
  }

  /// An empty memory file, which can be written to until it is sealed.
  package static func emptyMemoryFile() throws(CodingError) -> OwnedFileDescriptor {
    let number = memfd_create("dbus", UInt32(MFD_CLOEXEC | MFD_ALLOW_SEALING))
    if number < 0 { throw .fileDescriptorUnavailable(errno) }
    return OwnedFileDescriptor(owning: number)
  }

  /// Seals this memory file: from now on nobody can change its content or its length.
  package func seal() throws(CodingError) {
    let seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE
    let (result, error) = withRawValue { (fcntl($0, F_ADD_SEALS, seals), errno) }
    if result != 0 { throw .fileDescriptorUnavailable(error) }
  }

  /// Writes all of the bytes from an offset on. Returns the number of the error, or 0.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
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
}
