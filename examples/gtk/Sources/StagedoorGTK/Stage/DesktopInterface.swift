internal import CGtk4
internal import DBus
internal import FoundationEssentials
internal import StagedoorKit

/// The interface `org.freedesktop.Application`, by which desktops start programs, hand them files, and call their actions. The
/// connection that owns the application's name serves it.
@MainActor final class DesktopInterface {
  private let application: Application
  let isReady = Gate()

  private static let name: InterfaceName = "org.freedesktop.Application"

  init(of application: Application) { self.application = application }

  private var path: ObjectPath? {
    try? ObjectPath("/" + String(application.identifier.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
  }

  func export(on connection: Connection) {
    guard let path else { return }
    var interface = Interface(Self.name)
    interface.method("Activate", in: "platform_data") { (reply: Reply<>, data: [String: Variant]) in
      self.answer(reply) { try await $0.activate(token: Self.token(data)) }
    }
    interface.method("Open", in: "uris", "platform_data") { (reply: Reply<>, uris: [String], data: [String: Variant]) in
      self.answer(reply) { try await $0.open(uris, token: Self.token(data)) }
    }
    interface.method("ActivateAction", in: "action_name", "parameter", "platform_data") {
      (reply: Reply<>, name: String, _: [Variant], _: [String: Variant]) in
      self.answer(reply) { desktop in
        guard try await GtkStage.actions.run(name) else {
          throw ErrorReply(.invalidArgs, "\(desktop.application.identifier) has no action \(name)")
        }
      }
    }
    connection.export(interface, at: path)
  }

  /// The bus may have started this program for the call, before the application is attached.
  private nonisolated func answer(
    _ reply: Reply<>, _ body: @escaping @MainActor (DesktopInterface) async throws -> Void
  ) {
    Task { @MainActor in
      await isReady.opened()
      do {
        try await body(self)
        reply.send()
      } catch {
        reply.fail(error)
      }
    }
  }

  private nonisolated static func token(_ data: [String: Variant]) -> String? {
    for key in ["activation-token", "desktop-startup-id"] { if case .string(let token)? = data[key] { return token } }
    return nil
  }

  /// Brings the window that was used last to the front, or opens a window if there is none.
  func activate(token: String?) async throws {
    // The application is about to open its windows by itself.
    if application.restoresWindows, application.connectedScenes.isEmpty { return }
    var options = DeliveryOptions()
    options.application = application.identifier
    options.activationToken = token
    try await application.stagedoor?.deliver([], options)
  }

  func open(_ files: [String], token: String?) async throws {
    var options = DeliveryOptions()
    options.application = application.identifier
    options.activationToken = token
    try await application.stagedoor?.deliver(files.map { DragItem(itemProvider: ItemProvider(file: $0)) }, options)
  }

  /// Passes the work of this process to the process that has the application's name.
  func callOther(on connection: Connection, _ files: [String]) async throws {
    guard let path, let name = try? BusName(application.identifier) else { return }
    var data: [String: Variant] = [:]
    if let token = GtkStage.activationToken() { data["desktop-startup-id"] = .string(token) }
    if files.isEmpty {
      try await connection.call(to: name, at: path, Self.name, "Activate", data)
    } else {
      let uris = files.map { ItemProvider.url(of: $0).absoluteString }
      try await connection.call(to: name, at: path, Self.name, "Open", uris, data)
    }
  }
}

/// A gate that opens once.
@MainActor final class Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func signal() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func opened() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }
}

extension ItemProvider {
  /// A file of the desktop, by its URI or path, with the type that the desktop knows it as.
  init(file: String) {
    let url = Self.url(of: file)
    let type = g_content_type_guess(url.path, nil, 0, nil)
    defer { g_free(type) }
    let mime = type.flatMap { g_content_type_get_mime_type($0) }
    defer { g_free(mime) }
    self.init(contentsOf: url, as: mime.map { String(cString: $0) } ?? "application/octet-stream")
  }

  static func url(of file: String) -> URL {
    file.hasPrefix("file:") ? URL(string: file) ?? URL(filePath: file) : URL(filePath: file)
  }
}
