package import DBus

/// The demonstration service: a method for every D-Bus type, and one of everything else that an object can have.
///
/// It lives on its connection's loop, so a handler reads and writes what is below without a lock and without a wait.
package actor Showcase {
  package static let busName: BusName = "org.stagedoor.Showcase1"
  package static let path: ObjectPath = "/org/stagedoor/Showcase1"
  static let version = "1.0"

  /// A caller that waits costs memory here, and nobody needs more of them than this to see how it works.
  static let maximumWaiting = 64
  /// The announcements that are remembered.
  static let maximumAnnouncements = 100

  package nonisolated let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  nonisolated let mood = StoredProperty(Mood.calm)
  private nonisolated let quit: @Sendable () -> Void

  var volume = 0.5
  var announcements: [String] = []
  var waiting: [Reply<String>] = []
  var items: Set<ObjectPath> = []
  var itemsMade = 0

  /// `loop` is the loop of the connection that this will be exported on. `quit` is called where somebody asks for the end.
  package init(on loop: EventLoop, quit: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.quit = quit
  }

  /// Everything that the main object can do, as it is declared.
  package nonisolated var interface: Interface {
    var interface = Interface("org.stagedoor.Showcase1", documentation: "Send something, and see what comes back.")
    declareEchoes(in: &interface)
    declareMethods(in: &interface)
    declareAnnouncements(in: &interface)
    declareProperties(in: &interface)
    declareItemMethods(in: &interface)
    interface.method("Quit") { [quit] in quit() }
    return interface
  }

  /// Puts all objects on the bus. The name comes after: whoever sees it may call at once.
  func export(on connection: Connection) throws {
    connection.export(interface, at: Self.path)
    connection.exportObjectManager(at: Self.itemsPath)
    for label in ["a lamp", "a rope", "a mask"] { try createItem(label, on: connection) }
    connection.export(Number.subtree(of: Number.interface), below: Number.path)
  }
}
