internal import CGtk4
internal import DBus
public import FoundationEssentials
public import StagedoorKit

/// The interface `org.freedesktop.Application`, by which desktops start programs, hand them files, and call their actions. The
/// connection that owns the application's name serves it.
@MainActor final class DesktopInterface {
  private let application: Application
  private let connection: Connection
  let isReady = Gate()
  /// Opens when the application has given up its name.
  private let isReleased = Gate()
  private var callsUnderWay = 0
  /// Whether a call has no answer yet. A call is answered when its window is open, and until then the program does not end by itself.
  var isAnswering: Bool { callsUnderWay > 0 }
  private var hasWaitedForWindows = false

  private static let name: InterfaceName = "org.freedesktop.Application"

  init(of application: Application, on connection: Connection) {
    (self.application, self.connection) = (application, connection)
  }

  private var path: ObjectPath? {
    try? ObjectPath("/" + String(application.identifier.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
  }

  func export() {
    guard let path else { return }
    var interface = Interface(Self.name)
    interface.method("Activate", in: "platform_data") { (reply: Reply<>, data: [String: Variant]) in
      self.answer(reply, "Activate", data) { try await $0.activate(token: Self.token(data), .handled) }
    }
    interface.method("Open", in: "uris", "platform_data") { (reply: Reply<>, uris: [String], data: [String: Variant]) in
      self.answer(reply, "Open", uris, data) {
        try await $0.open(uris.map(Self.url), token: Self.token(data), .handled)
      }
    }
    interface.method("ActivateAction", in: "action_name", "parameter", "platform_data") {
      (reply: Reply<>, name: String, parameters: [Variant], data: [String: Variant]) in
      self.answer(reply, "ActivateAction", name, parameters, data) { desktop in
        if !parameters.isEmpty { throw ErrorReply(.invalidArgs, "the action \(name) takes no parameter") }
        guard try await GtkStage.actions.run(name) else {
          throw ErrorReply(.invalidArgs, "\(desktop.application.identifier) has no action \(name)")
        }
      }
    }
    connection.export(interface, at: path)
  }

  /// The bus may have started this program for the call, before the application is attached. If the program is ending, the next process gets
  /// the call: the bus starts it.
  private nonisolated func answer<each Argument: BusValue>(
    _ reply: Reply<>, _ member: MemberName, _ arguments: repeat each Argument,
    by body: @escaping @MainActor (DesktopInterface) async throws -> Void
  ) {
    let arguments = (repeat each arguments)
    Task { @MainActor in
      callsUnderWay += 1
      defer {
        callsUnderWay -= 1
        GtkStage.quitSoon()
      }
      await isReady.opened()
      do {
        if GtkStage.isQuitting {
          await isReleased.opened()
          try await callOther(member, repeat each arguments)
        } else {
          try await body(self)
        }
        reply.send()
      } catch {
        reply.fail(error)
      }
    }
  }

  /// Lets the calls that came before the application gave up its name go to the next process.
  func release() async {
    isReleased.signal()
    while isAnswering { try? await GtkStage.sleep(for: .milliseconds(20)) }
  }

  private nonisolated static func token(_ data: [String: Variant]) -> String? {
    for key in ["activation-token", "desktop-startup-id"] { if case .string(let token)? = data[key] { return token } }
    return nil
  }

  /// Brings the window that was used last to the front, or opens a window if there is none.
  func activate(token: String?, _ wait: DeliveryOptions.Wait = .routed) async throws {
    if await opensWindowsByItself() { return }
    try await deliver([], token, wait)
  }

  private func deliver(_ items: [DragItem], _ token: String?, _ wait: DeliveryOptions.Wait) async throws {
    var options = DeliveryOptions()
    options.application = application.identifier
    options.activationToken = token
    options.wait = wait
    do throws(StagedoorError) { try await application.stagedoor?.deliver(items, options) } catch {
      guard error.code == .noSuchSession else { throw error }
      // The service chose a window that was being closed here. That session has ended, so the next choice is another one.
      try await deliver(items, token, wait)
    }
  }

  /// Whether the application, which has just started, opens the windows of its last run. It does not if a delivery has started it, and the
  /// windows of that delivery do not open if it was refused.
  private func opensWindowsByItself() async -> Bool {
    guard application.restoresWindows, !hasWaitedForWindows, !GtkStage.hadWindow else { return false }
    for _ in 1...40 where !GtkStage.hadWindow { try? await GtkStage.sleep(for: .milliseconds(50)) }
    hasWaitedForWindows = true
    return GtkStage.hadWindow
  }

  func open(_ files: [URL], token: String?, _ wait: DeliveryOptions.Wait = .routed) async throws {
    try await deliver(files.map { DragItem(itemProvider: ItemProvider(file: $0, openInPlace: true)) }, token, wait)
  }

  /// Passes the work of this process to the process that has the application's name.
  func callOther(_ files: [URL]) async throws {
    var data: [String: Variant] = [:]
    if let token = GtkStage.activationToken() { data["desktop-startup-id"] = .string(token) }
    if files.isEmpty {
      try await callOther("Activate", data)
    } else {
      try await callOther("Open", files.map(\.absoluteString), data)
    }
  }

  private func callOther<each Argument: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument
  ) async throws {
    guard let path, let name = try? BusName(application.identifier) else { return }
    try await connection.call(to: name, at: path, Self.name, member, repeat each arguments)
  }

  private nonisolated static func url(_ uri: String) -> URL { URL(string: uri) ?? URL(filePath: uri) }
}

extension ItemProvider {
  /// Makes a provider with a file of the desktop, with the type that the desktop knows the file as.
  ///
  /// ```swift
  /// import FoundationEssentials
  /// import StagedoorKit
  ///
  /// let letter = ItemProvider(file: URL(filePath: "/home/tom/letter.txt"), openInPlace: true)
  /// print(letter.registeredTypes)  // ["text/plain"]
  /// ```
  ///
  /// - Parameter openInPlace: Whether the receiver opens the file itself, and no copy.
  public init(file: URL, openInPlace: Bool) {
    let type = g_content_type_guess(file.path(percentEncoded: false), nil, 0, nil)
    defer { g_free(type) }
    let mime = type.flatMap { g_content_type_get_mime_type($0) }
    defer { g_free(mime) }
    self.init()
    suggestedName = file.lastPathComponent
    registerFile(file, as: mime.map { String(cString: $0) } ?? "application/octet-stream", openInPlace: openInPlace)
  }
}
