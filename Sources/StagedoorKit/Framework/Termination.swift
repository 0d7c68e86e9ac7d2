internal import DBus
@preconcurrency internal import Glibc
internal import Synchronization

/// The signals that ask a process to end, for an application that wants to stop in order first.
///
/// Only signals that the program does not handle itself are taken, and each only once: the second of a kind ends the process at once.
struct Termination {
  private static let signals = [SIGTERM, SIGINT, SIGHUP]

  /// The number of the signal that came; 0 as long as none did.
  private static let came = Atomic<Int32>(0)
  /// How many applications have to stop before the process ends.
  private static let running = Atomic<Int>(0)
  /// Can be read once a signal came, and for ever after.
  private static let pipe = try? OwnedFileDescriptor.pipe()
  private static let writeEnd = pipe?.writeEnd.withRawValue { $0 } ?? -1

  /// A loop waits for a descriptor once, and may have several applications.
  private let readEnd = try? pipe?.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) }

  /// From now on the signals wait for the application.
  init() {
    // The handler may not be the first to use these.
    _ = (Self.writeEnd, Self.came.load(ordering: .relaxed))
    Self.running.add(1, ordering: .sequentiallyConsistent)
    for signal in Self.signals { Self.take(signal) }
  }

  private static func take(_ signal: Int32) {
    var present = sigaction()
    guard sigaction(signal, nil, &present) == 0, present.sa_flags & SA_SIGINFO == 0,
      present.__sigaction_handler.sa_handler == nil
    else { return }
    var action = sigaction()
    action.sa_flags = SA_RESTART | Int32(bitPattern: UInt32(SA_RESETHAND))
    action.__sigaction_handler.sa_handler = { number in
      // All of this is safe in a signal's handler. Where no application runs, the signal does what it does in any program.
      if Termination.running.load(ordering: .sequentiallyConsistent) == 0 {
        raise(number)
        return
      }
      let error = errno
      Termination.came.store(number, ordering: .sequentiallyConsistent)
      var byte: UInt8 = 0
      write(Termination.writeEnd, &byte, 1)
      errno = error
    }
    sigaction(signal, &action, nil)
  }

  /// Waits for a signal; `nil` where the task is cancelled first. The application runs no longer then.
  func signal(on loop: EventLoop) async -> Int32? {
    if let readEnd { await loop.readable(readEnd.withRawValue { $0 }) }
    let signal = Self.came.load(ordering: .sequentiallyConsistent)
    if !Task.isCancelled, signal != 0 { return signal }
    Self.running.subtract(1, ordering: .sequentiallyConsistent)
    return nil
  }

  /// Ends the process as the signal does, after the last application that it stopped.
  func end(with signal: Int32) {
    if Self.running.subtract(1, ordering: .sequentiallyConsistent).newValue > 0 { return }
    fflush(nil)
    kill(getpid(), signal)
    // Where this thread does not take the signal, another does in a moment.
    _exit(128 + signal)
  }
}
