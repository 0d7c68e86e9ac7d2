import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// The person's rules on the command line.
@Suite(.house) struct RulesCommandTests {
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

  @Test func `a text finds its window, at the place that the present directory gives it`() async throws {
    let file = "\(house.rules)/mine.rules"
    try house.write(Self.rules, to: file)
    try house.write(House.galleryManifest, to: "\(house.applications)/\(House.gallery).json")
    try house.write("int main;", to: "\(house.home)/src/main.c")
    try await house.serving { _ in
      // The first look at a folder may take longer than the rules wait for a disk.
      try await eventually("the file") {
        try await ran("explain", "--text", "main.c:42", "--dir", "src").standardOutput.contains("info line '42'")
      }
      var here = house.stagedoor("drop", "--text", "main.c:42", "--print", "outcome")
      here.directory = "\(house.home)/src"
      #expect(try await here.output() == "created")
      #expect(try await said("drop", "--text", "main.c:42", "--dir", "src", "--print", "outcome") == "activated")
      #expect(try await said("drop", "--print", "outcome", "-", input: "photo 7") == "created")

      let explained = try await said("explain", "--text", "photo 7")
      #expect(explained.contains("+- rule           photo  (\(file):8)"), "\(explained)")
      #expect(explained.contains("|    activity 'org.example.Gallery.openDetail' key 'photo-7'\n"), "\(explained)")
      #expect(explained.contains("+- key            photo-7"), "\(explained)")
      for words in [["--dir", "src"], ["--info", "dir=\(house.home)/src"]] {
        let explained = try await ran(["explain", "--text", "main.c:42"] + words).standardOutput
        #expect(explained.contains("|    info line '42'\n"), "\(explained)")
      }
      let site = try await said("explain", "--text", "OPS-7")
      #expect(site.contains("|    link 'https://tickets.example.org/OPS-7'\n|    application"), "\(site)")
      #expect(!site.contains("|    text"), "\(site)")
      for (words, line) in [
        (["of level", "--info", "level=3"], "+- rule           level"),
        (["phot"], "|    photo  (line 9: when text matches 'photo (?<number>\\d+)' does not hold on \"phot\")"),
      ] {
        let explained = try await ran(["explain", "--text"] + words)
        #expect(explained.standardOutput.contains(line), "\(explained)")
      }

      let list = try await said("rules")
      #expect(list == "at-line\t\(file)\t2\t2\nphoto\t\(file)\t8\t1\nticket\t\(file)\t12\t0\nlevel\t\(file)\t17\t0")

      // The service keeps the version before a broken one, and the list says that it is one.
      try house.write("rule a\n  when text\n", to: file)
      try await expect(["rules"], ends: 0, with: "stagedoor rules: \(file):2:12: expected matches", output: "at-line\t")
    }
  }

  @Test func `without a rule the list says where yours belong`() async throws {
    try await house.serving("--durability", "memory") { _ async throws in
      #expect(try await ran("rules").standardError == "no rules; yours belong in \(house.rules)\n")
    }
  }

  @Test func `check names each fault as a compiler does`() async throws {
    try house.write(Self.rules, to: "\(house.home)/good.rules")
    try house.write("rule a\n  when text\n  then sing 'x'\n", to: "\(house.home)/bad.rules")
    for command in [["check"], ["rules", "check"]] {
      let result = try await expect(
        command + ["/no/such.rules", "good.rules", "bad.rules"], ends: 1, "/no/such.rules: No such file or directory")
      let lines = result.standardOutput.split(separator: "\n")
      #expect(lines.count == 3 && lines[0] == "good.rules: good, 4 rules", "\(result)")
      #expect(lines[1].hasPrefix("bad.rules:2:12: error: expected matches"), "\(result)")
    }
    let installed = "\(house.rules)/bad.rules"
    try house.write("rule a\n  when text\n", to: installed)
    let doctor = try await ran("doctor").standardOutput
    #expect(doctor.contains("wrong  rules       \(installed):2:12: expected matches"), "\(doctor)")
  }

  @Test func `a project keeps its rules, and what they must do, without its files`() async throws {
    try house.write(Self.rules, to: "\(house.home)/project.rules")
    try house.write(House.galleryManifest, to: "\(house.home)/gallery.json")
    try house.write("int main;", to: "\(house.home)/main.c")
    let given = ["--manifest", "gallery.json", "--rules", "project.rules"]
    for (text, key) in [("main.c:42", "file://\(house.home)/main.c"), ("photo 7", "photo-7")] {
      try await expect(["explain", "--record", "cases.json", "--text", text] + given, ends: 0, output: key)
    }
    try FileManager.default.removeItem(atPath: "\(house.home)/main.c")
    try await expect(["test", "cases.json"] + given, ends: 0, output: "2 as recorded, 0 different\n")
    try house.write(Self.rules.replacing("photo-{number}", with: "{number}"), to: "\(house.home)/project.rules")
    try await expect(
      ["test", "cases.json"] + given, ends: 1, output: "key.value: \"photo-7\" was recorded, and now it is \"7\"")
  }
}
