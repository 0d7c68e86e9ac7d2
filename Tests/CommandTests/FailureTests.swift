import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import Testing

/// Each command, with each kind of failure: the status says which kind, and one sentence names the fault.
@Suite struct FailureTests {
  private static let nowhere = "00000000-0000-4000-8000-000000000000"

  /// Each command that asks the service, as a user would type it.
  private static let asking: [[String]] = [
    ["drop", "-t", House.openDetail], ["explain", "-t", House.openDetail], ["new", House.gallery], ["sessions"],
    ["show", House.gallery], ["activate", nowhere], ["refresh", nowhere], ["close", nowhere], ["watch"], ["deliveries"],
    ["wait", nowhere], ["cancel", nowhere], ["redirect", nowhere, nowhere], ["apps"], ["prefer", House.openDetail],
    ["register", "gallery.json"], ["unregister", House.gallery],
  ]

  /// A refused call of each command that the service can refuse.
  private static let refused: [[String]] = [
    ["drop", "-t", "org.example.unknown"], ["drop", "-t", House.openDetail, "--existing-only"],
    ["drop", "-t", House.openDetail, "--session", "zz"], ["drop", "-t", House.openDetail, "--app", "org.nobody.App"],
    ["drop", "-t", House.openDetail, "-c", "Nothing"], ["explain", "-t", "org.example.unknown"],
    ["new", "org.nobody.App"], ["new", "Gallery", "Nothing"], ["sessions", "--app", "org.nobody.App"],
    ["show", "org.nobody.App"], ["show", nowhere], ["show", "zz"], ["activate", nowhere], ["activate", "zz"],
    ["refresh", nowhere], ["close", nowhere], ["watch", "--since", "99"],
    ["watch", "--app", "org.nobody.App"], ["wait", nowhere], ["wait", "zz"],
    ["cancel", nowhere], ["redirect", nowhere, nowhere], ["prefer", House.openDetail, "org.nobody.App"],
    ["register", "empty.json"], ["unregister", "org.nobody.App"],
  ]

  private func withManifest(_ body: (House) async throws -> Void) async throws {
    try await withHouse { house async throws in
      try house.write(House.galleryManifest, to: "\(house.home)/gallery.json")
      try await body(house)
    }
  }

  private func expect(
    _ result: Command.Result, of words: [String], _ status: Int32, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == .exited(status), "\(words): \(result)", sourceLocation: sourceLocation)
    let lines = result.standardError.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    // A manifest has a line for each fault. For `explain` a refusal is the result, which it draws.
    let hasFaults = words[0] == "register" && status == 4
    let isDrawn = words[0] == "explain" && status == 4
    let areSentences = lines.allSatisfy { $0.hasPrefix("stagedoor \(words[0]): ") && !$0.hasSuffix(".") }
    #expect(
      isDrawn || areSentences && (hasFaults ? lines.count > 1 : lines.count == 1),
      "\(words): \(result)", sourceLocation: sourceLocation)
    #expect(isDrawn != result.standardOutput.isEmpty, "\(words): \(result)", sourceLocation: sourceLocation)
  }

  @Test func `without a bus and without a service the status is 3`() async throws {
    try await withManifest { house async throws in
      let unserved =
        "nobody serves org.stagedoor.Interchange1, and the bus cannot start it; `stagedoor doctor` says what is missing"
      for words in Self.asking {
        var command = house.stagedoor(words)
        let withoutService = try await command.run()
        expect(withoutService, of: words, 3)
        #expect(withoutService.standardError == "stagedoor \(words[0]): \(unserved)\n")
        command.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
        let withoutBus = try await command.run()
        expect(withoutBus, of: words, 3)
        #expect(withoutBus.standardError.hasSuffix("or set DBUS_SESSION_BUS_ADDRESS\n"), "\(withoutBus)")
      }
    }
  }

  @Test func `where the service ends before it answers the status is 3`() async throws {
    try await withManifest { house async throws in
      let others = Self.asking.filter { $0[0] != "watch" }
      let results = try await house.serving("--durability", "memory") { service async throws in
        // The service has its name, but answers nobody.
        service.signal(SIGSTOP)
        let before = try await house.connections()
        return try await withThrowingTaskGroup(of: (words: [String], result: Command.Result)?.self) { group in
          for words in others { group.addTask { (words, try await house.stagedoor(words).run()) } }
          group.addTask {
            try await eventually("all of them to wait") {
              try await house.connections() >= before + others.count
            }
            service.signal(SIGKILL)
            return nil
          }
          return try await group.reduce(into: [(words: [String], result: Command.Result)]()) { all, one in
            if let one { all.append(one) }
          }
        }
      }
      #expect(results.count == others.count)
      for (words, result) in results { expect(result, of: words, 3) }
    }
  }

  @Test func `what the service refuses has status 4 and its reason`() async throws {
    try await withGallery { house async throws in
      try house.write("{}", to: "\(house.home)/empty.json")
      for words in Self.refused { expect(try await house.stagedoor(words).run(), of: words, 4) }
      #expect(try await house.stagedoor("sessions").output() == "")
    }
  }

  @Test func `windows that outlive their manifest are found by the short name of their application`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      _ = try await house.stagedoor("unregister", House.gallery).output()
      #expect(try await house.stagedoor("close", "-y", "--app", "Gallery").output().contains(photo.session))
      try await house.registerGallery()
      let near = try await house.stagedoor("sessions", "--app", "Galery").run()
      #expect(
        near.standardError == "stagedoor sessions: there is no application \"Galery\"; did you mean Gallery?\n",
        "\(near)")
      // The beginning of an identifier closes nothing.
      let whole = try await house.stagedoor("close", "-y", "--app", String(House.gallery.dropLast())).run()
      #expect(whole.status == .exited(4) && whole.standardError.contains("did you mean"), "\(whole)")
    }
  }

  @Test func `an answer that cannot be written is a failure of every command that has one`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      _ = try await house.stagedoor("prefer", House.openDetail, "Gallery").output()
      let answering: [[String]] = [
        ["drop", "-t", House.openDetail], ["explain", "-t", House.openDetail],
        ["explain", "-t", House.openDetail, "-j"], ["new", House.gallery], ["sessions"],
        ["sessions", "--print", "session"], ["sessions", "-j"], ["show", House.gallery],
        ["show", photo.session, "-j"], ["activate", photo.session], ["watch", "--past"], ["deliveries"],
        ["redirect", photo.delivery, photo.session], ["apps"], ["prefer"], ["prefer", House.openDetail],
        ["check", "gallery.json"], ["install-manifest", "gallery.json"], ["doctor"], ["help"], ["help", "drop"],
        ["completions", "zsh"],
      ]
      for words in answering {
        var command = house.shell("exec \"$0\" \"$@\" >/dev/full")
        command.arguments += words
        let result = try await command.run()
        #expect(result.status == .exited(1), "\(words): \(result)")
        let sentence = "the answer cannot be written to standard output: No space left on device"
        #expect(result.standardError == "stagedoor \(words[0]): \(sentence)\n", "\(words): \(result)")
      }
    }
  }

  @Test func `closed standard input and output are what they are, and no other file takes their places`() async throws {
    try await withGallery { house async throws in
      for (line, sentence) in [
        ("exec \"$0\" drop - <&-", "stagedoor drop: standard input is closed\n"),
        ("exec \"$0\" check - <&-", "stagedoor check: standard input is closed\n"),
        (
          "exec \"$0\" apps >&-",
          "stagedoor apps: standard output is closed, and the answer cannot be written to it\n"
        ),
      ] {
        let result = try await house.shell(line).run()
        #expect(result.status == .exited(1), "\(line): \(result)")
        #expect(result.standardError == sentence, "\(line): \(result)")
      }
      #expect(try await house.stagedoor("deliveries").output() == "")
    }
  }

  @Test func `what is wrong on this side has status 1`() async throws {
    try await withService { house async throws in
      for words in [
        ["drop", "/no/such"], ["drop", "--payload", "/no/such"], ["explain", "/no/such"], ["register", "/no/such"],
        ["check", "/no/such"], ["install-manifest", "/no/such"], ["uninstall-manifest", "org.nobody.App"],
        ["test", "/no/such"],
      ] {
        let result = try await house.stagedoor(words).run()
        #expect(result.status == .exited(1), "\(words): \(result)")
        #expect((result.standardError + result.standardOutput).contains(words.last ?? ""), "\(words): \(result)")
      }
    }
  }

  @Test func `drag becomes the program that a package of its own installs`() async throws {
    try await withHouse { house in
      let missing = try await house.stagedoor("drag", "a.txt").run()
      #expect(missing.status == .exited(1))
      #expect(
        missing.standardError
          == "stagedoor drag: stagedoor-drag: it is not installed; `make install-drag` builds and installs it\n")
      try house.writeProgram("\(house.home)/bin/stagedoor-drag", "echo \"$@\"")
      var command = house.stagedoor("drag", "--once", "--", "-a b.txt", "c")
      command.lookFirst(in: "\(house.home)/bin")
      #expect(try await command.output() == "--once -- -a b.txt c")
      // The program would not get such a name.
      let nameless = try await house.shell("exec \"$0\" drag \"$(printf 'b\\351.txt')\"").run()
      #expect(nameless.status == .exited(2) && nameless.standardError.contains("b%E9.txt is not UTF-8"), "\(nameless)")
    }
  }
}

extension House {
  /// The number of programs on the bus.
  fileprivate func connections() async throws -> Int {
    let bus = watcher.object("org.freedesktop.DBus", at: "/org/freedesktop/DBus", "org.freedesktop.DBus")
    return try await bus.call("ListNames", returning: [String].self).count { $0.hasPrefix(":") }
  }
}
