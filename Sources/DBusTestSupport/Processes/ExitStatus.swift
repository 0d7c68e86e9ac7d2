internal import Glibc

/// How a process ended.
///
/// ```swift
/// let result = try await Command("sh", "-c", "exit 3").run()
/// print(result.status)  // exit status 3
/// print(result.status == .exited(3), result.status.isSuccess)  // true false
/// ```
public enum ExitStatus: Sendable, Hashable, CustomStringConvertible {
  /// It ended by itself with this status.
  case exited(Int32)
  /// This signal ended it.
  case signalled(Int32)

  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
  }

  /// Whether it ended by itself with status 0.
  public var isSuccess: Bool { self == .exited(0) }

  /// The status in a shell: the status itself, or 128 plus the signal.
  public var shellStatus: Int32 {
    switch self {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    }
  }

  /// "exit status 3", "signal 9 (Killed)"
  public var description: String {
    switch self {
    case .exited(let status): "exit status \(status)"
    case .signalled(let signal): "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
  }
}
