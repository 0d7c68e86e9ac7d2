import DBus
import Glibc

/// A file system with one file, `file`, that stops answering, like the file system of a dead server.
///
/// After that it reads no request, so the kernel allows a waiting process to end.
final class SilentFileSystem: Sendable {
  /// To mount one, a process needs root and `/dev/fuse`.
  static let isPossible = getuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0 && SilentFileSystem(size: 0) != nil

  static let reason = "needs root and /dev/fuse"

  private let directory = TemporaryDirectory(in: "/tmp")
  private let device: OwnedFileDescriptor
  private let stop: OwnedFileDescriptor
  private let server: EventLoop

  var path: String { "\(directory.path)/file" }

  /// - Parameter reads: How many requests for bytes the file system answers before it falls silent by itself.
  init?(size: Int, reads: Int = .max) {
    let number = open("/dev/fuse", O_RDWR | O_CLOEXEC)
    guard number >= 0, let ends = try? OwnedFileDescriptor.pipe(), let server = try? EventLoop(name: "silent") else {
      return nil
    }
    (device, stop, self.server) = (OwnedFileDescriptor(owning: number), ends.writeEnd, server)
    let options = "fd=\(number),rootmode=40000,user_id=0,group_id=0"
    let isMounted = mount("silent", directory.path, "fuse", UInt(MS_NOSUID | MS_NODEV), options) == 0
    server.execute {
      var server = Server(device: number, size: size, reads: reads)
      ends.readEnd.withRawValue { server.run(until: $0) }
    }
    if !isMounted { return nil }
  }

  func fallSilent() { stop.close() }

  deinit {
    stop.close()
    // Waiting processes get an error.
    umount2(directory.path, Int32(MNT_FORCE))
    umount2(directory.path, Int32(MNT_DETACH))
    server.beginStopping()
  }

  private struct Server {
    let device: Int32
    let size: Int
    var reads: Int

    mutating func run(until stop: Int32) {
      var request = [UInt8](repeating: 0, count: 1 << 17)
      while reads > 0 {
        var wanted = [
          pollfd(fd: stop, events: Int16(POLLIN), revents: 0), pollfd(fd: device, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&wanted, 2, -1) > 0, wanted[0].revents == 0, read(device, &request, request.count) > 0 else {
          return
        }
        let (operation, unique) = request.withUnsafeBytes {
          ($0.loadUnaligned(fromByteOffset: 4, as: UInt32.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        let node = request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
        switch operation {
        case 1: answer(unique, bytes(UInt64(2), 0, 0, 0) + bytes(UInt32(0), 0) + attributes(2))
        case 2, 42: break
        case 3: answer(unique, bytes(UInt64(0)) + bytes(UInt32(0), 0) + attributes(node))
        case 14: answer(unique, bytes(UInt64(1)) + bytes(UInt32(1), 0))
        case 15:
          let offset = request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 48, as: UInt64.self) }
          let count = request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 56, as: UInt32.self) }
          answer(unique, [UInt8](repeating: 7, count: max(0, min(Int(count), size - Int(offset)))))
          reads -= 1
        case 18, 25: answer(unique, [])
        case 26:
          answer(
            unique,
            bytes(UInt32(7), 31, 0, 0) + bytes(UInt16(0), 0) + bytes(UInt32(4096), 1) + [UInt8](repeating: 0, count: 36)
          )
        default: answer(unique, [], error: ENOSYS)
        }
      }
    }

    private func answer(_ unique: UInt64, _ body: [UInt8], error: Int32 = 0) {
      let message = bytes(UInt32(16 + body.count), UInt32(bitPattern: -error)) + bytes(unique) + body
      _ = write(device, message, message.count)
    }

    private func attributes(_ node: UInt64) -> [UInt8] {
      bytes(node, UInt64(size), 1, 0, 0, 0)
        + bytes(UInt32(0), 0, 0, node == 1 ? S_IFDIR | 0o755 : S_IFREG | 0o644, 1, 0, 0, 0, 4096, 0)
    }

    private func bytes<Number: FixedWidthInteger>(_ numbers: Number...) -> [UInt8] {
      numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
    }
  }
}
