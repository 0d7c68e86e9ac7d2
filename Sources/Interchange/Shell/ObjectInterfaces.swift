import DBus
import InterchangeWire
import SceneModel

/// `org.stagedoor.Application1`, the same for every application; the path tells which one is meant.
enum ApplicationInterface {
  static func make(
    on service: Interchange
  ) -> (interface: Interface, notificationPosted: SignalDeclaration<String, String>) {
    var interface = Interface(InterchangeNames.application)
    func property<Value: BusValue>(
      _ member: MemberName, emits: EmitsChangedSignal = .true, _ value: @escaping @Sendable (Manifest) -> Value
    ) {
      interface.property(member, emits: emits, on: service) { value(try $0.manifest($1).manifest) }
    }
    property("Identifier", emits: .const) { $0.identifier }
    property("Name") { $0.name }
    property("ActivityTypes") { $0.activityTypes }
    property("ContentTypes") { $0.contentTypes.map(\.spelling) }
    property("SupportsMultipleScenes") { $0.supportsMultipleScenes }
    property("Configurations") {
      $0.configurations.map { ConfigurationRow($0.role.string, $0.name.string, $0.activityTypes.map(\.string)) }
    }
    interface.property("HostAttached", on: service) { try $0.manifest($1).isAttached }
    interface.property("ManifestPath", on: service) { try $0.manifest($1).file }
    property("Understudied") { $0.understudy != nil }
    interface.answer("NewSession", in: "configuration", out: "session", "outcome", "delivery", on: service) {
      $0.newSession
    }
    interface.answer("AdoptSession", in: "configuration", "activity", "title", out: "session", on: service) {
      $0.adoptSession
    }
    interface.answer("PostNotification", in: "name", "user_info", on: service) { $0.postNotification }
    let posted = interface.signal("NotificationPosted", "name", "user_info", of: String.self, String.self)
    return (interface, posted)
  }
}

/// `org.stagedoor.SceneSession1`, the same for every session.
enum SessionInterface {
  static func make(on service: Interchange) -> Interface {
    var interface = Interface(InterchangeNames.session)
    func property<Value: BusValue>(
      _ member: MemberName, emits: EmitsChangedSignal = .true, _ value: @escaping @Sendable (Session) -> Value
    ) {
      interface.property(member, emits: emits, on: service) { value(try $0.session($1)) }
    }
    property("PersistentIdentifier", emits: .const) { "\($0.identifier)" }
    property("Application", emits: .const) { $0.application }
    property("Role", emits: .const) { $0.role }
    property("Configuration") { $0.configuration }
    property("State") { $0.state.rawValue }
    property("Connected") { $0.isConnected }
    property("TargetContentIdentifier") { $0.targetContentIdentifier }
    property("Created", emits: .const) { $0.created.unsigned }
    property("LastActivated", emits: .false) { $0.lastActivated.unsigned }
    for property in SessionProperty.allCases {
      interface.property(
        MemberName(unchecked: property.rawValue), on: service,
        get: { service, access in try service.session(access).text(of: property).string },
        set: { (service: isolated Interchange, access: PropertyAccess, text: String, reply: Reply<>) in
          try service.setProperty(property, to: Text(text), access, reply)
        })
    }
    interface.answer("Activate", in: "activity", out: "outcome", "delivery", on: service) { $0.activate }
    interface.answer("Refresh", on: service) { $0.refresh }
    interface.answer("Destroy", in: "animation", on: service) { $0.destroy }
    interface.answer("SetState", in: "state", on: service) { $0.setState }
    interface.answer("Disconnect", on: service) { $0.disconnect }
    interface.answer("SetSnapshot", in: "type", "data", on: service) { $0.setSnapshot }
    interface.answer("OpenSnapshot", out: "type", "data", on: service) { $0.openSnapshot }
    return interface
  }
}

/// `org.stagedoor.DragSession1`, the same for every drag.
enum DragInterface {
  static func make(
    on service: Interchange
  ) -> (interface: Interface, ended: SignalDeclaration<String, ObjectPath>) {
    var interface = Interface(InterchangeNames.drag)
    interface.property("Items", on: service) { try $0.drag($1).items.map(\.shownOnBus) }
    interface.property("AllowedOperations", on: service) { try $0.drag($1).allowedOperations.map(\.rawValue) }
    interface.property("State", on: service) { try $0.drag($1).state }
    interface.property("Operation", on: service) { try $0.drag($1).operation }
    interface.method("AddItems", in: "items", on: service) {
      (service: isolated Interchange, reply: Reply<>, items: [ItemDictionaries.Dictionary]) in
      let (items, descriptors) = try ItemDictionaries.items(items, types: service.types)
      try service.addItems(items, descriptors, reply)
    }
    interface.takesItems("AddItems")
    interface.answer("Cancel", on: service) { $0.cancelDrag }
    interface.answer("Propose", in: "session", out: "operation", on: service) { $0.propose }
    interface.answer("DropOn", in: "session", "operation", out: "target", "outcome", "delivery", on: service) {
      $0.dropOn
    }
    let ended = interface.signal("Ended", "operation", "target", of: String.self, ObjectPath.self)
    return (interface, ended)
  }
}

extension Interface {
  /// Adjusts a method whose first argument is items: limits their number, and tells code generators about the descriptors inside.
  mutating func takesItems(_ member: MemberName, withOptions: Bool = false) {
    limit(member, values: ItemDictionaries.valueLimit)
    annotate(member, .unixFD)
    annotate(member, .qtTypeName(0, "QList<QVariantMap>"))
    if withOptions { annotate(member, .qtTypeName(1, "QVariantMap")) }
  }
}

extension Introspection.Annotation {
  /// The type that Qt's code generator should use for a method's argument.
  static func qtTypeName(_ argument: Int, _ type: String) -> Self {
    Self("org.qtproject.QtDBus.QtTypeName.In\(argument)", type)
  }
}

extension Instant {
  /// The time in the bus's form: a time before 1970 is 0.
  var unsigned: UInt64 { UInt64(max(0, microseconds)) }
}
