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

  init() throws { try house.write(House.galleryManifest, to: "\(house.home)/gallery.json") }

  private func judge(
    _ result: Command.Result, of words: [String], _ status: Int32, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let lines = result.standardError.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    // A manifest has a line for each fault. For `explain` a refusal is the result, which it draws.
    let hasFaults = words[0] == "register" && status == 4
    let isDrawn = words[0] == "explain" && status == 4
    let areSentences = lines.allSatisfy { $0.hasPrefix("stagedoor \(words[0]): ") && !$0.hasSuffix(".") }
    #expect(
      result.status == .exited(status) && isDrawn != result.standardOutput.isEmpty
        && (isDrawn || areSentences && (hasFaults ? lines.count > 1 : lines.count == 1)),
      "\(words): \(result)", sourceLocation: sourceLocation)
  }

  @Test(.house) func `without a bus and without a service the status is 3`() async throws {
    let unserved =
      "nobody serves org.stagedoor.Interchange1, and the bus cannot start it; `stagedoor doctor` says what is missing"
    for words in Self.asking {
      var command = house.stagedoor(words)
      judge(try await command.expect(ends: 3, unserved), of: words, 3)
      command.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
      judge(try await command.expect(ends: 3, with: "or set DBUS_SESSION_BUS_ADDRESS\n"), of: words, 3)
    }
  }

  @Test(.house) func `where the service ends before it answers the status is 3`() async throws {
    let others = Self.asking.filter { $0[0] != "watch" }
    try await house.serving("--durability", "memory") { service async throws in
      // The service has its name, but answers nobody.
      service.signal(SIGSTOP)
      let before = try await house.connections()
      try await withThrowingTaskGroup { group in
        for words in others { group.addTask { judge(try await ran(words), of: words, 3) } }
        try await eventually("all of them to wait") { try await house.connections() >= before + others.count }
        service.signal(SIGKILL)
        try await group.waitForAll()
      }
    }
  }

  @Test(.gallery) func `what the service refuses has status 4 and its reason`() async throws {
    try house.write("{}", to: "\(house.home)/empty.json")
    for words in Self.refused { judge(try await ran(words), of: words, 4) }
    #expect(try await said("sessions") == "")
  }

  @Test(.gallery) func `windows that outlive their manifest are found by their application's short name`() async throws
  {
    let photo = try await house.drop(photo: "photo-7")
    try await said("unregister", House.gallery)
    #expect(try await said("close", "-y", "--app", "Gallery").contains(photo.session))
    try await house.registerGallery()
    try await expect(
      ["sessions", "--app", "Galery"], ends: 4, "there is no application \"Galery\"; did you mean Gallery?")
    // The beginning of an identifier closes nothing.
    try await expect(["close", "-y", "--app", String(House.gallery.dropLast())], ends: 4, with: "did you mean")
  }

  @Test(.gallery) func `an answer that cannot be written is a failure of every command that has one`() async throws {
    let photo = try await house.drop(photo: "photo-7")
    try await said("prefer", House.openDetail, "Gallery")
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
      let result = try await command.expect(ends: 1)
      let sentence = "the answer cannot be written to standard output: No space left on device"
      #expect(result.standardError == "stagedoor \(words[0]): \(sentence)\n", "\(words): \(result)")
    }
  }

  @Test(.gallery) func `no other file takes the places of closed standard input and output`() async throws {
    for (line, sentence) in [
      ("drop - <&-", "drop: standard input is closed"), ("check - <&-", "check: standard input is closed"),
      ("apps >&-", "apps: standard output is closed, and the answer cannot be written to it"),
    ] {
      let result = try await house.shell("exec \"$0\" \(line)").expect(ends: 1)
      #expect(result.standardError == "stagedoor \(sentence)\n", "\(line): \(result)")
    }
    #expect(try await said("deliveries") == "")
  }

  @Test(.service) func `what is wrong on this side has status 1`() async throws {
    for words in [
      ["drop", "/no/such"], ["drop", "--payload", "/no/such"], ["explain", "/no/such"], ["register", "/no/such"],
      ["check", "/no/such"], ["install-manifest", "/no/such"], ["uninstall-manifest", "org.nobody.App"],
      ["test", "/no/such"],
    ] {
      let result = try await expect(words, ends: 1)
      #expect("\(result)".contains(words.last ?? ""))
    }
  }

  @Test(.house) func `drag becomes the program that a package of its own installs`() async throws {
    try await expect(
      ["drag", "a.txt"], ends: 1, "stagedoor-drag: it is not installed; `make install-drag` builds and installs it")
    try house.writeProgram("\(house.home)/bin/stagedoor-drag", "echo \"$@\"")
    var command = house.stagedoor("drag", "--once", "--", "-a b.txt", "c")
    command.lookFirst(in: "\(house.home)/bin")
    #expect(try await command.output() == "--once -- -a b.txt c")
    // The program would not get such a name.
    try await house.shell("exec \"$0\" drag \"$(printf 'b\\351.txt')\"").expect(ends: 2, with: "b%E9.txt is not UTF-8")
  }

  @Test(.house) func `who waits for the application waits over a restart of the service`() async throws {
    try await said("install-manifest", "-q", "-", input: House.galleryManifest)
    let script = """
      until "$0" sessions 2>/dev/null; do sleep 0.02; done
      exec "$0" drop -t \(House.openDetail) --target photo-7 --wait handled --deadline 60
      """
    try await house.shell(script).whileRunning { drop async throws in
      try await house.serving { service async throws in
        try await eventually("the delivery") {
          try await said("deliveries", "--state", "held", "--print", "delivery") != ""
        }
        service.signal(SIGKILL)
        _ = try await service.ended()
      }
      try await house.serving { _ async throws in
        try await house.hosting("sleep 1000") { _ async throws in
          #expect(try await drop.nextLine().hasPrefix("created\t"))
          #expect(try await drop.ended().isSuccess)
        }
      }
    }
  }

  @Test(.house) func `standard input that was not handed over is lost with the service, and is no success`()
    async throws
  {
    try await said("install-manifest", "-q", "-", input: House.galleryManifest)
    let script = """
      until "$0" sessions 2>/dev/null; do sleep 0.02; done
      head -c 100000 /dev/zero | "$0" drop -t \(House.openDetail) --target long --deadline 60 - 2>&1
      """
    try await house.shell(script).whileRunning { drop async throws in
      try await house.serving { service async throws in
        #expect(try await drop.nextLine().hasPrefix("created\t"))
        service.signal(SIGKILL)
        _ = try await service.ended()
      }
      #expect(try await drop.nextLine().hasSuffix("which is lost with it: hand it in again"))
      #expect(try await drop.ended() == .exited(1))
    }
  }

  @Test(.service) func `a list of nothing says so on standard error`() async throws {
    for (words, sentence) in [
      (["sessions"], "no windows yet"), (["deliveries"], "no deliveries yet"),
      (["watch", "--past"], "no events yet"),
      (["apps"], "no applications yet; `stagedoor install-manifest` installs one"),
    ] {
      let shown = try await house.stagedoor(columns: 200, words).run()
      #expect("\(shown)".contains(sentence), "\(words): \(shown)")
      let piped = try await expect(words, ends: 0)
      #expect(piped.standardOutput == "" && piped.standardError == sentence + "\n", "\(words): \(piped)")
      let json = try await expect(words + ["--json"], ends: 0)
      if words[0] != "watch" {
        #expect(json.standardOutput == "[]\n" && json.standardError == "", "\(words): \(json)")
      }
    }
  }
}

extension House {
  fileprivate func connections() async throws -> Int {
    let bus = watcher.object("org.freedesktop.DBus", at: "/org/freedesktop/DBus", "org.freedesktop.DBus")
    return try await bus.call("ListNames", returning: [String].self).count { $0.hasPrefix(":") }
  }
}
