internal import CDBus
internal import Glibc

/// The signals of a process, one after another, as events of a loop.
package struct SignalDescriptor: Sendable {
  private let descriptor: OwnedFileDescriptor

  /// From now on these signals wait until somebody takes them, and have no other effect. Call this at the beginning of a program: a thread inherits
  /// the setting from the thread that started it, and a thread without it would end the process.
  package static func hold(_ signals: [Int32]) {
    var set = Self.set(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Undoes ``hold(_:)`` for the calling thread: the signals have their usual effect again, and may end the process.
  package static func release(_ signals: [Int32]) {
    var set = Self.set(signals)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Takes signals that are held.
  package init(_ signals: [Int32]) throws(ConnectionError) {
    var set = Self.set(signals)
    let number = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    if number < 0 { throw .system("signalfd", errno) }
    descriptor = OwnedFileDescriptor(owning: number)
  }

  /// Waits for the next signal, which may have come already. Several signals of the same number that nobody has taken count as one. `nil` if the task
  /// is cancelled or the loop stops.
  package nonisolated(nonsending) func next(on loop: EventLoop) async -> Int32? {
    await loop.readable(descriptor.withRawValue { $0 })
    var signal = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    let count = descriptor.withRawValue { read($0, &signal, size) }
    return count == size ? Int32(signal.ssi_signo) : nil
  }

  private static func set(_ signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }
}
