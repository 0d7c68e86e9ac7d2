import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// How the service starts applications for held deliveries.
@Suite struct HostLaunchTests {
  private static func cats(exec: String) -> String {
    let escaped = exec.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return Manifests.application(
      "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main"),
      more: #" "StagedoorExec": "\#(escaped)","#)
  }

  /// A host in a process of its own, written from the contract alone.
  private static let hostProgram = "\(Repository.path)/Tests/DaemonTests/Clients/host.py"

  private static let waiting = Payloads.activity("viewCat", "cat1", options: #""wait": "handled""#)

  @Test(arguments: PrivateBus.Kind.available)
  func `the bus starts the application where it can, before StagedoorExec`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind, installing: Self.cats(exec: "/bin/false")) { house in
      try await house.bus.install(
        "org.example.Cats", executable: "/usr/bin/python3", arguments: ["-B", Self.hostProgram, "org.example.Cats"])
      try await house.serving { _ in
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        #expect(landing.outcome == "created")
        // The host is killed, and the next delivery starts it again.
        let owner = try #require(try await house.watcher.owner(of: "org.example.Cats"))
        let process = try #require(try await house.watcher.credentials(of: owner).processID)
        kill(pid_t(process), SIGKILL)
        try await house.waitUntilGone(landing.session)
        let next = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        #expect(next.session == landing.session && next.outcome == "restored")
      }
    }
  }

  @Test(arguments: ["/bin/false", "/nowhere/at/all", "/bin/kill -9 $$", "sh -c 'kill -9 $$'"])
  func `a starter that fails is LaunchFailed at once`(exec: String) async throws {
    try await withDaemon(installing: Self.cats(exec: exec)) { house, _ in
      // Each delivery tries again.
      for number in 1...2 {
        let error = try await house.refusal("Deliver", "string:\(Self.waiting)")
        #expect(error.name == "org.stagedoor.Error.LaunchFailed")
        #expect(error.message.contains("org.example.Cats"))
        #expect(try await house.sessions().isEmpty)
        #expect(try await house.deliveries(in: "failed").count == number)
      }
    }
  }

  @Test func `a starter whose program gives the name back before it attaches is LaunchFailed at once`() async throws {
    let name = "b.request_name('org.example.Cats'); b.release_name('org.example.Cats')"
    let program = "import dbus, time; b = dbus.SessionBus(); \(name); time.sleep(1000)"
    try await withDaemon(installing: Self.cats(exec: "/usr/bin/python3 -c \"\(program)\"")) { house, _ async throws in
      let waiting = Payloads.activity("viewCat", "cat1", options: #""wait": "handled", "deadline": 3600"#)
      #expect(try await house.refusal("Deliver", "string:\(waiting)").name == "org.stagedoor.Error.LaunchFailed")
    }
  }

  /// On dbus-broker, the controller of the tests does not answer StartServiceByName if the program ends.
  @Test(
    .house(installing: Manifests.cats),
    arguments: [("/bin/false", [], 3600, "LaunchFailed"), ("sleep", ["1000"], 0.5, "HostTimeout")])
  func `what the bus starts may fail at once, or be late, and is waited for until the deadline`(
    program: String, arguments: [String], deadline: Double, error: String
  ) async throws {
    try await house.bus.install("org.example.Cats", executable: program, arguments: arguments)
    try await house.serving { _ async throws in
      let options = #""wait": "handled", "deadline": \#(deadline)"#
      let waiting = Payloads.activity("viewCat", "cat1", options: options)
      let began = ContinuousClock.now
      #expect(try await house.refusal("Deliver", "string:\(waiting)").name == "org.stagedoor.Error.\(error)")
      #expect(began.duration(to: .now) < .seconds(20))
    }
  }

  @Test(.daemon(installing: cats(exec: "/bin/false")))
  func `an application on the bus is not started, and one that leaves without attaching has failed`() async throws {
    let host = try await HostPlayer("org.example.Cats", in: house)
    let landing = try await house.hand("viewCat", "cat1")
    #expect(try await house.deliveryState(landing.delivery) == "held")
    try await host.attach()
    try await house.waitUntil(landing.delivery, is: "handled")
    await host.leave()
    try await house.waitUntilGone(landing.session)
    let shy = try await HostPlayer("org.example.Cats", in: house)
    let second = try await house.hand("viewCat", "cat1")
    #expect(try await house.deliveryState(second.delivery) == "held")
    await shy.leave()
    try await house.waitUntil(second.delivery, is: "failed")
    let failed = try #require(try await house.events().last { $0.name == "DeliveryFailed" })
    #expect(failed.arguments["error"] == "org.stagedoor.Error.LaunchFailed")
  }

  /// Notes what it was given, and which files it has open.
  private static let look = """
    {
      env | sed 's/^/env /'
      printf 'umask %s\\n' "$(umask)"
      printf 'directory %s\\n' "$PWD"
      for word; do printf 'word %s\\n' "$word"; done
      for open in /proc/$$/fd/*; do printf 'open %s %s\\n' "${open##*/}" "$(readlink "$open")"; done
      # By the shell itself: while it begins a program, it blocks all.
      while read -r line; do case $line in SigBlk* | SigIgn*) echo "$line" ;; esac; done </proc/$$/status
      cut -d' ' -f1,5,6 /proc/$$/stat | sed 's/^/ids /'
    } >"$HOME/look.new"
    mv "$HOME/look.new" "$HOME/look"
    exit 1
    """

  @Test(.house)
  func `StagedoorExec gets its words, a clean environment, the token, and nothing of ours`() async throws {
    let home = house.home
    try house.write(Self.look, to: "\(home)/look.sh")
    try house.write(
      Self.cats(exec: #"/bin/sh "\#(home)/look.sh" one "two  \"three\" $HOME `id`" '' "" *"#),
      to: "\(house.applications)/org.example.Cats.json")
    var environment = house.environment
    environment["SECRET"] = "mine"
    environment["LD_PRELOAD"] = ""
    environment["NOTIFY_SOCKET"] = "/nowhere"
    environment["XDG_ACTIVATION_TOKEN"] = "old"
    environment["DESKTOP_STARTUP_ID"] = "old"
    environment["DBUS_STARTER_ADDRESS"] = "unix:path=/nowhere"
    environment["LC_TIME"] = "C.UTF-8"
    // A descriptor that the service was given, signals that it ignores or blocks, and a working directory of its own.
    let daemon = Command(
      "/bin/sh",
      arguments: [
        "-c", "cd /usr; umask 022; trap '' USR1 HUP; exec 7</dev/null; exec \"$0\" --durability memory",
        Command.built("stagedoord").program,
      ], environment: environment)
    try await house.serving(daemon) { _ async throws in
      let waiting = Payloads.activity(
        "viewCat", "cat1", options: #""wait": "handled", "activationToken": "let-me-in""#)
      #expect(try await house.refusal("Deliver", "string:\(waiting)").name == "org.stagedoor.Error.LaunchFailed")
    }
    let record = try String(contentsOf: URL(filePath: "\(home)/look"), encoding: .utf8)
    let lines = record.split(separator: "\n").map(String.init)
    func those(_ kind: String) -> [String] {
      lines.filter { $0.hasPrefix("\(kind) ") }.map { String($0.dropFirst(kind.count + 1)) }
    }
    #expect(those("word") == ["one", #"two  "three" $HOME `id`"#, "", "", "*"])
    let given = Dictionary(
      uniqueKeysWithValues: those("env").map { line in
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts.last ?? ""))
      })
    for name in ["SECRET", "LD_PRELOAD", "NOTIFY_SOCKET", "DBUS_STARTER_ADDRESS"] { #expect(given[name] == nil) }
    #expect(given["XDG_ACTIVATION_TOKEN"] == "let-me-in" && given["DESKTOP_STARTUP_ID"] == "let-me-in")
    #expect(given["HOME"] == home && given["LC_TIME"] == "C.UTF-8")
    #expect(given["PATH"] == environment["PATH"])
    #expect(given["DBUS_SESSION_BUS_ADDRESS"] == house.bus.address.rawValue)
    #expect(those("umask") == ["0022"])
    #expect(those("directory") == [home])
    // Its input and output are /dev/null, its errors go where the service's go, and it has only its own script and record open besides.
    let open = those("open").filter { !$0.hasSuffix("/look.sh") && !$0.hasSuffix("/look.new") }
    #expect(open.filter { $0.hasSuffix("/dev/null") }.first == "0 /dev/null", "\(open)")
    #expect(!open.contains { $0.hasPrefix("7 ") || $0.contains("socket:") || $0.contains("stagedoor.db") }, "\(open)")
    let masks = lines.filter { $0.hasPrefix("Sig") }
    #expect(masks.count == 2)
    for line in masks {
      // Except for the two signals that the C library reserves.
      let mask = try #require(line.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0, radix: 16) })
      #expect(mask & ~(0b11 << 31) == 0, "\(line)")
    }
    let ids = try #require(those("ids").first).split(separator: " ")
    #expect(ids[0] == ids[1] && ids[0] == ids[2], "a group and a session of its own: \(ids)")
  }
}
