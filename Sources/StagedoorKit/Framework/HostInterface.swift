internal import DBus
internal import InterchangeWire

/// A call of the service. The main actor answers the calls in their order.
enum HostCall: Sendable {
  case configuration(session: ObjectPath, options: String, Reply<String>)
  case connect(session: ObjectPath, configuration: String, options: String, Reply<>)
  case resume(session: ObjectPath, options: String, Reply<>)
  case activate(session: ObjectPath, [String: Variant], Reply<>)
  case refresh(session: ObjectPath, Reply<>)
  case destroy(session: ObjectPath, animation: String, Reply<>)
  case discarded([String], Reply<>)
  case propose(session: ObjectPath, [[String: Variant]], allowed: [String], Reply<String>)

  /// The service that made the call.
  var sender: BusName? { answering.call.sender }

  /// Refuses the call, and the delivery in it.
  func fail(_ error: any Error) { _ = answering.fail(error) }

  private var answering: (call: Call, fail: (any Error) -> Bool) {
    switch self {
    case .configuration(_, _, let reply), .propose(_, _, _, let reply): (reply.call, reply.fail)
    case .connect(_, _, _, let reply), .resume(_, _, let reply), .activate(_, _, let reply), .refresh(_, let reply),
      .destroy(_, _, let reply), .discarded(_, let reply):
      (reply.call, reply.fail)
    }
  }
}

/// `org.stagedoor.SceneHost1`, which every application implements.
enum HostInterface {
  /// `allowed` returns the name that may call, and `take` receives the calls. Both run on the connection's loop.
  static func make(
    allowing allowed: @escaping @Sendable () -> BusName?, _ take: @escaping @Sendable (HostCall) -> Void
  ) -> Interface {
    var interface = Interface(InterchangeNames.host)
    interface.method("ConfigurationForConnecting", in: "session", "role", "options", out: "configuration") {
      (reply: Reply<String>, session: ObjectPath, _: String, options: String) in
      take(.configuration(session: session, options: options, reply))
    }
    interface.method("ConnectScene", in: "session", "configuration", "options") {
      (reply: Reply<>, session: ObjectPath, configuration: String, options: String) in
      take(.connect(session: session, configuration: configuration, options: options, reply))
    }
    interface.method("ContinueScene", in: "session", "options") {
      (reply: Reply<>, session: ObjectPath, options: String) in
      take(.resume(session: session, options: options, reply))
    }
    interface.method("ActivateScene", in: "session", "platform_data") {
      (reply: Reply<>, session: ObjectPath, data: [String: Variant]) in
      take(.activate(session: session, data, reply))
    }
    interface.method("RefreshScene", in: "session") { (reply: Reply<>, session: ObjectPath) in
      take(.refresh(session: session, reply))
    }
    interface.method("DestroyScene", in: "session", "animation") {
      (reply: Reply<>, session: ObjectPath, animation: String) in
      take(.destroy(session: session, animation: animation, reply))
    }
    interface.method("DidDiscardSceneSessions", in: "persistent_identifiers") {
      (reply: Reply<>, identifiers: [String]) in take(.discarded(identifiers, reply))
    }
    interface.method("ProposeDrop", in: "session", "items", "allowed_operations", out: "operation") {
      (reply: Reply<String>, session: ObjectPath, items: [[String: Variant]], operations: [String]) in
      take(.propose(session: session, items, allowed: operations, reply))
    }
    interface.restrict { call in
      guard let service = allowed(), call.sender == service else {
        throw ErrorReply(.accessDenied, "only \(InterchangeNames.bus) may call a host")
      }
    }
    return interface
  }
}
