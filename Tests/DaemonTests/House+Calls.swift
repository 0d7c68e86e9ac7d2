import DBus
import DBusTestSupport
// Every test here lives in one.
@_exported import DaemonTestSupport
@_exported import SceneModel
import SessionStore
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
  nonisolated(nonsending) func deliver(_ document: String, over connection: Connection) async throws -> Landing {
    Landing(
      try await service(connection).call(
        "Deliver", document, timeout: usualLimit, returning: ObjectPath.self, String.self, String.self))
  }

  func explain(_ document: String) async throws -> Value {
    try parsed(try #require(try await call("Explain", "string:\(document)").first).text)
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
      var arguments = try parsed(row[2].text).texts
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

extension Trait where Self == InHouse {
  static func service(registering manifest: String) -> Self {
    InHouse { test in
      try await withService(registering: manifest) { house in
        try await InHouse.$house.withValue(house) { try await test() }
      }
    }
  }
}

extension House {
  /// The longest time that a neighbour waits for an answer while `body` runs.
  nonisolated(nonsending) func longestWait(
    whileRunning body: nonisolated(nonsending) () async throws -> Void
  ) async throws -> Duration {
    let neighbour = try await bus.connect()
    let isOver = Lock(false)
    // On the thread of its connection: the test may wait for a thread of the pool, and the neighbour does not.
    let asking = Task {
      await neighbour.loop.run { _ in
        let clock = ContinuousClock()
        var longest = Duration.zero
        repeat {
          let begin = clock.now
          let sequence: Variant? = try? await neighbour.call(
            to: House.name, at: "/org/stagedoor/Interchange1", "org.freedesktop.DBus.Properties", "Get",
            "org.stagedoor.Interchange1", "EventSequence", timeout: usualLimit)
          longest = max(longest, sequence == nil ? usualLimit : clock.now - begin)
          await neighbour.loop.sleep(for: .milliseconds(2))
        } while !isOver.withLock(\.self)
        return longest
      }
    }
    return try await neighbour.whileOpen {
      do {
        defer { isOver.withLock { $0 = true } }
        try await body()
      }
      return await asking.value
    }
  }

  /// Leaves a store with these sessions.
  func leave(_ sessions: [Session]) throws {
    let now = Instant(microseconds: 1_777_636_800_000_000)
    let store = try SessionStore(
      directory: state, durability: .normal, rules: ReadingRules(types: TypeCatalog()), at: now)
    try store.commit(sessions.map { .session($0) }, at: now)
    store.close()
  }
}

extension Session {
  /// A window that shows a cat. Windows are made in the order of their numbers.
  static func cat(_ number: Int, configuration: Text = "Cat Detail") -> Session {
    Session(
      identifier: UniqueIdentifier(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number)),
      application: "org.example.Cats", configuration: configuration,
      created: Instant(microseconds: 1_777_000_000_000_000 + Int64(number)),
      userActivity: UserActivity(activityType: "viewCat", targetContentIdentifier: Text("cat\(number)")))
  }

  static func path(ofCat number: Int) -> String { SessionReference.path(of: cat(number).identifier).string }
}
