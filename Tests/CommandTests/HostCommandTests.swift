import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// Commands as windows.
@Suite struct HostCommandTests {
  private func withGallery(_ body: (House) async throws -> Void) async throws {
    try await withService { house async throws in
      try await house.registerGallery()
      try await body(house)
    }
  }

  @Test func `a command is a window, and its end is the window's`() async throws {
    try await withGallery { house async throws in
      let connect =
        "sh -c \"printf '%s|%s|%s\\\\n' \\\"$1\\\" \\\"$2\\\" \\\"$3\\\"; exec sleep 1000\" sh {target} {title} {info.zoom}"
      try await house.stagedoor(
        "host", "--app", House.gallery, "--connect", connect, "--continue", "echo again {target}"
      ).whileRunning { host async throws in
        let activity = [
          "drop", "-t", House.openDetail, "--target", "$(photo) 7", "--title", "Beach; rm", "-i", "zoom=2",
        ]
        let drop = house.command(Command.built("stagedoor").program, arguments: activity + ["-w", "handled"])
        #expect(try await drop.output().hasPrefix("created\t"))
        #expect(try await host.nextLine() == "$(photo) 7|Beach; rm|2")
        #expect(try await drop.output().hasPrefix("activated\t"))
        #expect(try await host.nextLine() == "again $(photo) 7")
        _ = try await house.command("pkill", "-P", "\(host.processIdentifier)", "sleep").output()
        try await eventually("the session to go with its command") {
          try await house.stagedoor("sessions", "-q").output() == ""
        }
      }
    }
  }

  /// What is no file in its place: how it is handed in, and the name and the content that the command finds.
  private static let items: [(words: [String], input: String, name: String, content: String)] = [
    (["-", "--name", "now.txt"], "a sea", "now.txt", "a sea"), (["--text", "a beach"], "", "item", "a beach"),
    (["--copy", "a b.txt"], "", "a b.txt", "sand"),
    (
      ["-", "--name", "../long.txt"], String(repeating: "x", count: 100_000), "long.txt",
      String(repeating: "x", count: 100_000)
    ),
  ]

  @Test(arguments: items)
  func `what is no file in its place becomes one, until its window is gone`(
    words: [String], input: String, name: String, content: String
  ) async throws {
    try await withGallery { house async throws in
      try house.write("sand", to: "\(house.home)/a b.txt")
      try house.write("", to: "\(house.home)/tmp/none")
      let connect = #"sh -c 'stat -c "%a" "${1%/*/*}"; printf "%s\n" "$1"; cat "$1"; echo; exec sleep 1000' sh {file}"#
      var host = house.stagedoor("host", "--app", House.gallery, "--connect", connect)
      host.environment["TMPDIR"] = "\(house.home)/tmp"
      try await host.whileRunning { host async throws in
        var drop = house.command(Command.built("stagedoor").program, arguments: ["drop", "-w", "handled"] + words)
        drop.directory = house.home
        drop.input = input
        #expect(try await drop.output().hasPrefix("created\t"))
        #expect(try await host.nextLine() == "700")
        let path = try await host.nextLine()
        #expect(path.hasPrefix("\(house.home)/tmp/stagedoor.") && path.hasSuffix("/\(name)"), "\(path)")
        #expect(try await host.nextLine() == content)
        _ = try await house.stagedoor("close", try await house.stagedoor("sessions", "-q").output()).output()
        try await eventually("the file to go") {
          try FileManager.default.contentsOfDirectory(atPath: "\(house.home)/tmp") == ["none"]
        }
      }
    }
  }

  @Test func `what the host says does not steer a terminal`() async throws {
    try await withGallery { house async throws in
      let words = ["host", "--app", House.gallery, "--connect", "sleep 1000", "--close", "/nosuch\u{1b}[2J {title}"]
      let host = house.command(Command.built("stagedoor").program, arguments: words)
      try await host.whileRunning { host async throws in
        let photo = try await house.drop(photo: "photo-7", "-w", "handled")
        _ = try await house.stagedoor("close", photo.session).output()
        try await eventually("the host to say that nothing closes it") { host.standardError != "" }
        #expect(host.standardError == "stagedoor host: /nosuch\\u{1b}[2J: No such file or directory\n")
      }
    }
  }
}
