internal import DBus
internal import Glibc

/// A bus that runs dbus-broker.
///
/// dbus-broker does nothing by itself. A controller talks D-Bus to it, peer to peer, over a socket among the broker's descriptors, and
/// gives it a listening socket and a policy. This does not need systemd. The broker ends when its controller hangs up.
struct BrokerBus: BusBackend {
  let address: BusAddress
  let process: Supervised
  private let controller: BrokerController

  init(in folder: PrivateFolder) async throws {
    let address = BusAddress("unix:path=\(folder.path)/bus")
    self.address = address
    let listener = try FileDescriptors.listener(at: "\(folder.path)/bus")
    // libdbus connects to addresses and not to descriptors. So libdbus connects to a socket of ours, and the broker gets the other end.
    let meeting = try FileDescriptors.listener(at: "\(folder.path)/controller")
    let connection = try await Connection.peerToBe(BusAddress("unix:path=\(folder.path)/controller"))
    do {
      let end = try FileDescriptors.accept(from: meeting)
      unlink("\(folder.path)/controller")
      process = try await Supervised(
        [
          try Programs.required("dbus-broker"), "--controller", "3", "--machine-id", Self.machineIdentifier,
          "--max-bytes", "1000000000", "--max-fds", "250000", "--max-matches", "1000000", "--max-objects", "1000000",
        ],
        descriptor: end, removing: folder.path)
    } catch {
      await connection.close()
      throw error
    }
    do {
      controller = try await BrokerController(connection, busAddress: address)
      try await controller.listen(on: listener)
    } catch {
      let reason = BusFailure("dbus-broker did not let itself be controlled: \(error)", log: process.output)
      await process.stop()
      await connection.close()
      throw reason
    }
  }

  func install(_ service: ActivatableService) async throws { try await controller.install(service) }

  func stop() async {
    await process.stop()
    // The broker notices the end on its connection.
    await controller.ended()
  }

  /// For clients that call Peer.GetMachineId; the broker requires 32 digits.
  private static var machineIdentifier: String {
    for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
      if let text = Procfs.text(of: path)?.split(separator: "\n").first, text.utf8.count == 32 { return String(text) }
    }
    return String(repeating: "0123456789abcdef", count: 2)
  }
}
