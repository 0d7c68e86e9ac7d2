internal import CDBus
internal import Glibc

/// One thread that waits for descriptors and deadlines, runs Swift jobs, and owns its connections.
///
/// The loop is a Swift executor: an actor that names it lives on its thread. A message between such an actor and a ``Connection`` on the same loop
/// does not change threads.
///
/// ```swift
/// let loop = try EventLoop()
/// let connection = try await Connection.session(on: loop)
/// let names = try await loop.run { _ in
///   try await connection.call(
///     to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames", returning: [String].self)
/// }
/// print(names.count)
/// await connection.close()
/// await loop.stop()
/// ```
///
/// ## A turn
///
/// Each turn takes these steps in order, and the rest of this module relies on the order:
///
/// 1. Run the queued jobs, and **drain** every connection: handle the messages that libdbus has already read, before anything waits. Messages that
///    came during another call's wait are in libdbus's queue, where no poll sees them; a loop that polls first loses them until the next byte comes.
///    Timers come last, so a reply that arrived in time is in time, however late it is handled.
/// 2. End the turn: what the turn collected goes out (property changes, and the replies behind them), the jobs that this queues
///    run, and small messages leave together.
/// 3. Tell epoll once which descriptors to watch. libdbus switches its write watch on and off around each message; doing this at once would take two
///    system calls for each message.
/// 4. Wait, then let libdbus write, and read until the socket is empty or a bound is reached. A watch carries out no call.
///
/// The first step repeats a bounded number of times, so that jobs that create jobs starve nobody. A connection with more than its share of a turn
/// continues in the next turn.
///
/// ## Ownership
///
/// The thread keeps the loop alive until ``stop()``. The jobs of an actor need its executor, so a stopped loop still runs its queued jobs, on another
/// thread, one at a time.
public final class EventLoop: SerialExecutor {
  enum Work {
    /// A job of an actor that lives here.
    case job(UnownedJob)
    /// A job of a task that prefers to resume here.
    case preferred(UnownedJob)
    case call(@Sendable () -> Void)
  }

  private struct Inbox {
    var work: [Work] = []
    /// Whether the thread waits or is about to wait: adding work must then wake it.
    var isWaiting = false
    var phase = Phase.running
    var stopWaiters: [CheckedContinuation<Void, Never>] = []
  }

  private enum Phase { case running, stopping, stopped }

  enum Turn {
    static let maximumRounds = 64
    static let maximumEvents = 64
  }

  private let inbox = Lock(Inbox())
  private let afterlife = Lock(())
  private let wakeDescriptor: Int32

  // Loop only. Each is read or written in one step, never across a call to other code. So the run-time check of exclusive access, a dozen times for
  // each message, could find nothing.
  @exclusivity(unchecked) private var local: [Work] = []
  @exclusivity(unchecked) private var running: [Work] = []
  @exclusivity(unchecked) private var endOfTurn: [() -> Void] = []
  @exclusivity(unchecked) private var residents: [ObjectIdentifier: any LoopResident] = [:]
  @exclusivity(unchecked) private var hungry: [any LoopResident] = []
  @exclusivity(unchecked) private var draining: [any LoopResident] = []
  /// The residents with more than this turn's share of work.
  @exclusivity(unchecked) private var unfinished: [any LoopResident] = []
  @exclusivity(unchecked) private(set) var turn: UInt64 = 0
  @exclusivity(unchecked) private var departing: [any LoopResident] = []
  let descriptors: DescriptorSet
  let timers = TimerQueue()
  var quiet: QuietTime?

  /// The executor for tasks that wait for an event of this loop.
  package let taskExecutor = LoopTaskExecutor()

  /// Starts a loop on a thread of its own, which `ps` and debuggers show under `name` (15 bytes of it).
  public convenience init(name: String = "dbus-loop") throws(ConnectionError) {
    try self.init(withoutThread: ())
    // The kernel refuses longer names.
    var shown = name
    while shown.utf8.count > 15 { shown.removeLast() }
    // The thread keeps the loop alive until it ends.
    let code = BlockingThread.start { [shown] in
      pthread_setname_np(pthread_self(), shown)
      CurrentLoop.pointer = Unmanaged.passUnretained(self).toOpaque()
      self.runUntilStopped()
    }
    guard code == 0 else {
      descriptors.close()
      throw .system("pthread_create", code)
    }
  }

  private init(withoutThread: ()) throws(ConnectionError) {
    wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard wakeDescriptor >= 0 else { throw .system("eventfd", errno) }
    do {
      descriptors = try DescriptorSet()
    } catch {
      Glibc.close(wakeDescriptor)
      throw error
    }
    descriptors.add(wakeDescriptor, events: .readable) { [wakeDescriptor] _ in
      var count: UInt64 = 0
      read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
    }
    taskExecutor.loop = self
  }

  /// Runs a loop on the calling thread, and returns when the loop has been stopped. A program with a single loop starts sooner without a second
  /// thread. `begin` is the loop's first work.
  package static func runHere(_ begin: (EventLoop) -> Void) throws(ConnectionError) {
    let loop = try EventLoop(withoutThread: ())
    CurrentLoop.pointer = Unmanaged.passUnretained(loop).toOpaque()
    begin(loop)
    loop.runUntilStopped()
  }

  /// The wake descriptor outlives the thread: somebody who adds work may be about to write to it.
  deinit { Glibc.close(wakeDescriptor) }

  /// Ends the thread once all queued work has run, and returns after that.
  ///
  /// The connections on the loop end as if they had been closed, but do not send what still waits. A second call waits together with the first.
  public func stop() async {
    await withCheckedContinuation { continuation in
      let phase = inbox.withLock { inbox in
        let phase = inbox.phase
        if phase == .running { inbox.phase = .stopping }
        if phase != .stopped { inbox.stopWaiters.append(continuation) }
        return phase
      }
      if phase == .stopped { continuation.resume() } else { wake() }
    }
  }

  /// Does the same without waiting.
  package func beginStopping() {
    inbox.withLock { inbox in if inbox.phase == .running { inbox.phase = .stopping } }
    wake()
  }

  /// Runs `body` on this loop's thread, and returns its result.
  ///
  /// The parameter keeps `body` there: it is the isolation that `body` has, and to which `body` returns after each `await`.
  public nonisolated(nonsending) func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (isolated LoopIsolation) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    // A function that is isolated to no actor would begin and end on Swift's own threads; this one keeps its caller's isolation.
    let isolation = LoopIsolation(loop: self)
    return try await withTaskExecutorPreference(taskExecutor) { () async throws(Failure) -> Value in
      try await isolation.run(body)
    }
  }
}

// `inbox` is behind its lock. Everything marked "loop only" is touched by the loop's thread alone, or, after the thread has ended, by the holder of
// `afterlife`. Each entry point checks this with `isCurrent`.
extension EventLoop: @unchecked Sendable {}

// MARK: - Executor

extension EventLoop {
  /// Takes a job of an actor or task that lives here.
  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  /// Traps unless this is the loop's thread.
  public func checkIsolated() {
    precondition(isCurrent, "this belongs on its EventLoop's thread, and runs on another")
  }

  /// Whether this is the loop's thread.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Whether the loop has not been asked to stop.
  var isRunning: Bool { inbox.withLock { $0.phase == .running } }

  /// Whether the calling thread is this loop's.
  public var isCurrent: Bool { CurrentLoop.pointer == Unmanaged.passUnretained(self).toOpaque() }

  /// Runs `body` on the loop's thread, in the order of the calls, after the work that is queued already.
  ///
  /// ```swift
  /// let loop = try EventLoop()
  /// loop.execute { print("on the loop: \(loop.isCurrent)") }
  /// await loop.stop()
  /// ```
  public func execute(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

  /// Does what `Actor.assumeIsolated` does, for an actor that lives here. The runtime's check takes several hundred instructions; this asks for the
  /// thread only, because it runs several times for each message.
  package func enter<Resident: Actor, Value>(
    _ actor: Resident, _ body: (isolated Resident) throws -> Value
  ) rethrows -> Value {
    precondition(isCurrent, "this belongs on its EventLoop's thread, and runs on another")
    assert(actor.unownedExecutor.asSerialExecutor() === self, "the actor lives elsewhere")
    return try withoutActuallyEscaping(body) { body in
      // An isolated parameter is passed like any other. The thread, which was checked above, isolates an actor that lives here.
      try unsafeBitCast(IsolatedBody(call: body), to: Body<Resident, Value>.self).call(actor)
    }
  }

  // The functions stand in structs: a function by itself would be wrapped twice to be cast, each time in a new object.
  private struct IsolatedBody<Resident: Actor, Value> { let call: (isolated Resident) throws -> Value }
  private struct Body<Resident: Actor, Value> { let call: (Resident) throws -> Value }

  func add(_ work: Work) {
    if isCurrent {
      local.append(work)
      return
    }
    let (mustWake, isStopped) = inbox.withLock { inbox in
      inbox.work.append(work)
      return (exchange(&inbox.isWaiting, with: false), inbox.phase == .stopped)
    }
    if mustWake { wake() }
    // The thread has ended. The jobs do not run here, because the caller may hold locks that a job needs.
    if isStopped { Task.detached { self.runAfterlife() } }
  }

  private func wake() {
    var one: UInt64 = 1
    write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
  }

  private func perform(_ work: Work) {
    switch work {
    case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
    case .preferred(let job): job.runSynchronously(on: taskExecutor.asUnownedTaskExecutor())
    case .call(let body): body()
    }
  }
}

// MARK: - Turns

/// An object that lives on a loop, which keeps it alive: a connection, a listener.
protocol LoopResident: AnyObject {
  /// Handles the waiting messages, up to its share of a turn. Returns whether more wait for the next turn.
  func drain() -> Bool
  /// Sends the messages that were collected during the turn.
  func depart()
  /// The loop ends now. Everyone who waits must hear of it.
  func evict()
}

extension LoopResident {
  func drain() -> Bool { false }
  func depart() {}
}

extension EventLoop {
  /// Keeps `resident` alive, and drains it whenever `setHungry` is called for it. On the loop only.
  func moveIn(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = resident }

  /// Releases `resident`. On the loop only.
  func moveOut(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = nil }

  /// `resident` has messages, and is drained before the loop waits. On the loop only.
  func setHungry(_ resident: any LoopResident) {
    if !hungry.contains(where: { $0 === resident }) { hungry.append(resident) }
  }

  /// `resident` has collected messages, which leave when the turn ends. On the loop only.
  func setDeparting(_ resident: any LoopResident) { departing.append(resident) }

  /// Runs `body` once, after this turn's messages and jobs and before the loop waits. On the loop only.
  package func atEndOfTurn(_ body: @escaping () -> Void) { endOfTurn.append(body) }

  /// The work of the loop's thread.
  func runUntilStopped() {
    while true {
      workOff()
      if beginWaiting(hasWork: hasWork) { break }
    }
    finish()
  }

  private var hasWork: Bool { !local.isEmpty || !hungry.isEmpty || !unfinished.isEmpty || !endOfTurn.isEmpty }

  /// Steps 1 and 2.
  private func workOff() {
    turn &+= 1
    for resident in unfinished { setHungry(resident) }
    unfinished.removeAll(keepingCapacity: true)
    for _ in 0..<Turn.maximumRounds {
      takeInbox()
      if local.isEmpty && hungry.isEmpty { break }
      runLocal()
      drainHungry()
    }
    timers.fire()
    if !endOfTurn.isEmpty {
      // Their requests for the end of a turn belong to the next turn, after its timers and descriptors.
      let bodies = endOfTurn
      endOfTurn.removeAll(keepingCapacity: true)
      for body in bodies { body() }
      // What these send in tasks leaves together with what they send themselves.
      runLocal()
    }
    for resident in departing { resident.depart() }
    departing.removeAll(keepingCapacity: true)
  }

  private func runLocal() {
    if local.isEmpty { return }
    quiet?.somethingHappened()
    swap(&local, &running)
    for work in running { perform(work) }
    running.removeAll(keepingCapacity: true)
  }

  private func takeInbox() {
    inbox.withLock { inbox in
      if inbox.work.isEmpty { return }
      local.append(contentsOf: inbox.work)
      inbox.work.removeAll(keepingCapacity: true)
    }
  }

  private func drainHungry() {
    if hungry.isEmpty { return }
    // Draining may make connections hungry again: those wait for the next round.
    swap(&hungry, &draining)
    for resident in draining where resident.drain() { unfinished.append(resident) }
    draining.removeAll(keepingCapacity: true)
  }

  /// Steps 3 and 4. Returns whether the loop should end.
  private func beginWaiting(hasWork: Bool) -> Bool {
    descriptors.synchronize()
    var timeout: Int32 = hasWork ? 0 : timers.millisecondsToNext()
    let endsQuietly = quiet?.shorten(&timeout) ?? false
    let mustEnd = inbox.withLock { inbox in
      if !inbox.work.isEmpty { timeout = 0 }
      inbox.isWaiting = timeout != 0
      return inbox.phase == .stopping && inbox.work.isEmpty && !hasWork
    }
    if mustEnd { return true }
    let hasHappened = descriptors.wait(timeout: timeout)
    inbox.withLock { $0.isWaiting = false }
    if hasHappened { quiet?.somethingHappened() } else if endsQuietly && timeout != 0 { quiet?.end() }
    return false
  }

  private func finish() {
    while let resident = residents.values.first {
      moveOut(resident)
      resident.evict()
    }
    workOff()
    timers.removeAll()
    descriptors.close()
    CurrentLoop.pointer = nil
    let (waiters, hasWork) = inbox.withLock { inbox in
      // The afterlife handles the work that came since the last look, and all later work.
      inbox.phase = .stopped
      return (exchange(&inbox.stopWaiters, with: []), !inbox.work.isEmpty || !local.isEmpty)
    }
    for waiter in waiters { waiter.resume() }
    if hasWork { Task.detached { self.runAfterlife() } }
  }

  /// The loop's thread has ended: one other thread at a time takes its place.
  private func runAfterlife() {
    afterlife.withLock { _ in
      CurrentLoop.pointer = Unmanaged.passUnretained(self).toOpaque()
      defer { CurrentLoop.pointer = nil }
      takeInbox()
      while !local.isEmpty {
        for work in exchange(&local, with: []) { perform(work) }
        takeInbox()
      }
    }
  }
}
