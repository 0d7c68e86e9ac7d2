import DBus
import SceneModel
import ServiceSupport
import StagedoorKit

/// Lists every open window: those of applications that take part, and those that the understudy sees.
enum WindowsCommand {
  struct Row: Equatable, Sendable {
    /// The understudy's identifier of a window.
    var window: String?
    var session: SessionIdentifier?
    var application = "", name = "", icon = "", title = "", document = "", level = ""
    var isActive = false

    /// Whether the service knows the application under this identifier.
    func isOf(_ identifier: String) -> Bool { [application, "desktop.\(application)"].contains(identifier) }

    /// What `stagedoor activate` takes.
    var identifier: String { session?.description ?? window.map { "\(WindowsCommand.mark)\($0)" } ?? "" }
  }

  /// Stands before the understudy's identifiers, so that none is the beginning of a session's.
  static let mark: Character = "w"

  static let fields: [Field<Row>] = [
    Field(
      "identifier", .init(title: "WINDOW") { _ in .identifier }, value: { .text($0.identifier) },
      short: { $0.session == nil ? $0.identifier : String($0.identifier.prefix(8)) }),
    Field("application", .init(title: "APPLICATION", minimum: 12, keepsEnd: true, rank: 2)) { .text($0.application) },
    Field("title", .init(title: "TITLE", minimum: 8)) { .text($0.title) },
    Field("document", .init(title: "SHOWS", minimum: 8, rank: 1)) { .text($0.document) },
    Field("level", .init(title: "KNOWN", rank: 3)) { .text($0.level) },
    Field("session", value: { $0.session.map { .text($0.description) } }),
    Field("active", value: { .bool($0.isActive) }),
    Field("name", value: { .text($0.name) }),
    Field("icon", value: { .text($0.icon) }),
  ]

  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let understudy = Understudy(on: client.stagedoor.connection)
    var application = invocation[.ofApp]
    do {
      application = try await client.application(of: invocation)
    } catch let error as StagedoorError where Status(error.code) == .noService {
      // The understudy may have windows of the application.
    }
    guard invocation.has(.watchWindows) else {
      let (rows, notes) = try await rows(client, understudy, of: application)
      for note in notes { Output.note("stagedoor windows: \(note)") }
      try print(rows, invocation)
      return
    }
    let changes = try await understudy.changes()
    let events = try await client.stagedoor.connection.signals(
      MatchRule(sender: Client.service, pathNamespace: "/org/stagedoor/Interchange1"))
    // However many changes come while the rows are read, they are read once more.
    let (alarm, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watching = [changes, events].map { stream in
      invocation.loop?.task {
        for await _ in stream { bell.yield() }
        bell.finish()
      }
    }
    defer { for task in watching { task?.cancel() } }
    var shown: [Row]?
    var rings = alarm.makeAsyncIterator()
    repeat {
      let (rows, notes) = try await rows(client, understudy, of: application)
      if shown == nil { for note in notes { Output.note("stagedoor windows: \(note)") } }
      if rows != shown {
        if shown != nil, !invocation.has(.json) { try Output.line("") }
        try print(rows, invocation)
        try Output.flush()
        shown = rows
      }
    } while await rings.next() != nil
    throw Problem(.noService, "the bus has gone")
  }

  private static func print(_ rows: [Row], _ invocation: Invocation) throws {
    if invocation.has(.menuOfWindows) { return try rows.forEach(menuLine) }
    if invocation.has(.watchWindows), invocation.has(.json) {
      let values = rows.map { row in Printed.object(fields.map { ($0.name, $0.value(row)) }) }
      return try Output.line(Printed.shown(.array(values)))
    }
    try Listing(invocation, fields).list(rows, orSay: "no windows")
  }

  /// The form of rofi and fuzzel: the text after the zero names the icon.
  private static func menuLine(_ row: Row) throws(Problem) {
    let name = row.name.isEmpty ? row.application : row.name
    let text = [row.identifier, row.title, name].map(\.printable).joined(separator: "\t")
    try Output.line(row.icon.isEmpty ? text : "\(text)\u{0}icon\u{1F}\(row.icon.printable)")
  }

  // MARK: The rows

  private static func rows(
    _ client: Client, _ understudy: Understudy, of application: String?
  ) async throws -> ([Row], notes: [String]) {
    var notes: [String] = []
    var rows: [Row] = []
    do throws(CallError) {
      rows = try await understudy.windows()
      if let application { rows.removeAll { !$0.isOf(application) } }
    } catch {
      notes.append("only applications that take part: \(Understudy.sentence(of: error))")
    }
    do throws(StagedoorError) {
      for try await page in client.stagedoor.sessionPages(of: application) {
        for session in page where session.activationState != .unattached { add(session, to: &rows) }
      }
    } catch  where error.code == .accessDenied && application == nil {
      throw Problem(
        .refused, "in a sandbox you see the windows of your own application only; name it with --app",
        error: error.code.rawValue)
    } catch  where error.code == .noSuchApplication && !rows.isEmpty {
      // The application knows nothing of Stagedoor.
    } catch  where Status(error.code) == .noService {
      notes.append("only windows that the understudy sees: \(Problem(error).sentence)")
      if rows.isEmpty, notes.count > 1 { throw error }
    } catch {
      throw error
    }
    return (rows, notes)
  }

  /// A session whose window the understudy sees too is that window.
  private static func add(_ session: SessionSummary, to rows: inout [Row]) {
    let same = rows.indices.filter {
      rows[$0].session == nil && rows[$0].title == session.title && rows[$0].isOf(session.application)
    }
    if same.count == 1 {
      rows[same[0]].session = session.session
      if rows[same[0]].document.isEmpty { rows[same[0]].document = session.targetContentIdentifier }
      return
    }
    rows.append(
      Row(
        session: session.session, application: session.application, title: session.title,
        document: session.targetContentIdentifier, level: session.targetContentIdentifier.isEmpty ? "" : "certain",
        isActive: session.activationState == .foregroundActive))
  }
}

/// `org.stagedoor.Understudy1`, as the commands use it.
struct Understudy: Sendable {
  private static let name: BusName = "org.stagedoor.Understudy1"

  let object: RemoteObject

  init(on connection: Connection) {
    object = connection.object(Understudy.name, at: "/org/stagedoor/Understudy1", "org.stagedoor.Understudy1")
  }

  static func sentence(of error: CallError) -> String {
    guard case .replied(let reply) = error, reply.name != .noReply else {
      return "the understudy does not answer: \(error)"
    }
    if reply.name == .serviceUnknown {
      if let file = ActivationFile.all(of: name).first {
        return ActivationFile.sentence(ofUnknown: file, of: name, starting: "stagedoor-understudy")
      }
      return "stagedoor-understudy is not installed, and does not run; `make install-understudy` installs it"
    }
    guard reply.name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn.") else { return reply.text }
    return "the bus cannot start stagedoor-understudy (\(reply.text.withoutPeriod)), which needs a display: "
      + "`dbus-update-activation-environment DISPLAY WAYLAND_DISPLAY` tells the bus yours"
  }

  func windows() async throws(CallError) -> [WindowsCommand.Row] {
    let rows: [Structure<String, String, String, String, String, String, String, Bool>] = try await object.call(
      "ListWindows", timeout: .seconds(20))
    return rows.map { row in
      let (window, title, application, name, icon, document, level, isActive) = row.members
      return WindowsCommand.Row(
        window: window, application: application, name: name, icon: icon, title: title, document: document,
        level: level, isActive: isActive)
    }
  }

  /// An element each time when the windows are no longer the listed ones, or the understudy has come or gone.
  func changes() async throws -> SignalStream { try await object.signals() }

  func activate(_ window: String, _ token: String?) async throws(CallError) {
    let options: [String: Variant] = token.map { ["activation-token": Variant($0)] } ?? [:]
    try await object.call("ActivateWindow", window, options, timeout: .seconds(20)) as ()
  }
}
