import CFiles
import Glibc
import SceneModel
import ServiceSupport
import WindowEvidence

/// What is known of processes. Tests replay it.
protocol Processes {
  /// The process; `nil` if it has gone or belongs to somebody else.
  func process(_ number: Int32) -> Process?
  /// The start of a process by the kernel's own count, which no change of the clock moves.
  func start(of number: Int32) -> Int64?
  func parent(of number: Int32) -> Int32?
  /// A variable of a process as it was started.
  func variable(_ name: String, of number: Int32) -> Bytes?
  /// The name of the program that a process runs.
  func program(of number: Int32) -> Bytes?
}

/// What `/proc` shows of this user's processes. Those of other users are not read.
struct Kernel: Processes {
  /// The time at which the machine was started, in microseconds since 1970, by the present clock.
  private let booted: @Sendable () -> Int64

  /// Tests set the clock.
  init(bootedAt booted: @escaping @Sendable () -> Int64 = Kernel.boot) { self.booted = booted }

  func process(_ number: Int32) -> Process? {
    guard let ticks = start(of: number), Kernel.isOurs(number) else { return nil }
    let arguments = words(of: number, "cmdline").dropFirst().filter { !$0.isEmpty && $0.first != UInt8(ascii: "-") }
    return Process(
      number: number, started: booted() + ticks * 1_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))), ticks: ticks,
      held: held(by: number),
      // A desktop file with %U asks for URLs.
      arguments: arguments.map { FileURL.path(of: Text(String(decoding: $0, as: UTF8.self))) ?? $0 })
  }

  func parent(of number: Int32) -> Int32? {
    fields(of: number).flatMap { $0.count > 1 ? Int32(String(decoding: $0[1], as: UTF8.self)) : nil }
  }

  func start(of number: Int32) -> Int64? {
    fields(of: number).flatMap { $0.count > 19 ? Int64(String(decoding: $0[19], as: UTF8.self)) : nil }
  }

  private static func isOurs(_ number: Int32) -> Bool {
    var status = stat()
    return stat("/proc/\(number)", &status) == 0 && status.st_uid == geteuid()
  }

  /// The fields of `/proc/N/stat` behind the program's name, which may have any bytes.
  private func fields(of number: Int32) -> [ArraySlice<UInt8>]? {
    let stat = Kernel.read("/proc/\(number)/stat")
    guard let name = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    return stat[(name + 1)...].split(separator: UInt8(ascii: " "))
  }

  @Sendable private static func boot() -> Int64 {
    var (now, up) = (timespec(), timespec())
    clock_gettime(CLOCK_REALTIME, &now)
    clock_gettime(CLOCK_BOOTTIME, &up)
    return Int64(now.tv_sec - up.tv_sec) * 1_000_000 + Int64(now.tv_nsec - up.tv_nsec) / 1_000
  }

  /// The regular files behind the descriptors from 3 on; `nil` if they may not be read.
  private func held(by number: Int32) -> [Process.HeldFile]? {
    let files = SmallFile.names(readIn: "/proc/\(number)/fd")?.lazy.compactMap { name -> Process.HeldFile? in
      guard let descriptor = Int32(name), descriptor > 2 else { return nil }
      let path = "/proc/\(number)/fd/\(descriptor)"
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let target = LinkTarget.bytes(of: path) else {
        return nil
      }
      return .init(Node(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)), path: target)
    }
    return files.map { Array($0.prefix(4_096)) }
  }

  func variable(_ name: String, of number: Int32) -> Bytes? {
    guard Kernel.isOurs(number) else { return nil }
    let prefix = Bytes("\(name)=".utf8)
    return words(of: number, "environ").first { $0.starts(with: prefix) }.map { Bytes($0.dropFirst(prefix.count)) }
  }

  func program(of number: Int32) -> Bytes? {
    // An update deletes the program that runs.
    if let path = LinkTarget.bytes(of: "/proc/\(number)/exe") { return File.name(of: File.unmarked(path)) }
    return words(of: number, "cmdline").first.map(File.name)
  }

  private func words(of number: Int32, _ file: String) -> [Bytes] {
    Kernel.read("/proc/\(number)/\(file)").split(separator: 0, omittingEmptySubsequences: false).map(Bytes.init)
  }

  /// Linux gives a command line and its environment at most 6 MiB.
  private static func read(_ path: String) -> Bytes { SmallFile.read(path, limit: 6 << 20) ?? [] }
}

extension File {
  /// The file at a path; `nil` if there is none.
  init?(at path: Bytes) {
    let terminated = path.map { CChar(bitPattern: $0) } + [0]
    var (device, inode, birth): (UInt64, UInt64, Int64) = (0, 0, 0)
    guard stagedoor_birth(terminated, &device, &inode, &birth) == 0 else { return nil }
    let others = Set([LinkTarget.last(of: path)].compactMap(\.self)).subtracting([path])
    self.init(
      path: path, otherPaths: others, node: Node(device: device, inode: inode),
      birth: birth == 0 ? nil : birth)
  }
}
