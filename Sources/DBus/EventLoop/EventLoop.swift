internal import CDBus
internal import Glibc

/// One thread that waits for descriptors and deadlines, runs Swift jobs, and owns the connections made on it.
///
/// The loop is a Swift executor: an actor that names it lives on its thread. Between such an actor and a ``Connection`` on the same
/// loop no message changes threads.
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
/// Each turn does these in order, and the order is what the rest of this module rests on:
///
/// 1. Run the jobs that are queued, and **drain** every connection: the messages that libdbus has already read are handled
///    before anything waits. Messages that came while another call was waited for sit in libdbus's queue, where no poll
///    sees them; a loop that polls first loses them until the next byte arrives. Timers come last: a reply that has come in
///    time is in time, however late it is handled.
/// 2. End the turn: what was collected during it (property changes, replies behind them) goes out, and small messages
///    leave together.
/// 3. Bring epoll's interest up to date, once. libdbus switches its write watch on and off around what it sends; done
///    at once that would be two system calls for each.
/// 4. Wait, then let libdbus write, and read until the socket is empty or a bound is met. No call is carried out from inside a watch.
///
/// A turn's first step goes round a bounded number of times, so that jobs that beget jobs starve nobody. A connection that has more than one
/// turn's share goes on in the next turn.
///
/// ## Ownership
///
/// The thread keeps the loop alive until ``stop()``. An executor that is gone takes the jobs of its actors with it, so
/// a stopped loop still runs what is queued on it, on another thread, one job at a time.
public final class EventLoop: SerialExecutor {
  enum Work {
    /// Of an actor that lives here.
    case job(UnownedJob)
    /// Of a task that prefers to go on here.
    case preferred(UnownedJob)
    case call(@Sendable () -> Void)
  }

  private struct Inbox {
    var work: [Work] = []
    /// The thread is about to wait, or waits: whoever adds work has to wake it.
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

  // Loop only. Each is read or written in one step, never across a call out, so the run-time check of exclusive access,
  // which would be made a dozen times for each message, has nothing to find.
  @exclusivity(unchecked) private var local: [Work] = []
  @exclusivity(unchecked) private var running: [Work] = []
  @exclusivity(unchecked) private var endOfTurn: [() -> Void] = []
  @exclusivity(unchecked) private var residents: [ObjectIdentifier: any LoopResident] = [:]
  @exclusivity(unchecked) private var hungry: [any LoopResident] = []
  @exclusivity(unchecked) private var draining: [any LoopResident] = []
  /// Those that have more than this turn's share.
  @exclusivity(unchecked) private var unfinished: [any LoopResident] = []
  /// Which turn this is.
  @exclusivity(unchecked) private(set) var turn: UInt64 = 0
  @exclusivity(unchecked) private var departing: [any LoopResident] = []
  let descriptors: DescriptorSet
  let timers = TimerQueue()
  var quiet: QuietTime?

  /// For a task that waits for something that happens here.
  package let taskExecutor = LoopTaskExecutor()

  /// Starts a loop on a thread of its own, which `ps` and debuggers show under `name` (15 bytes of it).
  public convenience init(name: String = "dbus-loop") throws(ConnectionError) {
    try self.init(withoutThread: ())
    // The thread takes this reference over and gives it back when it ends.
    let context = LoopThread(loop: self, name: name)
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, { LoopThread.run($0) }, Unmanaged.passRetained(context).toOpaque())
    guard code == 0 else {
      Unmanaged.passUnretained(context).release()
      descriptors.close()
      throw .system("pthread_create", code)
    }
    pthread_detach(thread)
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

  /// Runs a loop on the calling thread, and returns when the loop has been stopped. A program that lives on one loop begins sooner without a
  /// second thread.
  ///
  /// - Parameter begin: what the loop does first, on this thread.
  package static func runHere(_ begin: (EventLoop) -> Void) throws(ConnectionError) {
    let loop = try EventLoop(withoutThread: ())
    CurrentLoop.pointer = Unmanaged.passUnretained(loop).toOpaque()
    begin(loop)
    loop.runUntilStopped()
  }

  /// The wake descriptor outlives the thread: whoever adds work may be about to write to it.
  deinit { Glibc.close(wakeDescriptor) }

  /// Ends the thread once everything that is queued has run, and returns when it has.
  ///
  /// The connections on it end as if they had been closed, but for what they had still to send. Stopping again waits with
  /// the first.
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

  /// The same, for those who do not wait for it.
  package func beginStopping() {
    inbox.withLock { inbox in if inbox.phase == .running { inbox.phase = .stopping } }
    wake()
  }

  /// Runs `body` on this loop's thread, and comes back with what it returns.
  ///
  /// The parameter is what keeps it there: the isolation that `body` has, and that what it awaits comes back to.
  public nonisolated(nonsending) func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (isolated LoopIsolation) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    // Were this function on no actor, and not on that of its caller, it would begin and end on Swift's own threads.
    let isolation = LoopIsolation(loop: self)
    return try await withTaskExecutorPreference(taskExecutor) { () async throws(Failure) -> Value in
      try await isolation.run(body)
    }
  }
}

// `inbox` is behind its lock. Everything marked "loop only" is touched by the loop's thread alone, or after the thread
// has ended by whoever holds `afterlife`; `isCurrent` is how each entry point knows.
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

  /// Whether it has not been asked to stop.
  var isRunning: Bool { inbox.withLock { $0.phase == .running } }

  /// Whether the calling thread is this loop's.
  public var isCurrent: Bool { CurrentLoop.pointer == Unmanaged.passUnretained(self).toOpaque() }

  /// Runs `body` on the loop's thread: in the order of the calls, after what is queued there already.
  ///
  /// ```swift
  /// let loop = try EventLoop()
  /// loop.execute { print("on the loop: \(loop.isCurrent)") }
  /// await loop.stop()
  /// ```
  public func execute(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

  /// What `Actor.assumeIsolated` does, for an actor that lives here. The runtime asks Swift's executor machinery where
  /// it is, several hundred instructions; this asks the thread, and is made several times for each message.
  package func enter<Resident: Actor, Value>(
    _ actor: Resident, _ body: (isolated Resident) throws -> Value
  ) rethrows -> Value {
    precondition(isCurrent, "this belongs on its EventLoop's thread, and runs on another")
    assert(actor.unownedExecutor.asSerialExecutor() === self, "the actor lives elsewhere")
    return try withoutActuallyEscaping(body) { body in
      // An isolated parameter is passed as any other. An actor that lives here is isolated by the thread, which was asked above.
      try unsafeBitCast(body, to: ((Resident) throws -> Value).self)(actor)
    }
  }

  func add(_ work: Work) {
    if isCurrent {
      local.append(work)
      return
    }
    let (mustWake, isStopped) = inbox.withLock { inbox in
      inbox.work.append(work)
      defer { inbox.isWaiting = false }
      return (inbox.isWaiting, inbox.phase == .stopped)
    }
    if mustWake { wake() }
    // The thread is gone. Not here: the caller may hold locks that the job wants.
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

/// What lives on a loop and is kept alive by it: a connection, a listener.
protocol LoopResident: AnyObject {
  /// Handles the messages that are there, up to its share of a turn. Returns whether the next turn goes on with more.
  func drain() -> Bool
  /// Sends what was collected during the turn.
  func depart()
  /// The loop ends now. Whoever waits for something has to hear of it.
  func evict()
}

extension LoopResident {
  func depart() {}
}

extension EventLoop {
  /// Keeps `resident` alive, and drains it whenever it was said to be hungry. On the loop only.
  func moveIn(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = resident }

  /// Lets go of `resident`. On the loop only.
  func moveOut(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = nil }

  /// `resident` has messages: it is drained before the loop waits. On the loop only.
  func setHungry(_ resident: any LoopResident) {
    if !hungry.contains(where: { $0 === resident }) { hungry.append(resident) }
  }

  /// `resident` has collected something to send: it goes when the turn ends. On the loop only.
  func setDeparting(_ resident: any LoopResident) { departing.append(resident) }

  /// Runs `body` once, when this turn's messages and jobs are done and before the loop waits. On the loop only.
  package func atEndOfTurn(_ body: @escaping () -> Void) { endOfTurn.append(body) }

  /// What the loop's thread does.
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
      // What these ask for in their turn is the next turn's: it has timers and descriptors in between.
      let bodies = endOfTurn
      endOfTurn.removeAll(keepingCapacity: true)
      for body in bodies { body() }
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
    // Draining may make itself or others hungry again: those wait for the next round.
    swap(&hungry, &draining)
    for resident in draining where resident.drain() { unfinished.append(resident) }
    draining.removeAll(keepingCapacity: true)
  }

  /// Steps 3 and 4. Returns whether the loop is to end.
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
      // Whatever came in since the last look is the afterlife's; from here on, so is everything else.
      inbox.phase = .stopped
      defer { inbox.stopWaiters = [] }
      return (inbox.stopWaiters, !inbox.work.isEmpty || !local.isEmpty)
    }
    for waiter in waiters { waiter.resume() }
    if hasWork { Task.detached { self.runAfterlife() } }
  }

  /// The loop's thread has ended: one thread at a time stands in for it.
  private func runAfterlife() {
    afterlife.withLock { _ in
      CurrentLoop.pointer = Unmanaged.passUnretained(self).toOpaque()
      defer { CurrentLoop.pointer = nil }
      takeInbox()
      while !local.isEmpty {
        let work = local
        local.removeAll()
        for item in work { perform(item) }
        takeInbox()
      }
    }
  }
}
