package import DBus
import Dispatch
import Glibc

/// Why the service ends.
package enum Ending: Sendable {
  case signal
  case askedToQuit
  case busWent

  /// What the process ends with: 3 is for a supervisor that would start it again with the bus.
  package var status: Int32 {
    switch self {
    case .signal, .askedToQuit: 0
    case .busWent: 3
    }
  }
}

/// Waits for whichever ending comes first.
package struct Endings: Sendable {
  private let stream: AsyncStream<Ending>
  private let continuation: AsyncStream<Ending>.Continuation

  package init() {
    (stream, continuation) = AsyncStream.makeStream(of: Ending.self, bufferingPolicy: .bufferingOldest(1))
    for number in [SIGINT, SIGTERM] {
      // Otherwise the process would be gone before the source sees it.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { [continuation] in continuation.yield(.signal) }
      // It lasts as long as the process: nothing else keeps it.
      source.setCancelHandler { _ = source }
      source.activate()
    }
  }

  package func askToQuit() { continuation.yield(.askedToQuit) }

  package func first(on connection: Connection) async -> Ending {
    let watch = Task { [continuation] in
      if await connection.closed() == .disconnected { continuation.yield(.busWent) }
    }
    defer { watch.cancel() }
    return await stream.first { _ in true } ?? .busWent
  }
}
