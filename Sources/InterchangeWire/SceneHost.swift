package import DBus
package import SceneModel

/// The host of an application: `org.stagedoor.SceneHost1` of the connection that attached.
package struct SceneHost: Sendable {
  private let object: RemoteObject

  /// - Parameters:
  ///   - owner: The connection's unique name. A later owner of the application's name is another host.
  ///   - path: The path of the host's object; `nil` for the path that follows from the application's identifier.
  package init(of application: Text, owner: BusName, at path: Text?, on connection: Connection) {
    let path = path.map { ObjectPath(unchecked: $0.string) } ?? InterchangeNames.path(ofHost: application)
    object = connection.object(owner, at: path, InterchangeNames.host)
  }

  /// A sentence about what the host lacks to be called; `nil` if nothing is known to be missing. A host that waits for the answer to its
  /// `AttachHost` and reads nothing else cannot say, and a library need not implement introspection.
  package nonisolated(nonsending) func lack(within timeout: Duration) async -> Text? {
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

  package nonisolated(nonsending) func configurationForConnecting(
    _ session: UniqueIdentifier, role: Text, options: Text, within timeout: Duration
  ) async throws(CallError) -> Text {
    let answer: String = try await object.call(
      "ConfigurationForConnecting", InterchangeNames.path(ofSession: session), role.string, options.string,
      timeout: timeout)
    return Text(answer)
  }

  package nonisolated(nonsending) func connectScene(
    _ session: UniqueIdentifier, configuration: Text, options: Text, within timeout: Duration
  ) async throws(CallError) {
    try await object.call(
      "ConnectScene", InterchangeNames.path(ofSession: session), configuration.string, options.string, timeout: timeout)
  }

  package nonisolated(nonsending) func continueScene(
    _ session: UniqueIdentifier, options: Text, within timeout: Duration
  ) async throws(CallError) {
    try await object.call(
      "ContinueScene", InterchangeNames.path(ofSession: session), options.string, timeout: timeout)
  }

  /// - Parameter token: The sender's token, which lets a window come to the front.
  package nonisolated(nonsending) func activateScene(
    _ session: UniqueIdentifier, token: Text?, within timeout: Duration
  ) async throws(CallError) {
    var data: [String: Variant] = [:]
    if let token {
      data["activation-token"] = token.string.variant
      data["desktop-startup-id"] = token.string.variant
    }
    try await object.call("ActivateScene", InterchangeNames.path(ofSession: session), data, timeout: timeout)
  }

  package nonisolated(nonsending) func refreshScene(
    _ session: UniqueIdentifier, within timeout: Duration
  ) async throws(CallError) {
    try await object.call("RefreshScene", InterchangeNames.path(ofSession: session), timeout: timeout)
  }

  package nonisolated(nonsending) func destroyScene(
    _ session: UniqueIdentifier, animation: Text, within timeout: Duration
  ) async throws(CallError) {
    try await object.call("DestroyScene", InterchangeNames.path(ofSession: session), animation.string, timeout: timeout)
  }

  package nonisolated(nonsending) func didDiscardSceneSessions(
    _ sessions: [UniqueIdentifier], within timeout: Duration
  ) async throws(CallError) {
    try await object.call("DidDiscardSceneSessions", sessions.map { "\($0)" }, timeout: timeout)
  }

  /// The operation that the host proposes for a drop on one of its scenes, in its own word.
  package nonisolated(nonsending) func proposeDrop(
    _ session: UniqueIdentifier, items: [Item], allowed: [PayloadOptions.Operation], within timeout: Duration
  ) async throws(CallError) -> Text {
    let answer: String = try await object.call(
      "ProposeDrop", InterchangeNames.path(ofSession: session), items.map(\.shownOnBus), allowed.map(\.rawValue),
      timeout: timeout)
    return Text(answer)
  }
}
