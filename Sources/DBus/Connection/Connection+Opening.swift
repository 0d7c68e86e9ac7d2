internal import CDBus

/// Connections to buses and peers, and those that a listener accepts.
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
