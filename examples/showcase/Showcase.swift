package import DBus

/// The demonstration service: a method for every D-Bus type, and one example of every other kind of member.
///
/// The actor lives on its connection's loop, so a handler reads and writes its state without a lock and without waiting.
package actor Showcase {
  package static let busName: BusName = "org.stagedoor.Showcase1"
  package static let path: ObjectPath = "/org/stagedoor/Showcase1"
  static let version = "1.0"

  /// Each waiting caller costs memory, and this many are enough to show how waiting works.
  static let maximumWaiting = 64
  /// The remembered announcements.
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

  /// `loop` is the loop of the connection that this will be exported on. `quit` is called when a caller asks the service to end.
  package init(on loop: EventLoop, quit: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.quit = quit
  }

  /// The interface of the main object.
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

  /// Exports all objects. The program requests its name afterwards, because a client may call as soon as it sees the name.
  func export(on connection: Connection) throws {
    connection.export(interface, at: Self.path)
    connection.exportObjectManager(at: Self.itemsPath)
    for label in ["a lamp", "a rope", "a mask"] { try createItem(label, on: connection) }
    connection.export(Number.subtree(of: Number.interface), below: Number.path)
  }
}
