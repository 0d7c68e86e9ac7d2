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
