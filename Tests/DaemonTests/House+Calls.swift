import DBus
import DBusTestSupport
// Every test here lives in one.
@_exported import DaemonTestSupport
import Testing

/// The error that `dbus-send` printed.
struct ShownError: Hashable, Sendable {
  let name: String
  let message: String
}

/// Where a drop went.
struct Landing: Hashable, Sendable {
  let session: String
  let outcome: String
  let delivery: String

  /// The form that documents use.
  var identifier: String { String(session.split(separator: "/").last ?? "").replacing("_", with: "-") }
}

extension Landing {
  /// The answer that a program gets.
  init(_ answer: (session: ObjectPath, outcome: String, delivery: String)) {
    self.init(session: answer.session.rawValue, outcome: answer.outcome, delivery: answer.delivery)
  }
}

/// The service, as dbus-send calls it.
extension House {
  static let interchange = "org.stagedoor.Interchange1"
  static let session = "org.stagedoor.SceneSession1"
  static let application = "org.stagedoor.Application1"
  static let drag = "org.stagedoor.DragSession1"
  static let properties = "org.freedesktop.DBus.Properties"
  static let manager = "org.freedesktop.DBus.ObjectManager"

  static let cats = path(of: "org.example.Cats")

  static func path(of application: String) -> String {
    let label = application.replacing("_", with: "_5f").replacing(".", with: "_2e").replacing("-", with: "_2d")
    return "\(root)/application/\(label)"
  }

  /// - Parameter sandbox: The application in whose sandbox the caller runs; `nil` for a caller outside.
  private func send(
    _ member: String, _ arguments: [String], _ path: String, _ interface: String, _ sandbox: String?
  ) -> Command {
    let arguments =
      ["--session", "--print-reply", "--dest=\(Self.name)", path, "\(interface).\(member)"] + arguments
    return sandbox.map { sandboxed(as: $0, "dbus-send", arguments: arguments) }
      ?? command("dbus-send", arguments: arguments)
  }

  /// Calls a method, and reads the reply.
  func call(
    _ member: String, _ arguments: String..., at path: String = root, in interface: String = interchange,
    from sandbox: String? = nil
  ) async throws -> [Shown] {
    try await call(member, arguments, at: path, in: interface, from: sandbox)
  }

  func call(
    _ member: String, _ arguments: [String], at path: String = root, in interface: String = interchange,
    from sandbox: String? = nil
  ) async throws -> [Shown] {
    let output = try await send(member, arguments, path, interface, sandbox).output()
    var reader = ShownReader(output.split(separator: "\n").dropFirst())
    return reader.rest()
  }

  /// Calls a method that must fail.
  func refusal(
    _ member: String, _ arguments: String..., at path: String = root, in interface: String = interchange,
    from sandbox: String? = nil
  ) async throws -> ShownError {
    try await refusal(member, arguments, at: path, in: interface, from: sandbox)
  }

  func refusal(
    _ member: String, _ arguments: [String], at path: String = root, in interface: String = interchange,
    from sandbox: String? = nil
  ) async throws -> ShownError {
    let result = try await send(member, arguments, path, interface, sandbox).run()
    #expect(result.status == .exited(1), "\(member) \(arguments): \(result)")
    let parts = result.standardError.drop { $0 != " " }.dropFirst().split(separator: ": ", maxSplits: 1)
    guard parts.count == 2, result.standardError.hasPrefix("Error ") else {
      return ShownError(name: result.standardError, message: "")
    }
    return ShownError(name: String(parts[0]), message: String(parts[1].prefix { $0 != "\n" }))
  }

  // MARK: What most tests ask

  func register(_ manifest: String) async throws { _ = try await call("RegisterApplication", "string:\(manifest)") }

  func drop(_ type: String, _ key: String = "") async throws -> Landing {
    try landing(try await call("Drop", "string:\(type)", "string:\(key)", "dict:string:string:"))
  }

  func deliver(_ document: String, from sandbox: String? = nil) async throws -> Landing {
    try landing(try await call("Deliver", "string:\(document)", from: sandbox))
  }

  /// As a program delivers, which has one connection for all its calls.
  nonisolated(nonsending) func deliver(
    _ document: String, over connection: Connection, timeout: Duration? = usualLimit
  ) async throws -> Landing {
    Landing(
      try await service(connection).call(
        "Deliver", document, timeout: timeout, returning: ObjectPath.self, String.self, String.self))
  }

  /// The "+" of a window switcher.
  func newSession(_ configuration: String, of application: String) async throws -> String {
    let path = Self.path(of: application)
    return try landing(try await call("NewSession", "string:\(configuration)", at: path, in: Self.application)).session
  }

  func explain(_ document: String) async throws -> Document {
    try Document(try #require(try await call("Explain", "string:\(document)").first).text)
  }

  func landing(_ shown: [Shown]) throws -> Landing {
    try #require(shown.count == 3, "\(shown)")
    return Landing(session: shown[0].text, outcome: shown[1].text, delivery: shown[2].text)
  }

  func property(_ name: String, of path: String, in interface: String = session) async throws -> String {
    let shown = try await call("Get", "string:\(interface)", "string:\(name)", at: path, in: Self.properties)
    return try #require(shown.first).text
  }

  func set(_ name: String, of path: String, to text: String) async throws {
    _ = try await call(
      "Set", "string:\(Self.session)", "string:\(name)", "variant:string:\(text)", at: path, in: Self.properties)
  }

  /// (path, application, configuration, state, target content identifier, title, last activated)
  func sessions(of application: String = "") async throws -> [[String]] {
    let shown = try await call("ListSessions", "string:\(application)", "string:", "uint32:0")
    return try #require(shown.first).elements.map { $0.elements.map(\.text) }
  }

  /// (delivery, state, application, session)
  func deliveries(in state: String = "") async throws -> [[String]] {
    let shown = try await call("ListDeliveries", "string:\(state)", "string:", "uint32:0")
    return try #require(shown.first).elements.map { $0.elements.map(\.text) }
  }

  func eventSequence() async throws -> String {
    try await property("EventSequence", of: Self.root, in: Self.interchange)
  }

  func events(since sequence: String = "0") async throws -> [Happening] {
    let shown = try await call("EventsSince", "uint64:\(sequence)", "uint32:0")
    return try #require(shown.first).elements.map { row in
      let row = row.elements
      try #require(row.count == 3)
      var arguments = try Document(row[2].text).texts
      // A signal says the same, except for the time.
      #expect(arguments.removeValue(forKey: "time")?.hasSuffix("Z") ?? false)
      return Happening(sequence: row[0].text, name: row[1].text, arguments: arguments)
    }
  }
}

/// Runs `body` in a house with a running service and a registered application.
nonisolated(nonsending) func withService<Result>(
  _ kind: PrivateBus.Kind = .daemon, registering manifest: String,
  _ body: nonisolated(nonsending) (House) async throws -> Result
) async throws -> Result {
  try await withService(kind) { house in
    try await house.register(manifest)
    return try await body(house)
  }
}
