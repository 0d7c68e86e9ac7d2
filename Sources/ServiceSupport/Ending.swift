package import DBus
import Glibc

/// The reason why the service ends.
package enum Ending: Sendable {
  case signal
  case askedToQuit
  /// Another process has taken the name.
  case replaced
  case busWent

  /// The exit status of the process. 3 lets a supervisor start the service again with the bus.
  package var status: Int32 {
    switch self {
    case .signal, .askedToQuit, .replaced: 0
    case .busWent: 3
    }
  }
}

/// Waits for the first ending.
package struct Endings: Sendable {
  private let stream: AsyncStream<Ending>
  private let continuation: AsyncStream<Ending>.Continuation

  /// The signals that ask a program to end.
  package static let signals = [SIGINT, SIGTERM]

  /// Use this in a program that ``Program/run(holding:_:)`` runs.
  package init(on loop: EventLoop, for signals: [Int32] = Endings.signals) throws(ConnectionError) {
    (stream, continuation) = AsyncStream.makeStream(of: Ending.self, bufferingPolicy: .bufferingOldest(1))
    let signals = try SignalDescriptor(signals)
    loop.task { [continuation] in
      if await signals.next(on: loop) != nil { continuation.yield(.signal) }
    }
  }

  package func askToQuit() { continuation.yield(.askedToQuit) }

  /// - Parameter name: The bus name of a service that ends when another process takes the name.
  package func first(on connection: Connection, having name: BusName? = nil) async -> Ending {
    let bus = connection.loop.task { [continuation] in
      if await connection.closed() == .disconnected { continuation.yield(.busWent) }
    }
    let owner = connection.loop.task { [continuation] in
      guard let name, await Self.isLost(name, on: connection) else { return }
      continuation.yield(.replaced)
    }
    defer {
      bus.cancel()
      owner.cancel()
    }
    return await stream.first { _ in true } ?? .busWent
  }

  /// Waits until another process has the name; `false` if the bus closes first.
  private static func isLost(_ name: BusName, on connection: Connection) async -> Bool {
    let own = await connection.uniqueName
    guard let owners = try? await connection.owners(of: name) else { return false }
    return await owners.first { $0 != own } != nil
  }
}
