package import DBus
import Glibc
package import SceneModel

/// A program that lives on one loop. While it is idle, none of its threads wakes.
package enum Program {
  /// Runs `body` on a loop, and ends the process with the status that `body` returns. From its start to its end, ``SignalDescriptor`` takes `signals`.
  package static func run(
    holding signals: [Int32] = Endings.signals, _ body: @escaping @Sendable (EventLoop) async -> Int32
  ) throws(ConnectionError) -> Never {
    // This runs before any other thread exists.
    SignalDescriptor.hold(signals)
    try EventLoop.runHere { loop in loop.task { exit(await body(loop)) } }
    preconditionFailure("the loop of a program ends with the program")
  }
}

/// The reason why the service cannot start, in one sentence.
package struct Failure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

package enum StandardDescriptors {
  /// Fills the places of standard input, output and error that are closed. If one stayed free, the next file or connection that this program opens
  /// would get its number, and would be read or written in its place. Reading from a filled place or writing to it fails, as before.
  package static func fill() {
    let places = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    // The lowest free number is the place itself, because those below it are filled.
    for (place, mode) in places where fcntl(place, F_GETFD) < 0 { _ = open("/dev/null", mode) }
  }
}

// MARK: - The end

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

package enum Clock {
  @Sendable package static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
