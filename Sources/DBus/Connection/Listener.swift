internal import CDBus

/// Takes in connections from peers, with no bus between.
///
/// ```swift
/// var greeter = Interface("org.example.Greeter")
/// greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
/// let listener = try await Listener.listen(at: "unix:tmpdir=/tmp") { [greeter] peer in
///   peer.export(greeter, at: "/org/example/Greeter")
/// }
/// print("come to \(await listener.address)")
/// ```
///
/// A peer has to be the same user, or root. Each connection is yours to close.
public actor Listener {
  /// The loop whose thread it lives on, and the connections with it.
  public nonisolated let loop: EventLoop

  /// The loop, as Swift's concurrency knows it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let welcome: @Sendable (Connection) -> Void
  private let driver: LoopDriver
  private let ownsLoop: Bool
  private var raw: OpaquePointer?
  /// Whether the last event brought somebody; see `rest()`.
  private var didAccept = false

  private init(loop: EventLoop, ownsLoop: Bool, welcome: @escaping @Sendable (Connection) -> Void) {
    self.loop = loop
    self.ownsLoop = ownsLoop
    self.welcome = welcome
    driver = LoopDriver(loop: loop)
  }

  /// Listens at `address`: on `loop`, or on a loop of its own, which ends with the listener.
  ///
  /// `welcome` is called for each peer, on the loop's thread, before anything that the peer sends is looked at: what it exports
  /// is there for the first call.
  public static func listen(
    at address: BusAddress, on loop: EventLoop? = nil, welcome: @escaping @Sendable (Connection) -> Void
  ) async throws(ConnectionError) -> Listener {
    let listener: Listener
    if let loop {
      listener = Listener(loop: loop, ownsLoop: false, welcome: welcome)
    } else {
      listener = Listener(loop: try EventLoop(), ownsLoop: true, welcome: welcome)
    }
    do throws(ConnectionError) {
      try await listener.open(address)
    } catch {
      await listener.close()
      throw error
    }
    return listener
  }

  /// Where peers can reach it, in a form that connects to it and nothing else.
  public var address: BusAddress {
    guard let raw, let text = dbus_server_get_address(raw) else { return BusAddress("") }
    defer { dbus_free(text) }
    return BusAddress(String(cString: text))
  }

  /// Takes in nobody any more. The connections that were taken in stay.
  public func close() async {
    finish()
    if ownsLoop { await loop.stop() }
  }

  private func finish() {
    if let raw {
      dbus_server_disconnect(raw)
      dbus_server_set_new_connection_function(raw, nil, nil, nil)
      dbus_server_set_watch_functions(raw, nil, nil, nil, nil, nil)
      dbus_server_set_timeout_functions(raw, nil, nil, nil, nil, nil)
      driver.close()
      dbus_server_unref(raw)
    }
    raw = nil
    loop.moveOut(self)
  }

  private func open(_ address: BusAddress) throws(ConnectionError) {
    var error = DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    guard let raw = dbus_server_listen(address.rawValue, &error) else {
      let name = error.name.map { ErrorName(unchecked: String(cString: $0)) } ?? .failed
      throw .unreachable(
        address: address.rawValue, ErrorReply(name, error.message.map { String(cString: $0) } ?? "no reason given"))
    }
    self.raw = raw
    loop.moveIn(self)
    let itself = Unmanaged.passUnretained(self).toOpaque()
    dbus_server_set_new_connection_function(raw, Self.accept, itself, nil)
    dbus_server_set_watch_functions(
      raw, LoopDriver.addWatch, LoopDriver.removeWatch, LoopDriver.toggleWatch, driver.opaque, nil)
    dbus_server_set_timeout_functions(
      raw, LoopDriver.addTimeout, LoopDriver.removeTimeout, LoopDriver.toggleTimeout, driver.opaque, nil)
    driver.afterEvents = { [unowned self] in assumeIsolated { $0.rest() } }
  }

  private static let accept: DBusNewConnectionFunction = { _, raw, data in
    guard let raw, let data else { return }
    let listener = Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue()
    dbus_connection_ref(raw)
    let connection = Connection.accepted(raw, on: listener.loop)
    listener.assumeIsolated { $0.didAccept = true }
    listener.welcome(connection)
  }

  /// Somebody knocked and could not be let in: no descriptor is left, or they hung up. libdbus leaves them in the queue, and the
  /// socket stays readable: without a rest the loop would do nothing else.
  private func rest() {
    defer { didAccept = false }
    if didAccept { return }
    driver.pause(for: .milliseconds(50))
  }
}

extension Listener: LoopResident {
  nonisolated func drain() -> Bool { false }

  nonisolated func evict() { assumeIsolated { $0.finish() } }
}

extension Connection {
  /// Two connections that are each other's peers, on `loop` or on a loop of their own, which goes on until you stop it.
  ///
  /// ```swift
  /// let (server, client) = try await Connection.pair()
  /// var greeter = Interface("org.example.Greeter")
  /// greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
  /// server.export(greeter, at: "/org/example/Greeter")
  ///
  /// let greeting: String = try await client.call(
  ///   to: nil, at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann")
  /// print(greeting)
  /// await client.close()
  /// await server.close()
  /// await client.loop.stop()
  /// ```
  public static func pair(
    on loop: EventLoop? = nil
  ) async throws(ConnectionError) -> (server: Connection, client: Connection) {
    let shared: EventLoop
    if let loop { shared = loop } else { shared = try EventLoop() }
    let (arrivals, arrival) = AsyncStream.makeStream(of: Connection.self)
    let listener = try await Listener.listen(at: "unix:tmpdir=/tmp", on: shared) { arrival.yield($0) }
    let client = try await peer(await listener.address, on: shared)
    let server = await arrivals.first { _ in true }
    await listener.close()
    guard let server else { throw .rejected(.disconnected) }
    return (server, client)
  }
}
