import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

extension RunningCommand {
  /// Stops the program, and returns when all of its threads stand still. SIGCONT lets it continue.
  func freeze() async throws {
    signal(SIGSTOP)
    let tasks = "/proc/\(processIdentifier)/task"
    try await eventually("it stands still") {
      try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { thread in
        let line = String(decoding: try Data(contentsOf: URL(filePath: "\(tasks)/\(thread)/stat")), as: UTF8.self)
        // The number, the name in brackets, the state.
        return line.drop { $0 != ")" }.dropFirst(2).first == "T"
      }
    }
  }

  /// A field of the process's memory, in bytes: `VmHWM`, `RssAnon`, `RssFile`
  func memory(_ field: String) throws -> Int {
    let status = try String(contentsOf: URL(filePath: "/proc/\(processIdentifier)/status"), encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(field):") })
    return try #require(Int(line.filter(\.isNumber))) << 10
  }
}
