package import DBus
import Glibc

/// A program that lives on one loop. While it is idle, none of its threads wakes.
package enum Program {
  /// Runs `body` on a loop, and ends the process with the status that `body` returns.
  ///
  /// - Parameter signals: The signals that ``SignalDescriptor`` takes in this program, from its start to its end.
  package static func run(
    holding signals: [Int32] = Endings.signals, _ body: @escaping @Sendable (EventLoop) async -> Int32
  ) throws(ConnectionError) -> Never {
    // This runs before any other thread exists.
    SignalDescriptor.hold(signals)
    try EventLoop.runHere { loop in
      loop.task { exit(await body(loop)) }
    }
    preconditionFailure("the loop of a program ends with the program")
  }
}
