internal import CDBus
internal import Glibc

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
  private let driver: LoopDriver
  // What each message needs is read and changed in single steps, which call nothing that needs the same: as in the loop, the run-time check of
  // exclusive access could find nothing.
  /// libdbus's connection; `nil` before it is opened and after it is closed.
  @exclusivity(unchecked) var raw: OpaquePointer?
  @exclusivity(unchecked) private var closeReason: CloseReason?
  // On the loop: libdbus tells from its inside, whenever it has read the socket or a message was taken.
  /// Whether libdbus has messages that nobody has taken, as it said last.
  @exclusivity(unchecked) private nonisolated(unsafe) var unread = DBUS_DISPATCH_DATA_REMAINS
  private var closeWaiters: [UInt64: CheckedContinuation<CloseReason?, Never>] = [:]
  private var nextWaiter: UInt64 = 0
  private var progressWaiters: [UInt64: ProgressWaiter] = [:]
  /// Whether somebody waits for the socket to be read or written.
  private var watchesProgress = false
  /// Called once when the peer has identified itself, or with `nil` if it never does.
  private var welcome: (@Sendable (Connection?) -> Void)?

  /// The name that the bus has given to this connection; `nil` between two peers.
  public private(set) var uniqueName: BusName?

  // Each concern keeps its state in a type of its own; the extensions in the neighbouring files work on these.
  var calls = PendingCalls()
  var subscriptions = Subscriptions()
  var watchedNames: [BusName: WatchedName] = [:]
  var credentials = CredentialsCache()
  var objects = ObjectTree()
  @exclusivity(unchecked) var outbox = Outbox()
  var handlers = RunningHandlers()
  @exclusivity(unchecked) var callers = CallAdmission()
  @exclusivity(unchecked) private var mail = Mail()
  /// About the number of bytes that the last reading of the socket brought.
  @exclusivity(unchecked) var bytesJustRead = 0
  /// What a header counts, and a message that nobody measures.
  static let (headerSize, unmeasured) = (256, 1 << 20)
  /// Messages for which libdbus had no memory, each with its serial. Later messages wait behind them.
  @exclusivity(unchecked) private var delayed: [MessageBox] = []
  /// Whether a timer is set that tries these messages again.
  private var isTryingAgain = false

  private struct ProgressWaiter {
    let isDone: (OpaquePointer) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private init(_ lease: LoopLease) {
    loop = lease.loop
    self.lease = lease
    driver = LoopDriver(loop: loop)
    lease.hold()
  }
}

// MARK: - Opening

extension Connection {
  /// Connects to the session bus: on `loop`, or on a loop of its own.
  public nonisolated(nonsending) static func session(
    on loop: EventLoop? = nil
  ) async throws(ConnectionError) -> Connection {
    try await open(try BusAddress.session(), on: loop)
  }

  /// Connects to the system bus: on `loop`, or on a loop of its own.
  public nonisolated(nonsending) static func system(
    on loop: EventLoop? = nil
  ) async throws(ConnectionError) -> Connection {
    try await open(BusAddress.system(), on: loop)
  }

  /// Connects to the bus that started this process: on `loop`, or on a loop of its own.
  public nonisolated(nonsending) static func starter(
    on loop: EventLoop? = nil
  ) async throws(ConnectionError) -> Connection {
    try await open(try BusAddress.starter(), on: loop)
  }

  /// Connects to the bus at `address`: on `loop`, or on a loop of its own, which ends with the connection.
  ///
  /// The greeting does not block, unlike libdbus's own, during which messages pile up unseen. Two steps for which libdbus has no other way block the
  /// loop for a moment: looking up the host of a `tcp:` address, and starting the program of a `unixexec:` address.
  public nonisolated(nonsending) static func open(
    _ address: BusAddress, on loop: EventLoop? = nil, timeout: Duration = .seconds(25)
  ) async throws(ConnectionError) -> Connection {
    let connection = try await peer(address, on: loop)
    do {
      let name: BusName = try await connection.greet(timeout: timeout)
      await connection.setUniqueName(name)
    } catch {
      await connection.close()
      throw .rejected(error)
    }
    return connection
  }

  /// Connects to a peer that listens at `address`, such as a ``Listener``, without a bus in between. When this returns, the two have identified
  /// themselves to each other.
  public nonisolated(nonsending) static func peer(
    _ address: BusAddress, on loop: EventLoop? = nil, timeout: Duration = .seconds(25)
  ) async throws(ConnectionError) -> Connection {
    try await peer(address, LoopLease(of: loop), timeout: timeout)
  }

  /// Connects to a peer that will identify itself later: to a program that is only about to be started.
  package nonisolated(nonsending) static func peerToBe(
    _ address: BusAddress
  ) async throws(ConnectionError) -> Connection {
    try await peer(address, LoopLease(of: nil), timeout: nil)
  }

  nonisolated(nonsending) static func peer(
    _ address: BusAddress, _ lease: LoopLease, timeout: Duration?
  ) async throws(ConnectionError) -> Connection {
    let connection = Connection(lease)
    do throws(ConnectionError) {
      try await connection.connect(to: address, timeout: timeout)
    } catch {
      await connection.close()
      throw error
    }
    return connection
  }

  /// The end of a connection that a ``Listener`` accepted. On the loop only. It takes over the reference.
  ///
  /// `welcome` is called once: with the connection when its peer has identified itself, before any message of the peer is handled; or with nothing if
  /// the peer does not do so in time.
  static func accept(
    _ raw: OpaquePointer, _ lease: LoopLease, welcome: @escaping @Sendable (Connection?) -> Void
  ) {
    let connection = Connection(lease)
    // This is the loop's thread, and the reference is handed over here.
    nonisolated(unsafe) let raw = raw
    connection.assumeIsolated { connection in
      connection.welcome = welcome
      connection.adopt(raw)
      connection.watchProgress()
      _ = connection.loop.timers.schedule(at: strangersTime.deadline) { [weak connection] in
        connection?.assumeIsolated { if $0.welcome != nil { $0.finish(.disconnected) } }
      }
    }
  }

  /// The time in which a peer must identify itself. Descriptors are few, and a stranger may not keep one.
  private static let strangersTime = Duration.seconds(30)

  private func connect(to address: BusAddress, timeout: Duration?) async throws(ConnectionError) {
    guard loop.isRunning else { throw .loopHasEnded }
    var error = DBusError()
    dbus_error_init(&error)
    guard let raw = dbus_connection_open_private(address.rawValue, &error) else {
      throw ConnectionError(address, &error)
    }
    adopt(raw)
    guard let timeout else { return }
    await waitForProgress(timeout: timeout) { dbus_connection_get_is_authenticated($0) != 0 }
    guard let raw = self.raw, dbus_connection_get_is_authenticated(raw) != 0 else {
      let reason = isOpen ? "it did not say who it is in time" : "it hung up before it said who it is"
      throw .unreachable(address: address.rawValue, ErrorReply(.noReply, reason))
    }
  }

  private func adopt(_ raw: OpaquePointer) {
    self.raw = raw
    // By default libdbus would end the process when the bus ends.
    dbus_connection_set_exit_on_disconnect(raw, 0)
    // By default libdbus would stop reading while so many bytes of messages are alive, and resume inside the release that brings the number down: on
    // the thread of the last holder of the message.
    dbus_connection_set_max_received_size(raw, Int.max)
    dbus_connection_set_max_received_unix_fds(raw, Int.max)
    // A message with more descriptors than libdbus expects would end the connection, and the bus passes on whatever it likes. The kernel carries 253
    // at once, and libdbus reserves space for the number given here.
    dbus_connection_set_max_message_unix_fds(raw, 253)
    loop.moveIn(self)
    driver.afterReading = { [unowned self] in
      loop.enter(self) { connection in
        connection.takeIn()
        if connection.callers.queue.hasWork { loop.setHungry(connection) }
        return connection.hasReadAll
      }
    }
    driver.afterEvents = { [unowned self] in
      loop.enter(self) { connection in
        if connection.watchesProgress { connection.noteProgress() }
        // Calls wait for space in the socket.
        if connection.callers.queue.hasWork { loop.setHungry(connection) }
      }
    }
    // libdbus has timeouts only for calls whose deadlines it keeps; the binding keeps the deadlines itself.
    dbus_connection_set_watch_functions(
      raw, LoopDriver.addWatch, LoopDriver.removeWatch, LoopDriver.toggleWatch, driver.opaque, nil)
    let itself = Unmanaged.passUnretained(self).toOpaque()
    // One thread owns the connection, so nobody needs to be woken.
    dbus_connection_set_wakeup_main_function(raw, { _ in }, nil, nil)
    dbus_connection_set_dispatch_status_function(raw, Self.dispatchStatusChanged, itself, nil)
    // Messages may have come in before the functions were set.
    loop.setHungry(self)
  }

  /// libdbus calls this from its inside, and must not be called back here: this only puts the connection on the list.
  private static let dispatchStatusChanged: DBusDispatchStatusFunction = { _, status, data in
    guard let data else { return }
    let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
    connection.unread = status
    if status == DBUS_DISPATCH_DATA_REMAINS { connection.loop.setHungry(connection) }
  }

  private func greet(timeout: Duration) async throws(CallError) -> BusName {
    let name: String = try await call(to: .bus, at: .bus, .bus, "Hello", timeout: timeout)
    do { return try BusName(name) } catch { throw .unexpectedReply(.invalidValue("\(error)")) }
  }

  private func setUniqueName(_ name: BusName) {
    uniqueName = name
    if let raw { dbus_bus_set_unique_name(raw, name.rawValue) }
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
  private func waitForProgress(timeout: Duration, _ isDone: @escaping (OpaquePointer) -> Bool) async {
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

  private func watchProgress() {
    watchesProgress = true
    noteProgress()
  }

  private func noteProgress() {
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
    let waiters = closeWaiters
    closeWaiters = [:]
    for waiter in waiters.values { waiter.resume(returning: reason) }
    loop.moveOut(self)
    lease.letGo()
  }
}

// MARK: - Messages in

extension Connection: LoopResident {
  nonisolated func drain() -> Bool { loop.enter(self) { $0.drainQueue() } }

  nonisolated func depart() { loop.enter(self) { $0.sendMail() } }

  nonisolated func evict() { assumeIsolated { $0.finish(.closedHere) } }

  private func drainQueue() -> Bool {
    takeIn()
    return serveCalls()
  }

  /// Handles the messages that libdbus has read, up to a bound: replies and signals reach their waiters, calls wait for their turn.
  private func takeIn() {
    bytesJustRead = 0
    while unread != DBUS_DISPATCH_COMPLETE, let raw, let message = dbus_connection_pop_message(raw) {
      route(Message(owning: message))
    }
    guard unread != DBUS_DISPATCH_COMPLETE, let raw else { return }
    unread = dbus_connection_get_dispatch_status(raw)
    // Bytes from which libdbus could make no message for lack of memory stay where they are: no further byte need come before the next attempt.
    if unread != DBUS_DISPATCH_COMPLETE { tryAgainSoon() }
  }

  /// Whether libdbus has surely read all that had come: it reads until nothing is left, or until it has more than two KiB.
  private var hasReadAll: Bool { 1..<2048 ~= bytesJustRead }

  /// Tries again soon: memory that is missing now may be free in a moment.
  private func tryAgainSoon() {
    if isTryingAgain { return }
    isTryingAgain = true
    _ = loop.timers.schedule(at: Self.pauseWithoutMemory.deadline) { [weak self] in
      guard let self else { return }
      loop.enter(self) { connection in
        connection.isTryingAgain = false
        connection.sendDelayed()
        connection.loop.setHungry(connection)
      }
    }
  }

  /// Long enough for others to free some memory, and short compared with the 25 seconds that a caller waits.
  private static let pauseWithoutMemory = Duration.milliseconds(50)

  /// Reads the messages that came while calls were carried out, and sends the replies, so that new callers come next.
  func breathe() {
    if !outbox.hasAnnouncements { sendMail() }
    driver.readMore()
  }

  /// Whether bytes have come that were not read yet.
  var hasUnread: Bool {
    guard let raw, let descriptor = Mail.descriptor(of: raw) else { return false }
    return LoopDriver.isReadable(descriptor)
  }

  /// Whether messages wait for space in the socket: the next message is sent after them.
  var hasUnsent: Bool { raw.map { dbus_connection_has_messages_to_send($0) != 0 } ?? false }

  /// Whether the next message would be read soon: nothing waits for the socket, and the bus has read most of the bytes in it. If there is no space,
  /// the loop wakes as soon as there is some. We watch for space even while libdbus does: sending a message can flush libdbus's queue, and libdbus
  /// then stops watching without telling us.
  var hasSpace: Bool {
    // The kernel need not be asked after each short answer.
    if mail.sentSinceWritable < Self.shortAnswers && !hasUnsent { return true }
    guard let raw, let descriptor = Mail.descriptor(of: raw) else { return !hasUnsent }
    if !hasUnsent && LoopDriver.isWritable(descriptor) {
      mail.noteWritable()
      return true
    }
    driver.waitForSpace(in: descriptor)
    return false
  }

  /// A socket that is reported as writable takes at least so many more bytes.
  private static let shortAnswers = 2 << 10

  /// The answers to all callers share one queue, the socket, and the bus reads two KiB of it at a time. With a small buffer ``hasSpace`` ends the queue
  /// after ten KiB, a quarter of the buffer, and further answers are given when the bus has read those. The kernel takes twice the number for the buffer.
  func shortenQueue() {
    guard let raw, let descriptor = Mail.descriptor(of: raw) else { return }
    var half: Int32 = 20 << 10
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &half, socklen_t(MemoryLayout<Int32>.size))
  }

  private func route(_ message: consuming Message) {
    switch message.kind {
    case .methodReturn, .error:
      bytesJustRead += Self.unmeasured
      completeCall(with: message)
    case .methodCall: admit(message)
    case .signal:
      bytesJustRead += Self.unmeasured
      if dbus_message_is_signal(message.raw, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 {
        finish(.disconnected)
      } else {
        deliverSignal(message)
      }
    case .unknown: break
    }
  }
}

// MARK: - Messages out

extension Connection {
  /// Sends a message that you made, without waiting.
  ///
  /// The message leaves when this turn of the loop ends, with the turn's other messages. From elsewhere than the loop, it leaves in the order of the
  /// calls. A connection that has ended drops the message, as a bus that ends drops its messages.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.send(try Message.signal(from: "/org/example", "org.example.Log", "Said", "hello"))
  /// ```
  public nonisolated func send(_ message: consuming Message) {
    if loop.isCurrent {
      loop.enter(self) { $0.post(message) }
    } else {
      let box = MessageBox(message)
      loop.execute { self.assumeIsolated { $0.post(box.message) } }
    }
  }

  /// Emits a signal, to all subscribers or to `destination` alone.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// try connection.emit(from: "/org/example/Greeter", "org.example.Greeter", "Greeted", "Ann", UInt32(3))
  /// ```
  public nonisolated func emit<each Argument: BusValue>(
    from path: ObjectPath, _ interface: InterfaceName, _ member: MemberName,
    _ arguments: repeat each Argument, to destination: BusName? = nil
  ) throws(CodingError) {
    send(try Message.signal(from: path, interface, member, to: destination, repeat each arguments))
  }

  /// Everything except calls is sent here: now, or behind the announcements of this turn.
  func post(_ message: borrowing Message) {
    // An answer that this module's bytes cannot hold is long.
    if message.bytes == nil, message.kind == .methodReturn {
      callers.queue.charge(answer: message.size, to: message.destination, TimerQueue.now)
    }
    if outbox.hasAnnouncements {
      outbox.hold(message)
    } else {
      transmit(message)
    }
  }

  /// Sends a message and returns its serial; 0 if the connection has ended. A small message leaves when the turn ends.
  @discardableResult
  func transmit(_ message: borrowing Message, serial: UInt32? = nil) -> UInt32 {
    guard let raw, closeReason == nil else { return 0 }
    if message.bytes == nil, dbus_message_contains_unix_fds(message.raw) != 0, !canSendFileDescriptors {
      return refuse(message)
    }
    if !delayed.isEmpty { return delay(message, serial) }
    if let bytes = message.bytes, mail.isOpen(on: raw) {
      if mail.isEmpty { loop.setDeparting(self) }
      let serial = serial ?? mail.nextSerial()
      mail.add(bytes, serial)
      if mail.isFull { sendMail() }
      return serial
    }
    sendMail()
    // The collected messages may have been delayed just now.
    guard delayed.isEmpty, let made = message.rawWithMemory else { return delay(message, serial) }
    if dbus_message_get_serial(made) == 0 { dbus_message_set_serial(made, serial ?? mail.nextSerial()) }
    mail.noteMessageOfLibdbus()
    if dbus_connection_send(raw, made, nil) == 0 { return delay(message, dbus_message_get_serial(made)) }
    checkOutgoing(raw)
    return dbus_message_get_serial(made)
  }

  /// Keeps a message for which libdbus has no memory. If the message were dropped, its caller would wait in vain.
  private func delay(_ message: borrowing Message, _ serial: UInt32?) -> UInt32 {
    let number: UInt32
    if let bytes = message.bytes {
      number = serial ?? mail.nextSerial()
      bytes.setSerial(number)
    } else {
      let own = dbus_message_get_serial(message.raw)
      number = own != 0 ? own : serial ?? mail.nextSerial()
      if own == 0 { dbus_message_set_serial(message.raw, number) }
    }
    delayed.append(MessageBox(message))
    tryAgainSoon()
    return number
  }

  private func sendDelayed() {
    guard let raw, !delayed.isEmpty else { return }
    var sent = 0
    for box in delayed {
      if !Self.send(box.message, on: raw) { break }
      sent += 1
    }
    delayed.removeFirst(sent)
    if !delayed.isEmpty { tryAgainSoon() }
  }

  /// Whether libdbus had the memory to take the message, which has its serial already.
  private static func send(_ message: borrowing Message, on raw: OpaquePointer) -> Bool {
    message.bytes?.send(on: raw) ?? (dbus_connection_send(raw, message.raw, nil) != 0)
  }

  /// Sends the collected messages. libdbus sends later what the socket does not take now.
  private func sendMail() {
    guard !mail.isEmpty, let raw else { return }
    delayed += mail.leave(raw).map { MessageBox(Message($0)) }
    if !delayed.isEmpty { tryAgainSoon() }
    checkOutgoing(raw)
  }

  private func checkOutgoing(_ raw: OpaquePointer) {
    if uniqueName == nil, dbus_connection_get_outgoing_size(raw) > Self.maximumOutgoing { hangUp() }
  }

  /// The bytes that may wait for a peer that does not read: the longest message. A bus always reads, and has such limits itself.
  private static let maximumOutgoing = 1 << 27

  /// Not at once: the sender is in the middle of something.
  private func hangUp() {
    loop.execute { [weak self] in self?.assumeIsolated { $0.finish(.disconnected) } }
  }

  /// libdbus silently drops a message with file descriptors to a peer that accepts none. For a reply, somebody waits.
  private func refuse(_ message: borrowing Message) -> UInt32 {
    guard message.kind == .methodReturn,
      let error = try? Message.error(
        to: message.destination, message.replySerial,
        ErrorReply(.notSupported, "the reply carries a file descriptor, and this connection takes none"))
    else { return 0 }
    transmit(error)
    return 0
  }

  /// Whether the other side accepts file descriptors.
  public var canSendFileDescriptors: Bool {
    guard let raw else { return false }
    return dbus_connection_can_send_type(raw, WireType.fileDescriptor.code) != 0
  }
}
