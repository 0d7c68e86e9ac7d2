import DBus
import DBusTestSupport
import Foundation
import SceneModel
import Synchronization
import Testing

@testable import stagedoor_understudy

/// A service that notes what it is told, and refuses or answers as a test likes.
final class PlayedService: Sendable {
  /// The windows that wait to be adopted.
  let adoptions = Mutex<[Reply<ObjectPath>]>([])
  /// How often it was asked to adopt one.
  var adopted: Int { count(of: "AdoptSession") }
  /// The errors with which the next calls of a method are refused.
  let refusals: Mutex<[String: [ErrorName]]>
  /// What happens once, before it answers that a session has no scene any more.
  let whileDisconnecting = Mutex<(@Sendable (ObjectPath) async throws -> Void)?>(nil)
  /// The calls that register an application or adopt a window, those of sessions, and for each attachment the sessions that are there.
  let calls = Mutex<[String]>([])
  /// How each delivery has ended.
  private let ending: String

  static let name: BusName = "org.stagedoor.Interchange1"
  static let root: ObjectPath = "/org/stagedoor/Interchange1"
  static let application: ObjectPath = "/org/stagedoor/Interchange1/application/a"
  static let session: ObjectPath = "/org/stagedoor/Interchange1/session/s"
  static let other: ObjectPath = "/org/stagedoor/Interchange1/session/t"

  init(refusing refusals: [String: [ErrorName]] = [:], deliveriesAre ending: String = "handled") {
    self.refusals = Mutex(refusals)
    self.ending = ending
  }

  func take(_ method: String, _ details: String = "") throws {
    calls.withLock { $0.append(method + details) }
    let refusal = refusals.withLock { $0[method]?.isEmpty == false ? $0[method]?.removeFirst() : nil }
    if let refusal { throw ErrorReply(refusal, "not now") }
  }

  func count(of call: String) -> Int { calls.withLock { $0.count { $0 == call } } }

  /// What it was told of sessions: each call with its value, such as `s.Title a.txt`.
  var told: [String] { calls.withLock { $0.filter { $0.hasPrefix("s.") || $0.hasPrefix("t.") } } }

  /// Answers the windows that wait to be adopted.
  func adopt(as session: ObjectPath = PlayedService.session) {
    let waiting = adoptions.withLock { adoptions in
      defer { adoptions = [] }
      return adoptions
    }
    for adoption in waiting { adoption.send(session) }
  }

  // MARK: On the bus

  nonisolated(nonsending) func play(on bus: PrivateBus) async throws -> Connection {
    let connection = try await bus.connect()
    connection.export(applicationInterface, at: Self.application)
    for path in [Self.session, Self.other] {
      connection.export(sessionInterface("\(path.rawValue.suffix(1)).", at: path), at: path)
    }
    connection.export(rootInterface, at: Self.root)
    // The bus may not have noticed yet that the service before this one has left.
    _ = try await connection.requestName(Self.name)
    return connection
  }

  private var rootInterface: Interface {
    var interface = Interface("org.stagedoor.Interchange1")
    interface.method("RegisterApplication", in: "manifest", out: "application") { (_: String) throws -> ObjectPath in
      try self.take("RegisterApplication")
      return Self.application
    }
    interface.method("AttachHostWith", in: "application", "shown", "options", out: "application", "gone") {
      (_: String, shown: [ObjectPath], _: [String: Variant]) throws -> (ObjectPath, [ObjectPath]) in
      try self.take("AttachHostWith", shown.isEmpty ? "" : " \(shown.map(\.rawValue))")
      return (Self.application, [])
    }
    interface.method("UnregisterApplication", in: "application") { (_: String) throws in
      try self.take("UnregisterApplication")
    }
    interface.method("GetDelivery", in: "delivery", out: "state", "decision") {
      (delivery: String) -> (String, String) in
      #expect(delivery == "the-delivery")
      return (self.ending, "{}")
    }
    return interface
  }

  private var applicationInterface: Interface {
    var interface = Interface("org.stagedoor.Application1")
    interface.method("AdoptSession", in: "configuration", "activity", "title", out: "session") {
      (reply: Reply<ObjectPath>, _: String, activity: String, title: String) throws in
      try self.take("AdoptSession")
      self.calls.withLock { $0.append("adopted \(activity) \(title)") }
      self.adoptions.withLock { $0.append(reply) }
    }
    return interface
  }

  private func sessionInterface(_ prefix: String, at path: ObjectPath) -> Interface {
    var interface = Interface("org.stagedoor.SceneSession1")
    for property: MemberName in ["UserActivity", "StateRestorationActivity", "Title"] {
      interface.property(
        property, get: { (_: PropertyAccess) in "" },
        set: { (_: PropertyAccess, value: String) in try self.take("\(prefix)\(property)", " \(value)") })
    }
    interface.method("SetState", in: "state") { (state: String) throws in
      try self.take("\(prefix)SetState", " \(state)")
    }
    interface.method("Disconnect") { () async throws in
      try self.take("\(prefix)Disconnect")
      try await self.whileDisconnecting.withLock { exchange(&$0, with: nil) }?(path)
    }
    return interface
  }
}

extension PlayedDesktop {
  /// Runs `body` with the host of a program, as a played service calls it.
  nonisolated(nonsending) func withHost(
    of program: String, _ service: PlayedService, _ body: nonisolated(nonsending) (RemoteObject) async throws -> Void
  ) async throws {
    let connection = try await service.play(on: bus)
    let part = understudy.connection.loop.task { await understudy.takePart() }
    defer { part.cancel() }
    try await eventually("the host") { await understudy.hosting.registered["desktop.\(program)"] != nil }
    try await body(
      connection.object(
        UnderstudyInterface.name, at: ObjectPath(unchecked: "/org/stagedoor/Understudy1/hosts/desktop_2e\(program)"),
        "org.stagedoor.SceneHost1"))
  }

  /// What a delivery of files says.
  func options(_ files: [String], isPrivate: Bool = false) -> String {
    let items = files.map { #"{"representations": [{"file": "\#(url($0))"}]}"# }
    let mark = isPrivate ? #""private": true, "# : ""
    return #"{"delivery": "the-delivery", \#(mark)"items": [\#(items.joined(separator: ", "))]}"#
  }

  /// Waits for something. The real display wakes the understudy; the played one waits to be asked.
  nonisolated(nonsending) func becomes(
    _ what: String, _ condition: @escaping @Sendable () async throws -> Bool
  ) async throws {
    try await eventually(what) {
      await understudy.takeEvents()
      return try await condition()
    }
  }

  /// Waits until the sessions have been compared with the windows.
  nonisolated(nonsending) func isCompared() async throws {
    try await becomes("the end of the comparisons") { await !understudy.hosting.isComparing }
  }

  /// What the understudy knows of a session.
  nonisolated(nonsending) func session(_ path: ObjectPath = PlayedService.session) async -> HostedSession? {
    await understudy.hosting.sessions[path]
  }
}
