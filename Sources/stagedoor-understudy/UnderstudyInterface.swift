import DBus
import DesktopFiles
import Glibc
import SceneModel
import ServiceSupport
import WindowEvidence

/// `org.stagedoor.Understudy1`, as `dbus/org.stagedoor.Understudy1.xml` describes it.
enum UnderstudyInterface {
  static let name: BusName = "org.stagedoor.Understudy1"
  static let path: ObjectPath = "/org/stagedoor/Understudy1"

  static func made(for understudy: Understudy) -> Interface {
    var interface = Interface("org.stagedoor.Understudy1")
    refuseSandboxes(in: &interface)
    interface.property("Version", constant: UInt32(1))
    interface.method("Open", in: "uri", "options", out: "deed", "window", "report") {
      (call: Call, uri: String, options: [String: Variant]) async throws in
      let options = try Options(options)
      // The caller keeps its ticket, and opens the file in another way.
      try await understudy.refuseUnseen(by: call.knownCredentials?.processID.map { Int32(bitPattern: $0) })
      let found =
        try options.isNew
        ? await understudy.another(for: uri, in: options.application)
        : await understudy.look(for: uri, in: options.application)
      if options.explains { return ("", "", report(found, await understudy.notes(on: found.entry))) }
      let (deed, window) = try await understudy.act(on: found, options.token) { try options.takeTicket() }
      return (deed.rawValue, window.map { "\($0)" } ?? "", report(found))
    }
    let changed = interface.signal("WindowsChanged")
    interface.method("ListWindows", out: "windows") { () async in
      await understudy.listWindows(announcing: changed)
    }
    interface.method("ActivateWindow", in: "window", "options") {
      (window: String, options: [String: Variant]) async throws in
      try await understudy.activate(window, try Options(options).token)
    }
    for method: MemberName in ["Open", "ActivateWindow"] {
      interface.annotate(method, .init("org.qtproject.QtDBus.QtTypeName.In1", "QVariantMap"))
    }
    return interface
  }

  /// A sandboxed caller would learn windows, titles and documents that are not its own.
  static func refuseSandboxes(in interface: inout Interface) {
    interface.restrict { call in
      guard Sandbox.find(around: call.knownCredentials) == Sandbox.none else {
        throw ErrorReply(.accessDenied, "a sandboxed program learns nothing of other programs' windows")
      }
    }
  }

  private struct Options {
    let application: String?
    let isNew: Bool
    let explains: Bool
    let token: String?
    private let ticket: OwnedFileDescriptor?

    init(_ options: [String: Variant]) throws {
      func value<Value: BusValue>(_ key: String) throws -> Value? {
        do { return try options[key].map { try Value($0) } } catch {
          throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "the option \(key) has the wrong type")
        }
      }
      (application, token, ticket) = (try value("application"), try value("activation-token"), try value("ticket"))
      (isNew, explains) = (try value("new") ?? false, try value("explain") ?? false)
    }

    /// Whoever reads the byte in the ticket opens the file, and nobody else does.
    func takeTicket() throws {
      guard let ticket else { return }
      var byte: UInt8 = 0
      let count = ticket.withRawValue { number in
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        return read(number, &byte, 1)
      }
      if count != 1 {
        throw ErrorReply("org.freedesktop.DBus.Error.TimedOut", "the caller no longer waits, so nothing was done")
      }
    }
  }

  private static func report(_ found: Understudy.Case, _ notes: [String] = []) -> String {
    JSONObjectWriter.text { fields in
      fields["application"] = Text(found.entry.identifier)
      fields["notes"] = notes.map { Text($0) }
      fields["path"] = Text(String(decoding: found.file.path, as: UTF8.self))
      fields["verdict"] =
        switch found.judgement.verdict {
        case .raise: "raise"
        case .runAgain: "run again"
        case .start, .startAnother: "start"
        }
      fields["window"] = found.judgement.shownIn.map { Text("\($0.window)") }
      fields.list("windows", Array(zip(found.windows, found.judgement.findings))) { fields, row in
        let (window, finding) = row
        fields["against"] = finding.vetoes.map { Text($0.rawValue) }.sorted()
        fields["application"] = window.application.map { Text($0) }
        fields["for"] = finding.evidence.map { Text($0.rawValue) }.sorted()
        fields["level"] = finding.level
        fields["title"] = Text(String(decoding: window.title, as: UTF8.self))
        fields["window"] = Text("\(window.number)")
      }
    }.string
  }
}

extension Understudy {
  /// Each window: identifier, title, application, its name and its icon, document, level, whether it is active.
  typealias BusWindow = Structure<String, String, String, String, String, String, String, Bool>

  func listWindows(announcing changed: SignalDeclaration<>) -> [BusWindow] {
    takeEvents()
    // What happens while the windows are read may be missing in the list.
    listChanged = { [connection] in try? connection.emit(changed, from: UnderstudyInterface.path) }
    return list().map { window in
      BusWindow(
        "\(window.number)", window.title, window.application, window.name, window.icon, window.document ?? "",
        window.document == nil ? "" : window.level.rawValue, window.isActive)
    }
  }
}
