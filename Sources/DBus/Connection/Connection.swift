internal import CDBus

/// A connection to a bus, or to one peer.
///
/// It is an actor that lives on its ``EventLoop``'s thread. You can use all of it from anywhere; code on the same loop uses it without changing
/// threads.
///
/// ```swift
/// let connection = try await Connection.session()
/// let names: [String] = try await connection.call(
///   to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames")
/// print(names)
/// await connection.close()
/// ```
///
/// A connection lasts until ``close()``, or until the other side closes it. This is an event, ``closed()``, and never ends the process; what to do
/// then is up to you:
///
/// ```swift
/// func serve(on connection: Connection) async throws { /* export objects, ask for names */ }
///
/// while !Task.isCancelled {
///   let connection = try await Connection.session()
///   try await serve(on: connection)
///   print("the bus has gone: \(await connection.closed())")
/// }
/// ```
public actor Connection {
  /// The reason why a connection ended.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// if await connection.closed() == .disconnected { print("the bus has gone") }
  /// ```
  public enum CloseReason: Sendable, Hashable {
    /// ``Connection/close()`` was called.
    case closedHere
    /// The bus or the peer went away or hung up.
    case disconnected
  }

  /// The loop whose thread it lives on.
  public nonisolated let loop: EventLoop

  /// The loop, as Swift's concurrency knows it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let lease: LoopLease
  let driver: LoopDriver
  // What each message needs is read and changed in single steps, which call nothing that needs the same: as in the loop, the run-time check of
  // exclusive access could find nothing.
  /// libdbus's connection; `nil` before it is opened and after it is closed.
  @exclusivity(unchecked) var raw: OpaquePointer?
  @exclusivity(unchecked) private var closeReason: CloseReason?
  // On the loop: libdbus tells from its inside, whenever it has read the socket or a message was taken.
  /// Whether libdbus has messages that nobody has taken, as it said last.
  @exclusivity(unchecked) nonisolated(unsafe) var unread = DBUS_DISPATCH_DATA_REMAINS
  private var closeWaiters: [UInt64: CheckedContinuation<CloseReason?, Never>] = [:]
  private var nextWaiter: UInt64 = 0
  private var progressWaiters: [UInt64: ProgressWaiter] = [:]
  /// Whether somebody waits for the socket to be read or written.
  private(set) var watchesProgress = false
  /// Called once when the peer has identified itself, or with `nil` if it never does.
  var welcome: (@Sendable (Connection?) -> Void)?

  /// The name that the bus has given to this connection; `nil` between two peers.
  public internal(set) var uniqueName: BusName?

  // Each concern keeps its state in a type of its own; the extensions in the neighbouring files work on these.
  var calls = PendingCalls()
  var subscriptions = Subscriptions()
  var watchedNames: [BusName: WatchedName] = [:]
  var credentials = CredentialsCache()
  var objects = ObjectTree()
  @exclusivity(unchecked) var outbox = Outbox()
  var handlers = RunningHandlers()
  @exclusivity(unchecked) var callers = CallAdmission()
  @exclusivity(unchecked) var mail = Mail()
  /// About the number of bytes that the last reading of the socket brought.
  @exclusivity(unchecked) var bytesJustRead = 0
  /// Messages for which libdbus had no memory, each with its serial. Later messages wait behind them.
  @exclusivity(unchecked) var delayed: [MessageBox] = []
  var isTryingAgain = false

  private struct ProgressWaiter {
    let isDone: (OpaquePointer) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  init(_ lease: LoopLease) {
    loop = lease.loop
    self.lease = lease
    driver = LoopDriver(loop: loop)
    lease.hold()
  }
}

// MARK: - Closing

extension Connection {
  /// Whether the connection still carries messages.
  public var isOpen: Bool { raw != nil && closeReason == nil }

  /// Whether the connection has ended. A connection that is not open yet is neither open nor closed.
  var isClosed: Bool { closeReason != nil }

  /// Sends the messages that wait, then closes. Pending calls fail with ``CallError/disconnected``, sequences of signals end, and handlers are
  /// cancelled. Closing again does nothing.
  public func close() async {
    if isOpen { await flush(timeout: .seconds(5)) }
    finish(.closedHere)
    await lease.ended()
  }

  /// Waits until the connection has ended, and returns the reason; `nil` if the waiting task was cancelled first.
  @discardableResult
  public func closed() async -> CloseReason? {
    if let closeReason { return closeReason }
    let waiter = nextWaiter
    nextWaiter += 1
    return await withTaskCancellationHandler {
      await withTaskExecutorPreference(loop.taskExecutor) {
        await withCheckedContinuation { continuation in
          // A task with a preferred executor is suspended at every `await`, so look again.
          if closeReason != nil || Task.isCancelled {
            continuation.resume(returning: closeReason)
          } else {
            closeWaiters[waiter] = continuation
          }
        }
      }
    } onCancel: {
      loop.execute { self.assumeIsolated { $0.closeWaiters.removeValue(forKey: waiter)?.resume(returning: nil) } }
    }
  }

  /// Waits until nothing is left to send, or until `timeout` has passed.
  public func flush(timeout: Duration = .seconds(25)) async {
    flushAnnouncements()
    sendMail()
    await waitForProgress(timeout: timeout) { dbus_connection_has_messages_to_send($0) == 0 }
  }

  /// Waits until `isDone` returns true, the connection has ended, or `timeout` has passed. `isDone` is called whenever the socket has been read or
  /// written.
  func waitForProgress(timeout: Duration, _ isDone: @escaping (OpaquePointer) -> Bool) async {
    let waiter = nextWaiter
    nextWaiter += 1
    let token = loop.timers.schedule(at: timeout.deadline) { [unowned self] in
      loop.enter(self) { $0.progressWaiters.removeValue(forKey: waiter)?.continuation.resume() }
    }
    await withTaskExecutorPreference(loop.taskExecutor) {
      await withCheckedContinuation { continuation in
        progressWaiters[waiter] = ProgressWaiter(isDone: isDone, continuation: continuation)
        watchProgress()
      }
    }
    loop.timers.cancel(token)
  }

  func watchProgress() {
    watchesProgress = true
    noteProgress()
  }

  func noteProgress() {
    for (number, waiter) in progressWaiters where raw.map(waiter.isDone) ?? true {
      progressWaiters[number] = nil
      waiter.continuation.resume()
    }
    if let raw, let welcome, dbus_connection_get_is_authenticated(raw) != 0 {
      self.welcome = nil
      welcome(self)
    }
    watchesProgress = !progressWaiters.isEmpty || welcome != nil
  }

  /// The one way to end, for either side. Everyone who waits for this connection hears of the end here.
  func finish(_ reason: CloseReason) {
    guard closeReason == nil else { return }
    if reason == .closedHere { sendMail() }
    closeReason = reason
    if let raw {
      dbus_connection_set_dispatch_status_function(raw, nil, nil, nil)
      dbus_connection_set_watch_functions(raw, nil, nil, nil, nil, nil)
      driver.close()
      dbus_connection_close(raw)
      dbus_connection_unref(raw)
    }
    raw = nil
    handlers.cancelAll()
    failAllCalls()
    subscriptions.finishAll()
    credentials = CredentialsCache()
    // Exported objects may hold this connection, which holds them.
    objects.detachAll(from: self)
    objects = ObjectTree()
    outbox = Outbox()
    delayed = []
    callers = CallAdmission()
    noteProgress()
    welcome?(nil)
    welcome = nil
    for waiter in exchange(&closeWaiters, with: [:]).values { waiter.resume(returning: reason) }
    loop.moveOut(self)
    lease.letGo()
  }
}
