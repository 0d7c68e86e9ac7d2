import DBus
import InterchangeCore
import InterchangeWire
import SceneModel

/// The host of an application: `org.stagedoor.SceneHost1` of the connection that attached.
struct SceneHost: Sendable {
  private let object: RemoteObject

  /// - Parameters:
  ///   - owner: The connection's unique name. A later owner of the application's name is another host.
  ///   - path: The path of the host's object; `nil` for the path that follows from the application's identifier.
  init(of application: Text, owner: BusName, at path: Text?, on connection: Connection) {
    let path = path.map { ObjectPath(unchecked: $0.string) } ?? InterchangeNames.path(ofHost: application)
    object = connection.object(owner, at: path, InterchangeNames.host)
  }

  /// A sentence about what the host lacks to be called; `nil` if nothing is known to be missing. A host that waits for the answer to its
  /// `AttachHost` and reads nothing else cannot say, and a library need not implement introspection.
  nonisolated(nonsending) func lack(within timeout: Duration) async -> Text? {
    do throws(CallError) {
      let xml: String = try await object.connection.call(
        to: object.destination, at: object.path, "org.freedesktop.DBus.Introspectable", "Introspect", timeout: timeout)
      let node = try? Introspection.Node(xml: xml)
      if node?.interfaces.contains(where: { $0.name == InterchangeNames.host }) ?? true { return nil }
      return Text("the object at \(object.path) has no \(InterchangeNames.host)")
    } catch {
      guard case .replied(let reply) = error, reply.name == .unknownObject else { return nil }
      return Text("there is no object at \(object.path)")
    }
  }

  /// Puts a question to the host, and returns its answer.
  nonisolated(nonsending) func answer(
    _ question: HostQuestion, within timeout: Duration
  ) async throws(CallError) -> HostAnswer {
    let member = MemberName(unchecked: question.member)
    func path(_ session: UniqueIdentifier) -> ObjectPath { InterchangeNames.path(ofSession: session) }
    switch question {
    case .configuration(let session, let role, let options):
      let name: String = try await object.call(
        member, path(session), role.string, options.string, timeout: timeout)
      return .configuration(Text(name))
    case .connect(let session, let configuration, let options):
      try await object.call(member, path(session), configuration.string, options.string, timeout: timeout)
    case .continue(let session, let options):
      try await object.call(member, path(session), options.string, timeout: timeout)
    case .activate(let session, let token):
      // The sender's token lets the window come to the front.
      var data: [String: Variant] = [:]
      if let token {
        data["activation-token"] = token.string.variant
        data["desktop-startup-id"] = token.string.variant
      }
      try await object.call(member, path(session), data, timeout: timeout)
    case .refresh(let session): try await object.call(member, path(session), timeout: timeout)
    case .destroy(let session, let animation):
      try await object.call(member, path(session), animation.string, timeout: timeout)
    case .discarded(let sessions): try await object.call(member, sessions.map { "\($0)" }, timeout: timeout)
    case .propose(let session, let items, let allowed):
      let operation: String = try await object.call(
        member, path(session), items.map(\.shownOnBus), allowed.map(\.rawValue), timeout: timeout)
      return .operation(Text(operation))
    }
    return .done
  }
}
