package import DBus
import Glibc
package import SceneModel

/// The sandbox of a process, according to the kernel. Nothing in here is the process's own word.
package enum Sandbox: Hashable {
  case none
  case application(Text)
  /// There is a sandbox, or nobody can exclude one.
  case unknown
}

package struct ProcessTraces {
  package enum Root {
    /// `/.flatpak-info` in its root directory; `nil` if it does not exist.
    case seen(flatpak: String?)
    /// The root directory is hidden, as it is for a process in a user namespace, such as our unit.
    case hidden
  }

  package var root: Root
  /// `/proc/PID/status` and `/proc/PID/cgroup`; `nil` if they cannot be read. The label comes from the bus, or from `/proc/PID/attr/current` if the
  /// bus gives none.
  package var status: String?
  package var cgroup: String?
  package var label: String?

  package init(root: Root, status: String? = nil, cgroup: String? = nil, label: String? = nil) {
    self.root = root
    self.status = status
    self.cgroup = cgroup
    self.label = label
  }
}

extension Sandbox {
  /// The sandbox of a caller; `nil` if the caller has gone, or cannot be looked at now. Nobody excludes one for the process of another user.
  package static func find(around credentials: Credentials?) -> Sandbox? {
    guard let credentials else { return nil }
    guard credentials.userID == getuid() else { return .unknown }
    guard let process = credentials.processID, let descriptor = credentials.processDescriptor else { return nil }
    return find(around: process, descriptor, label: credentials.securityLabel)
  }

  /// The sandbox of a process; `nil` if the process has gone, or cannot be looked at now.
  ///
  /// - Parameters:
  ///   - descriptor: A descriptor of the process, whose number may belong to another process by now.
  ///   - label: The label of the process when it connected to the bus. The process may have changed its label since.
  private static func find(around process: UInt32, _ descriptor: OwnedFileDescriptor, label: [UInt8]?) -> Sandbox? {
    // Every file below this directory belongs to one process for good, or to none.
    let directory = open("/proc/\(process)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory < 0 { return nil }
    defer { close(directory) }
    guard var traces = ProcessTraces(of: directory) else { return nil }
    if let label { traces.label = String(decoding: label, as: UTF8.self) }
    // A process that lives now has had its number all the time, so the directory belongs to it.
    return isAlive(descriptor) ? Sandbox(traces) : nil
  }

  /// The descriptor of a process becomes readable when the process has ended.
  private static func isAlive(_ process: OwnedFileDescriptor) -> Bool {
    process.withRawValue { descriptor in
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&wanted, 1, 0) == 0
    }
  }

  package init(_ traces: ProcessTraces) {
    if let snap = traces.label.flatMap(Sandbox.application(inLabel:)) {
      self = .application(snap)
      return
    }
    switch traces.root {
    case .seen(nil): self = .none
    case .seen(let info?): self = Sandbox.application(inFlatpakInfo: info).map { .application($0) } ?? .unknown
    case .hidden:
      // bubblewrap sets this flag, and no process can clear it.
      switch traces.status.flatMap(Sandbox.hasNoNewPrivileges) {
      case false?: self = .none
      case true?:
        self = traces.cgroup.flatMap(Sandbox.application(inFlatpakScopeOf:)).map { .application($0) } ?? .unknown
      case nil: self = .unknown
      }
    }
  }

  /// `name=` of the group `[Application]`.
  private static func application(inFlatpakInfo text: String) -> Text? {
    var isInGroup = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") { isInGroup = line == "[Application]" }
      guard isInGroup, line.hasPrefix("name=") else { continue }
      return valid(String(line.dropFirst("name=".count)))
    }
    return nil
  }

  private static func hasNoNewPrivileges(_ status: String) -> Bool? {
    for line in status.split(separator: "\n") where line.hasPrefix("NoNewPrivs:") {
      switch line.dropFirst("NoNewPrivs:".count).filter({ !$0.isWhitespace }) {
      case "0": return false
      case "1": return true
      default: return nil
      }
    }
    return nil
  }

  /// `app-flatpak-ID-N.scope`, in which a byte that a unit's name cannot hold is `\xHH`.
  private static func application(inFlatpakScopeOf cgroup: String) -> Text? {
    let (prefix, suffix) = ("app-flatpak-", ".scope")
    for unit in cgroup.split(whereSeparator: { $0 == "/" || $0 == "\n" })
    where unit.hasPrefix(prefix) && unit.hasSuffix(suffix) {
      let name = unit.dropFirst(prefix.count).dropLast(suffix.count)
      guard let dash = name.lastIndex(of: "-"), name[dash...].dropFirst().allSatisfy(\.isNumber) else { continue }
      return unescaped(name[..<dash]).flatMap(valid)
    }
    return nil
  }

  /// `snap.NAME`, the portals' name for the application, from a security label such as `snap.NAME.PROGRAM (enforce)`. A label that is not enforced is
  /// no sandbox: editors and terminals that come as snaps have such labels, and so do the programs that run in them.
  private static func application(inLabel label: String) -> Text? {
    let parts = label.split(separator: ".", omittingEmptySubsequences: false)
    let isEnforced = label.filter { $0 != "\n" && $0 != "\0" }.hasSuffix(" (enforce)")
    return parts.count >= 3 && parts[0] == "snap" && isEnforced ? valid("snap.\(parts[1])") : nil
  }

  private static func unescaped(_ name: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard rest.popFirst() == UInt8(ascii: "x"), let code = UInt8(String(Substring(rest.prefix(2))), radix: 16) else {
        return nil
      }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func valid(_ name: String) -> Text? {
    let name = Text(name)
    return ApplicationIdentifier.isValid(name) ? name : nil
  }
}

// MARK: - Reading

extension ProcessTraces {
  /// - Parameter directory: The directory `/proc/PID`. `nil` if the process has gone meanwhile.
  fileprivate init?(of directory: Int32) {
    guard let root = Root(of: directory) else { return nil }
    self.init(root: root)
    label = ProcessTraces.text(directory, "attr/current")
    cgroup = ProcessTraces.text(directory, "cgroup")
    status = ProcessTraces.text(directory, "status")
    // The status exists until the end of the process, so everything that was read before is of this process.
    if status == nil { return nil }
  }

  fileprivate static func text(_ directory: Int32, _ path: String) -> String? {
    let file = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if file < 0 { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = read(file, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }
}

extension ProcessTraces.Root {
  fileprivate init?(of directory: Int32) {
    if faccessat(directory, "root/.", F_OK, 0) != 0 {
      guard errno == EACCES || errno == EPERM else { return nil }
      self = .hidden
      return
    }
    var status = stat()
    if fstatat(directory, "root/.flatpak-info", &status, AT_SYMLINK_NOFOLLOW) != 0 {
      guard errno == ENOENT else { return nil }
      self = .seen(flatpak: nil)
      return
    }
    // If this cannot be read, or is not a file, there is a sandbox of an unknown application.
    self = .seen(flatpak: ProcessTraces.text(directory, "root/.flatpak-info") ?? "")
  }
}
