import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

/// Standard input that is longer than a message: the command hands it over as it comes.
@Suite(.gallery) struct StreamTests {
  /// Runs `body` while a host reads at most `bytes` of each delivery.
  private func withReader(_ bytes: Int, _ body: (RunningCommand) async throws -> Void) async throws {
    let script = "\(Repository.path)/Tests/CommandTests/reading_host.py"
    let reader = house.command("/usr/bin/python3", arguments: [script, House.gallery, "\(bytes)"])
    try await reader.whileRunning { reader async throws in
      #expect(try await reader.nextLine() == "attached")
      try await body(reader)
    }
  }

  private static let drop = "\"$0\" drop -t \(House.openDetail) --target long"
  /// In long rounds, more than a program should keep in memory.
  private static let count = ProcessInfo.processInfo.environment["STAGEDOOR_STRESS"] == nil ? 32 << 20 : 1 << 30

  @Test func `long standard input reaches the application byte for byte`() async throws {
    try await withReader(-1) { reader async throws in
      let source = "yes stagedoor | head -c \(Self.count)"
      let sum = try await house.shell("\(source) | sha256sum").output().prefix(64)
      let result = try await house.shell("\(source) | \(Self.drop) -").run()
      #expect(result.status.isSuccess && result.standardError == "", "\(result)")
      #expect(result.standardOutput.hasPrefix("created\t"))
      #expect(try await reader.line { $0.hasPrefix("read") } == "read \(Self.count) \(sum)")
    }
  }

  @Test func `a source that pauses is waited for`() async throws {
    try await withReader(-1) { reader async throws in
      let source = "{ head -c 100000 /dev/zero; until [ -e ended ]; do sleep 0.02; done; head -c 50000 /dev/zero; }"
      try await house.shell("\(source) | \(Self.drop) -w handled -").whileRunning { drop async throws in
        #expect(try await drop.nextLine().hasPrefix("created\t"))
        try house.write("", to: "\(house.home)/ended")
        #expect(try await reader.line { $0.hasPrefix("read") }.hasPrefix("read 150000 "))
        #expect(try await drop.ended().isSuccess)
      }
    }
  }

  @Test func `with --stream a host reads what comes while more still comes`() async throws {
    try await withReader(3) { reader async throws in
      // The source never ends, and the host reads three bytes.
      try await house.shell("{ printf abc; exec sleep 1000; } | \(Self.drop) --stream -").whileRunning {
        drop async throws in
        #expect(try await drop.nextLine().hasPrefix("created\t"))
        #expect(try await reader.line { $0.hasPrefix("read") }.hasPrefix("read 3 "))
      }
    }
    try await expect(["drop", "--stream", "--text", "a"], ends: 2)
  }

  /// The least that is streamed, and around the size of a buffer.
  private static let counts = [40_000, 65_536, 200_000]

  @Test(arguments: counts)
  func `it ends when all is read, however little that is`(count: Int) async throws {
    try await withReader(-1) { reader async throws in
      #expect(try await house.shell("head -c \(count) /dev/zero | \(Self.drop) -").run().status.isSuccess)
      #expect(try await reader.line { $0.hasPrefix("read") }.hasPrefix("read \(count) "))
    }
  }

  @Test func `an application that has read enough ends it`() async throws {
    try await withReader(1_000_000) { reader async throws in
      // `yes` would never end by itself.
      let result = try await house.shell("yes | \(Self.drop) -").run()
      #expect(result.status.isSuccess && result.standardError == "", "\(result)")
      #expect(try await reader.line { $0.hasPrefix("read") }.hasPrefix("read 1000000 "))
    }
  }

  @Test(
    arguments: counts.map { "head -c \($0) /dev/zero" } + [
      "head -c 100000 /dev/zero; until [ -e ended ]; do sleep 0.02; done"
    ])
  func `where no host takes it, it ends at the deadline, also where its source is silent`(source: String) async throws {
    let script = "{ \(source); } | { \(Self.drop) --deadline 0.3 -; echo \"status $?\"; touch ended; }"
    let result = try await house.shell(script).run()
    let lines = result.standardOutput.split(separator: "\n")
    let delivery = try #require(lines.first?.split(separator: "\t").last)
    #expect(lines.last == "status 5")
    let sentence = "no program took the delivery \(delivery) in time; its window waits in `stagedoor sessions`"
    #expect(result.standardError == "stagedoor drop: \(sentence)\n")
  }

  @Test(arguments: [SIGINT, SIGTERM], ["", "-w handled"])
  func `an interruption cancels it, if no host has it yet`(number: Int32, wait: String) async throws {
    _ = try await house.shell("mkfifo source").output()
    try await house.shell("exec \(Self.drop) \(wait) --deadline 3600 - <source").whileRunning { drop async throws in
      try await house.shell("exec >source; head -c 100000 /dev/zero; echo; exec sleep 1000").whileRunning {
        _ async throws in
        try await eventually("the delivery") {
          try await said("deliveries", "--state", "held", "--print", "delivery") != ""
        }
        drop.signal(number)
        #expect(try await drop.ended() == .signalled(number))
      }
    }
    #expect(try await said("deliveries", "--state", "cancelled", "--print", "delivery") != "")
    #expect(try await house.sessions() == [])
  }

  /// Kills the command when it has handed in the beginning of its input, which has 100,000 bytes so far.
  private func killingDrop(_ body: () async throws -> Void) async throws {
    _ = try await house.shell("mkfifo source").output()
    try await house.shell("exec \(Self.drop) - <source").whileRunning { drop async throws in
      try await house.shell("exec >source; head -c 100000 /dev/zero; exec sleep 1000").whileRunning { _ async throws in
        #expect(try await drop.nextLine().hasPrefix("created\t"))
        drop.signal(SIGKILL)
        try await body()
      }
    }
  }

  @Test func `a host does not take the beginning for the whole if the command is killed`() async throws {
    try await withReader(-1) { reader async throws in
      try await killingDrop { () async throws in
        #expect(try await reader.line { $0.hasPrefix("read") } == "read interrupted")
      }
    }
  }

  @Test func `the kit says that the beginning is not the whole if the command is killed`() async throws {
    let host = "exec \"$0\" host --app \(House.gallery) --connect 'true {file}' 2>&1"
    try await house.shell(host).whileRunning { host async throws in
      // How much of the beginning was handed over by then is chance.
      try await killingDrop {
        try await host.line { $0.hasPrefix("stagedoor host: the source was interrupted after ") }
      }
    }
  }

  @Test func `a terminal shows how far it is, and a pipe does not`() async throws {
    let path = "\(house.home)/long.bin"
    _ = try await house.shell("head -c 1048576 /dev/zero >'\(path)'").output()
    let words = ["drop", "-t", House.openDetail, "--deadline", "2", "-"]
    let shown = try await house.stagedoor(columns: 60, input: path, words).run()
    #expect(shown.status == .exited(5))
    // The kernel decides how much it takes before anybody reads.
    let bar = /\[#+\.+] [0-9]+ %  [0-9]+ KiB of 1024 KiB\u{1b}\[K/
    #expect(shown.standardOutput.contains(bar), "\(shown)")
    // The progress is erased from the line before the command writes something else there.
    #expect(shown.standardOutput.contains("\r\u{1b}[Kstagedoor drop: no program took"), "\(shown)")
    let piped = try await house.shell("exec \"$0\" \(words.joined(separator: " ")) <'\(path)'").run()
    #expect(piped.status == .exited(5))
    #expect(!piped.standardError.contains("\r") && !piped.standardOutput.contains("\r"))
  }
}
