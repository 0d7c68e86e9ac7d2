import DBusTestSupport
import FoundationEssentials
import Testing

extension RunningCommand {
  /// A field of the process's memory, in bytes: `VmHWM`, `RssAnon`, `RssFile`
  func memory(_ field: String) throws -> Int {
    let status = try String(contentsOf: URL(filePath: "/proc/\(processIdentifier)/status"), encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(field):") })
    return try #require(Int(line.filter(\.isNumber))) << 10
  }
}
