import DBus
import Glibc
import ServiceSupport
import WindowEvidence

/// The windows of a Wayland compositor that lists them to its clients, such as sway, labwc, wayfire, niri and KWin.
///
/// It speaks the protocol itself: it needs three of a compositor's interfaces, and none of the three passes descriptors.
final class Wayland: Display {
  private let socket: Int32
  private let sway: Sway?
  private var toplevels = Toplevels()
  private var received: ArraySlice<UInt8> = []
  private(set) var isBroken = false

  /// Waits until the compositor has told of all windows; `nil` if none runs, or none that tells.
  init?() {
    guard let path = Wayland.path, let socket = LocalSocket.connect(to: path) else { return nil }
    self.socket = socket
    sway = Sway()
    flush()
    // A compositor that has just started listens before it answers.
    while !isBroken, !toplevels.isReady { receive(waiting: 10_000) }
    if isBroken || !toplevels.listsWindows { return nil }
  }

  deinit { Glibc.close(socket) }

  private static var path: String? {
    guard let name = Environment["WAYLAND_DISPLAY"] else { return nil }
    return name.hasPrefix("/") ? name : Environment["XDG_RUNTIME_DIR"].map { "\($0)/\(name)" }
  }

  // MARK: Display

  var descriptor: Int32 { socket }

  func changes() -> DisplayChanges {
    receive(waiting: 0)
    return toplevels.takeChanges()
  }

  func windows() -> [WindowNumber] { toplevels.order }

  func read(_ windows: [WindowNumber]) -> [ShownWindow] {
    let nodes = windows.isEmpty ? nil : sway?.windows()
    return windows.map { number in
      guard let toplevel = toplevels.shown[number] else { return ShownWindow() }
      var shown = ShownWindow(title: toplevel.title, isMain: !toplevel.isChild && toplevel.isInTaskbar)
      shown.traits.instance = toplevel.application
      shown.traits.identifiers = [toplevel.application].filter { !$0.isEmpty }
      shown.process = toplevel.process ?? nodes.flatMap { Sway.process(of: toplevel, among: $0) }
      return shown
    }
  }

  func titles(of windows: [WindowNumber]) -> [Bytes] { windows.map { toplevels.shown[$0]?.title ?? [] } }

  var active: WindowNumber? { toplevels.order.first { toplevels.shown[$0]?.isActive == true } }

  var canRaise: Bool { toplevels.canRaise }

  func raise(_ window: WindowNumber, at time: UInt32) {
    toplevels.raise(window)
    flush()
  }

  func close(_ window: WindowNumber) {
    toplevels.close(window)
    flush()
  }

  /// Only an X server has a time of its own.
  func now() -> UInt32 { 0 }

  // MARK: The socket

  private func flush() {
    var rest = toplevels.takeRequests()[...]
    while !rest.isEmpty, !isBroken {
      let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { isBroken = true }
    }
  }

  /// Takes what has come, after waiting this many milliseconds for the first of it.
  private func receive(waiting limit: Int32) {
    var events = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    if limit > 0, poll(&events, 1, limit) == 0 { isBroken = true }
    var buffer = Bytes(repeating: 0, count: 64 << 10)
    while !isBroken {
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { break }
      if count <= 0 {
        isBroken = true
        break
      }
      received += buffer[..<count]
      do throws(WaylandFault) {
        while let event = try WaylandMessage(takenFrom: &received) { try toplevels.take(event) }
      } catch {
        isBroken = true
      }
    }
    isBroken = isBroken || toplevels.isOver
    flush()
  }
}

/// Connections to sockets in the file system.
enum LocalSocket {
  static func connect(to path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Bytes(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    if number < 0 { return nil }
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result == 0 { return number }
    close(number)
    return nil
  }
}
