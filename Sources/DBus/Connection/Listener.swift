internal import CDBus
internal import Glibc

/// Accepts connections from peers, without a bus in between.
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
/// A peer must run as the same user, or as root. You close each connection yourself.
public actor Listener {
  /// The loop whose thread it lives on, and the connections with it.
  public nonisolated let loop: EventLoop

  /// The loop, as Swift's concurrency knows it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let welcome: @Sendable (Connection) -> Void
  private let driver: LoopDriver
  /// Its connections share the lease.
  private let lease: LoopLease
  private var raw: OpaquePointer?
  private var isFinished = false
  /// The peers that have not identified themselves yet.
  private var strangers = 0
  /// Whether the last event brought a peer; see `rest()`.
  private var didAccept = false

  /// The number of peers that may be identifying themselves at once. More than this is an attack, and each holds a descriptor.
  private static let maximumStrangers = 64

  private init(_ lease: LoopLease, welcome: @escaping @Sendable (Connection) -> Void) {
    loop = lease.loop
    self.lease = lease
    self.welcome = welcome
    driver = LoopDriver(loop: loop)
    lease.hold()
  }

  /// Listens at `address`: on `loop`, or on a loop of its own, which ends with the listener and all its connections.
  ///
  /// `welcome` is called on the loop's thread for each peer that has identified itself, before any message of the peer is handled: objects that it
  /// exports are there for the first call.
  public static func listen(
    at address: BusAddress, on loop: EventLoop? = nil, welcome: @escaping @Sendable (Connection) -> Void
  ) async throws(ConnectionError) -> Listener {
    try await listen(at: address, LoopLease(of: loop), welcome: welcome)
  }

  static func listen(
    at address: BusAddress, _ lease: LoopLease, welcome: @escaping @Sendable (Connection) -> Void
  ) async throws(ConnectionError) -> Listener {
    let listener = Listener(lease, welcome: welcome)
    do throws(ConnectionError) {
      try await listener.open(address)
    } catch {
      await listener.close()
      throw error
    }
    return listener
  }

  /// The address of this listener, in a form that connects to it and to nothing else.
  public var address: BusAddress {
    guard let raw, let text = dbus_server_get_address(raw) else { return BusAddress("") }
    defer { dbus_free(text) }
    return BusAddress(String(cString: text))
  }

  /// Accepts no more peers. The accepted connections stay.
  public func close() async {
    finish()
    await lease.ended()
  }

  private func finish() {
    if isFinished { return }
    isFinished = true
    if let raw {
      dbus_server_disconnect(raw)
      dbus_server_set_new_connection_function(raw, nil, nil, nil)
      dbus_server_set_watch_functions(raw, nil, nil, nil, nil, nil)
      driver.close()
      dbus_server_unref(raw)
    }
    raw = nil
    loop.moveOut(self)
    lease.letGo()
  }

  private func open(_ address: BusAddress) throws(ConnectionError) {
    guard loop.isRunning else { throw .loopHasEnded }
    var error = DBusError()
    dbus_error_init(&error)
    guard let raw = dbus_server_listen(address.rawValue, &error) else { throw ConnectionError(address, &error) }
    self.raw = raw
    loop.moveIn(self)
    let itself = Unmanaged.passUnretained(self).toOpaque()
    dbus_server_set_new_connection_function(raw, Self.accept, itself, nil)
    dbus_server_set_watch_functions(
      raw, LoopDriver.addWatch, LoopDriver.removeWatch, LoopDriver.toggleWatch, driver.opaque, nil)
    driver.afterEvents = { [unowned self] in assumeIsolated { $0.rest() } }
  }

  private static let accept: DBusNewConnectionFunction = { _, raw, data in
    guard let raw, let data else { return }
    let listener = Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue()
    // libdbus calls on the loop's thread, and the reference is taken on that thread.
    nonisolated(unsafe) let peer = raw
    listener.assumeIsolated { $0.take(peer) }
  }

  private func take(_ peer: OpaquePointer) {
    didAccept = true
    if strangers == Self.maximumStrangers {
      dbus_connection_close(peer)
      return
    }
    strangers += 1
    dbus_connection_ref(peer)
    Connection.accept(peer, lease) { [welcome] connection in
      self.assumeIsolated { $0.strangers -= 1 }
      if let connection { welcome(connection) }
    }
  }

  /// A peer came and could not be accepted, because no descriptor is left or the peer hung up. libdbus leaves it in the queue, and the socket stays
  /// readable: without a rest the loop would do nothing else.
  private func rest() {
    defer { didAccept = false }
    if didAccept { return }
    driver.pause(for: .milliseconds(50))
  }
}

extension Listener: LoopResident {
  nonisolated func evict() { assumeIsolated { $0.finish() } }
}

extension Connection {
  /// Two connections that are each other's peers: on `loop`, or on a loop of their own, which ends with the second of them.
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
  /// ```
  public static func pair(
    on loop: EventLoop? = nil
  ) async throws(ConnectionError) -> (server: Connection, client: Connection) {
    // Nobody else can connect: only this process can enter the folder, and it is removed when the two are connected.
    var template = Array("/tmp/dbus-pair-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw .system("mkdtemp", errno) }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { rmdir(folder) }
    let lease = try LoopLease(of: loop)
    let (arrivals, arrival) = AsyncStream.makeStream(of: Connection.self)
    let listener = try await Listener.listen(at: BusAddress("unix:path=\(folder)/socket"), lease) { arrival.yield($0) }
    defer { unlink("\(folder)/socket") }
    do throws(ConnectionError) {
      let client = try await peer(await listener.address, lease, timeout: .seconds(25))
      // The server has accepted the client, so its connection is on its way; a task that is cancelled stops waiting.
      let server = await arrivals.first { _ in true }
      await listener.close()
      guard let server else {
        await client.close()
        throw .rejected(.cancelled)
      }
      return (server, client)
    } catch {
      await listener.close()
      throw error
    }
  }
}
