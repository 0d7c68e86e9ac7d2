internal import DBus
internal import InterchangeWire

/// A call of the service. The main actor answers the calls in their order.
struct HostCall: Sendable {
  /// The service that made the call.
  let sender: BusName?
  /// Refuses the call, and the delivery in it.
  let fail: @Sendable (any Error) -> Void
  /// Carries the call out, and answers it. An error refuses the delivery.
  let carryOut: @MainActor @Sendable (Application) async throws -> Void

  /// `carryOut` answers with `reply`.
  fileprivate init<each Value: BusValue>(
    by reply: Reply<repeat each Value>, _ carryOut: @escaping @MainActor @Sendable (Application) async throws -> Void
  ) {
    (sender, fail, self.carryOut) = (reply.call.sender, { reply.fail($0) }, carryOut)
  }

  /// `answer` returns the values of the reply.
  fileprivate init<each Value: BusValue>(
    _ reply: Reply<repeat each Value>,
    _ answer: @escaping @MainActor @Sendable (Application) async throws -> (repeat each Value)
  ) {
    self.init(by: reply) { application in
      let values = try await answer(application)
      reply.send(repeat each values)
    }
  }
}

/// `org.stagedoor.SceneHost1`, which every application implements.
enum HostInterface {
  /// `isAllowed` says who may call, and `take` receives the calls. Both run on the connection's loop.
  static func make(
    allowing isAllowed: @escaping @Sendable (BusName) -> Bool, _ take: @escaping @Sendable (HostCall) -> Void
  ) -> Interface {
    var interface = Interface(InterchangeNames.host)
    interface.method("ConfigurationForConnecting", in: "session", "role", "options", out: "configuration") {
      (reply: Reply<String>, session: ObjectPath, _: String, options: String) in
      take(HostCall(reply) { try await $0.configuration(ofNew: session, options) })
    }
    interface.method("ConnectScene", in: "session", "configuration", "options") {
      (reply: Reply<>, session: ObjectPath, configuration: String, options: String) in
      take(HostCall(by: reply) { try await $0.deliver(options, to: session, as: configuration, reply) })
    }
    interface.method("ContinueScene", in: "session", "options") {
      (reply: Reply<>, session: ObjectPath, options: String) in
      take(HostCall(by: reply) { try await $0.deliver(options, to: session, as: nil, reply) })
    }
    interface.method("ActivateScene", in: "session", "platform_data") {
      (reply: Reply<>, session: ObjectPath, data: [String: Variant]) in
      take(HostCall(reply) { try $0.bringToFront($0.scene(at: session), ActivationData(data)) })
    }
    interface.method("RefreshScene", in: "session") { (reply: Reply<>, session: ObjectPath) in
      take(HostCall(reply) { try $0.refreshScene(at: session) })
    }
    interface.method("DestroyScene", in: "session", "animation") {
      (reply: Reply<>, session: ObjectPath, animation: String) in
      // A scene that is gone already satisfies the request.
      take(HostCall(reply) { $0.destroyScene(at: session, DismissalAnimation(rawValue: animation) ?? .standard) })
    }
    interface.method("DidDiscardSceneSessions", in: "persistent_identifiers") {
      (reply: Reply<>, identifiers: [String]) in
      take(HostCall(reply) { $0.didDiscard(Set(identifiers.compactMap { SessionIdentifier($0) })) })
    }
    interface.method("ProposeDrop", in: "session", "items", "allowed_operations", out: "operation") {
      (reply: Reply<String>, session: ObjectPath, items: [[String: Variant]], operations: [String]) in
      take(HostCall(reply) { try $0.proposal(at: session, items, allowed: operations).rawValue })
    }
    interface.restrict { call in
      guard let sender = call.sender, isAllowed(sender) else {
        throw ErrorReply(.accessDenied, "only \(InterchangeNames.bus) may call a host")
      }
    }
    return interface
  }
}
