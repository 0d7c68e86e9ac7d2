internal import DBus
internal import Glibc

/// The ways to open a descriptor; each descriptor is closed on exec.
enum FileDescriptors {
  static func open(_ path: String, _ flags: Int32) throws(SystemCallError) -> OwnedFileDescriptor {
    let number = Glibc.open(path, flags | O_CLOEXEC, 0o600)
    if number < 0 { throw SystemCallError("open \(path)") }
    return OwnedFileDescriptor(owning: number)
  }

  static func null() throws(SystemCallError) -> OwnedFileDescriptor { try open("/dev/null", O_RDWR) }

  /// A socket that listens at `path`.
  static func listener(at path: String) throws(SystemCallError) -> OwnedFileDescriptor {
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    if number < 0 { throw SystemCallError("socket") }
    let descriptor = OwnedFileDescriptor(owning: number)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw SystemCallError("bind", ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if bound != 0 { throw SystemCallError("bind \(path)") }
    if listen(number, 128) != 0 { throw SystemCallError("listen") }
    return descriptor
  }

  /// Accepts a connection that is waiting already.
  static func accept(from listener: OwnedFileDescriptor) throws(SystemCallError) -> OwnedFileDescriptor {
    let number = listener.withRawValue { Glibc.accept($0, nil, nil) }
    if number < 0 { throw SystemCallError("accept") }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    return OwnedFileDescriptor(owning: number)
  }
}
