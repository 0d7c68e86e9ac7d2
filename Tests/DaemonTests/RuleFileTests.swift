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
      }
    }
  }
}
