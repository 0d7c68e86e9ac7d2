package import DBus
import Glibc

/// A program that lives on one loop. Where nothing happens, none of its threads wakes.
package enum Program {
  /// Runs `body` on a loop, and ends the process with the status that it answers.
  ///
  /// - Parameter signals: those that ``SignalDescriptor`` takes in this program, from its beginning to its end.
  package static func run(
    holding signals: [Int32] = Endings.signals, _ body: @escaping @Sendable (EventLoop) async -> Int32
  ) throws(ConnectionError) -> Never {
    // Before any other thread is there.
    SignalDescriptor.hold(signals)
    let loop = try EventLoop()
    loop.task { exit(await body(loop)) }
    // This thread has nothing more to do, and its end would leave a process that looks dead.
    while true { pause() }
  }
}
