internal import DBus
internal import Glibc

/// A child of this process. A thread starts it, waits for it and reaps it, so no zombie is left even if all other code forgets the child.
///
/// That thread lasts exactly as long as the child, so the child may ask the kernel for a signal at the end of its parent (PR_SET_PDEATHSIG,
/// which watches the thread and not the process).
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

  static func start(_ spawn: Spawn) async throws -> ChildProcess {
    let state = Awaitable(State.starting)
    try OwnThread.start { run(spawn, state) }
    // This takes a short time and must not be cancelled: a started child needs an owner.
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
    let pid: pid_t
    do throws(SystemCallError) {
      pid = try spawn.start()
    } catch {
      state.update { $0 = .failed(error) }
      return
    }
    state.update { $0 = .running(pid) }
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    // The child is reaped with the lock held, so no code signals a later process with the same number.
    state.update { state in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
      state = .ended(pid, ExitStatus(waitStatus: status))
    }
  }

  /// How it ended; `nil` while it runs.
  var status: ExitStatus? { state.read(Self.status) }

  func ended() async throws(CancellationError) -> ExitStatus {
    try await state.wait { Self.status($0) }
  }

  private static func status(_ state: State) -> ExitStatus? {
    if case .ended(_, let status) = state { status } else { nil }
  }

  /// Sends a signal if the child still runs: to the child only, or to its whole group.
  func signal(_ number: Int32, group: Bool = false) {
    state.read { state in
      if case .running(let pid) = state { _ = kill(group ? -pid : pid, number) }
    }
  }
}
