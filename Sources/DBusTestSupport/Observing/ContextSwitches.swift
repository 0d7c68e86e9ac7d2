internal import Glibc

/// How often the threads of a process gave up their processor, for tests that a message does not change threads.
///
/// ```swift
/// import DBus
///
/// let before = ContextSwitches.now()
/// let (server, client) = try await Connection.pair()
/// await client.close()
/// await server.close()
/// await client.loop.stop()
/// for thread in ContextSwitches.since(before) {
///   print(thread.name, thread.voluntary, thread.involuntary)
/// }
/// ```
public struct ContextSwitches: Sendable, Hashable {
  /// The thread's identifier.
  public let thread: Int32
  /// The thread's name, such as `dbus-loop`.
  public let name: String
  /// How often the thread waited.
  public let voluntary: Int
  /// How often the kernel preempted the thread.
  public let involuntary: Int

  /// The counters of every thread of a process, by default of this process, in the order of their identifiers.
  public static func now(ofProcess identifier: Int32? = nil) -> [ContextSwitches] {
    let tasks = "/proc/\(identifier ?? getpid())/task"
    return Procfs.entries(of: tasks).compactMap(Int32.init).sorted().compactMap { thread in
      Procfs.text(of: "\(tasks)/\(thread)/status").flatMap { ContextSwitches(thread: thread, status: $0) }
    }
  }

  /// The increase of each thread's counters since `before`; threads without an increase are left out.
  public static func since(_ before: [ContextSwitches], ofProcess identifier: Int32? = nil) -> [ContextSwitches] {
    let before = Dictionary(before.map { ($0.thread, $0) }) { first, _ in first }
    return now(ofProcess: identifier).compactMap { after in
      let difference = ContextSwitches(
        thread: after.thread, name: after.name, voluntary: after.voluntary - (before[after.thread]?.voluntary ?? 0),
        involuntary: after.involuntary - (before[after.thread]?.involuntary ?? 0))
      return difference.voluntary == 0 && difference.involuntary == 0 ? nil : difference
    }
  }
}

extension ContextSwitches {
  fileprivate init?(thread: Int32, status: String) {
    var values: [Substring: Substring] = [:]
    for line in status.split(separator: "\n") {
      let parts = line.split(separator: ":\t", maxSplits: 1)
      if parts.count == 2 { values[parts[0]] = parts[1] }
    }
    guard let name = values["Name"], let voluntary = values["voluntary_ctxt_switches"].flatMap({ Int($0) }),
      let involuntary = values["nonvoluntary_ctxt_switches"].flatMap({ Int($0) })
    else { return nil }
    self.init(thread: thread, name: String(name), voluntary: voluntary, involuntary: involuntary)
  }
}
