import DBus
import Glibc
import InterchangeWire
import SceneModel

/// Who calls. A sender is looked at once: its unique name is never given to another.
final class Callers {
  private var known: [BusName: Caller] = [:]
  /// Each call of a shell comes under a new name, so most are asked for once. Beyond this many all are forgotten.
  private static let maximumKnown = 1024

  func caller(of call: Call) -> Caller {
    guard let name = call.sender else { return Caller(name: nil, isSandboxed: true, application: .empty) }
    if let caller = known[name] { return caller }
    let caller = Callers.look(at: call.knownCredentials, name)
    if known.count >= Callers.maximumKnown { known.removeAll(keepingCapacity: true) }
    known[name] = caller
    return caller
  }

  /// One that has left before it could be looked at could have been anyone, and counts as a stranger.
  private static func look(at credentials: Credentials?, _ name: BusName) -> Caller {
    guard let process = credentials?.processID, credentials?.userID == getuid() else {
      return Caller(name: name, isSandboxed: true, application: .empty)
    }
    switch FlatpakInfo.read(process: process) {
    case .none: return Caller(name: name, isSandboxed: false, application: .empty)
    case .application(let identifier): return Caller(name: name, isSandboxed: true, application: identifier)
    case .unknown: return Caller(name: name, isSandboxed: true, application: .empty)
    }
  }
}

/// What the root directory of a process says about its sandbox. The process cannot change it.
enum FlatpakInfo {
  case none
  case application(Text)
  case unknown

  static func read(process: UInt32) -> FlatpakInfo {
    let root = "/proc/\(process)/root"
    let file = open("\(root)/.flatpak-info", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if file < 0 {
      // There is no such file in a root that we can look into; or the process is gone, or not ours to look at.
      return errno == ENOENT && access("\(root)/.", F_OK) == 0 ? .none : .unknown
    }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = Glibc.read(file, &bytes, bytes.count)
    guard count > 0 else { return .unknown }
    return application(in: String(decoding: bytes[..<count], as: UTF8.self)).map { .application($0) } ?? .unknown
  }

  /// `name=` of the group `[Application]`.
  static func application(in text: String) -> Text? {
    var isInGroup = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") { isInGroup = line == "[Application]" }
      guard isInGroup, line.hasPrefix("name=") else { continue }
      let name = Text(String(line.dropFirst("name=".count)))
      return ApplicationIdentifier.isValid(name) ? name : nil
    }
    return nil
  }
}
