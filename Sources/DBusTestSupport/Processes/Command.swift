internal import DBus
internal import Glibc

/// A program with its arguments, for a test to run.
///
/// ```swift
/// let result = try await Command("sh", "-c", "echo hello; exit 3").run()
/// print(result.standardOutput, result.status)  // hello, exit status 3
/// let name = try await Command("uname", "-s").output()
/// print(name)  // Linux
/// ```
///
/// It runs in a session of its own and leaves no zombie. It is killed if this process ends first.
public struct Command: Sendable {
  /// A path, or a name that is looked up on the `PATH` of ``environment``.
  public var program: String
  /// Its arguments, without the program's name.
  public var arguments: [String]
  /// All of its environment.
  public var environment: [String: String]
  /// The folder that it starts in; `nil` for the folder of this process.
  public var directory: String?
  /// The content of its standard input.
  public var input = ""

  /// A program with arguments. Without `environment` it gets the environment of this process.
  public init(_ program: String, _ arguments: String..., environment: [String: String]? = nil, input: String = "") {
    self.init(program, arguments: arguments, environment: environment, input: input)
  }

  /// A program with arguments. Without `environment` it gets the environment of this process.
  public init(_ program: String, arguments: [String], environment: [String: String]? = nil, input: String = "") {
    self.program = program
    self.arguments = arguments
    self.environment = environment ?? Programs.environment
    self.input = input
  }

  /// An executable of this package, built together with the test that runs it. The test's target must depend on it.
  ///
  /// ```swift
  /// let result = try await Command.built("private-bus", "--daemon", "--", "printenv", "DBUS_SESSION_BUS_ADDRESS").run()
  /// print(result.standardOutput)  // unix:path=…
  /// ```
  public static func built(
    _ name: String, _ arguments: String..., environment: [String: String]? = nil, input: String = ""
  ) -> Command {
    Command(Programs.built(name), arguments: arguments, environment: environment, input: input)
  }

  /// The exit status of a command, and its output.
  ///
  /// ```swift
  /// let result = try await Command("ls", "/no/such/folder").run()
  /// if !result.status.isSuccess { print(result.standardError) }
  /// ```
  public struct Result: Sendable, Hashable, CustomStringConvertible {
    /// How it ended.
    public let status: ExitStatus
    /// What it wrote to its standard output.
    public let standardOutput: String
    /// What it wrote to its standard error.
    public let standardError: String

    /// The status and the output, for the log of a failed test.
    public var description: String { "\(status)\nstdout: \(standardOutput)\nstderr: \(standardError)" }
  }

  /// Runs the command to its end. After the limit the command is killed, and ``LimitExceeded`` shows its output so far.
  public func run(within limit: Duration = usualLimit) async throws -> Result {
    try await whileRunning { try await $0.result(within: limit) }
  }

  /// Runs the command to its end, and returns its standard output without the last newline. Any status but 0 throws ``CommandFailure``.
  public func output(within limit: Duration = usualLimit) async throws -> String {
    let result = try await run(within: limit)
    if !result.status.isSuccess { throw CommandFailure(command: description, result: result) }
    return String(result.standardOutput.hasSuffix("\n") ? result.standardOutput.dropLast() : result.standardOutput[...])
  }

  /// Runs the command to its end with the standard input and outputs of this process, in its session, like a program that a user typed.
  package func runInForeground() async throws -> ExitStatus {
    let words = try words
    let descriptors = try [0, 1, 2].map { try OwnedFileDescriptor(duplicating: $0) }
    let process = try await ChildProcess.start(
      Spawn(
        executable: words[0], arguments: words, environment: environment, descriptors: descriptors, isDetached: false))
    return try await process.ended()
  }

  /// The command that is started: programs that prepare the environment of the actual program and then become it.
  var words: [String] {
    get throws {
      let path = try Programs.required(program, in: environment)
      // The kernel kills the program if this process ends first.
      let prefix = Programs.path(of: "setpriv").map { [$0, "--pdeathsig", "KILL", "--"] } ?? []
      let chdir = directory.map { ["/usr/bin/env", "--chdir=\($0)"] } ?? []
      return prefix + chdir + [path] + arguments
    }
  }

  /// Starts the command, to run beside the test. Stop it at the end, or use ``whileRunning(_:)``, which stops it.
  public func start() async throws -> RunningCommand { try await RunningCommand(self) }

  /// Runs `body` while the command runs, and then stops the command.
  ///
  /// ```swift
  /// try await Command("sh", "-c", "echo ready; exec sleep 60").whileRunning { running in
  ///   print(try await running.nextLine())  // ready
  /// }
  /// ```
  public nonisolated(nonsending) func whileRunning<Value>(
    _ body: nonisolated(nonsending) (RunningCommand) async throws -> Value
  ) async throws -> Value {
    let running = try await start()
    return try await ending(with: { await running.stop() }) { try await body(running) }
  }
}

extension Command: CustomStringConvertible {
  /// The words of the command, nearly as a user would type them.
  public var description: String { ([program] + arguments).joined(separator: " ") }
}

/// A command that should have succeeded and failed.
///
/// ```swift
/// do {
///   _ = try await Command("false").output()
/// } catch let error as CommandFailure {
///   print(error.command, error.result.status)  // false exit status 1
/// }
/// ```
public struct CommandFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The command.
  public let command: String
  /// Its exit status and its output.
  public let result: Command.Result

  /// The status and the output, for the log of a failed test.
  public var description: String { "\"\(command)\" ended with \(result)" }
}
