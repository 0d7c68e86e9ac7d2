internal import DBus
internal import Glibc

/// A command that runs beside the test.
///
/// ```swift
/// let running = try await Command("dbus-monitor", "--session").start()
/// let line = try await running.line(within: .seconds(5)) { $0.hasPrefix("signal") }
/// print(line)
/// await running.stop()
/// ```
///
/// It is killed when the last reference to it is released.
public final class RunningCommand: Sendable {
  private let command: String
  private let process: ChildProcess
  private let output: OutputReader
  private let errors: OutputReader

  init(_ command: Command) async throws {
    let output = try OwnedFileDescriptor.pipe()
    let errors = try OwnedFileDescriptor.pipe()
    let input = try command.input.isEmpty ? FileDescriptors.null() : .memoryFile(Array(command.input.utf8))
    let words = try command.words
    self.command = command.description
    process = try await ChildProcess.start(
      Spawn(
        executable: words[0], arguments: words, environment: command.environment,
        descriptors: [input, output.writeEnd, errors.writeEnd]))
    self.output = try OutputReader(output.readEnd)
    self.errors = try OutputReader(errors.readEnd)
  }

  deinit { process.signal(SIGKILL, group: true) }

  /// The identifier of its process.
  public var processIdentifier: Int32 { process.pid }
  /// How it ended; `nil` while it runs.
  public var status: ExitStatus? { process.status }
  /// Its standard output so far.
  public var standardOutput: String { output.text }
  /// Its standard error so far.
  public var standardError: String { errors.text }

  /// Waits for the next line of its standard output. Each line is returned once.
  @discardableResult
  public func nextLine(within limit: Duration = usualLimit) async throws -> String {
    try await line(within: limit) { _ in true }
  }

  /// Waits for the next line of its standard output that `fits`, and drops the lines before it.
  @discardableResult
  public func line(
    within limit: Duration = usualLimit, where fits: @escaping @Sendable (String) -> Bool
  ) async throws -> String {
    let output = output
    let line = try await showing(limit, "a line of \"\(command)\"") {
      while let line = try await output.nextLine() {
        if fits(line) { return line as String? }
      }
      return nil
    }
    if let line { return line }
    throw CommandFailure(command: command, result: try await result(within: limit))
  }

  /// Waits until the command has ended and all its output was read.
  @discardableResult
  public func ended(within limit: Duration = usualLimit) async throws -> ExitStatus {
    let (process, output, errors) = (process, output, errors)
    return try await showing(limit, "the end of \"\(command)\"") {
      let status = try await process.ended()
      try await output.ended()
      try await errors.ended()
      return status
    }
  }

  /// Sends a signal to the command if it still runs.
  public func signal(_ number: Int32) { process.signal(number) }

  /// Kills the command and its process group if they still run, and waits until the command has ended.
  public func stop() async {
    process.signal(SIGKILL, group: true)
    let process = process
    await uncancelled { _ = try await process.ended() }
  }

  func result(within limit: Duration) async throws -> Command.Result {
    let status = try await ended(within: limit)
    return Command.Result(status: status, standardOutput: standardOutput, standardError: standardError)
  }

  private func showing<Value: Sendable>(
    _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    do {
      return try await withLimit(limit, what, body)
    } catch let error as LimitExceeded {
      let details = "stdout so far: \(standardOutput)\nstderr so far: \(standardError)"
      throw LimitExceeded(what: error.what, limit: limit, details: details)
    }
  }
}
