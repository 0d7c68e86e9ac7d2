import DBus
import Glibc
package import SceneModel

extension InterchangeError {
  /// A failed system call, about the value at `place`.
  init(_ name: Name, _ place: String, _ what: String, _ errorNumber: Int32) {
    switch errorNumber {
    case EMFILE, ENFILE:
      self.init(
        .limitsExceeded, "\(place): \(what): the service has no file descriptor left; release deliveries, and try again"
      )
    default: self.init(name, "\(place): \(what): \(String(cString: strerror(errorNumber)))")
    }
  }

  /// Runs work that needs a memory file, for the value at `place`.
  static func inMemory<Result>(
    _ place: String, _ body: () throws(CodingError) -> Result
  ) throws(InterchangeError) -> Result {
    do throws(CodingError) {
      return try body()
    } catch {
      let number = if case .fileDescriptorUnavailable(let number) = error { number } else { EIO }
      throw InterchangeError(.storageFailed, place, "the content cannot be kept in memory", number)
    }
  }

  package static func tooLong(_ limit: Int64, at place: String) -> InterchangeError {
    InterchangeError(.limitsExceeded, "\(place): has more than the \(limit) bytes that may be kept")
  }

  static func calledOff(_ place: String) -> InterchangeError {
    InterchangeError(.cancelled, "\(place): nobody waits for the content any more, so no more of it was read")
  }
}
