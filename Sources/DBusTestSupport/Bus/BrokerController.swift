internal import DBus
internal import Glibc

/// The controller of a broker: it gives the broker its socket, and starts the services that the broker requests.
///
/// It lives as long as its connection to the broker, and closes this connection itself.
actor BrokerController {
  private let connection: Connection
  private var environment: [String: String]
  private var services: [BusName: ActivatableService] = [:]
  /// The activatable names, by the path of their objects.
  private var names: [ObjectPath: BusName] = [:]
  private var running: [RunningCommand] = []
  private var work: Task<Void, Never>?

  private static let broker: ObjectPath = "/org/bus1/DBus/Broker"

  init(_ connection: Connection, busAddress: BusAddress) async throws {
    self.connection = connection
    environment = Programs.environmentOfBus
    environment["DBUS_SESSION_BUS_ADDRESS"] = busAddress.rawValue
    environment["DBUS_STARTER_ADDRESS"] = busAddress.rawValue
    environment["DBUS_STARTER_BUS_TYPE"] = "session"
    // The broker passes on the calls of clients about the bus's configuration, and waits for the answer.
    var controller = Interface("org.bus1.DBus.Controller")
    controller.method("ReloadConfig") {}
    connection.export(controller, at: "/org/bus1/DBus/Controller")
    // One sequence takes all of them, which keeps their order.
    let signals = try await connection.signals(MatchRule(), buffering: .oldest(100_000))
    work = Task {
      for await signal in signals { await handle(signal) }
      await close()
    }
  }

  /// Waits until the connection has ended and nothing runs any more.
  func ended() async { await work?.value }

  private func close() async {
    for command in running { await command.stop() }
    running = []
    await connection.close()
  }

  /// Gives the broker the socket that clients connect to.
  func listen(on listener: OwnedFileDescriptor) async throws {
    // A descriptor can only be sent after both sides have agreed to descriptors. Any reply of the broker shows this; this call gets one.
    do {
      try await connection.call(to: nil, at: Self.broker, "org.freedesktop.DBus.Peer", "Ping")
    } catch .replied {}
    try await connection.call(
      to: nil, at: Self.broker, "org.bus1.DBus.Broker", "AddListener",
      ObjectPath("/org/bus1/DBus/Listener/0"), listener, BrokerPolicy.open)
  }

  func install(_ service: ActivatableService) async throws {
    let isNew = services.updateValue(service, forKey: service.name) == nil
    if !isNew { return }
    let path = ObjectPath(unchecked: "/org/bus1/DBus/Name/\(names.count)")
    names[path] = service.name
    try await connection.call(
      to: nil, at: Self.broker, "org.bus1.DBus.Broker", "AddName", path, service.name.rawValue, UInt32(getuid()))
  }

  private func handle(_ signal: ReceivedSignal) async {
    switch signal.member {
    case "Activate":
      guard let serial = try? signal.values(as: UInt64.self), let name = names[signal.path],
        let service = services[name]
      else { return }
      await start(service, at: signal.path, serial)
    case "SetActivationEnvironment":
      guard let added = try? signal.values(as: [String: String].self) else { return }
      environment.merge(added) { _, new in new }
    default: break
    }
  }

  private func start(_ service: ActivatableService, at path: ObjectPath, _ serial: UInt64) async {
    let command = Command(
      service.command[0], arguments: Array(service.command.dropFirst()),
      environment: environment.merging(service.environment) { _, new in new })
    guard let process = try? await command.start() else { return fail(path, serial) }
    running.append(process)
    // When a program ends without taking the name, the activation has failed for its callers. If it took the name, the broker knows that
    // the activation is over, and ignores this.
    Task {
      _ = try? await process.ended(within: .seconds(1_000_000))
      fail(path, serial)
      running.removeAll { $0 === process }
    }
  }

  private func fail(_ path: ObjectPath, _ serial: UInt64) {
    try? connection.send(
      to: nil, at: path, "org.bus1.DBus.Name", "Reset", serial, "org.bus1.DBus.Name.Error.StartupFailure")
  }
}

/// A policy in the form of dbus-broker 33.
private enum BrokerPolicy {
  /// Verdict and priority; for owning also whether the name is a prefix, and the name.
  private static let owning: Signature = "(btbs)"
  /// Verdict, priority, name, path, interface, member, type of message, broadcast or not, fewest and most descriptors.
  private static let messages: Signature = "(btssssuutt)"
  /// Verdict and priority for connecting; rules for owning, for sending, for receiving.
  private static let batch = "(bta\(owning)a\(messages)a\(messages))"

  /// A policy that allows everything to everyone.
  static var open: Variant {
    let verdict: [Variant] = [true, .uint64(1)]
    let name = Variant.structure(verdict + [true, ""])
    let message = Variant.structure(verdict + ["", "", "", "", .uint32(0), .uint32(0), .uint64(0), .uint64(.max)])
    let all = Variant.structure(
      verdict + [.array(of: owning, [name]), .array(of: messages, [message]), .array(of: messages, [message])])
    return .structure([
      // By user; this number stands for every user.
      .array(of: Signature(unchecked: "(u\(batch))"), [.structure([.uint32(.max), all])]),
      // By group, or range of users.
      .array(of: Signature(unchecked: "(buu\(batch))"), []),
      // Contexts of SELinux by name.
      .array(of: "(ss)", []),
      // Whether to ask AppArmor, and the type of the bus for AppArmor.
      false, "session",
    ])
  }
}
