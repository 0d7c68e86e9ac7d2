import DBus
import InterchangeWire
import SceneModel

/// The reply for a delivery: session, outcome, delivery.
typealias DeliveryReply = Reply<ObjectPath, String, String>

// The calls to the objects of the service, and the methods of `Interchange` that carry them out: `Calls`, `Drags`, `Items`, `Questions` and
// `Snapshots`. Their bodies have been read and the types of the values checked; the methods find out what the caller may do.
//
// A call that changes something is answered through its reply, once the change is stored; other calls at once. A thrown error is an answer too. The
// receiver of a descriptor owns it. A payload names its descriptors by their index in `descriptors`.

/// `org.stagedoor.Interchange1`, in the order of its document.
struct RootInterface: Sendable {
  let interface: Interface
  let signals: Signals

  init(on service: Interchange) {
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

  private static func addDeliveries(to interface: inout Interface, _ service: Interchange) {
    interface.method(
      "Drop", in: "activity_type", "target_content_identifier", "user_info", out: "session", "outcome", "delivery",
      on: service
    ) { (service: isolated Interchange, reply: DeliveryReply, type: String, key: String, info: [Text: Text]) in
      let entries = info.map { UserInfo.Entry(key: $0.key, value: .string($0.value)) }
      // A dictionary has each key once.
      let userInfo = UserInfo(entries) ?? UserInfo()
      try service.drop(try UserActivity(type: Text(type), key: Text(key), userInfo: userInfo), reply)
    }
    // Two texts and the dictionary, and for each entry itself, its key and its value. A call with more than a document may hold is not even read.
    interface.limit("Drop", values: 3 + 3 * (Limits.values / 2))
    interface.answer("Deliver", in: "payload", out: "session", "outcome", "delivery", on: service) { $0.deliver }
    interface.answer("DeliverEach", in: "payload", out: "results", on: service) { $0.deliverEach }
    interface.answer("CancelDelivery", in: "delivery", on: service) { $0.cancelDelivery }
    interface.answer("RedirectDelivery", in: "delivery", "session", out: "outcome", on: service) {
      $0.redirectDelivery
    }
    interface.answer("DeferDelivery", in: "delivery", "seconds", on: service) { $0.deferDelivery }
    interface.answer("FinishDelivery", in: "delivery", "error", "message", on: service) { $0.finishDelivery }
  }

  private static func addItems(to interface: inout Interface, _ service: Interchange) {
    interface.answer(
      "DropURIs", in: "uri_list", "activity_type", "target_content_identifier", out: "session", "outcome", "delivery",
      on: service
    ) { $0.dropURIs }
    interface.answer(
      "DropText", in: "text", "directory", "info", out: "session", "outcome", "delivery", on: service
    ) { $0.dropText }
    interface.limit("DropText", values: 3 + 3 * (Limits.values / 2))
    interface.answer(
      "DropData", in: "type", "suggested_name", "activity_type", "target_content_identifier", "data", out: "session",
      "outcome", "delivery", on: service
    ) { $0.dropData }
    interface.method(
      "DeliverItems", in: "items", "options", out: "session", "outcome", "delivery", on: service
    ) {
      (
        service: isolated Interchange, reply: DeliveryReply, items: [ItemDictionaries.Dictionary],
        options: ItemDictionaries.Dictionary
      ) in
      let (payload, descriptors) = try ItemDictionaries.payload(items, options, types: service.types)
      try service.deliverItems(payload, descriptors, reply)
    }
    interface.takesItems("DeliverItems", withOptions: true)
    interface.answer("OpenItem", in: "delivery", "item", "type", out: "data", "size", on: service) { $0.openItem }
    interface.answer("ReleaseDelivery", in: "delivery", on: service) { $0.releaseDelivery }
    interface.answer("RenewPromises", in: "token", on: service) { $0.renewPromises }
  }

  private static func addDrags(to interface: inout Interface, _ service: Interchange) {
    interface.answer("BeginDrag", in: "payload", out: "drag", "ticket", on: service) { $0.beginDrag }
    interface.method(
      "BeginDragItems", in: "items", "options", out: "drag", "ticket", on: service
    ) {
      (
        service: isolated Interchange, reply: Reply<ObjectPath, String>, items: [ItemDictionaries.Dictionary],
        options: ItemDictionaries.Dictionary
      ) in
      let (payload, descriptors) = try ItemDictionaries.payload(items, options, types: service.types)
      try service.beginDragItems(payload, descriptors, reply)
    }
    interface.takesItems("BeginDragItems", withOptions: true)
    interface.answer("OpenDrag", in: "ticket", out: "drag", on: service) { $0.openDrag }
  }

  private static func addQuestions(to interface: inout Interface, _ service: Interchange) {
    interface.answer("Explain", in: "payload", out: "decision", on: service) { $0.explain }
    interface.answer("GetDelivery", in: "delivery", out: "state", "decision", on: service) { $0.delivery }
    interface.answer("ListDeliveries", in: "state", "after", "limit", out: "deliveries", on: service) {
      $0.deliveries
    }
    interface.answer("ListSessions", in: "application", "after", "limit", out: "sessions", on: service) {
      $0.sessions
    }
    interface.answer("EventsSince", in: "sequence", "limit", out: "events", on: service) { $0.events }
  }

  private static func addApplications(to interface: inout Interface, _ service: Interchange) {
    interface.answer("RegisterApplication", in: "manifest", out: "application", on: service) { $0.register }
    interface.method("AttachHost", in: "identifier", "connected", out: "application", "discarded", on: service) {
      (service: isolated Interchange, reply: Reply<ObjectPath, [ObjectPath]>, host: Text, connected: [ObjectPath]) in
      try service.attachHost(of: host, connected: connected, HostOptions(), reply)
    }
    interface.method(
      "AttachHostWith", in: "identifier", "connected", "options", out: "application", "discarded", on: service
    ) {
      (
        service: isolated Interchange, reply: Reply<ObjectPath, [ObjectPath]>, host: Text, connected: [ObjectPath],
        options: [String: Variant]
      ) in
      try service.attachHost(of: host, connected: connected, try HostOptions(options), reply)
    }
    interface.annotate("AttachHostWith", .qtTypeName(2, "QVariantMap"))
    interface.answer("UnregisterApplication", in: "identifier", on: service) { $0.unregister }
    interface.answer("ListApplications", out: "applications", on: service) { $0.applications }
    interface.answer("ListHandlers", in: "type", out: "handlers", on: service) { $0.handlers }
    interface.answer("ListPreferredApplications", out: "preferences", on: service) { $0.preferredApplications }
    interface.answer("SetPreferredApplication", in: "activity_type", "identifier", on: service) {
      $0.setPreferredApplication
    }
    interface.answer("GetPreferredApplication", in: "activity_type", out: "identifier", on: service) {
      $0.preferredApplication
    }
    interface.answer("ListRules", out: "rules", on: service) { $0.rules }
  }
}
