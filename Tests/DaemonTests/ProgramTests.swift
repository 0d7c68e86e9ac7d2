import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// `stagedoord` as a program: what it prints, and how it ends.
@Suite struct ProgramTests {
  @Test(.house(installing: Manifests.cats), arguments: [SIGTERM, SIGINT])
  func `a signal ends it with status 0, and what it acknowledged meanwhile is kept`(signal: Int32) async throws {
    let dropper = try await Dropper("dropper", hasTokens: false, in: house)
    try await house.serving { daemon in
      let run = Task { try await dropper.run() }
      try await dropper.isAnswered(20)
      daemon.signal(signal)
      #expect(try await daemon.ended() == .exited(0))
      #expect(daemon.standardError.contains("stagedoord: a signal ends the service\n"))
      // Nobody answered the last call.
      await #expect(throws: CallError.self) { try await run.value }
    }
    let kept = try await house.serving { _ in try await house.deliveries().map { $0[0] } }
    #expect(Set(dropper.answered.map(\.delivery)).subtracting(kept) == [])
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a bus that goes ends it within a second with a status of its own`(kind: PrivateBus.Kind) async throws {
    var shortest = Duration.seconds(1_000)
    // Once is enough: on a busy machine, the first round may be late.
    for _ in 0..<5 where shortest > .seconds(1) {
      try await withDaemon(kind) { house, daemon in
        let begin = ContinuousClock.now
        await house.bus.kill()
        let status = try await daemon.ended()
        shortest = min(shortest, ContinuousClock.now - begin)
        #expect(status == .exited(3))
        #expect(daemon.standardError.hasSuffix("stagedoord: the bus has gone\n"))
      }
    }
    #expect(shortest <= .seconds(1))
  }

  @Test(.house(installing: Manifests.cats))
  func `a bus that stands still keeps it for some seconds only, and what it acknowledged is kept`() async throws {
    let client = try await house.bus.connect()
    let dropper = try await Dropper("dropper", hasTokens: false, in: house)
    try await house.serving("--log-level", "debug") { daemon in
      let run = Task { try await dropper.run() }
      try await dropper.isAnswered(60)
      dropper.stop()
      try await run.value

      // By then the service has asked the bus who the client is.
      let service = try house.service(client)
      let _: String = try await service.call("GetPreferredApplication", "")
      // An answer that is longer than a socket's buffer waits for the bus, which is stopped.
      let info = String(repeating: "x", count: 1_000_000)
      let (session, _, _) = try await service.call(
        "Drop", "viewCat", "long", ["x": info], returning: ObjectPath.self, String.self, String.self)
      try await daemon.freeze()
      client.send(
        try Message.methodCall(
          to: House.name, at: session, "org.freedesktop.DBus.Properties", "Get", House.session, "UserActivity"))
      let _: String = try await client.call(to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
      try #require(kill(house.bus.processIdentifier, SIGSTOP) == 0)
      defer { kill(house.bus.processIdentifier, SIGCONT) }
      daemon.signal(SIGCONT)
      // While an answer waits for the bus, the service carries out no more calls, and the log says nothing more.
      let seen = Lock((length: 0, quiet: 0))
      try await eventually("it has answered what the socket takes") {
        let (length, hasBegun) = (daemon.standardError.utf8.count, daemon.standardError.contains("Get of"))
        return seen.withLock { seen in
          seen = (length, seen.length == length && hasBegun ? seen.quiet + 1 : 0)
          return seen.quiet > 50
        }
      }
      let begin = ContinuousClock.now
      daemon.signal(SIGTERM)
      let status = try await daemon.ended()
      let took = ContinuousClock.now - begin
      #expect(status == .exited(0))
      #expect(took > .seconds(1), "there was something that it could not send")
      #expect(took < .seconds(8))
    }
    let kept = try await house.serving { _ in try await house.deliveries().map { $0[0] } }
    #expect(Set(dropper.answered.map(\.delivery)).subtracting(kept) == [])
  }

  @Test(.daemon(with: "--durability", "memory"))
  func `a second one says that there is one, and leaves it alone`() async throws {
    try await house.register(Manifests.cats)
    let landing = try await house.drop("viewCat", "cat1")
    // The second service has the same store, or another one.
    for arguments in [["--durability", "memory"], ["--state", "\(house.state)-other"]] {
      var second = house.daemon()
      second.arguments = arguments
      let result = try await second.run()
      #expect(result.status == .exited(1))
      #expect(
        result.standardError
          == "stagedoord: org.stagedoor.Interchange1 is taken: another stagedoord runs on this bus, "
          + "and --replace takes over from it\n")
    }
    #expect(access("\(house.state)-other", F_OK) != 0, "a store is looked at only by who has the name")
    #expect(try await house.drop("viewCat", "cat1").session == landing.session)
  }

  @Test(arguments: [
    (["--state=", "--durability", "memory"], #"--state takes a text, not """#),
    (["--durability", "most"], #"--durability must be full, normal or memory, not "most""#),
    (["--log-level", "loud"], #"--log-level must be error, warning, info or debug, not "loud""#),
    (["--replace", "now"], #""now" is one argument too many: stagedoord [OPTION]..."#),
  ])
  func `arguments that make no sense are said in a sentence`(arguments: [String], sentence: String) async throws {
    var command = Command.built("stagedoord")
    command.arguments = arguments
    let result = try await command.run()
    #expect(result.status == .exited(2))
    #expect(result.standardError == "stagedoord: \(sentence)\n")
    #expect(result.standardOutput == "")
  }

  @Test func `a bus that is not there is said in a sentence`() async throws {
    let result = try await Command.built("stagedoord", "--address", "unix:path=/nowhere/bus").run()
    #expect(result.status == .exited(1))
    #expect(result.standardError.hasPrefix("stagedoord: no connection to unix:path=/nowhere/bus: "))
    #expect(result.standardError.split(separator: "\n").count == 1)
  }

  @Test(.house) func `the demonstration serves the bus at a given address, and goes with its terminal`() async throws {
    try await withPrivateBus { other in
      try await house.daemon("--demo", "--address", "\(other.address)").whileRunning { running in
        try await running.line { $0.contains("Ctrl-C") }
        #expect(running.standardOutput.contains("export DBUS_SESSION_BUS_ADDRESS='\(other.address)'"))
        #expect(try await other.connect().owner(of: House.name) != nil)
        #expect(try await house.watcher.owner(of: House.name) == nil)
        running.signal(SIGHUP)
        #expect(try await running.ended() == .exited(0))
      }
    }
  }

  @Test(.daemon(with: "--durability", "memory"))
  func `a signal that means nothing to the service does not end it`() async throws {
    // All but those by which a person or the kernel ends or stops a process.
    let ending = [SIGINT, SIGQUIT, SIGTERM, SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU]
    let faults = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
    // 32 and 33 belong to libc.
    for number in 1...64 as ClosedRange<Int32> where ![32, 33].contains(number) && !(ending + faults).contains(number) {
      daemon.signal(number)
    }
    #expect(try await house.property("Version", of: House.root, in: House.interchange) == "1")
  }

  @Test(.house) func `standard descriptors that were closed lead nowhere`() async throws {
    let daemon = Command.built("stagedoord").program
    let closed = house.command("sh", "-c", "exec \(daemon) --durability memory <&- >&- 2>&-")
    try await house.serving(closed) { running in
      for descriptor in 0...2 {
        let leadsTo = try FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/\(running.processIdentifier)/fd/\(descriptor)")
        #expect(leadsTo == "/dev/null")
      }
    }
  }

  @Test(.daemon(with: "--durability", "memory", "--log-level", "debug"))
  func `an entry that is too long for the log is cut, and is still a line`() async throws {
    let long = "/" + String(repeating: "a", count: 5000)
    for path in [long, House.root] {
      _ = try await refused { _ = try await house.object(path, House.interchange).get("Version", as: UInt32.self) }
    }
    try await eventually("the entry of the second call") {
      daemon.standardError.contains("Get of \(House.root) is called by ")
    }
    let lines = daemon.standardError.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("stagedoord: Get of /aaa") && $0.hasSuffix("a…") && $0.utf8.count < 4096 })
    #expect(lines.contains { $0.hasPrefix("stagedoord: Get of \(House.root) is called by ") })
  }

  @Test(.house) func `it needs neither a configuration file nor XDG directories`() async throws {
    var daemon = house.daemon()
    daemon.environment = daemon.environment.filter { !$0.key.hasPrefix("XDG_") }
    try await house.serving(daemon) { _ async throws in
      #expect(try await house.property("Version", of: House.root, in: House.interchange) == "1")
      #expect(access("\(house.home)/.local/state/stagedoor", F_OK) == 0)
    }
  }
}

/// Compares the manual page with the program that it describes. `make check` looks for groff's complaints.
@Suite struct ManualTests {
  @Test func `the manual has the options, the values, the statuses and the version of the program`() async throws {
    let page = try Repository.text(of: "docs/stagedoord.1").replacing("\\-", with: "-")
    let help = try await Command.built("stagedoord", "--help").output()
    #expect(help.hasPrefix("usage: stagedoord [OPTION]...\n"))
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(options(in: help).count > 6)
    #expect(options(in: page, but: ["--session", "--print-reply", "--dest", "--user"]) == options(in: help))
    let version = try await Command.built("stagedoord", "--version").run()
    #expect(version.status == .exited(0) && version.standardOutput == "stagedoord 0.1.0\n")
    #expect(page.contains("\"Stagedoor 0.1.0\""))
    for word in ["full", "normal", "memory", "error", "warning", "info", "debug", "SIGTERM", "SIGINT", "SIGHUP"] {
      #expect(page.contains(word) && help.contains(word), "\(word)")
    }
    for status in 0...3 { #expect(page.contains(".TP\n.B \(status)\n") && help.contains(" \(status) ")) }
  }

  private func options(in text: String, but others: Set<String> = []) -> Set<String> {
    Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) }).subtracting(others)
  }
}
