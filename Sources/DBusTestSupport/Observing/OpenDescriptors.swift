internal import DBus
internal import Glibc

/// The open descriptors of this process, for tests of leaks.
///
/// ```swift
/// import DBus
///
/// let before = OpenDescriptors.count
/// for _ in 1...50 {
///   let (server, client) = try await Connection.pair()
///   await client.close()
///   await server.close()
///   await client.loop.stop()
/// }
/// try await eventually("all descriptors are closed") { OpenDescriptors.count <= before }
/// ```
///
/// The count is of the whole process: such a test belongs in a suite that runs by itself (`.serialized` is not enough).
public enum OpenDescriptors {
  /// The number of open descriptors.
  public static var count: Int { list.count }

  /// The kernel's name of each descriptor: a path, `socket:[…]`, `anon_inode:[eventpoll]`.
  public static var list: [Int32: String] { of(process: getpid()) }

  /// The kernel's name of each descriptor of another process; empty if this process may not read them.
  public static func of(process identifier: Int32) -> [Int32: String] {
    let folder = "/proc/\(identifier)/fd"
    var result: [Int32: String] = [:]
    for name in Procfs.entries(of: folder) {
      guard let number = Int32(name) else { continue }
      // The descriptor for reading the folder itself is closed by now, and has no target.
      result[number] = Procfs.target(of: "\(folder)/\(name)")
    }
    return result
  }
}

/// Files and folders of the kernel.
enum Procfs {
  static func entries(of folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Where a symbolic link leads; `nil` if it does not exist.
  static func target(of link: String) -> String? {
    var path = [CChar](repeating: 0, count: 4096)
    let length = readlink(link, &path, path.count)
    return length > 0 ? String(decoding: path[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }

  /// `nil` if it does not exist.
  static func text(of path: String) -> String? {
    guard let file = try? FileDescriptors.open(path, O_RDONLY) else { return nil }
    return file.withRawValue { number in
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      while true {
        let count = read(number, &buffer, buffer.count)
        if count <= 0 { break }
        bytes += buffer[..<count]
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
