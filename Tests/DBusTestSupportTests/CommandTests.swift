import DBusTestSupport
import Glibc
import Testing

@Suite struct CommandTests {
  @Test func `a command's outputs and status come back apart from one another`() async throws {
    let result = try await Command("sh", "-c", "echo out; echo err >&2; exit 3").run()
    #expect(result.status == .exited(3))
    #expect(result.standardOutput == "out\n")
    #expect(result.standardError == "err\n")
  }

  @Test func `more than a pipe holds comes through both outputs, and back from the input`() async throws {
    let result = try await Command("sh", "-c", "head -c 1000000 /dev/zero | tee /dev/stderr | tr '\\0' x").run()
    #expect(result.standardOutput == String(repeating: "x", count: 1_000_000))
    #expect(result.standardError.utf8.count == 1_000_000)
    #expect(try await Command("wc", "-c", input: result.standardOutput).output() == "1000000")
  }

  @Test func `it has the environment, the arguments and the folder that it was given`() async throws {
    var command = Command("sh", "-c", "echo \"$MOOD:$HOME:$1\"; pwd", "sh", "two words", environment: ["MOOD": "calm"])
    command.directory = "/proc"
    #expect(try await command.output() == "calm::two words\n/proc")
  }

  @Test func `over its limit it is killed with all of its group, and the error shows what it said`() async throws {
    let error = try #require(
      await #expect(throws: LimitExceeded.self) {
        try await Command("sh", "-c", "echo started $$; sleep 1000; echo never").run(within: .milliseconds(300))
      })
    let words = error.details.split(separator: " ").flatMap { $0.split(separator: "\n") }
    #expect(words.prefix(4) == ["stdout", "so", "far:", "started"])
    let shell = try #require(Int32(words[4]))
    try await eventually("the group is gone") { kill(-shell, 0) != 0 }
  }

  @Test func `a failure is told with all that the command said`() async throws {
    let error = await #expect(throws: CommandFailure.self) {
      try await Command("sh", "-c", "echo no >&2; false").output()
    }
    #expect(error?.description.contains("exit status 1") == true)
    #expect(error?.result.standardError == "no\n")
    #expect(try await Command("sh", "-c", "kill -KILL $$").run().status == .signalled(SIGKILL))
  }

  @Test func `a program that is not there has a name`() async throws {
    let error = await #expect(throws: ProgramNotFound.self) { try await Command("no-such-program").run() }
    #expect(error?.name == "no-such-program")
  }

  @Test func `lines can be awaited one by one, while the command runs`() async throws {
    try await Command("sh", "-c", "for word in one two three; do echo $word; done; exec sleep 1000").whileRunning {
      running in
      let first = try await running.nextLine()
      #expect(first == "one")
      #expect(try await running.line { $0.hasPrefix("th") } == "three")
      #expect(running.status == nil)
      let error = await #expect(throws: LimitExceeded.self) { try await running.nextLine(within: .milliseconds(20)) }
      #expect(error?.details.contains("one\ntwo\nthree") == true)
      running.signal(SIGTERM)
      #expect(try await running.ended() == .signalled(SIGTERM))
    }
  }

  @Test func `waiting for a line of a command that has ended shows how it ended`() async throws {
    let running = try await Command("sh", "-c", "printf 'last words'; exit 5").start()
    #expect(try await running.nextLine() == "last words")
    let error = await #expect(throws: CommandFailure.self) { try await running.nextLine() }
    #expect(error?.result.status == .exited(5))
  }

  @Test func `a command that is forgotten is killed and reaped`() async throws {
    var running: RunningCommand? = try await Command("sleep", "1000").start()
    let process = try #require(running?.processIdentifier)
    running = nil
    try await eventually("the process is gone, and is no zombie") { !Processes.exist(process) }
  }
}
