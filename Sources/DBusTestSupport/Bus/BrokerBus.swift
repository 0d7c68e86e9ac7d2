internal import DBus

/// A bus that dbus-broker plays.
struct BrokerBus: BusBackend {
  let address: BusAddress
  let process: Supervised

  init(in folder: PrivateFolder) async throws {
    throw BusFailure("not yet")
  }

  func stop() async { await process.stop() }
  func install(_ service: ActivatableService) async throws {}
}
