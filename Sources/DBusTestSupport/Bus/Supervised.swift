internal import DBus
internal import Glibc

/// A program that ends, with all that it started, when this process does: however this process ends, and whether or not
/// anybody remembers to stop it.
///
/// A shell stands between. It reads a pipe whose other end only this process has; when that ends, the shell kills the program's
/// group, removes what it was told to, and goes. Were the shell itself killed, the kernel would kill the program. (To let
/// the kernel do it all would not do: it cannot remove files, and it does nothing for a process whose parent ended before it asked.)
final class Supervised: Sendable {
  // In the end nobody may be there to read what the shell has to say, and saying it would be its end.
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
    if [ -n "$folder" ]; then rm -rf -- "$folder"; fi
    """

  private let shell: ChildProcess
  private let life: OwnedFileDescriptor
  private let reports: OutputReader
  /// What the program says on either of its outputs.
  private let log: OutputReader
  /// The program's own identifier.
  let pid: pid_t

  /// Starts `command`. It has `descriptor` as number 3, which is closed here; when it ends, `folder` is removed.
  init(
    _ command: [String], environment: [String: String], descriptor: OwnedFileDescriptor? = nil,
    removing folder: String = ""
  ) async throws {
    let life = try OwnedFileDescriptor.pipe()
    let report = try OwnedFileDescriptor.pipe()
    let log = try OwnedFileDescriptor.pipe()
    let spawn = Spawn(
      executable: try Programs.required("sh"), arguments: ["sh", "-c", Self.script, "private-bus", folder] + command,
      environment: environment,
      descriptors: [life.readEnd, report.writeEnd, log.writeEnd] + (descriptor.map { [$0] } ?? []))
    shell = try await ChildProcess.start(spawn)
    self.life = life.writeEnd
    reports = try OutputReader(report.readEnd)
    self.log = try OutputReader(log.readEnd)
    guard let line = try await reports.nextLine(), let pid = pid_t(line) else {
      throw BusFailure("the shell that was to start \(command[0]) ended", log: self.log.text)
    }
    self.pid = pid
  }

  /// What the program said so far.
  var output: String { log.text }

  /// Kills the program alone, and waits until it is gone. What it started and the folder stay.
  func kill() async {
    var order = UInt8(ascii: "\n")
    // The shell is there to read it: it ends only when this end is closed.
    life.withRawValue { _ = write($0, &order, 1) }
    await uncancelled { _ = try await self.reports.nextLine() }
  }

  /// Ends the program, with all that it started, and waits until the folder is gone too.
  func stop() async {
    life.close()
    await uncancelled {
      _ = try await self.shell.ended()
      try await self.reports.ended()
      try await self.log.ended()
    }
  }
}

/// Does what must be done, even where the task was cancelled.
func uncancelled(_ body: @escaping @Sendable () async throws -> Void) async {
  _ = await Task.detached { try await body() }.result
}
