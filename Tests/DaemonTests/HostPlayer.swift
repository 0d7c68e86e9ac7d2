import DBus
import DBusTestSupport
import Testing

/// A call to a host.
struct HostCall: Hashable, Sendable, CustomStringConvertible {
  let member: String
  /// The session's path; "" if the call is about several.
  let session: String
  /// The other arguments, in order.
  let arguments: [String]

  var description: String { "\(member)(\(([session] + arguments).joined(separator: ", ")))" }

  /// The connection options, which are the last argument.
  var options: Value { get throws { try parsed(try #require(arguments.last)) } }
}

/// An item as a drag shows it: `name: image/png (all), text/plain (application); viewCat`
func shown(_ item: [String: Variant]) -> String {
  let name = item["suggestedName"].flatMap { try? String($0) } ?? ""
  let representations = item["representations"].flatMap { try? [[String: Variant]]($0) } ?? []
  let activities = item["activities"].flatMap { try? [String]($0) } ?? []
  let all = representations.map { one in
    let type = one["type"].flatMap { try? String($0) } ?? "?"
    let visibility = one["visibility"].flatMap { try? String($0) } ?? "?"
    let more = one.keys.filter { $0 != "type" && $0 != "visibility" }.sorted()
    return ([type, "(\(visibility))"] + more).joined(separator: " ")
  }
  return "\(name): \(all.joined(separator: ", ")); \(activities.joined(separator: " "))"
}

/// A host that a test plays: it owns its application's name, notes each call as it comes, and answers as the test tells it to.
final class HostPlayer: Sendable {
  enum Manner: Sendable {
    case accepts
    case answers(String)
    case refuses(ErrorReply)
    /// Waits until the test lets it continue.
    case waits
    /// Does something first.
    case after(@Sendable (HostPlayer, HostCall) async throws -> Void)
  }

  typealias Answer = @Sendable (Result<String, any Error>) -> Void

  private struct State {
    var calls: [HostCall] = []
    /// The manners of the next calls, by member. After them the host accepts.
    var manners: [String: [Manner]] = [:]
    var waiting: [(call: HostCall, answer: Answer)] = []
  }

  let application: String
  let connection: Connection
  let house: House
  private let state = Lock(State())

  init(_ application: String, in house: House, isOwner: Bool = true) async throws {
    self.application = application
    self.house = house
    connection = try await house.bus.connect()
    connection.export(
      interface, at: try ObjectPath("/" + application.replacing(".", with: "/").replacing("-", with: "_")))
    if isOwner {
      let outcome = try await connection.requestName(try BusName(application), .doNotQueue)
      try #require(outcome == .owned)
    }
  }

  func attach() async throws {
    _ = try await house.service(connection).call(
      "AttachHost", application, [ObjectPath](), returning: ObjectPath.self, [ObjectPath].self)
  }

  func leave() async { await connection.close() }

  // MARK: The calls to it

  var calls: [HostCall] { state.withLock { $0.calls } }

  func calls(of member: String) -> [HostCall] { calls.filter { $0.member == member } }

  /// Waits for this number of calls, of all members or of one.
  @discardableResult
  func asked(_ count: Int, _ member: String? = nil) async throws -> [HostCall] {
    @Sendable func found() -> [HostCall] { calls.filter { member == nil || $0.member == member } }
    do {
      try await eventually("\(count) calls of the host") { found().count >= count }
    } catch {
      throw LimitExceeded(what: "\(count) calls of the host", limit: usualLimit, details: "\(calls)")
    }
    return found()
  }

  func forget() { state.withLock { $0.calls = [] } }

  /// A delivery is acknowledged before its window is brought to the front. This waits for the window, and then forgets all calls.
  func settle() async throws {
    try await eventually("the windows to be in front") {
      let asked = self.calls.filter { ["ConnectScene", "ContinueScene"].contains($0.member) }
      return self.calls.count { $0.member == "ActivateScene" } >= asked.count
    }
    forget()
  }

  // MARK: Its answers

  /// The manners of the next calls of this member only.
  func next(_ member: String, _ manners: Manner...) { state.withLock { $0.manners[member, default: []] += manners } }

  /// Answers the waiting calls of this member.
  func goOn(_ member: String) {
    let ready = state.withLock { state in
      defer { state.waiting.removeAll { $0.call.member == member } }
      return state.waiting.filter { $0.call.member == member }
    }
    for (_, answer) in ready { answer(.success("")) }
  }

  /// Runs on the loop, so the calls are noted in the order in which they came.
  private func note(_ call: HostCall, _ answer: @escaping Answer) {
    let manner: Manner = state.withLock { state in
      state.calls.append(call)
      guard let first = state.manners[call.member]?.first else { return .accepts }
      state.manners[call.member]?.removeFirst()
      if case .waits = first { state.waiting.append((call, answer)) }
      return first
    }
    switch manner {
    case .accepts: answer(.success(""))
    case .answers(let text): answer(.success(text))
    case .refuses(let error): answer(.failure(error))
    case .waits: break
    case .after(let act):
      Task {
        do {
          try await act(self, call)
          answer(.success(""))
        } catch {
          answer(.failure(error))
        }
      }
    }
  }

  private func note(_ member: String, _ session: ObjectPath?, _ arguments: [String], _ reply: Reply<>) {
    note(HostCall(member: member, session: session?.rawValue ?? "", arguments: arguments)) { result in
      switch result {
      case .success: reply.send()
      case .failure(let error): reply.fail(error)
      }
    }
  }

  /// - Parameter usual: The answer of a host that accepts.
  private func note(
    _ member: String, _ session: ObjectPath, _ arguments: [String], _ reply: Reply<String>, usual: String
  ) {
    note(HostCall(member: member, session: session.rawValue, arguments: arguments)) { result in
      switch result {
      case .success(let text): reply.send(text.isEmpty ? usual : text)
      case .failure(let error): reply.fail(error)
      }
    }
  }

  private var interface: Interface {
    var interface = Interface("org.stagedoor.SceneHost1")
    interface.method("ConfigurationForConnecting", in: "session", "role", "options", out: "configuration") {
      [weak self] (reply: Reply<String>, session: ObjectPath, role: String, options: String) in
      self?.note("ConfigurationForConnecting", session, [role, options], reply, usual: "")
    }
    interface.method("ConnectScene", in: "session", "configuration", "options") {
      [weak self] (reply: Reply<>, session: ObjectPath, configuration: String, options: String) in
      self?.note("ConnectScene", session, [configuration, options], reply)
    }
    interface.method("ContinueScene", in: "session", "options") {
      [weak self] (reply: Reply<>, session: ObjectPath, options: String) in
      self?.note("ContinueScene", session, [options], reply)
    }
    interface.method("ActivateScene", in: "session", "platform_data") {
      [weak self] (reply: Reply<>, session: ObjectPath, data: [String: Variant]) in
      let texts = data.map { key, value in
        if case .string(let text) = value { "\(key)=\(text)" } else { "\(key)=\(value)" }
      }
      self?.note("ActivateScene", session, texts.sorted(), reply)
    }
    interface.method("RefreshScene", in: "session") { [weak self] (reply: Reply<>, session: ObjectPath) in
      self?.note("RefreshScene", session, [], reply)
    }
    interface.method("DestroyScene", in: "session", "animation") {
      [weak self] (reply: Reply<>, session: ObjectPath, animation: String) in
      self?.note("DestroyScene", session, [animation], reply)
    }
    interface.method("DidDiscardSceneSessions", in: "persistent_identifiers") {
      [weak self] (reply: Reply<>, identifiers: [String]) in
      self?.note("DidDiscardSceneSessions", nil, identifiers, reply)
    }
    interface.method("ProposeDrop", in: "session", "items", "allowed_operations", out: "operation") {
      [weak self] (reply: Reply<String>, session: ObjectPath, items: [[String: Variant]], allowed: [String]) in
      let all = items.map { shown($0) }.joined(separator: "; ")
      self?.note("ProposeDrop", session, [all, allowed.joined(separator: " ")], reply, usual: "copy")
    }
    return interface
  }

  // MARK: Its own calls

  func object(_ session: String) throws -> RemoteObject { try house.object(session, House.session, over: connection) }

  func set(_ property: MemberName, of session: String, to text: String) async throws {
    try await object(session).set(property, to: text)
  }

  func deliver(_ document: String) async throws -> Landing { try await house.deliver(document, over: connection) }
}

/// The error of a call; `nil` if the call succeeded.
nonisolated(nonsending) func refused(
  _ body: nonisolated(nonsending) () async throws -> Void
) async throws -> ErrorReply? {
  do {
    try await body()
    return nil
  } catch CallError.replied(let error) {
    return error
  }
}

/// The call fails with this error.
nonisolated(nonsending) func expectError(
  _ name: ErrorName, sourceLocation: SourceLocation = #_sourceLocation,
  from body: nonisolated(nonsending) () async throws -> Void
) async throws {
  let error = try await refused(body)
  #expect(error?.name == name, "\(error as Any)", sourceLocation: sourceLocation)
}

/// Errors that the hosts of the tests return.
extension ErrorReply {
  static let unwilling = ErrorReply("org.example.Error.Unwilling", "not today")
}

extension House {
  /// Runs `body` with a host that owns its name, and has attached.
  nonisolated(nonsending) func hosting<Result>(
    _ application: String = "org.example.Cats", _ body: nonisolated(nonsending) (HostPlayer) async throws -> Result
  ) async throws -> Result {
    let host = try await HostPlayer(application, in: self)
    return try await host.connection.whileOpen {
      try await host.attach()
      return try await body(host)
    }
  }

  /// A delivery that waits longer than any machine is slow.
  func hand(_ type: String, _ key: String = "", options: String = "") async throws -> Landing {
    try await deliver(Payloads.activity(type, key, options: options))
  }

  func deliveryState(_ delivery: String) async throws -> String {
    try await service(watcher).call("GetDelivery", delivery, returning: String.self, String.self).0
  }

  func waitUntil(_ delivery: String, is state: String) async throws {
    try await eventually("the delivery \(delivery) to be \(state)") { try await deliveryState(delivery) == state }
  }

  func waitUntilGone(_ session: String) async throws {
    try await eventually("the host of \(session) to be gone") {
      try await property("Connected", of: session) == "false"
    }
  }

  func destroy(_ session: String, _ animation: String = "standard") async throws {
    _ = try await call("Destroy", "string:\(animation)", at: session, in: Self.session)
  }
}
