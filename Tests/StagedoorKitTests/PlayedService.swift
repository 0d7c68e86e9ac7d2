import DBus
import DBusTestSupport
import DaemonTestSupport
import Dispatch
import FoundationEssentials
import Glibc
import StagedoorKit
import Testing

/// A service that a test plays: it has the name and the objects, keeps what hosts write, and calls them when the test tells it to.
final class PlayedService: Sendable {
  let connection: Connection
  private static let application = "org.example.Cats"
  private let discardsUnknown: Bool
  private let connectAtOnce = Lock<[SessionIdentifier]>([])
  /// The names of the kept events.
  private let events: Lock<[String]>
  /// The states that the service reports for a delivery, one for each question; the last one repeats.
  let states: Lock<[String]>
  /// The answers to the next calls of a method, or to the next changes of a property, by its name.
  let answers: Lock<[MemberName: [Answer]]>
  /// The calls of each method that were not answered yet.
  private let later = Lock<[MemberName: [@Sendable (Answer) -> Void]]>([:])
  private let provided = Lock<ObjectPath?>(nil)
  /// What the service knows of each session: the properties that hosts have set, the "State", and whether it is "Connected".
  let known: Known
  private let whenRead = Lock<(@MainActor @Sendable () -> Void)?>(nil)
  /// The write ends of pipes that must not end yet.
  private let endless = Lock<[OwnedFileDescriptor]>([])
  /// What hosts asked for, in order: "Title = Tom", "SetState background". The connection's loop writes it before it answers anyone.
  private let record = Lock<[String]>([])

  /// The answer to a call. A call whose method replies through `answer` can be answered later.
  enum Answer: Sendable, ExpressibleByStringLiteral {
    case done
    case refused(ErrorName)
    /// When the test says so.
    case later

    init(stringLiteral error: ErrorName.StringLiteralType) { self = .refused(ErrorName(stringLiteral: error)) }
  }

  /// It outlives the service, as a store does.
  final class Known: Sendable {
    private let content = Lock<[SessionIdentifier: [String: String]]>([:])
    var sessions: [SessionIdentifier: [String: String]] { content.withLock(\.self) }

    subscript(_ session: SessionIdentifier) -> [String: String] { content.withLock { $0[session] ?? [:] } }

    func set(_ name: String, of session: SessionIdentifier, _ value: String) {
      content.withLock {
        // The service forgets writes to a destroyed session.
        $0[session]?[name] = value
        if name == "UserActivity" { $0[session]?["Previous"] = nil }
      }
    }

    /// A delivery gives the session an activity.
    func give(_ activity: String, to session: SessionIdentifier) {
      content.withLock { sessions in
        let before = sessions[session]?["UserActivity"] ?? ""
        sessions[session]?["Previous"] = before
        sessions[session]?["UserActivity"] = activity
      }
    }

    /// The delivery has failed: the session gets its previous activity back, unless the host has written one since. Both happen under one lock, because
    /// the host's writing comes on the connection's loop, perhaps before the test's task has the answer that the host gave first.
    func takeBack(from session: SessionIdentifier) {
      content.withLock {
        guard let previous = $0[session]?.removeValue(forKey: "Previous") else { return }
        $0[session]?["UserActivity"] = previous
      }
    }

    func replace(_ session: SessionIdentifier, by values: [String: String]?) {
      content.withLock { $0[session] = values }
    }
  }

  private func nextAnswer(to member: MemberName) -> Answer {
    answers.withLock { $0[member]?.isEmpty == false ? $0[member]?.removeFirst() : nil } ?? .done
  }

  private func refuse(_ member: MemberName) throws {
    if case .refused(let error) = nextAnswer(to: member) { throw ErrorReply(error, "not now") }
  }

  private func answer<each Value>(
    _ member: MemberName, as line: String? = nil, _ reply: Reply<repeat each Value>,
    _ send: @escaping @Sendable () -> Void
  ) {
    let body = { @Sendable (answer: Answer) in
      switch answer {
      case .done: send()
      case .refused(let error): _ = reply.fail(ErrorReply(error, "not now"))
      case .later: break
      }
    }
    let answer = nextAnswer(to: member)
    if case .later = answer { later.withLock { $0[member, default: []].append(body) } }
    record.add(line ?? member.rawValue)
    body(answer)
  }

  /// Answers the calls of a method that were to be answered later.
  func answerNow(_ member: MemberName, _ answer: Answer = .done) {
    for body in later.withLock({ $0.removeValue(forKey: member) }) ?? [] { body(answer) }
  }

  /// Takes the name after it has put its objects in place.
  init(
    on bus: PrivateBus, sessions: [Int] = [], events: [String] = [], states: [String] = ["routed"],
    connectsAtOnce: Bool = false, known: Known = Known(), discardsUnknown: Bool = false,
    answering answers: [MemberName: [Answer]] = [:]
  ) async throws {
    (self.known, self.discardsUnknown) = (known, discardsUnknown)
    (self.events, self.states, self.answers) = (Lock(events), Lock(states), Lock(answers))
    connection = try await bus.connect()
    exportRoot()
    if answers["GetManagedObjects"] == nil {
      connection.exportObjectManager(at: Self.root)
    } else {
      exportRefusingManager()
    }
    for number in sessions {
      let session = addSession(number)
      if connectsAtOnce { connectAtOnce.withLock { $0.append(session) } }
    }
    // The bus may not have noticed yet that the service before this one has left.
    let connection = connection
    try await eventually("the name") { try await connection.requestName(House.name, .doNotQueue) == .owned }
  }

  static let root: ObjectPath = "/org/stagedoor/Interchange1"
  private static let applicationPath = ObjectPath(unchecked: "\(root)/application").appending(label: application)

  func close() async { await connection.close() }

  /// Lists no session, after it has refused to.
  private func exportRefusingManager() {
    var manager = Interface("org.freedesktop.DBus.ObjectManager")
    manager.method("GetManagedObjects", out: "objects") {
      [weak self] (reply: Reply<[ObjectPath: [String: [String: Variant]]]>) in
      self?.answer("GetManagedObjects", reply) { reply.send([:]) }
    }
    connection.export(manager, at: Self.root)
  }

  private func exportRoot() {
    let (record, events, endless, states) = (record, events, endless, states)
    var root = Interface("org.stagedoor.Interchange1")
    root.property("EventSequence", get: { UInt64(events.withLock(\.count)) })
    root.method("EventsSince", in: "sequence", "limit", out: "events") {
      (sequence: UInt64, _: UInt32) -> [Structure<UInt64, String, String>] in
      record.add("EventsSince \(sequence)")
      let arguments = #"{"application": "\#(Self.application)", "session": "\#(Self.newSession)"}"#
      return events.withLock(\.self).enumerated().dropFirst(Int(sequence)).map {
        Structure(UInt64($0.offset + 1), $0.element, arguments)
      }
    }
    root.method("ListSessions", in: "application", "after", "limit", out: "sessions") {
      [weak self] (_: String, after: String, _: UInt32) throws -> [Structure<
        ObjectPath, String, String, String, String, String, UInt64
      >] in
      record.add("ListSessions \(after)")
      try self?.refuse("ListSessions")
      return (self?.known.sessions.keys.sorted() ?? []).filter { $0.description > after }.prefix(1).map {
        Structure($0.path, Self.application, "Main", "unattached", "", "", UInt64(0))
      }
    }
    root.method("ListDeliveries", in: "state", "after", "limit", out: "deliveries") {
      (_: String, _: String, _: UInt32) -> [Structure<String, String, String, ObjectPath>] in []
    }
    root.method("AttachHostWith", in: "identifier", "connected", "options", out: "application", "discarded") {
      [weak self]
      (identifier: String, connected: [ObjectPath], _: [String: Variant]) throws -> (ObjectPath, [ObjectPath]) in
      try self?.refuse("AttachHostWith")
      self?.suppose(connected)
      record.add("AttachHost \(identifier) \(connected.map(\.rawValue).sorted())")
      for session in self?.connectAtOnce.withLock(\.self) ?? [] {
        Task {
          try await self?.connect(session, Options.none)
          record.add("1: connected")
        }
      }
      guard let self, discardsUnknown else { return (Self.applicationPath, []) }
      return (Self.applicationPath, connected.filter { path in !known.sessions.keys.contains { $0.path == path } })
    }
    root.method("Deliver", in: "payload", out: "session", "outcome", "delivery") {
      [weak self] (reply: Reply<ObjectPath, String, String>, payload: String) in
      self?.answer("Deliver", as: "Deliver \(payload)", reply) {
        if payload.contains("refuse") {
          reply.fail(ErrorReply("org.stagedoor.Error.RequestDenied", "no more of these"))
        } else {
          reply.send(Self.newSession.path, "created", Self.delivery.description)
        }
      }
    }
    root.method("DeliverItems", in: "items", "options", out: "session", "outcome", "delivery") {
      [weak self] (reply: Reply<ObjectPath, String, String>, items: [[String: Variant]], _: [String: Variant]) in
      let rows = items.flatMap { $0["representations"].flatMap { try? [[String: Variant]]($0) } ?? [] }
      for row in rows {
        if case .objectPath(let path)? = row["provider"] { self?.provided.withLock { $0 = path } }
      }
      self?.answer("DeliverItems", reply) { reply.send(Self.newSession.path, "created", Self.delivery.description) }
    }
    root.method("RenewPromises", in: "token") { [weak self] (reply: Reply<>, token: String) in
      self?.answer("RenewPromises", reply) { reply.send() }
    }
    root.method(
      "DropURIs", in: "uri_list", "activity_type", "target_content_identifier", out: "session", "outcome", "delivery"
    ) { (list: String, type: String, key: String) -> (ObjectPath, String, String) in
      record.add("DropURIs \(list.split(separator: "\r\n")) \(type) \(key)")
      return (Self.newSession.path, "activated", Self.delivery.description)
    }
    root.method("OpenItem", in: "delivery", "item", "type", out: "data", "size") {
      (_: String, item: UInt32, type: String) throws -> (OwnedFileDescriptor, Int64) in
      record.add("OpenItem \(item) \(type)")
      let pipe = try OwnedFileDescriptor.pipe()
      if type == "text/endless" { endless.withLock { $0.append(pipe.writeEnd) } }
      if type.hasPrefix("text/flood") {
        // A source that writes as long as somebody reads.
        try flood(pipe.writeEnd)
        return (pipe.readEnd, type == "text/flood5" ? 5 : -1)
      }
      let bytes = Array("a beach".utf8)
      pipe.writeEnd.withRawValue { _ = Glibc.write($0, bytes, bytes.count) }
      return (pipe.readEnd, ["text/torn": Int64(bytes.count + 1), "text/vast": .max][type] ?? -1)
    }
    root.method("GetDelivery", in: "delivery", out: "state", "decision") {
      [weak self] (reply: Reply<String, String>, _: String) in
      self?.answer("GetDelivery", reply) {
        let state = states.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        reply.send(
          state, #"{"outcome": "created", "application": {"chosen": "\#(Self.application)", "because": "it is"}}"#)
      }
    }
    root.method("ReleaseDelivery", in: "delivery") { (delivery: String) in
      record.add("ReleaseDelivery \(delivery)")
    }
    connection.export(root, at: Self.root)
    var application = Interface("org.stagedoor.Application1")
    let posted = application.signal("NotificationPosted", "name", "user_info", of: String.self, String.self)
    application.property("HostAttached", constant: false)
    application.method("PostNotification", in: "name", "user_info") {
      [weak self] (call: Call, name: String, info: String) throws in
      try self?.refuse("PostNotification")
      record.add("PostNotification \(name)")
      try call.connection.emit(posted, from: call.path, name, info)
    }
    connection.export(application, at: Self.applicationPath)
  }

  /// The answer to all that is handed in.
  static let newSession = SessionIdentifier("99999999-9999-4999-8999-999999999999")!
  static let delivery = DeliveryIdentifier("11111111-1111-4111-8111-111111111111")!

  /// The session of this number, from 0 to 9.
  static func session(_ number: Int) -> SessionIdentifier {
    SessionIdentifier("0000000\(number)-0000-4000-8000-000000000000")!
  }

  /// Adds an event to the kept ones; `isTold` says whether a signal tells of it.
  func happen(_ name: MemberName, isTold: Bool) throws {
    let sequence = events.withLock { events in
      events.append(name.rawValue)
      return UInt64(events.count)
    }
    guard isTold else { return }
    try connection.emit(
      from: Self.root, "org.stagedoor.Interchange1", name, Self.application, Self.newSession.path, sequence)
  }

  /// Says that a host has taken a delivery, or passes it on.
  func tell(_ event: MemberName = "Handled", of delivery: DeliveryIdentifier) throws {
    try connection.emit(
      from: Self.root, "org.stagedoor.Interchange1", event, Self.application, Self.newSession.path,
      delivery.description, UInt64(1))
  }

  /// Puts a session on the bus that is not connected.
  @discardableResult
  func addSession(_ number: Int) -> SessionIdentifier {
    let identifier = Self.session(number)
    let (record, known) = (record, known)
    known.replace(identifier, by: known[identifier])
    var interface = Interface("org.stagedoor.SceneSession1")
    let constants: [(MemberName, String)] = [
      ("PersistentIdentifier", identifier.description), ("Application", Self.application), ("Configuration", "Main"),
      ("State", "unattached"), ("TargetContentIdentifier", ""),
    ]
    for (name, value) in constants { interface.property(name, constant: value) }
    interface.property(
      "Role",
      get: { [weak self] in
        self?.beRead()
        return "UIWindowSceneSessionRoleApplication"
      })
    interface.property("Connected", constant: false)
    interface.property("Created", constant: UInt64(number))
    interface.property("LastActivated", constant: UInt64(number))
    for name: MemberName in [
      "Title", "UserActivity", "StateRestorationActivity", "UserInfo", "CanActivatePredicate",
      "PrefersToActivatePredicate",
    ] {
      interface.property(
        name, get: { known[identifier][name.rawValue] ?? "" },
        set: { [weak self] value in
          try self?.refuse(name)
          known.set(name.rawValue, of: identifier, value)
          record.add("\(number): \(name) = \(value)")
        })
    }
    interface.method("SetState", in: "state") { [weak self] (state: String) throws in
      try self?.refuse("SetState")
      known.set("State", of: identifier, state)
      record.add("\(number): SetState \(state)")
    }
    interface.method("Disconnect") { [weak self] () throws in
      try self?.refuse("Disconnect")
      known.set("Connected", of: identifier, "false")
      known.set("Connecting", of: identifier, "false")
      known.set("State", of: identifier, "unattached")
      record.add("\(number): Disconnect")
    }
    interface.method("Refresh") { () in record.add("\(number): Refresh") }
    interface.method("SetSnapshot", in: "type", "picture") { (type: String, _: OwnedFileDescriptor) in
      record.add("\(number): SetSnapshot \(type)")
    }
    interface.method("Destroy", in: "animation") { [weak self] (animation: String) throws in
      try self?.refuse("Destroy")
      known.replace(identifier, by: nil)
      self?.removeSession(identifier)
      record.add("\(number): Destroy \(animation)")
    }
    connection.export(interface, at: identifier.path)
    return identifier
  }

  func removeSession(_ session: SessionIdentifier) { connection.unexport(at: session.path) }

  /// A host has attached, which shows these sessions and no others.
  private func suppose(_ connected: [ObjectPath]) {
    for session in known.sessions.keys {
      let isConnected = connected.contains(session.path)
      known.set("Connected", of: session, "\(isConnected)")
      if !isConnected { known.set("State", of: session, "unattached") }
    }
  }

  /// Runs `body` while the service next reads a session, to answer the host. The service does nothing else meanwhile.
  func whenNextRead(_ body: @escaping @MainActor @Sendable () -> Void) { whenRead.withLock { $0 = body } }

  private func beRead() {
    let body = whenRead.withLock { body in
      defer { body = nil }
      return body
    }
    guard let body else { return }
    let isOver = DispatchSemaphore(value: 0)
    Task { @MainActor in
      body()
      isOver.signal()
    }
    isOver.wait()
  }

  // MARK: What a test reads

  var lines: [String] { record.withLock(\.self) }

  /// How often the service got a call.
  func count(of line: String) -> Int { lines.count { $0 == line } }

  func wait(for line: String, _ count: Int = 1) async throws {
    do { try await eventually("\(count) \"\(line)\"") { self.count(of: line) >= count } } catch {
      Issue.record("there was \(lines)")
      throw error
    }
  }

  /// Where the object is that provides the promised data.
  var path: ObjectPath { provided.withLock(\.self) ?? "/nothing" }

  /// Loads what a sender has promised, as for a host.
  func load(from sender: Connection, at path: ObjectPath, _ type: String = "text/plain") async throws -> String {
    let name = try #require(await sender.uniqueName)
    return try await connection.call(
      to: name, at: path, "org.stagedoor.ItemProvider1", "Load", UInt32(0), type,
      returning: OwnedFileDescriptor.self, Int64.self
    ).0.text
  }

  /// Says that nobody asks for a promise any more.
  func release(of sender: Connection, at path: ObjectPath) async throws {
    let name = try #require(await sender.uniqueName)
    try await connection.call(to: name, at: path, "org.stagedoor.ItemProvider1", "Release")
  }

  // MARK: Calls

  private var host: RemoteObject {
    connection.object("org.example.Cats", at: "/org/example/Cats", "org.stagedoor.SceneHost1")
  }

  /// Stores the activity of a delivery before the host gets it.
  private func store(_ options: String, _ session: SessionIdentifier) throws {
    struct Activity: Decodable { let activityType: String, targetContentIdentifier: String? }
    struct Options: Decodable { let userActivities: [Activity] }
    guard let activity = try JSONDecoder().decode(Options.self, from: Data(options.utf8)).userActivities.first else {
      return
    }
    let key = activity.targetContentIdentifier.map { #","targetContentIdentifier":"\#($0)""# } ?? ""
    known.give(#"{"activityType":"\#(activity.activityType)"\#(key)}"#, to: session)
  }

  /// - Parameter isAgain: Whether the service has given the delivery's activity to the session before, in an earlier call.
  func connect(
    _ session: SessionIdentifier, _ options: String, configuration: String = "Main", isAgain: Bool = false
  ) async throws {
    if !isAgain { try store(options, session) }
    try await host.call("ConnectScene", session.path, configuration, options)
  }

  /// Opens an empty window, and brings it to the front.
  func open(_ session: SessionIdentifier) async throws {
    try await connect(session, Options.none)
    try await activate(session)
  }

  func resume(_ session: SessionIdentifier, _ options: String, isAgain: Bool = false) async throws {
    if !isAgain { try store(options, session) }
    try await host.call("ContinueScene", session.path, options)
  }

  func activate(_ session: SessionIdentifier, token: String = "") async throws {
    let data: [String: Variant] = token.isEmpty ? [:] : ["activation-token": .string(token)]
    try await host.call("ActivateScene", session.path, data)
  }

  func configuration(_ session: SessionIdentifier, _ options: String) async throws -> String {
    try await host.call("ConfigurationForConnecting", session.path, "UIWindowSceneSessionRoleApplication", options)
  }

  func refresh(_ session: SessionIdentifier) async throws { try await host.call("RefreshScene", session.path) }

  func destroy(_ session: SessionIdentifier, _ animation: DismissalAnimation = .standard) async throws {
    try await host.call("DestroyScene", session.path, animation.rawValue)
  }

  func discard(_ sessions: SessionIdentifier...) async throws {
    try await host.call("DidDiscardSceneSessions", sessions.map(\.description))
  }

  func propose(_ session: SessionIdentifier, _ items: [[String: Variant]], _ allowed: [String]) async throws -> String {
    try await host.call("ProposeDrop", session.path, items, allowed)
  }
}

/// Runs `body` with a client, and a service that the test plays.
nonisolated(nonsending) func withPlayedService(
  sessions: [Int] = [], events: [String] = [], answering answers: [MemberName: [PlayedService.Answer]] = [:],
  _ body: nonisolated(nonsending) (PrivateBus, PlayedService, Stagedoor) async throws -> Void
) async throws {
  try await withPrivateBus { bus in
    let service = try await PlayedService(on: bus, sessions: sessions, events: events, answering: answers)
    try await body(bus, service, Stagedoor(on: try await bus.connect()))
  }
}

extension Lock<[String]> {
  fileprivate func add(_ line: String) { withLock { $0.append(line) } }
}

/// Writes until the other side has gone, on a thread of its own.
private func flood(_ writer: OwnedFileDescriptor) throws {
  try OwnThread.start {
    // The end of the reader is an error of this thread, and no signal for the process.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let bytes = [UInt8](repeating: 1, count: 1 << 16)
    while writer.withRawValue({ Glibc.write($0, bytes, bytes.count) }) > 0 {}
  }
}

/// Connection options, as the service writes them.
enum Options {
  static let none = #"{"delivery": "", "attempt": 1, "userActivities": []}"#

  static func activity(_ name: String, attempt: Int = 1) -> String {
    """
    {"delivery": "\(PlayedService.delivery)", "attempt": \(attempt),
     "userActivities": [{"activityType": "viewCat", "targetContentIdentifier": "\(name)"}]}
    """
  }

  /// Items with a representation of each of these types.
  static func items(_ types: [String], name: String = "Beach") -> String {
    let items = types.map { #"{"suggestedName": "\#(name)", "representations": [{"type": "\#($0)"}]}"# }
    return """
      {"delivery": "\(PlayedService.delivery)", "attempt": 1, "userActivities": [],
       "items": [\(items.joined(separator: ", "))]}
      """
  }
}

/// The line of a host's writing of an activity.
func written(_ name: String, as property: String = "UserActivity") -> String {
  #"1: \#(property) = {"activityType":"viewCat","targetContentIdentifier":"\#(name)"}"#
}
