package import DBus
import SceneModel

/// `org.stagedoor.Interchange1`, in the order of its document.
package struct RootInterface: Sendable {
  package let interface: Interface
  package let signals: Signals

  package init<Service: InterchangeCalls>(on service: Service) {
    var interface = Interface(InterchangeNames.interchange)
    interface.property("Version", constant: UInt32(1))
    interface.property("EventSequence", emits: .false, on: service, get: { service, _ in service.eventSequence() })
    interface.property("OldestSequence", emits: .false, on: service, get: { service, _ in service.oldestSequence() })
    RootInterface.addDeliveries(to: &interface, service)
    interface.declareLater {
      RootInterface.addItems(to: &$0, service)
      RootInterface.addQuestions(to: &$0, service)
      RootInterface.addApplications(to: &$0, service)
      RootInterface.addDrags(to: &$0, service)
    }
    signals = Signals(on: &interface)
    self.interface = interface
  }

  private static func addDeliveries<Service: InterchangeCalls>(to interface: inout Interface, _ service: Service) {
    interface.method(
      "Drop", in: "activity_type", "target_content_identifier", "user_info", out: "session", "outcome", "delivery",
      on: service
    ) { (service: isolated Service, reply: DeliveryReply, type: String, key: String, info: [Text: Text]) in
      let entries = info.map { UserInfo.Entry(key: $0.key, value: .string($0.value)) }
      // A dictionary has each key once.
      let userInfo = UserInfo(entries) ?? UserInfo()
      try service.drop(try UserActivity(type: Text(type), key: Text(key), userInfo: userInfo), reply)
    }
    // Two texts and the dictionary, and for each entry itself, its key and its value. A call with more than a document may hold is not even read.
    interface.limit("Drop", values: 3 + 3 * (Limits.values / 2))
    interface.method(
      "Deliver", in: "payload", out: "session", "outcome", "delivery", on: service
    ) { (service: isolated Service, reply: DeliveryReply, payload: String) in
      try service.deliver(Text(payload), reply)
    }
    interface.method(
      "DeliverEach", in: "payload", out: "results", on: service
    ) { (service: isolated Service, reply: Reply<[DeliveryResult]>, payload: String) in
      try service.deliverEach(Text(payload), reply)
    }
    interface.method(
      "CancelDelivery", in: "delivery", on: service
    ) { (service: isolated Service, reply: Reply<>, delivery: String) in
      try service.cancelDelivery(Text(delivery), reply)
    }
    interface.method(
      "RedirectDelivery", in: "delivery", "session", out: "outcome", on: service
    ) { (service: isolated Service, reply: Reply<String>, delivery: String, session: ObjectPath) in
      try service.redirectDelivery(Text(delivery), to: session, reply)
    }
    interface.method(
      "DeferDelivery", in: "delivery", "seconds", on: service
    ) { (service: isolated Service, reply: Reply<>, delivery: String, seconds: UInt32) in
      try service.deferDelivery(Text(delivery), seconds: seconds, reply)
    }
    interface.method(
      "FinishDelivery", in: "delivery", "error", "message", on: service
    ) { (service: isolated Service, reply: Reply<>, delivery: String, error: String, message: String) in
      try service.finishDelivery(Text(delivery), Text(error), Text(message), reply)
    }
  }

  private static func addItems<Service: InterchangeCalls>(to interface: inout Interface, _ service: Service) {
    interface.method(
      "DropURIs", in: "uri_list", "activity_type", "target_content_identifier", out: "session", "outcome", "delivery",
      on: service
    ) { (service: isolated Service, reply: DeliveryReply, list: String, type: String, key: String) in
      try service.dropURIs(Text(list), Text(type), Text(key), reply)
    }
    interface.method(
      "DropText", in: "text", "directory", "info", out: "session", "outcome", "delivery", on: service
    ) {
      (service: isolated Service, reply: DeliveryReply, text: String, directory: String, info: [Text: Text]) in
      try service.dropText(Text(text), Text(directory), info, reply)
    }
    interface.limit("DropText", values: 3 + 3 * (Limits.values / 2))
    interface.method(
      "DropData", in: "type", "suggested_name", "activity_type", "target_content_identifier", "data", out: "session",
      "outcome", "delivery", on: service
    ) {
      (
        service: isolated Service, reply: DeliveryReply, type: String, name: String, activityType: String, key: String,
        data: OwnedFileDescriptor
      ) in
      try service.dropData(Text(type), Text(name), Text(activityType), Text(key), data, reply)
    }
    interface.method(
      "DeliverItems", in: "items", "options", out: "session", "outcome", "delivery", on: service
    ) {
      (
        service: isolated Service, reply: DeliveryReply, items: [ItemDictionaries.Dictionary],
        options: ItemDictionaries.Dictionary
      ) in
      let (payload, descriptors) = try ItemDictionaries.payload(items, options, types: service.types)
      try service.deliverItems(payload, descriptors, reply)
    }
    interface.takesItems("DeliverItems")
    interface.annotate("DeliverItems", .qtTypeName(1, "QVariantMap"))
    interface.method(
      "OpenItem", in: "delivery", "item", "type", out: "data", "size", on: service
    ) {
      (
        service: isolated Service, reply: Reply<OwnedFileDescriptor, Int64>, delivery: String, item: UInt32,
        type: String
      ) in
      try service.openItem(Text(delivery), item, Text(type), reply)
    }
    interface.method(
      "ReleaseDelivery", in: "delivery", on: service
    ) { (service: isolated Service, reply: Reply<>, delivery: String) in
      try service.releaseDelivery(Text(delivery), reply)
    }
    interface.method("RenewPromises", in: "token", on: service) {
      (service: isolated Service, reply: Reply<>, token: String) in
      try service.renewPromises(Text(token), reply)
    }
  }

  private static func addDrags<Service: InterchangeCalls>(to interface: inout Interface, _ service: Service) {
    interface.method(
      "BeginDrag", in: "payload", out: "drag", "ticket", on: service
    ) { (service: isolated Service, reply: Reply<ObjectPath, String>, payload: String) in
      try service.beginDrag(Text(payload), reply)
    }
    interface.method(
      "BeginDragItems", in: "items", "options", out: "drag", "ticket", on: service
    ) {
      (
        service: isolated Service, reply: Reply<ObjectPath, String>, items: [ItemDictionaries.Dictionary],
        options: ItemDictionaries.Dictionary
      ) in
      let (payload, descriptors) = try ItemDictionaries.payload(items, options, types: service.types)
      try service.beginDragItems(payload, descriptors, reply)
    }
    interface.takesItems("BeginDragItems")
    interface.annotate("BeginDragItems", .qtTypeName(1, "QVariantMap"))
    interface.method(
      "OpenDrag", in: "ticket", out: "drag", on: service
    ) { (service: isolated Service, reply: Reply<ObjectPath>, ticket: String) in
      try service.openDrag(Text(ticket), reply)
    }
  }

  private static func addQuestions<Service: InterchangeCalls>(to interface: inout Interface, _ service: Service) {
    interface.method(
      "Explain", in: "payload", out: "decision", on: service
    ) { (service: isolated Service, reply: Reply<String>, payload: String) in
      try service.explain(Text(payload), reply)
    }
    interface.method(
      "GetDelivery", in: "delivery", out: "state", "decision", on: service
    ) { (service: isolated Service, call: Call, delivery: String) -> (String, String) in
      let (state, decision) = try service.delivery(Text(delivery), call)
      return (state.string, decision.string)
    }
    interface.method(
      "ListDeliveries", in: "state", "after", "limit", out: "deliveries", on: service
    ) { (service: isolated Service, call: Call, state: String, after: String, limit: UInt32) -> [DeliveryRow] in
      try service.deliveries(in: Text(state), after: Text(after), limit: limit, call)
    }
    interface.method(
      "ListSessions", in: "application", "after", "limit", out: "sessions", on: service
    ) { (service: isolated Service, call: Call, application: String, after: String, limit: UInt32) -> [SessionRow] in
      try service.sessions(of: Text(application), after: Text(after), limit: limit, call)
    }
    interface.method(
      "EventsSince", in: "sequence", "limit", out: "events", on: service
    ) { (service: isolated Service, call: Call, sequence: UInt64, limit: UInt32) -> [EventRow] in
      try service.events(since: sequence, limit: limit, call)
    }
  }

  private static func addApplications<Service: InterchangeCalls>(to interface: inout Interface, _ service: Service) {
    interface.method(
      "RegisterApplication", in: "manifest", out: "application", on: service
    ) { (service: isolated Service, reply: Reply<ObjectPath>, manifest: String) in
      try service.register(Text(manifest), reply)
    }
    interface.method(
      "AttachHost", in: "identifier", "connected", out: "application", "discarded", on: service
    ) {
      (
        service: isolated Service, reply: Reply<ObjectPath, [ObjectPath]>, identifier: String, connected: [ObjectPath]
      ) in
      try service.attachHost(of: Text(identifier), connected: connected, HostOptions(), reply)
    }
    interface.method(
      "AttachHostWith", in: "identifier", "connected", "options", out: "application", "discarded", on: service
    ) {
      (
        service: isolated Service, reply: Reply<ObjectPath, [ObjectPath]>, identifier: String, connected: [ObjectPath],
        options: [String: Variant]
      ) in
      try service.attachHost(of: Text(identifier), connected: connected, try HostOptions(options), reply)
    }
    interface.annotate("AttachHostWith", .qtTypeName(2, "QVariantMap"))
    interface.method(
      "UnregisterApplication", in: "identifier", on: service
    ) { (service: isolated Service, reply: Reply<>, identifier: String) in
      try service.unregister(Text(identifier), reply)
    }
    interface.method(
      "ListApplications", out: "applications", on: service
    ) { (service: isolated Service, call: Call) -> [ApplicationRow] in service.applications(call) }
    interface.method(
      "ListHandlers", in: "type", out: "handlers", on: service
    ) { (service: isolated Service, call: Call, type: String) throws -> [HandlerRow] in
      try service.handlers(of: Text(type), call)
    }
    interface.method(
      "ListPreferredApplications", out: "preferences", on: service
    ) { (service: isolated Service, call: Call) throws -> [PreferenceRow] in try service.preferredApplications(call) }
    interface.method(
      "SetPreferredApplication", in: "activity_type", "identifier", on: service
    ) { (service: isolated Service, reply: Reply<>, type: String, identifier: String) in
      try service.setPreferredApplication(Text(identifier), for: Text(type), reply)
    }
    interface.method(
      "GetPreferredApplication", in: "activity_type", out: "identifier", on: service
    ) { (service: isolated Service, call: Call, type: String) -> String in
      try service.preferredApplication(for: Text(type), call).string
    }
    interface.method(
      "ListRules", out: "rules", on: service
    ) { (service: isolated Service, call: Call) throws -> [RuleRow] in try service.rules(call) }
  }
}

extension HostOptions {
  /// Other options are ignored, so that newer hosts work with older services.
  fileprivate init(_ options: [String: Variant]) throws {
    self.init()
    if let option = options["choosesConfiguration"] { choosesConfiguration = try Bool(option) }
    if let option = options["understudy"] { isUnderstudy = try Bool(option) }
    if let option = options["acceptsSandboxed"] { acceptsSandboxed = try Bool(option) }
    if let option = options["path"] { path = Text(try ObjectPath(option).rawValue) }
  }
}
