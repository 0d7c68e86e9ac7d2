import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import Testing

/// The person's rules, from files in the directories of configuration.
@Suite("Files of rules") struct RuleFileTests {
  private func rules(_ house: House, _ name: String = "mine.rules") -> String {
    "\(house.rules)/\(name)"
  }

  private func dropText(_ text: String, in directory: String = "", _ house: House) async throws -> String {
    try await house.call("DropText", "string:\(text)", "string:\(directory)", "dict:string:string:")[1].text
  }

  private func key(_ text: String, in directory: String = "", _ house: House) async throws -> String? {
    let payload =
      #"{"items":[{"representations":[{"type":"text/plain","text":"\#(text)"}]}],"options":{"info":{"dir":"\#(directory)"}}}"#
    return try await house.explain(payload)["key"]?["value"]?.text
  }

  @Test func `a text finds its window, also by a file on the disk, and the rules change while the service runs`()
    async throws
  {
    try await withHouse { house in
      let home = house.environment["HOME"] ?? ""
      try house.write(ManifestFileTests.cats("Cats"), to: "\(house.applications)/org.example.Cats.json")
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
        #expect(try await dropText("main.c:42", in: "\(home)/src", house) == "created")
        #expect(try await dropText("main.c:7", in: "\(home)/src", house) == "activated")

        // A later folder, made now, and a broken file, of which the version before stays.
        let system = "\(home)/system-config/stagedoor/rules"
        try house.write(
          "rule cat\n  when text is 'Tom'\n  then activity 'viewCat' key 'system'\n", to: "\(system)/cat.rules")
        try await eventually("the rule of the system", within: usualLimit * 5) {
          try await key("Tom", house) == "system"
        }
        try house.write(
          "rule cat\n  when text is 'Tom'\n  then activity 'viewCat' key 'mine'\n", to: rules(house, "cat.rules"))
        try await eventually("the rule of the user", within: usualLimit * 5) { try await key("Tom", house) == "mine" }
        try house.write("rule at-line\n  when text\n", to: file)
        try await eventually("the complaint", within: usualLimit * 5) {
          daemon.standardError.contains("\(file):2:12: expected matches, contains or is")
        }
        #expect(try await key("main.c:42", in: "\(home)/src", house) != nil)

        // A new file that is broken does not hide the one of its name in a later folder.
        func dog(_ key: String) -> String { "rule dog\n  when text is 'Dog'\n  then activity 'viewCat' key '\(key)'\n" }
        try house.write("rule dog\n  when\n", to: rules(house, "dog.rules"))
        try house.write(dog("system"), to: "\(system)/dog.rules")
        try await eventually("the rule of the system", within: usualLimit * 5) {
          try await key("Dog", house) == "system"
        }

        // A file elsewhere, to which a link leads. A hidden file is an editor's.
        let elsewhere = "\(home)/dotfiles/linked.rules"
        func write(_ key: String, to path: String) throws {
          try house.write("rule linked\n  when text is 'Link'\n  then activity 'viewCat' key '\(key)'\n", to: path)
        }
        try write("first", to: elsewhere)
        try write("hidden", to: rules(house, ".#a.rules"))
        try FileManager.default.createSymbolicLink(
          atPath: rules(house, "linked.rules"), withDestinationPath: elsewhere)
        for version in ["first", "second", "third"] {
          try write(version, to: elsewhere)
          try await eventually("the \(version) version", within: usualLimit * 5) {
            try await key("Link", house) == version
          }
        }
      }
    }
  }

  /// Each version of the file has one rule for the text, a different one. A half of one version and a half of the other might have none.
  @Test func `each drop sees one whole set of rules, however often the file is replaced`() async throws {
    try await withHouse(installing: ManifestFileTests.cats("Cats")) { house in
      let file = rules(house)
      @Sendable func write(_ version: Int) throws {
        let texts = version.isMultiple(of: 2) ? ["Tom", "nobody"] : ["nobody", "Tom"]
        let lines = texts.enumerated().map { place, text in
          "rule r\(place)\n  when text is '\(text)'\n  then activity 'viewCat' key '\(version)'\n"
        }
        try house.write(lines.joined(), to: "\(file).new")
        guard rename("\(file).new", file) == 0 else { throw CocoaError(.fileWriteUnknown) }
      }
      try write(0)
      let count = getenv("STAGEDOOR_STRESS") == nil ? 60 : 1_000
      try await house.serving { _ in
        let connection = try await house.bus.connect()
        for version in 1...count {
          try write(version)
          for _ in 0..<10 {
            // Without a rule for it, the text would be refused.
            _ = try await house.service(connection).call(
              "DropText", "Tom", "",
              [String: String](), timeout: usualLimit, returning: ObjectPath.self, String.self, String.self)
          }
        }
        try await eventually("the last version", within: usualLimit * 5) { try await key("Tom", house) == "\(count)" }
        await connection.close()
      }
    }
  }
}
