import DBusTestSupport
import Glibc
import Testing

/// The example scripts, and what other tools print.
@Suite struct ToolTests {
  private static let type = "org.stagedoor.examples.Gallery.openDetail"

  @Test func `the whole round shows each command with its answer, and leaves nothing behind`() async throws {
    try await withHouse { house in
      var round = house.example("round", Command.built("stagedoord").program)
      let folder = Command.built("stagedoor").program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
      round.environment["PATH"] = "\(folder):\(round.environment["PATH"] ?? "/usr/bin:/bin")"
      let result = try await round.run()
      #expect(result.status == .exited(0), "\(result)")
      #expect(result.standardError == "")
      for words in [
        "$ stagedoor drop --type \(Self.type) --target photo-7 --title 'Beach, 1999'\ncreated\t",
        "$ stagedoor drop --type \(Self.type) --target photo-7\nactivated\t",
        "+- application    org.stagedoor.examples.Gallery", "$ stagedoor watch --past\n1\t",
      ] {
        #expect(result.standardOutput.contains(words), "\(words) in \(result.standardOutput)")
      }
      // Every command has an answer.
      #expect(result.standardOutput.matches(of: /\n\$ [^\n]+\n\n/).count == 0)
      // The output shows no failure.
      #expect(!result.standardOutput.contains("failed"))
      try await house.gone()
      #expect(access(house.state, F_OK) != 0)
    }
  }

  @Test(arguments: ["drop", "deliver", "explain", "register"])
  func `a script without arguments says how it is used`(script: String) async throws {
    try await withHouse { house in
      let result = try await house.example(script).run()
      #expect(result.status == .exited(2))
      #expect(result.standardError.hasPrefix("usage: \(script) "))
    }
  }

  @Test func `each script does what it says`() async throws {
    try await withService { house in
      try await house.example("watch").whileRunning { monitor in
        let watch = try await Watch(monitor, in: house)
        let application = try await house.example("register", "\(Repository.path)/examples/shell/gallery.json").output()
        #expect(application.contains("/application/org_2estagedoor_2eexamples_2eGallery"))
        #expect(try await house.example("drop", Self.type, "photo-7").output().contains(#"string "created""#))
        let document = Payloads.activity(Self.type, "photo-7")
        let explained = try Document(String(try await house.example("explain", document).output().drop { $0 == " " }))
        #expect(explained["outcome"]?.text == "activated")
        #expect(try await house.example("deliver", document).output().contains(#"string "activated""#))
        #expect(try await house.example("drop", Self.type).output().contains(#"string "created""#))
        #expect(try await watch.happenings().map { $0.arguments["outcome"] } == ["created", "activated", "created"])
      }
    }
  }
}
