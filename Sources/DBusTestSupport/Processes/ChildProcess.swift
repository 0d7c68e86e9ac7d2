internal import DBus
internal import Glibc

/// A child of this process. A thread starts it, waits for it and reaps it: no zombie is left, whoever forgets about it.
///
/// That thread lasts exactly as long as the child, so the child may ask the kernel for a signal when it goes
/// (PR_SET_PDEATHSIG, which looks at the thread and not at the process).
final class ChildProcess: Sendable {
  private enum State {
    case starting
    case failed(SystemCallError)
    case running(pid_t)
    case ended(pid_t, ExitStatus)
  }

  private let state: Awaitable<State>
  let pid: pid_t

  private init(state: Awaitable<State>, pid: pid_t) {
    self.state = state
    self.pid = pid
  }

  /// Takes the descriptors over: they are closed here once the child has them.
  static func start(_ spawn: Spawn) async throws -> ChildProcess {
    let state = Awaitable(State.starting)
    try OwnThread.start { run(spawn, state) }
    // Soon, and not to be given up: a child that was started is somebody's.
    let started = await Task.detached { try? await state.wait(for: Self.started) }.value
    switch started {
    case .success(let pid): return ChildProcess(state: state, pid: pid)
    case .failure(let error): throw error
    case nil: throw CancellationError()
    }
  }

  private static func started(_ state: inout State) -> Result<pid_t, SystemCallError>? {
    switch state {
    case .starting: nil
    case .failed(let error): .failure(error)
    case .running(let pid), .ended(let pid, _): .success(pid)
    }
  }

  private static func run(_ spawn: Spawn, _ state: Awaitable<State>) {
    // The child has its own. Ours would keep pipes open for as long as this thread lasts.
    func closeDescriptors() { for descriptor in spawn.descriptors { descriptor.close() } }
    let pid: pid_t
    do throws(SystemCallError) {
      pid = try spawn.start()
    } catch {
      closeDescriptors()
      state.update { $0 = .failed(error) }
      return
    }
    closeDescriptors()
    state.update { $0 = .running(pid) }
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    // Reaped with the lock held: nobody signals a process that has got the number since.
    state.update { state in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
      state = .ended(pid, ExitStatus(waitStatus: status))
    }
  }

  /// How it ended; `nil` while it runs.
  var status: ExitStatus? { state.read(Self.status) }

  /// Waits until it has ended.
  func ended() async throws(CancellationError) -> ExitStatus {
    try await state.wait { Self.status($0) }
  }

  private static func status(_ state: State) -> ExitStatus? {
    if case .ended(_, let status) = state { status } else { nil }
  }

  /// Sends it a signal, where it still runs: to it alone, or to all of its group.
  func signal(_ number: Int32, group: Bool = false) {
    state.read { state in
      if case .running(let pid) = state { _ = kill(group ? -pid : pid, number) }
    }
  }
}
