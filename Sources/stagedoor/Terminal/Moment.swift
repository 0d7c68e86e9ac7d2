import Glibc
import SceneModel
import ServiceSupport

enum Moment {
  /// The age of an event: "now", "5 min", "3 h", "2 d".
  static func age(_ microseconds: UInt64) -> String {
    if microseconds == 0 { return "" }
    let seconds = (Clock.now().microseconds - Int64(clamping: microseconds)) / 1_000_000
    return switch seconds {
    case ..<60: "now"
    case ..<3600: "\(seconds / 60) min"
    case ..<86_400: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) d"
    }
  }

  static func rfc3339(_ microseconds: UInt64) -> String {
    Instant(microseconds: Int64(clamping: microseconds)).rfc3339
  }

  /// A time with all digits of its second, so that times align in a column.
  static func inColumns(_ instant: Instant) -> String {
    let parts = instant.rfc3339.dropLast().split(separator: ".")
    let digits = parts.count > 1 ? String(parts[1]) : ""
    return "\(parts[0]).\(digits)\(String(repeating: "0", count: 6 - digits.count))Z"
  }

  static func clock(_ instant: Instant) -> String {
    var seconds = time_t(instant.microseconds / 1_000_000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  }
}
