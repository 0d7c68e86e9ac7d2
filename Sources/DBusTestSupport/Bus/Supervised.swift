internal import DBus
internal import Glibc

/// A program that ends with this process, together with all programs that it started, however this process ends, and even if no code stops
/// it.
///
/// A shell stands between. It reads a pipe whose other end only this process has. When the pipe ends, the shell kills the program's group,
/// removes the folder, and ends. If the shell itself is killed, the kernel kills the program. (The kernel alone is not enough: it cannot
/// remove files, and it does nothing for a process whose parent ended before the process asked for a signal.)
final class Supervised: Sendable {
  // At the end nobody may read the shell's output, and writing to the closed pipe would end the shell.
  private static let script = """
    folder=$1
    shift
    setsid env --default-signal=INT --default-signal=QUIT setpriv --pdeathsig KILL -- "$@" </dev/null >&2 &
    child=$!
    exec 3>&-
    echo "$child"
    while read -r order; do
      kill -s KILL "$child"
      wait "$child"
      echo gone
    done
    exec >/dev/null 2>&1
    kill -s KILL -- "-$child" "$child"
    wait "$child"
    rm -rf -- "$folder"
    """

  private let shell: ChildProcess
  private let life: OwnedFileDescriptor
  private let reports: OutputReader
  /// The program's output, on both descriptors.
  private let log: OutputReader
  /// The program's process identifier.
  let pid: pid_t

  /// Starts `command`. The program gets `descriptor` as number 3, and this process closes its own copy. When the program ends, `folder` is
  /// removed.
  init(_ command: [String], descriptor: OwnedFileDescriptor, removing folder: String) async throws {
    let life = try OwnedFileDescriptor.pipe()
    let report = try OwnedFileDescriptor.pipe()
    let log = try OwnedFileDescriptor.pipe()
    let spawn = Spawn(
      executable: try Programs.required("sh"), arguments: ["sh", "-c", Self.script, "private-bus", folder] + command,
      environment: Programs.environmentOfBus, descriptors: [life.readEnd, report.writeEnd, log.writeEnd, descriptor])
    shell = try await ChildProcess.start(spawn)
    self.life = life.writeEnd
    reports = try OutputReader(report.readEnd)
    self.log = try OutputReader(log.readEnd)
    guard let line = try await reports.nextLine(), let pid = pid_t(line) else {
      throw BusFailure("the shell that was to start \(command[0]) ended", log: self.log.text)
    }
    self.pid = pid
  }

  /// The program's output so far.
  var output: String { log.text }

  /// Kills the program only, and waits until it has ended. The programs that it started, and the folder, stay.
  func kill() async {
    var order = UInt8(ascii: "\n")
    // The shell still reads the pipe: it ends only when this end is closed.
    life.withRawValue { _ = write($0, &order, 1) }
    await uncancelled { _ = try await self.reports.nextLine() }
  }

  /// Ends the program and all programs that it started, and waits until the folder is removed.
  func stop() async {
    life.close()
    await uncancelled {
      _ = try await self.shell.ended()
      try await self.reports.ended()
      try await self.log.ended()
    }
  }
}

/// Runs work that must be done even if the task was cancelled.
func uncancelled(_ body: @escaping @Sendable () async throws -> Void) async {
  _ = await Task.detached { try await body() }.result
}
