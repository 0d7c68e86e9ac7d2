import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import SceneModel
import Testing
import TextRules

/// Rules that ask a disk which takes its time, or never answers. The service runs in this process, where the test plays the disk.
@Suite struct RuleDiskTests {
  private static let rules = """
    rule file
      when text matches '(?<path>/.*)'
      when file '{path}' exists
      then activity 'viewCat' key 'file://{file}'
    """

  private func dropText(_ text: String, by caller: Connection) async throws -> String {
    let (_, outcome, _) = try await caller.call(
      to: House.name, at: try ObjectPath(House.root), "org.stagedoor.Interchange1",
      "DropText", text, "",
      [String: String](), returning: ObjectPath.self, String.self, String.self)
    return outcome
  }

  @Test func `directories that do not answer keep no other file, and are asked by few threads`() async throws {
    try await withHouse { house in
      let (life, end) = try OwnedFileDescriptor.pipe()
      let asked = Lock([Text]())
      let home = house.environment["HOME"] ?? ""
      try house.write("int main;", to: "\(home)/main.c")
      try await house.servingHere(
        Manifests.cats, rules: Self.rules,
        askDisk: { path in
          asked.withLock { $0.append(path) }
          if path.hasPrefix("/dead") {
            var byte: UInt8 = 0
            _ = life.withRawValue { Glibc.read($0, &byte, 1) }
          }
          return .directory
        }
      ) { log in
        let caller = try await house.bus.connect()
        for number in 1...6 {
          // Twice in each directory: the second is not asked.
          for _ in 1...2 { _ = try? await dropText("/dead\(number)/x", by: caller) }
        }
        #expect(asked.withLock { $0.count } == 4)
        #expect(asked.withLock { $0 }.allSatisfy { $0.hasPrefix("/dead") })
        #expect(log.lines.contains { $0.contains("the disk did not answer within 50 milliseconds about 1 paths") })
        // While no thread is free, nothing is learnt of a directory.
        _ = try? await dropText("/alive/x", by: caller)
        // The files of drops have other threads.
        let file =
          #"{"items": [{"activities": [{"activityType": "viewCat"}], "#
          + #""representations": [{"type": "text/plain", "file": "file://\#(home)/main.c"}]}]}"#
        _ = try await house.deliver(file)
        end.close()
        try await eventually("the disk") { (try? await dropText("/alive/x", by: caller)) == "created" }
        #expect(try await dropText("/dead1/x", by: caller) == "created")
        await caller.close()
      }
    }
  }

  @Test func `every text is answered when the service ends while the disk is asked`() async throws {
    try await withHouse { house in
      var callers: [Connection] = []
      for _ in 1...3 { callers.append(try await house.bus.connect()) }
      let answers = Lock([String]())
      try await house.servingHere(
        Manifests.cats, rules: Self.rules,
        askDisk: { _ in
          usleep(20_000)
          return .directory
        }
      ) { _ in
        for number in 1...30 {
          let caller = callers[number % 3]
          Task {
            let answer: String
            do { answer = try await dropText("/slow/\(number)", by: caller) } catch { answer = "\(error)" }
            answers.withLock { $0.append(answer) }
          }
        }
        try await eventually("the first answer") { answers.withLock { !$0.isEmpty } }
      }
      try await eventually("all answers") { answers.withLock { $0.count } == 30 }
      for answer in answers.withLock({ $0 }) {
        #expect(answer == "created" || answer.contains("the service ended before it could decide"), "\(answer)")
      }
      for caller in callers { await caller.close() }
    }
  }
}
