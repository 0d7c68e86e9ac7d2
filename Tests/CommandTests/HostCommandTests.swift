import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

@Suite(.gallery) struct HostCommandTests {
  @Test func `a command is a window, and its end is the window's`() async throws {
    let connect =
      "sh -c \"printf '%s|%s|%s\\\\n' \\\"$1\\\" \\\"$2\\\" \\\"$3\\\"; exec sleep 1000\" sh {t:{target},{}} {title} {info.zoom}"
    try await house.hosting(connect, "--continue", "echo again {target}") { host async throws in
      let drop = house.stagedoor(
        "drop", "-t", House.openDetail, "--target", "$(photo) 7", "--title", "Beach; rm", "-i", "zoom=2", "-w",
        "handled")
      #expect(try await drop.output().hasPrefix("created\t"))
      // A placeholder is filled within braces of the command.
      #expect(try await host.nextLine() == "{t:$(photo) 7,{}}|Beach; rm|2")
      #expect(try await drop.output().hasPrefix("activated\t"))
      #expect(try await host.nextLine() == "again $(photo) 7")
      // The shell may have printed its line, and not be the sleeping program yet.
      let pkill = house.command("pkill", "-P", "\(host.processIdentifier)", "sleep")
      try await eventually("the command to be killed") { try await pkill.run().status.isSuccess }
      try await eventually("the session to go with its command") { try await house.sessions() == [] }
    }
  }

  @Test func `a command that took a delivery is not ended when the window's own command has ended`() async throws {
    func until(_ name: String) -> String { "until [ -e \(house.home)/\(name) ]; do sleep 0.05; done" }
    let resume = "sh -c '\(until("late")); echo again'"
    try await house.hosting("sh -c '\(until("closed"))'", "--continue", resume) { host async throws in
      let drop = house.stagedoor("drop", "-t", House.openDetail, "--target", "7", "-w", "handled")
      #expect(try await drop.output().hasPrefix("created\t"))
      #expect(try await drop.output().hasPrefix("activated\t"))
      try house.write("", to: "\(house.home)/closed")
      let children = house.command("pgrep", "-P", "\(host.processIdentifier)", "-c")
      try await eventually("the window's command to end") { try await children.run().standardOutput == "1\n" }
      try house.write("", to: "\(house.home)/late")
      #expect(try await host.nextLine() == "again")
      try await eventually("the session to go with the last") { try await house.sessions() == [] }
    }
  }

  /// Items that are not files in place: how they are handed in, and the name and the content that the command finds.
  private static let items: [(words: [String], input: String, name: String, content: String)] = [
    (["-", "--name", "now.txt"], "a sea", "now.txt", "a sea"), (["--text", "a beach"], "", "item", "a beach"),
    (["--copy", "a b.txt"], "", "a b.txt", "sand"), (["-", "--name", "../long.txt"], long, "long.txt", long),
  ]
  private static let long = String(repeating: "x", count: 100_000)

  @Test(arguments: items)
  func `what is no file in its place becomes one, until its window is gone`(
    words: [String], input: String, name: String, content: String
  ) async throws {
    try house.write("sand", to: "\(house.home)/a b.txt")
    try house.write("", to: "\(house.home)/tmp/none")
    let connect = #"sh -c 'stat -c "%a" "${1%/*/*}"; printf "%s\n" "$1"; cat "$1"; echo; exec sleep 1000' sh {file}"#
    try await house.hosting(connect, savingIn: "\(house.home)/tmp") { host async throws in
      #expect(try await said(["drop", "-w", "handled"] + words, input: input).hasPrefix("created\t"))
      #expect(try await host.nextLine() == "700")
      let path = try await host.nextLine()
      #expect(path.hasPrefix("\(house.home)/tmp/stagedoor.") && path.hasSuffix("/\(name)"), "\(path)")
      #expect(try await host.nextLine() == content)
      try await said(["close"] + house.sessions())
      try await eventually("the file to go") {
        try FileManager.default.contentsOfDirectory(atPath: "\(house.home)/tmp") == ["none"]
      }
    }
  }

  @Test func `items that are still loaded when their window closes are loaded no further, and leave nothing`()
    async throws
  {
    let folder = "\(house.home)/tmp"
    try house.write("", to: "\(folder)/none")
    @Sendable func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder).count }
    try await house.hosting("sleep 1000 {file}", "--limit", "1", savingIn: folder) { host async throws in
      let connection = try await house.bus.connect()
      // The first has come whole, and the second has no end.
      let pipes = [try OwnedFileDescriptor.pipe(), try OwnedFileDescriptor.pipe()]
      let items = pipes.map { pipe -> [String: Variant] in
        let representation: [String: Variant] = ["type": "text/plain", "fd": Variant(pipe.readEnd)]
        return ["representations": Variant([representation])]
      }
      let service = connection.object(House.name, at: try ObjectPath(House.root), "org.stagedoor.Interchange1")
      let options: [String: Variant] = ["application": Variant(House.gallery)]
      _ = try await service.call(
        "DeliverItems", items, options, returning: ObjectPath.self, String.self, String.self)
      pipes[0].writeEnd.close()
      try await eventually("the host to load the second") { try count() == 3 }
      try await said(["close"] + house.sessions())
      try await eventually("both to go") { try count() == 1 }
      pipes[1].writeEnd.close()
      #expect(host.standardError == "")
      // Their command does not count any more.
      #expect(try await said("drop", "--text", "a sea", "-w", "handled").hasPrefix("created\t"))
    }
  }

  @Test func `a command that does not exist refuses a delivery, and an item that would become a file`() async throws {
    for command in ["/no/such {file}", "/no/such"] {
      try await house.hosting(command) { _ async throws in
        try await expect(
          ["drop", "--text", "a sea", "-w", "handled"], ends: 6, with: "/no/such: No such file or directory")
      }
    }
  }

  @Test func `a command finds what was delivered in its environment, numbers too`() async throws {
    try house.write("sand", to: "\(house.home)/a b.txt")
    let names = ["TITLE", "TARGET", "TYPE", "INFO_n", "INFO_x", "INFO_b", "INFO_d", "FILE"]
    let values = (names.map { "$STAGEDOOR_\($0)" } + ["$1"]).map { "\\\"\($0)\\\"" }.joined(separator: " ")
    let script = "printf \\\"%s|\\\" \(values); echo; exec sleep 1000"
    try await house.hosting("sh -c \"\(script)\" sh {info.n}") { host async throws in
      let document = """
        {"items": [{"activities": [{"activityType": "\(House.openDetail)", "title": "$(touch x); a 'b'",
          "targetContentIdentifier": "7", "userInfo": {"n": 3, "x": 1.5, "b": true, "a-b": "left out",
            "d": {"$date": "2040-01-01T00:00:00.000003Z"}}}],
          "representations": [{"type": "text/plain", "file": "file://\(house.home)/a%20b.txt", "openInPlace": true}]}]}
        """
      #expect(try await said("drop", "--payload", "-", "-w", "handled", input: document).hasPrefix("created\t"))
      #expect(
        try await host.nextLine()
          == "$(touch x); a 'b'|7|\(House.openDetail)|3|1.5|true|2040-01-01T00:00:00.000003Z|\(house.home)/a b.txt|3|"
      )
    }
  }

  @Test func `a script that its command line gives no file finds the file in its environment`() async throws {
    let (script, file) = ("\(house.home)/script", "\(house.home)/a b.txt")
    try house.writeProgram(script, "echo \"$STAGEDOOR_FILE\"; exec sleep 1000")
    try house.write("sand", to: file)
    try await house.hosting(script) { host async throws in
      try await said("drop", file, "-w", "handled")
      #expect(try await host.nextLine() == file)
      // Nothing is saved for it.
      try await said("drop", "--copy", "--new", file, "-w", "handled")
      #expect(try await host.nextLine() == "")
    }
  }

  @Test func `a command gets the variables of the host byte for byte, but no values that another host left there`()
    async throws
  {
    let values = #"\$STAGEDOOR_FILE|\$STAGEDOOR_INFO_line|\$STAGEDOOR_TARGET"#
    let command = #"sh -c 'printenv LATIN | od -An -tx1; echo \"\#(values)\"; exec sleep 1000'"#
    let variables = #"LATIN=$(printf 'b\351') STAGEDOOR_FILE=/of/another STAGEDOOR_INFO_line=42"#
    let line = #"\#(variables) exec "$0" host --app \#(House.gallery) --connect "\#(command)""#
    try await house.shell(line).whileRunning { host async throws in
      try await house.drop(photo: "photo-7")
      #expect(try await host.nextLine() == " 62 e9 0a")
      #expect(try await host.nextLine() == "||photo-7")
    }
  }

  @Test func `a host whose bus goes says so, and no word about the session`() async throws {
    try await house.hosting("sleep 1000") { host async throws in
      try await house.drop(photo: "photo-7", "-w", "handled")
      await house.bus.kill()
      #expect(try await host.ended() == .exited(3))
      #expect(host.standardError == "stagedoor host: the connection to the bus is gone\n")
    }
  }

  @Test func `without --continue an open window refuses more, and its sender hears why`() async throws {
    try await house.hosting("sleep 1000") { host async throws in
      let drop = house.stagedoor("drop", "-t", House.openDetail, "--target", "photo-7", "-w", "handled")
      #expect(try await drop.output().hasPrefix("created\t"))
      let sentence =
        "the command of this window runs already, and takes no other delivery; start `stagedoor host` with --continue COMMAND\n"
      try await drop.expect(ends: 6, with: sentence)
      // The sender may hear it before the host's words are read here.
      try await eventually("the host to say it") { host.standardError == "stagedoor host: \(sentence)" }
    }
  }

  @Test func `a command that ends at once has taken its delivery, and the host says that it failed`() async throws {
    try await house.hosting("sh -c \"exit 3\"") { host async throws in
      for number in 0..<10 {
        #expect(try await house.drop(photo: "\(number)", "-w", "handled").outcome == "created")
      }
      try await eventually("the sessions to go") { try await house.sessions() == [] }
      // The sessions may be gone before the host's words are read here.
      let words = String(repeating: "stagedoor host: sh ended with status 3\n", count: 10)
      try await eventually("the host to say it ten times") { host.standardError.count >= words.count }
      #expect(host.standardError == words)
    }
  }

  @Test func `a file whose name cannot be an argument is refused, and its copy is taken`() async throws {
    try await house.hosting("sh -c 'cat \"$1\"; exec sleep 9' sh {file}") { host async throws in
      let script = """
        cd "$HOME"; name=$(printf 'b\\351.txt'); echo sand >"$name"
        "$0" drop -w handled "$name"; echo $?; "$0" drop -w handled --copy "$name"
        """
      let result = try await house.shell(script).run()
      #expect(result.standardOutput.hasPrefix("6\ncreated\t"), "\(result)")
      #expect(result.standardError.hasSuffix("; hand it in with --copy\n"), "\(result)")
      #expect(try await host.nextLine() == "sand")
    }
  }

  @Test func `no more commands run than are allowed`() async throws {
    try await house.hosting("sleep 1000", "--continue", "true", "--limit", "2") { _ async throws in
      let photos = try await [house.drop(photo: "1", "-w", "handled"), house.drop(photo: "2", "-w", "handled")]
      for photo in ["1", "3"] {
        try await expect(
          ["drop", "-t", House.openDetail, "--target", photo, "-w", "handled"], ends: 6,
          with: "2 commands run already, and --limit allows no more; close a window first\n")
      }
      try await said("close", photos[0].session)
      try await eventually("its place to be free") {
        try await ran("drop", "-t", House.openDetail, "--target", "3", "-w", "handled").status.isSuccess
      }
    }
  }

  @Test func `all commands of a window end with it, and with the host`() async throws {
    let sleeping = "sh -c 'echo $$; exec sleep 1000'"
    try await house.hosting(sleeping, "--continue", sleeping) { host async throws in
      var processes: [String] = []
      for _ in 0..<2 {
        try await house.drop(photo: "photo-7", "-w", "handled")
        processes.append(try await host.nextLine())
      }
      host.signal(SIGTERM)
      #expect(try await host.ended() == .signalled(SIGTERM))
      for process in processes { try await eventually("\(process) to end") { kill(pid_t(process) ?? 0, 0) != 0 } }
    }
  }

  @Test func `what the host says does not steer a terminal`() async throws {
    try await house.hosting("sleep 1000", "--close", "/nosuch\u{1b}[2J {title}") { host async throws in
      let photo = try await house.drop(photo: "photo-7", "-w", "handled")
      try await said("close", photo.session)
      try await eventually("the host to say that nothing closes it") { host.standardError != "" }
      #expect(host.standardError == "stagedoor host: /nosuch\\u{1b}[2J: No such file or directory\n")
    }
  }
}
