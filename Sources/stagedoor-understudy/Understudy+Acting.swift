import DBus
import DesktopFiles
import Glibc
import ServiceSupport
import WindowEvidence

/// What is done for a file, once it is decided.
extension Understudy {
  enum Deed: String {
    case raised, runAgain = "run again", started
  }

  /// A window that is to come to the front as soon as its title names the file: the application was run again, and finds the window itself.
  struct Awaited {
    let application: String
    let name: Bytes
    /// The titles before.
    let before: [WindowNumber: Bytes]
    /// The window that was in front.
    let front: WindowNumber?
    let time: UInt32
    let end: ContinuousClock.Instant
  }

  /// Does what the judgement says, and `begin` just before, if it can be done at all. Nothing is asked from then on.
  func act(
    on found: Case, _ token: String?, beginning begin: @Sendable () throws -> Void = {}
  ) throws -> (Deed, window: WindowNumber?) {
    defer { takeEvents() }
    keep(found.url, of: found.entry.application)
    if case .raise(let window, _) = found.judgement.verdict, display.canRaise {
      try begin()
      display.raise(window, at: time(of: token))
      endStartup(token)
      return (.raised, window)
    }
    // The caller may open the file in another way.
    if found.entry.isTerminal {
      let sentence = "\(found.entry.name) needs a terminal, which nothing here opens"
      throw ErrorReply("org.stagedoor.Error.LaunchFailed", sentence)
    }
    try begin()
    let time = time(of: token)
    awaitStartup(token, of: found.entry.application)
    do {
      let (deed, window) = try act(on: found, token, at: time)
      if window != nil { endStartup(token) }
      return (deed, window)
    } catch {
      endStartup(token)
      throw error
    }
  }

  private func act(on found: Case, _ token: String?, at time: UInt32) throws -> (Deed, window: WindowNumber?) {
    switch found.judgement.verdict {
    case .runAgain(let window):
      let (before, front) = (windows.mapValues(\.shown.title), display.active)
      try start(found, token, at: time)
      if let window {
        display.raise(window, at: time)
      } else {
        awaited.append(
          Awaited(
            application: found.entry.application, name: found.file.name, before: before, front: front, time: time,
            end: .now + startTime))
        raiseOnceCertain(found)
      }
      return (.runAgain, window)
    // A person who sees no window yet clicks again.
    case .start where isStarting(found.entry.application, with: found.file.path): break
    case .raise, .start, .startAnother: try start(found, token, at: time)
    }
    return (.started, nil)
  }

  /// Raises the window of a player that loads another file of the same name, which changes no title.
  private func raiseOnceCertain(_ found: Case) {
    guard let awaited = awaited.last else { return }
    let application = installed.now.habits.application(found.entry)
    connection.loop.task {
      while ContinuousClock.now < awaited.end {
        await self.connection.loop.sleep(for: .milliseconds(250))
        var sight = self.sight()
        guard self.awaited.contains(where: { $0.end == awaited.end }) else { return }
        let seen = self.evidence(for: found.entry.application, in: &sight)
        let shown = self.judgement(of: found.file, for: application, among: seen).shownIn
        guard let shown, shown.level == .certain else { continue }
        self.awaited.removeAll { $0.end == awaited.end }
        self.raise(shown.window, for: awaited)
        self.endStartups(of: found.entry.application)
        self.takeEvents()
        return
      }
    }
  }

  /// Raises the windows that are awaited and have come.
  func raiseAwaited() {
    if awaited.isEmpty { return }
    let now = ContinuousClock.now
    awaited.removeAll { awaited in
      if awaited.end < now { return true }
      let next = windows.first { number, seen in
        seen.application == awaited.application && awaited.before[number] != seen.shown.title
          && Title.hasWord(awaited.name, in: seen.shown.title)
      }
      guard let next else { return false }
      raise(next.key, for: awaited)
      endStartups(of: awaited.application)
      return true
    }
  }

  /// Raises a window that has come, unless the person has chosen another meanwhile: one of another application, while the window that was in front is
  /// still there.
  private func raise(_ window: WindowNumber, for awaited: Awaited) {
    if let active = display.active {
      if active == window { return }
      let isChosen = active != awaited.front && windows[active]?.application != awaited.application
      if isChosen, let front = awaited.front, windows[front] != nil { return }
    }
    display.raise(window, at: awaited.time)
  }

  /// The time of the person's act. A startup identifier ends with it: `_TIME4711`.
  func time(of token: String?) -> UInt32 {
    guard let token, let last = token.lastIndex(where: { !$0.isNumber }), token[...last].hasSuffix("_TIME") else {
      return display.now()
    }
    return UInt32(token[last...].dropFirst()) ?? display.now()
  }

  // MARK: Startup sequences

  // A launcher begins one, and gives its name away as the token. The pointer looks busy until the sequence ends, for half a minute if nobody ends it: a
  // program that is started may not know of sequences, and where a window is only raised there is no such program.

  /// Ends the caller's sequence when a window of the application comes; at the latest, when no person waits any more.
  func awaitStartup(_ token: String?, of application: String) {
    guard let token else { return }
    startups[token] = application
    connection.loop.task { [busyTime] in
      await self.connection.loop.sleep(for: busyTime)
      if self.startups[token] != nil { self.endStartup(token) }
    }
  }

  func endStartup(_ token: String?) {
    guard let token else { return }
    startups[token] = nil
    display.endStartup(Bytes(token.utf8))
  }

  /// Ends the sequences that waited for a window of an application.
  func endStartups(of application: String?) {
    for (token, awaited) in startups where awaited == application { endStartup(token) }
  }

  // MARK: Starting

  private func start(_ found: Case, _ token: String?, at time: UInt32) throws {
    let entry = found.entry
    // The identifier tells which start made a window, and one token may come with several files.
    let isTaken = starts.contains { $0.startup == token.map { Bytes($0.utf8) } }
    let own = "stagedoor-\(getpid())-\(UInt32.random(in: .min ... .max))_TIME\(time)"
    let startup = isTaken ? own : token ?? own
    guard entry.isActivatable, let name = try? BusName(entry.identifier),
      let path = try? ObjectPath("/" + entry.identifier.map { $0 == "." ? "/" : $0 == "-" ? "_" : "\($0)" }.joined())
    else { return try run(found, token, startup) }
    var data: [String: Variant] = ["desktop-startup-id": Variant(startup)]
    if let token { data["activation-token"] = Variant(token) }
    note(nil, of: entry.application, with: found.file.path, as: startup)
    // The bus may need a while to start it.
    connection.loop.task { [connection, data] in
      do {
        try await connection.call(to: name, at: path, "org.freedesktop.Application", "Open", [found.url], data) as ()
        // A program with a window may show the file in that window.
        if self.windows.values.contains(where: { $0.application == entry.application }) { self.forgetStart(startup) }
      } catch CallError.replied {
        self.forgetStart(startup)
        // Who asked was told that it starts. If it cannot, the pointer at least looks busy no longer.
        do { try self.run(found, token, startup) } catch { self.endStartup(token) }
      }
    }
  }

  private func run(_ found: Case, _ token: String?, _ startup: String) throws {
    let words = found.entry.command(opening: found.file.path, url: found.url)
    let environment = Environment.all(
      adding: ["DESKTOP_STARTUP_ID=\(startup)"] + (token.map { ["XDG_ACTIVATION_TOKEN=\($0)"] } ?? []),
      without: ["DBUS_STARTER_", "GIO_LAUNCHED_DESKTOP_FILE", "XDG_ACTIVATION_TOKEN="])
    let (process, error) = Spawn.start(words, environment: environment, in: .session) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    guard error == 0 else {
      let program = String(decoding: words[0], as: UTF8.self)
      throw ErrorReply("org.stagedoor.Error.LaunchFailed", "\(program): \(String(cString: strerror(error)))")
    }
    note(process, of: found.entry.application, with: found.file.path, as: startup)
  }
}
