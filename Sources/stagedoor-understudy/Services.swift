import DBus
import DesktopFiles
import SceneModel
import WindowEvidence

/// What applications' own services on the bus tell of their documents.
struct Services {
  let connection: Connection
  /// How long each may think.
  let patience: Duration

  struct Answer {
    let process: Int32
    /// The path of what a player plays; `nil` for a process of evince or atril, which shows the file that was asked about.
    var playing: Bytes?
  }

  private static let daemons: [String: (name: BusName, path: ObjectPath, interface: InterfaceName)] = [
    "evince": ("org.gnome.evince.Daemon", "/org/gnome/evince/Daemon", "org.gnome.evince.Daemon"),
    "atril": ("org.mate.atril.Daemon", "/org/mate/atril/Daemon", "org.mate.atril.Daemon"),
  ]

  /// Begins to ask the service of an application; `nil` if the application has none.
  func ask(about url: String, _ entry: DesktopEntry) -> Task<Answer?, Never>? {
    if Services.daemons[entry.program] != nil {
      return connection.loop.task { await process(showing: url, of: entry.program) }
    }
    if entry.categories.contains("Player") { return connection.loop.task { await track(of: entry.program) } }
    return nil
  }

  private func process(showing url: String, of program: String) async -> Answer? {
    guard let daemon = Services.daemons[program],
      let owner: String = try? await connection.call(
        to: daemon.name, at: daemon.path, daemon.interface, "FindDocument", url, false, timeout: patience),
      let name = try? BusName(owner)
    else { return nil }
    return await process(of: name).map { Answer(process: $0) }
  }

  private func track(of program: String) async -> Answer? {
    guard let player = try? BusName("org.mpris.MediaPlayer2.\(program)"),
      let value: Variant = try? await connection.call(
        to: player, at: "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties", "Get",
        "org.mpris.MediaPlayer2.Player", "Metadata", timeout: patience),
      let url = try? [String: Variant](value)["xesam:url"].map({ try String($0) }),
      let path = FileURL.path(of: Text(url)), let process = await process(of: player)
    else { return nil }
    return Answer(process: process, playing: path)
  }

  private func process(of name: BusName) async -> Int32? {
    let number: UInt32? = try? await connection.call(
      to: .bus, at: .bus, .bus, "GetConnectionUnixProcessID", "\(name)", timeout: patience)
    return number.map { Int32(bitPattern: $0) }
  }
}
