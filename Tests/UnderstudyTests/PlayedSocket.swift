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

  private struct State {
    var manner: Manner
    var clients: [Int32] = []
    var count = 0

    mutating func take(_ client: Int32) {
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

  private let listener: Int32
  private let path: String
  private let state: Mutex<State>

  init(at path: String, _ manner: Manner) throws {
    self.path = path
    state = Mutex(State(manner: manner))
    unlink(path)
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    self.listener = listener
    guard try withSocketAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
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
