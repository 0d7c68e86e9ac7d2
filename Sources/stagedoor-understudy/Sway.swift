import CFiles
import Glibc
import SceneModel
import ServiceSupport
import WindowEvidence

/// sway's own socket, which tells the process of each window. Wayland itself does not.
struct Sway {
  struct Window: Equatable {
    var application: Bytes
    var title: Bytes
    var process: Int32
  }

  private let path: String

  /// `nil` if the compositor is another.
  init?() {
    guard let path = Environment["SWAYSOCK"] else { return nil }
    self.path = path
  }

  /// The process of a window: it is certain only if every window that may be this one has the same.
  static func process(of toplevel: Toplevels.Toplevel, among windows: [Window]) -> Int32? {
    let candidates = windows.filter { $0.application == toplevel.application }
    let processes = Set(candidates.map(\.process))
    if processes.count == 1 { return processes.first }
    let named = Set(candidates.filter { $0.title == toplevel.title }.map(\.process))
    return named.count == 1 ? named.first : nil
  }

  // MARK: The tree

  private static let magic = Bytes("i3-ipc".utf8)
  private static let getTree: UInt32 = 4
  private static let limit = 8 << 20

  /// All windows; `nil` if sway does not answer.
  func windows() -> [Window]? {
    guard let socket = LocalSocket.connect(to: path) else { return nil }
    defer { close(socket) }
    var patience = timeval(tv_sec: 0, tv_usec: 200_000)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let request = Sway.magic + WaylandMessage.word(0) + WaylandMessage.word(Sway.getTree)
    guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count,
      let head = Sway.receive(Sway.magic.count + 8, socket), head.starts(with: Sway.magic)
    else { return nil }
    let count = Int(head[Sway.magic.count...].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
    guard count <= Sway.limit, let body = Sway.receive(count, socket) else { return nil }
    return Sway.windows(in: body)
  }

  private static func receive(_ count: Int, _ socket: Int32) -> Bytes? {
    var bytes: Bytes = []
    var buffer = Bytes(repeating: 0, count: 64 << 10)
    while bytes.count < count {
      let received = recv(socket, &buffer, min(buffer.count, count - bytes.count), 0)
      if received < 0, errno == EINTR { continue }
      if received <= 0 { return nil }
      bytes += buffer[..<received]
    }
    return bytes
  }

  /// The windows in the answer to `get_tree`.
  static func windows(in tree: Bytes) -> [Window]? {
    guard let text = String(validating: tree, as: UTF8.self), let root = try? JSON.value(Text(text)) else { return nil }
    var found: [Window] = []
    var nodes = [root]
    while let node = nodes.popLast() {
      for key: Text in ["nodes", "floating_nodes"] { nodes += node[key]?.elements ?? [] }
      guard case .integer(let process)? = node["pid"], let process = Int32(exactly: process) else { continue }
      // Those of XWayland have a class instead.
      let application = node["app_id"]?.string ?? node["window_properties"]?["class"]?.string ?? ""
      found.append(
        Window(application: Bytes(application.utf8), title: Bytes((node["name"]?.string ?? "").utf8), process: process))
    }
    return found
  }
}
