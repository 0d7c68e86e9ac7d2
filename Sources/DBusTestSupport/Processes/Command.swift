internal import DBus
internal import Glibc

/// A program with its arguments, to be run by a test.
///
/// ```swift
/// let result = try await Command("sh", "-c", "echo hello; exit 3").run()
/// print(result.standardOutput, result.status)  // hello, exit status 3
/// let name = try await Command("uname", "-s").output()
/// print(name)  // Linux
/// ```
///
/// It runs in a session of its own. It leaves no zombie behind; it is killed where this process ends first.
public struct Command: Sendable {
  /// A path, or a name that is looked up on the `PATH` of ``environment``.
  public var program: String
  /// Its arguments, without the program's name.
  public var arguments: [String]
  /// All of its environment.
  public var environment: [String: String]
  /// The folder it starts in; ours where it is `nil`.
  public var directory: String?
  /// What it reads from its standard input.
  public var input = ""

  /// A program with arguments. Without `environment` it has ours.
  public init(_ program: String, _ arguments: String..., environment: [String: String]? = nil, input: String = "") {
    self.init(program, arguments: arguments, environment: environment, input: input)
  }

  /// A program with arguments. Without `environment` it has ours.
  public init(_ program: String, arguments: [String], environment: [String: String]? = nil, input: String = "") {
    self.program = program
    self.arguments = arguments
    self.environment = environment ?? Programs.environment
    self.input = input
  }

  /// How a command ended, and all that it said.
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

    /// All of it, for the log of a test that failed.
    public var description: String { "\(status)\nstdout: \(standardOutput)\nstderr: \(standardError)" }
  }

  /// Runs it to its end. Over the limit it is killed, and ``LimitExceeded`` shows what it said so far.
  public func run(within limit: Duration = usualLimit) async throws -> Result {
    let running = try await start()
    do {
      let status = try await running.ended(within: limit)
      return Result(status: status, standardOutput: running.standardOutput, standardError: running.standardError)
    } catch {
      await running.stop()
      throw error
    }
  }

  /// Runs it to its end, and returns its standard output without the last newline. Any status but 0 is thrown as ``CommandFailure``.
  public func output(within limit: Duration = usualLimit) async throws -> String {
    let result = try await run(within: limit)
    if !result.status.isSuccess { throw CommandFailure(command: description, result: result) }
    return String(result.standardOutput.hasSuffix("\n") ? result.standardOutput.dropLast() : result.standardOutput[...])
  }

  /// Runs it to its end with our own standard input and outputs, in our session: a program that a user typed.
  package func runInForeground() async throws -> ExitStatus {
    let words = try words
    let descriptors = try [0, 1, 2].map { try OwnedFileDescriptor(duplicating: $0) }
    let process = try await ChildProcess.start(
      Spawn(
        executable: words[0], arguments: words, environment: environment, descriptors: descriptors, isDetached: false))
    return try await process.ended()
  }

  /// What is started: the program, by way of others that prepare the ground for it and become it.
  var words: [String] {
    get throws {
      let path = try Programs.required(program, in: environment)
      // The kernel kills it where this process ends first.
      let prefix = Programs.path(of: "setpriv").map { [$0, "--pdeathsig", "KILL", "--"] } ?? []
      let chdir = directory.map { ["/usr/bin/env", "--chdir=\($0)"] } ?? []
      return prefix + chdir + [path] + arguments
    }
  }

  /// Starts it, to run beside the test. Stop it, or use ``whileRunning(_:)``, which does.
  public func start() async throws -> RunningCommand { try await RunningCommand(self) }

  /// Runs `body` while the command runs, and stops the command then.
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
    do {
      let value = try await body(running)
      await running.stop()
      return value
    } catch {
      await running.stop()
      throw error
    }
  }
}

extension Command: CustomStringConvertible {
  /// The words, as one would type most of them.
  public var description: String { ([program] + arguments).joined(separator: " ") }
}

/// A command that was to succeed and did not.
///
/// ```swift
/// do {
///   _ = try await Command("false").output()
/// } catch let error as CommandFailure {
///   print(error.command, error.result.status)  // false exit status 1
/// }
/// ```
public struct CommandFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was run.
  public let command: String
  /// How it ended, and what it said.
  public let result: Command.Result

  /// All of it, for the log of a test that failed.
  public var description: String { "\"\(command)\" ended with \(result)" }
}
