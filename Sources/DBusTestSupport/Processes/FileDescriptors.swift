internal import DBus
package import Glibc

/// The ways to open a descriptor; each descriptor is closed on exec.
enum FileDescriptors {
  static func open(_ path: String, _ flags: Int32) throws(SystemCallError) -> OwnedFileDescriptor {
    let number = Glibc.open(path, flags | O_CLOEXEC, 0o600)
    if number < 0 { throw SystemCallError("open \(path)") }
    return OwnedFileDescriptor(owning: number)
  }

  static func null() throws(SystemCallError) -> OwnedFileDescriptor { try open("/dev/null", O_RDWR) }

  static func listener(at path: String) throws(SystemCallError) -> OwnedFileDescriptor {
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    if number < 0 { throw SystemCallError("socket") }
    let descriptor = OwnedFileDescriptor(owning: number)
    if try withSocketAddress(path, { bind(number, $0, $1) }) != 0 { throw SystemCallError("bind \(path)") }
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

/// Runs `body` with the address of a Unix socket: a path, or a name that the kernel keeps, which begins with a NUL.
package func withSocketAddress<Result>(
  _ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) throws(SystemCallError) -> Result {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(name.utf8)
  guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
    throw SystemCallError("a socket at \(name)", ENAMETOOLONG)
  }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  let length = MemoryLayout<sa_family_t>.size + bytes.count + (bytes.first == 0 ? 0 : 1)
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
  }
}
