import DBus
import DBusTestSupport
import Foundation
import Glibc
import Testing
import TextRules

/// Returns the outcome.
private func dropText(_ text: String, by caller: Connection) async throws -> String {
  let service = caller.object(House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1")
  return try await service.call(
    "DropText", text, "", [String: String](), timeout: usualLimit, returning: ObjectPath.self, String.self, String.self
  ).1
}

/// The person's rules, from files in the directories of configuration.
@Suite struct RuleFileTests {
  private func rules(_ house: House, _ name: String = "mine.rules") -> String { "\(house.rules)/\(name)" }

  private func key(_ text: String, in directory: String = "", _ house: House) async throws -> String? {
    let payload =
      #"{"items":[{"representations":[{"type":"text/plain","text":"\#(text)"}]}],"options":{"info":{"dir":"\#(directory)"}}}"#
    return try await house.explain(payload)["key"]?["value"]?.string
  }

  private func waitFor(_ wanted: String, for text: String, _ house: House) async throws {
    try await eventually("the rule of \(wanted)", within: usualLimit * 5) { try await key(text, house) == wanted }
  }

  /// A rule for one text.
  private static func rule(_ name: String, _ text: String, _ key: String) -> String {
    "rule \(name)\n  when text is '\(text)'\n  then activity 'viewCat' key '\(key)'\n"
  }

  @Test(.house(installing: Manifests.cats))
  func `a text finds its window, also by a file on the disk, and the rules change meanwhile`() async throws {
    let home = house.home
    try house.write("int main;", to: "\(home)/src/main.c")
    let file = rules(house)
    try house.write(
      """
      rule at-line
        when text matches '(?<path>.*):(?<line>\\d+)'
        when file '{path}' exists
        then activity 'viewCat' key 'file://{file}'
        then info line '{line}'
      """, to: file)
    try await house.serving { daemon in
      #expect(try await key("main.c:42", in: "\(home)/src", house) == "file://\(home)/src/main.c")
      #expect(try await key("none.c:42", in: "\(home)/src", house) == nil)

      // A later folder is made now, and a file is broken: its version before stays.
      let system = "\(home)/system-config/stagedoor/rules"
      try house.write(Self.rule("cat", "Tom", "system"), to: "\(system)/cat.rules")
      try await waitFor("system", for: "Tom", house)
      try house.write(Self.rule("cat", "Tom", "mine"), to: rules(house, "cat.rules"))
      try await waitFor("mine", for: "Tom", house)
      try house.write("rule at-line\n  when text\n", to: file)
      try await eventually("the complaint", within: usualLimit * 5) {
        daemon.standardError.contains("\(file):2:12: expected matches, contains or is")
      }
      #expect(try await key("main.c:42", in: "\(home)/src", house) != nil)

      // A new file that is broken does not hide the one of its name in a later folder.
      try house.write("rule dog\n  when\n", to: rules(house, "dog.rules"))
      try house.write(Self.rule("dog", "Dog", "system"), to: "\(system)/dog.rules")
      try await waitFor("system", for: "Dog", house)

      // A file elsewhere, to which a link leads. A hidden file is an editor's.
      let elsewhere = "\(home)/dotfiles/linked.rules"
      try house.write(Self.rule("linked", "Link", "first"), to: elsewhere)
      try house.write(Self.rule("linked", "Link", "hidden"), to: rules(house, ".#a.rules"))
      try FileManager.default.createSymbolicLink(atPath: rules(house, "linked.rules"), withDestinationPath: elsewhere)
      for version in ["first", "second", "third"] {
        try house.write(Self.rule("linked", "Link", version), to: elsewhere)
        try await waitFor(version, for: "Link", house)
      }
    }
  }

  @Test(.house(installing: Manifests.cats))
  func `the file behind links may go and come back, and a link on the way may change`() async throws {
    let elsewhere = "\(house.home)/dotfiles"
    func link(_ target: String) throws {
      try #require(symlink(target, "\(elsewhere)/new") == 0 && rename("\(elsewhere)/new", "\(elsewhere)/now") == 0)
    }
    let file = "\(elsewhere)/one/linked.rules"
    try house.write(Self.rule("linked", "Link", "first"), to: file)
    try house.write(Self.rule("linked", "Link", "other"), to: "\(elsewhere)/two/linked.rules")
    // A link to a link to the directory.
    try #require(symlink("one", "\(elsewhere)/present") == 0)
    try link("present")
    try house.write("", to: rules(house))
    try #require(symlink("\(elsewhere)/now/linked.rules", rules(house, "linked.rules")) == 0)
    try await house.serving { daemon in
      // The rules of a file that has gone stay. So the complaint says when the service has noticed.
      func hasGone(_ times: Int) async throws {
        try await eventually("the file has gone", within: usualLimit * 5) {
          daemon.standardError.components(separatedBy: "linked.rules:1:1: the file cannot be read").count - 1 == times
        }
      }
      try await waitFor("first", for: "Link", house)
      try FileManager.default.removeItem(atPath: file)
      try await hasGone(1)
      try house.write(Self.rule("linked", "Link", "back"), to: file)
      try await waitFor("back", for: "Link", house)
      try #require(unlink("\(elsewhere)/present") == 0)
      try await hasGone(2)
      try house.write(Self.rule("linked", "Link", "third"), to: file)
      try #require(symlink("one", "\(elsewhere)/present") == 0)
      try await waitFor("third", for: "Link", house)
      try link("two")
      try await waitFor("other", for: "Link", house)
    }
  }

  /// Each version of the file has one rule for the text, a different one. A half of one version and a half of the other might have none.
  @Test(.house(installing: Manifests.cats))
  func `each drop sees one whole set of rules, however often the file is replaced`() async throws {
    let file = rules(house)
    @Sendable func write(_ version: Int) throws {
      let texts = version.isMultiple(of: 2) ? ["Tom", "nobody"] : ["nobody", "Tom"]
      let rules = texts.enumerated().map { place, text in Self.rule("r\(place)", text, "\(version)") }
      try house.write(rules.joined(), to: "\(file).new")
      guard rename("\(file).new", file) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
    try write(0)
    let count = getenv("STAGEDOOR_STRESS") == nil ? 60 : 1_000
    try await house.serving { _ in
      for version in 1...count {
        try write(version)
        for _ in 0..<10 {
          // Without a rule for it, the text would be refused.
          _ = try await dropText("Tom", by: house.watcher)
        }
      }
      try await waitFor("\(count)", for: "Tom", house)
    }
  }
}

/// Rules that ask a disk which takes its time, or never answers. The service runs in this process, where the test plays the disk.
@Suite struct RuleDiskTests {
  private static let rules = """
    rule file
      when text matches '(?<path>/.*)'
      when file '{path}' exists
      then activity 'viewCat' key 'file://{file}'
    """

  @Test(.house) func `directories that do not answer keep no other file, and are asked by few threads`() async throws {
    let (life, end) = try OwnedFileDescriptor.pipe()
    let asked = Lock([Text]())
    let home = house.home
    try house.write("int main;", to: "\(home)/main.c")
    try await house.servingHere(
      rules: Self.rules,
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
    }
  }

  @Test(.house) func `every text is answered when the service ends while the disk is asked`() async throws {
    var callers: [Connection] = []
    for _ in 1...3 { callers.append(try await house.bus.connect()) }
    let answers = Lock([String]())
    var log: LogLines?
    try await house.servingHere(
      rules: Self.rules,
      askDisk: { _ in
        usleep(20_000)
        return .directory
      }
    ) { lines in
      log = lines
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
    // On a busy machine the disk answers too late, and the service says so.
    let isLate = log?.lines.contains { $0.contains("the disk did not answer within") } ?? false
    for answer in answers.withLock({ $0 }) {
      #expect(
        answer == "created" || answer.contains("the service ended before it could decide")
          || isLate && answer.contains("no application takes"), "\(answer)")
    }
  }
}
