import DBusTestSupport
import Foundation
import Glibc
import Synchronization

/// The socket of a display that answers as a test likes.
final class PlayedSocket: Sendable {
  enum Manner {
    /// It takes connections and says nothing.
    case silent
    /// It ends each connection at once.
    case broken
    case saying([UInt8])
  }

  fileprivate struct State {
    var manner: Manner
    var clients: [Int32] = []
    var count = 0
  }

  private let listener: Int32
  private let path: String
  private let state: Mutex<State>

  init(at path: String, _ manner: Manner) throws {
    self.path = path
    state = Mutex(State(manner: manner))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    unlink(path)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let bound = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 8) == 0 else { throw CocoaError(.fileWriteUnknown) }
    try OwnThread.start { [self] in
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 {
          // Nobody else closes it: its number would belong to another file while this thread still listens.
          close(listener)
          return
        }
        state.withLock { $0.take(client) }
      }
    }
  }

  /// How many have connected since the manner changed.
  var count: Int { state.withLock(\.count) }

  /// Ends all connections, and is otherwise from then on.
  func become(_ manner: Manner) {
    state.withLock { state in
      for client in state.clients { close(client) }
      state = State(manner: manner)
    }
  }

  /// Leaves the path to another server.
  func end() {
    shutdown(listener, Int32(SHUT_RDWR))
    unlink(path)
    become(.broken)
  }
}

extension PlayedSocket.State {
  fileprivate mutating func take(_ client: Int32) {
    count += 1
    switch manner {
    case .silent: clients.append(client)
    case .broken: close(client)
    case .saying(let bytes):
      clients.append(client)
      _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
  }
}
