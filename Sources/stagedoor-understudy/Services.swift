import DBus
import SceneModel
import WindowEvidence

/// What applications' own services on the bus tell of their documents.
struct Services {
  let connection: Connection

  private static let patience = Duration.milliseconds(100)
  private static let daemons: [String: (name: BusName, path: ObjectPath, interface: InterfaceName)] = [
    "evince": ("org.gnome.evince.Daemon", "/org/gnome/evince/Daemon", "org.gnome.evince.Daemon"),
    "atril": ("org.mate.atril.Daemon", "/org/mate/atril/Daemon", "org.mate.atril.Daemon"),
  ]

  /// The process of evince or atril that shows a file.
  func process(showing url: String, of program: String) async -> Int32? {
    guard let daemon = Services.daemons[program],
      let owner: String = try? await connection.call(
        to: daemon.name, at: daemon.path, daemon.interface, "FindDocument", url, false, timeout: Services.patience),
      let name = try? BusName(owner)
    else { return nil }
    return await process(of: name)
  }

  /// The process of a player, and the path of the file that it plays.
  func track(of program: String) async -> (process: Int32, path: Bytes)? {
    guard let player = try? BusName("org.mpris.MediaPlayer2.\(program)"),
      let value: Variant = try? await connection.call(
        to: player, at: "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties", "Get",
        "org.mpris.MediaPlayer2.Player", "Metadata", timeout: Services.patience),
      let url = try? [String: Variant](value)["xesam:url"].map({ try String($0) }),
      let path = FileURL.path(of: Text(url)), let process = await process(of: player)
    else { return nil }
    return (process, path)
  }

  private func process(of name: BusName) async -> Int32? {
    let number: UInt32? = try? await connection.call(
      to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "\(name)",
      timeout: Services.patience)
    return number.map { Int32(bitPattern: $0) }
  }
}
