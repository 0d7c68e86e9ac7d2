package import DBus
package import SceneModel

/// `org.stagedoor.Application1`, the same for every application; the path tells which one is meant.
package enum ApplicationInterface {
  package static func make<Service: InterchangeCalls>(
    on service: Service
  ) -> (interface: Interface, notificationPosted: SignalDeclaration<String, String>) {
    var interface = Interface(InterchangeNames.application)
    interface.property("Identifier", emits: .const, on: service) { service, access in
      try service.manifest(access).manifest.identifier.string
    }
    interface.property("Name", on: service) { service, access in
      try service.manifest(access).manifest.name.string
    }
    interface.property("ActivityTypes", on: service) { service, access in
      try service.manifest(access).manifest.activityTypes.map(\.string)
    }
    interface.property("ContentTypes", on: service) { service, access in
      try service.manifest(access).manifest.contentTypes.map(\.spelling.string)
    }
    interface.property("SupportsMultipleScenes", on: service) { service, access in
      try service.manifest(access).manifest.supportsMultipleScenes
    }
    interface.property("Configurations", on: service) { service, access -> [ConfigurationRow] in
      try service.manifest(access).manifest.configurations.map {
        ConfigurationRow($0.role.string, $0.name.string, $0.activityTypes.map(\.string))
      }
    }
    interface.property("HostAttached", on: service) { service, access in
      try service.manifest(access).isAttached
    }
    interface.property("ManifestPath", on: service) { service, access in
      try service.manifest(access).file.string
    }
    interface.property("Understudied", on: service) { service, access in
      try service.manifest(access).manifest.understudy != nil
    }
    interface.method(
      "NewSession", in: "configuration", out: "session", "outcome", "delivery", on: service
    ) { (service: isolated Service, reply: DeliveryReply, configuration: String) in
      try service.newSession(of: Text(configuration), at: reply.call.path, reply)
    }
    interface.method(
      "AdoptSession", in: "configuration", "activity", "title", out: "session", on: service
    ) {
      (
        service: isolated Service, reply: Reply<ObjectPath>, configuration: String, activity: String, title: String
      ) in
      try service.adoptSession(Text(configuration), Text(activity), Text(title), at: reply.call.path, reply)
    }
    interface.method(
      "PostNotification", in: "name", "user_info", on: service
    ) { (service: isolated Service, reply: Reply<>, name: String, userInfo: String) in
      try service.postNotification(Text(name), Text(userInfo), at: reply.call.path, reply)
    }
    let posted = interface.signal("NotificationPosted", "name", "user_info", of: String.self, String.self)
    return (interface, posted)
  }
}

/// `org.stagedoor.SceneSession1`, the same for every session.
package enum SessionInterface {
  package static func make<Service: InterchangeCalls>(on service: Service) -> Interface {
    var interface = Interface(InterchangeNames.session)
    addProperties(to: &interface, service)
    interface.method(
      "Activate", in: "activity", out: "outcome", "delivery", on: service
    ) { (service: isolated Service, reply: Reply<String, String>, activity: String) in
      try service.activate(Text(activity), at: reply.call.path, reply)
    }
    interface.method("Refresh", on: service) { (service: isolated Service, reply: Reply<>) in
      try service.refresh(at: reply.call.path, reply)
    }
    interface.method("Destroy", in: "animation", on: service) {
      (service: isolated Service, reply: Reply<>, animation: String) in
      try service.destroy(Text(animation), at: reply.call.path, reply)
    }
    interface.method("SetState", in: "state", on: service) {
      (service: isolated Service, reply: Reply<>, state: String) in
      try service.setState(Text(state), at: reply.call.path, reply)
    }
    interface.method("Disconnect", on: service) { (service: isolated Service, reply: Reply<>) in
      try service.disconnect(at: reply.call.path, reply)
    }
    interface.method("SetSnapshot", in: "type", "data", on: service) {
      (service: isolated Service, reply: Reply<>, type: String, data: OwnedFileDescriptor) in
      try service.setSnapshot(Text(type), data, at: reply.call.path, reply)
    }
    interface.method("OpenSnapshot", out: "type", "data", on: service) {
      (service: isolated Service, reply: Reply<String, OwnedFileDescriptor>) in
      try service.openSnapshot(at: reply.call.path, reply)
    }
    return interface
  }

  private static func addProperties<Service: InterchangeCalls>(to interface: inout Interface, _ service: Service) {
    interface.property("PersistentIdentifier", emits: .const, on: service) { service, access in
      "\(try service.session(access).identifier)"
    }
    interface.property("Application", emits: .const, on: service) { service, access in
      try service.session(access).application.string
    }
    interface.property("Role", emits: .const, on: service) { service, access in
      try service.session(access).role.string
    }
    interface.property("Configuration", on: service) { service, access in
      try service.session(access).configuration.string
    }
    interface.property("State", on: service) { service, access in try service.session(access).state.rawValue }
    interface.property("Connected", on: service) { service, access in try service.session(access).isConnected }
    interface.property("TargetContentIdentifier", on: service) { service, access in
      try service.session(access).targetContentIdentifier.string
    }
    interface.property("Created", emits: .const, on: service) { service, access in
      try service.session(access).created.unsigned
    }
    interface.property("LastActivated", emits: .false, on: service) { service, access in
      try service.session(access).lastActivated.unsigned
    }
    for property in SessionProperty.allCases {
      interface.property(
        MemberName(unchecked: property.rawValue), on: service,
        get: { service, access in try service.session(access).text(of: property).string },
        set: { (service: isolated Service, access: PropertyAccess, text: String, reply: Reply<>) in
          try service.setProperty(property, to: Text(text), access, reply)
        })
    }
  }
}

/// `org.stagedoor.DragSession1`, the same for every drag.
package enum DragInterface {
  package static func make<Service: InterchangeCalls>(
    on service: Service
  ) -> (interface: Interface, ended: SignalDeclaration<String, ObjectPath>) {
    var interface = Interface(InterchangeNames.drag)
    interface.property("Items", on: service) { service, access in try service.drag(access).items.map(\.shownOnBus) }
    interface.property("AllowedOperations", on: service) { service, access in
      try service.drag(access).allowedOperations.map(\.rawValue)
    }
    interface.property("State", on: service) { service, access in try service.drag(access).state.string }
    interface.property("Operation", on: service) { service, access in try service.drag(access).operation.string }
    interface.method("AddItems", in: "items", on: service) {
      (service: isolated Service, reply: Reply<>, items: [ItemDictionaries.Dictionary]) in
      let (items, descriptors) = try ItemDictionaries.items(items, types: service.types)
      try service.addItems(items, descriptors, at: reply.call.path, reply)
    }
    interface.takesItems("AddItems")
    interface.method("Cancel", on: service) { (service: isolated Service, reply: Reply<>) in
      try service.cancelDrag(at: reply.call.path, reply)
    }
    interface.method("Propose", in: "session", out: "operation", on: service) {
      (service: isolated Service, reply: Reply<String>, session: ObjectPath) in
      try service.propose(session, at: reply.call.path, reply)
    }
    interface.method(
      "DropOn", in: "session", "operation", out: "target", "outcome", "delivery", on: service
    ) { (service: isolated Service, reply: DeliveryReply, session: ObjectPath, operation: String) in
      try service.dropOn(session, Text(operation), at: reply.call.path, reply)
    }
    let ended = interface.signal("Ended", "operation", "target", of: String.self, ObjectPath.self)
    return (interface, ended)
  }
}

extension Interface {
  /// Adjusts a method whose first argument is items: limits their number, and tells code generators about the descriptors inside.
  mutating func takesItems(_ member: MemberName) {
    limit(member, values: ItemDictionaries.valueLimit)
    annotate(member, .unixFD)
    annotate(member, .qtTypeName(0, "QList<QVariantMap>"))
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
  package var unsigned: UInt64 { UInt64(max(0, microseconds)) }
}
