import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// The person's rules on the command line.
@Suite struct RulesCommandTests {
  private static let rules = """
    # A compiler's message.
    rule at-line
      when text matches '(?<path>[^:]+):(?<line>\\d+)'
      when file '{path}' exists
      then activity 'org.example.Gallery.openDetail' key 'file://{file}'
      then info line '{line}'

    rule photo
      when text matches 'photo (?<number>\\d+)'
      then activity 'org.example.Gallery.openDetail' key 'photo-{number}'

    rule ticket
      when text matches '(?<ticket>OPS-\\d+)'
      then link 'https://tickets.example.org/{ticket}'
      then application 'org.example.Gallery'

    rule level
      when text is 'of level'
      when info level is '3'
      then activity 'org.example.Gallery.openDetail'
    """

  private func installed(_ house: House) throws -> String {
    let path = "\(house.rules)/mine.rules"
    try house.write(Self.rules, to: path)
    return path
  }

  @Test func `a text finds its window, at the place that the present directory gives it`() async throws {
    try await withHouse { house in
      let file = try installed(house)
      try house.write(House.galleryManifest, to: "\(house.applications)/\(House.gallery).json")
      try house.write("int main;", to: "\(house.home)/src/main.c")
      try await house.serving { _ in
        var here = house.stagedoor("drop", "--text", "main.c:42", "--print", "outcome")
        here.directory = "\(house.home)/src"
        #expect(try await here.output() == "created")
        let there = house.stagedoor("drop", "--text", "main.c:42", "--dir", "\(house.home)/src", "--print", "outcome")
        #expect(try await there.output() == "activated")
        let piped = try await house.shell("printf 'photo 7' | \"$0\" drop --print outcome -").output()
        #expect(piped == "created")

        let explained = try await house.stagedoor("explain", "--text", "photo 7").output()
        #expect(explained.contains("+- rule           photo  (\(file):8)"), "\(explained)")
        #expect(explained.contains("|    activity 'org.example.Gallery.openDetail' key 'photo-7'\n"), "\(explained)")
        #expect(explained.contains("+- key            photo-7"), "\(explained)")
        let line = house.stagedoor("explain", "--text", "main.c:42", "--dir", "\(house.home)/src")
        #expect(try await line.output().contains("|    info line '42'\n"))
        let site = try await house.stagedoor("explain", "--text", "OPS-7").output()
        #expect(site.contains("|    link 'https://tickets.example.org/OPS-7'\n|    application"), "\(site)")
        #expect(!site.contains("|    text"), "\(site)")
        let info = try await house.stagedoor("explain", "--text", "of level", "--info", "level=3").output()
        #expect(info.contains("+- rule           level"), "\(info)")
        let unknown = try await house.stagedoor("explain", "--text", "phot").run().standardOutput
        #expect(
          unknown.contains("|    photo  (line 9: when text matches 'photo (?<number>\\d+)' does not hold on \"phot\")"),
          "\(unknown)")

        let list = try await house.stagedoor("rules").output()
        #expect(list == "at-line\t\(file)\t2\t2\nphoto\t\(file)\t8\t1\nticket\t\(file)\t12\t0\nlevel\t\(file)\t17\t0")

        // The service keeps the version before a broken one, and the list says that it is one.
        try house.write("rule a\n  when text\n", to: file)
        let broken = try await house.stagedoor("rules").run()
        #expect(broken.standardOutput.hasPrefix("at-line\t"))
        #expect(broken.standardError.hasPrefix("stagedoor rules: \(file):2:12: expected matches"), "\(broken)")
      }
    }
  }

  @Test func `check names each fault as a compiler does`() async throws {
    try await withHouse { house in
      let (good, bad) = ("\(house.home)/good.rules", "\(house.home)/bad.rules")
      try house.write(Self.rules, to: good)
      try house.write("rule a\n  when text\n  then sing 'x'\n", to: bad)
      for command in [["check"], ["rules", "check"]] {
        let result = try await house.stagedoor(command + ["/no/such.rules", good, bad]).run()
        #expect(result.status == .exited(1))
        #expect(result.standardError == "stagedoor \(command[0]): /no/such.rules: No such file or directory\n")
        let lines = result.standardOutput.split(separator: "\n")
        #expect(lines.first == "\(good): good, 4 rules")
        #expect(lines.count == 3 && lines[1].hasPrefix("\(bad):2:12: error: expected matches"), "\(result)")
      }
      let installed = "\(house.rules)/bad.rules"
      try house.write("rule a\n  when text\n", to: installed)
      let doctor = try await house.stagedoor("doctor").run().standardOutput
      #expect(doctor.contains("wrong  rules       \(installed):2:12: expected matches"), "\(doctor)")
    }
  }

  @Test func `a project keeps its rules, and what they must do, without its files`() async throws {
    try await withHouse { house in
      let (rules, cases, manifest) = (
        "\(house.home)/project.rules", "\(house.home)/cases.json", "\(house.home)/gallery.json"
      )
      try house.write(Self.rules, to: rules)
      try house.write(House.galleryManifest, to: manifest)
      try house.write("int main;", to: "\(house.home)/main.c")
      let given = ["--manifest", manifest, "--rules", rules]
      func run(_ words: String...) async throws -> Command.Result {
        try await house.stagedoor(words + given).run()
      }
      let line = try await run("explain", "--record", cases, "--text", "main.c:42")
      #expect(line.standardOutput.contains("file://\(house.home)/main.c"), "\(line)")
      #expect(try await run("explain", "--record", cases, "--text", "photo 7").status.isSuccess)
      try FileManager.default.removeItem(atPath: "\(house.home)/main.c")
      let same = try await run("test", cases)
      #expect(same.standardOutput.hasSuffix("2 as recorded, 0 different\n"), "\(same)")
      try house.write(Self.rules.replacing("photo-{number}", with: "{number}"), to: rules)
      let different = try await run("test", cases)
      #expect(different.status == .exited(1))
      #expect(
        different.standardOutput.contains("key.value: \"photo-7\" was recorded, and now it is \"7\""), "\(different)")
    }
  }
}
