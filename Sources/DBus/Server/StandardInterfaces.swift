internal import CDBus

/// The interfaces that D-Bus itself defines, declared like any other.
enum StandardInterfaces {
  static let ofObject = [properties, introspectable, peer]
  static let ofManager = ofObject + [objectManager]

  static let peer: Interface = {
    var peer = Interface("org.freedesktop.DBus.Peer")
    peer.method("Ping") {}
    peer.method("GetMachineId", out: "machine_uuid") { () throws -> String in
      guard let text = dbus_try_get_local_machine_id(nil) else {
        throw ErrorReply(.failed, "this machine has no identifier")
      }
      defer { dbus_free(text) }
      return String(cString: text)
    }
    return peer
  }()

  static let introspectable: Interface = {
    var introspectable = Interface("org.freedesktop.DBus.Introspectable")
    introspectable.method("Introspect", out: "xml_data") { (call: Call) throws -> String in
      if call.isAbandoned { throw abandoned }
      return try call.connection.assumeIsolated { connection in
        try connection.introspection(for: call).xml
      }
    }
    return introspectable
  }()

  static let properties: Interface = {
    var properties = Interface("org.freedesktop.DBus.Properties")
    properties.method("Get", in: "interface_name", "property_name", out: "value") {
      (call: Call, interface: String, property: String) throws -> Variant in
      try call.connection.assumeIsolated { try $0.property(property, of: interface, for: call) }
    }
    properties.method("GetAll", in: "interface_name", out: "props") {
      (call: Call, interface: String) throws -> [String: Variant] in
      try call.connection.assumeIsolated { try $0.properties(of: interface, for: call) }
    }
    properties.method("Set", in: "interface_name", "property_name", "value") {
      (reply: Reply<>, interface: String, property: String, _: UnreadVariant) throws -> Void in
      try reply.call.connection.assumeIsolated { try $0.setProperty(property, of: interface, answering: reply) }
    }
    properties.signal(
      "PropertiesChanged", "interface_name", "changed_properties", "invalidated_properties",
      of: String.self, [String: Variant].self, [String].self)
    return properties
  }()

  static let objectManager: Interface = {
    var manager = Interface("org.freedesktop.DBus.ObjectManager")
    manager.method("GetManagedObjects", out: "object_paths_interfaces_and_properties") {
      (call: Call) throws -> [ObjectPath: [String: [String: Variant]]] in
      if call.isAbandoned { throw abandoned }
      return try call.connection.assumeIsolated { try $0.managedObjects(for: call) }
    }
    manager.signal(
      "InterfacesAdded", "object_path", "interfaces_and_properties",
      of: ObjectPath.self, [String: [String: Variant]].self)
    manager.signal("InterfacesRemoved", "object_path", "interfaces", of: ObjectPath.self, [String].self)
    return manager
  }()
}

private let abandoned = ErrorReply(.noReply, "the caller has left")

extension Connection {
  /// The description of the called object, as its caller may see it.
  fileprivate func introspection(for call: Call) throws -> Introspection.Node {
    let path = call.path
    let children = try objects.children(of: path, for: call)
    // The parent lists the path above a subtree even while the subtree has no objects, so the path exists.
    let isThere = path == .root || !children.isEmpty || objects[path]?.subtree != nil
    guard let interfaces = objects.interfaces(at: path, for: call), isThere || !interfaces.isEmpty else {
      throw unknownObject(path)
    }
    return Introspection.Node(
      interfaces: (interfaces + standardInterfaces(at: path)).map(\.introspection),
      children: children.map { Introspection.Node($0) })
  }

  fileprivate func property(_ name: String, of interface: String, for call: Call) throws -> Variant {
    let (interface, entry) = try propertyEntry(name, of: interface, for: call)
    guard let get = entry.get else {
      throw ErrorReply(.accessDenied, "\(interface.name).\(name) can only be written")
    }
    return try get(PropertyAccess(path: call.path, call: call))
  }

  fileprivate func properties(of interface: String, for call: Call) throws -> [String: Variant] {
    guard let interfaces = objects.interfaces(at: call.path, for: call) else { throw unknownObject(call.path) }
    let access = PropertyAccess(path: call.path, call: call)
    if interface.isEmpty {
      // The specification leaves this open; people who ask without an interface expect all properties.
      var all: [String: Variant] = [:]
      for interface in interfaces where interface.admits(call) {
        all.merge((try? interface.readableProperties(for: access)) ?? [:]) { first, _ in first }
      }
      return all
    }
    let found = try self.interface(named: interface, for: call)
    try found.access?(call)
    return try found.readableProperties(for: access)
  }

  fileprivate func setProperty(_ name: String, of interface: String, answering reply: Reply<>) throws {
    let call = reply.call
    let (interface, entry) = try propertyEntry(name, of: interface, for: call)
    guard let set = entry.set else {
      throw ErrorReply(.propertyReadOnly, "\(interface.name).\(name) cannot be written")
    }
    // The value may be as large as a message, so it is read only now, when it is known to be needed.
    var reader = MessageReader(call.message.raw, limit: call.valueLimit)
    reader.skip()
    reader.skip()
    var (type, value) = (Signature.empty, nil as Variant?)
    try reader.variant { (content) throws(CodingError) in
      type = content.nextSignature
      if type == entry.signature { value = try Variant.readContent(from: &content) }
    }
    guard let value else {
      throw ErrorReply(.invalidArgs, "\(interface.name).\(name) is of type \"\(entry.signature)\", not \"\(type)\"")
    }
    if !entry.announcesItself { call.changes(MemberName(unchecked: name), of: interface.name) }
    try set(PropertyAccess(path: call.path, call: call), value, reply)
  }

  private func propertyEntry(
    _ name: String, of interface: String, for call: Call
  ) throws -> (Interface, Interface.PropertyEntry) {
    // Names are short and ASCII: anything else is no key to look up.
    if MemberName.fault(in: name) != nil { throw ErrorReply(.unknownProperty, "there is no property \(quoted(name))") }
    let found: [Interface]
    if interface.isEmpty {
      found = objects.interfaces(at: call.path, for: call) ?? []
    } else {
      found = [try self.interface(named: interface, for: call)]
    }
    for interface in found {
      guard let entry = interface.properties[MemberName(unchecked: name)] else { continue }
      try interface.access?(call)
      return (interface, entry)
    }
    throw ErrorReply(
      .unknownProperty, interface.isEmpty ? "there is no property \(name)" : "\(interface) has no property \(name)")
  }

  private func interface(named name: String, for call: Call) throws(ErrorReply) -> Interface {
    let path = call.path
    if InterfaceName.fault(in: name) != nil { throw unknownInterface(quoted(name), at: path) }
    let all = (objects.interfaces(at: path, for: call) ?? []) + standardInterfaces(at: path)
    guard let interface = all.first(where: { $0.name.rawValue == name }) else {
      throw unknownInterface(name, at: path)
    }
    return interface
  }

  private func tooManyObjects(below path: ObjectPath) -> ErrorReply {
    let advice = objects[path]?.advice.map { ": \($0)" } ?? ""
    return ErrorReply(
      .limitsExceeded,
      "the objects below \(shown(path)) do not fit into \(ObjectTree.maximumManagedSize) bytes\(advice)")
  }

  fileprivate func managedObjects(for call: Call) throws -> [ObjectPath: [String: [String: Variant]]] {
    var managed: [ObjectPath: [String: [String: Variant]]] = [:]
    var size = 0
    try objects.objects(below: call.path, for: call) { path, interfaces in
      var description: [String: [String: Variant]] = [:]
      // A caller is not shown what it may not use.
      let question = call.asking(about: path)
      let access = PropertyAccess(path: path, call: question)
      for interface in interfaces where interface.admits(question) {
        guard let properties = try? interface.readableProperties(for: access) else { continue }
        description[interface.name.rawValue] = properties
      }
      if description.isEmpty { return }
      size += path.rawValue.utf8.count + description.variant.size
      // The objects so far are released, and the others are not visited.
      if size > ObjectTree.maximumManagedSize { throw tooManyObjects(below: call.path) }
      managed[path] = description
    }
    return managed
  }
}

/// A variant that stays in the message until somebody needs it.
private struct UnreadVariant: BusValue {
  static var signature: Signature { Variant.signature }
  var variant: Variant { .variant(.boolean(false)) }

  init() {}
  init(_ variant: Variant) {}

  static func read(from reader: inout MessageReader) -> UnreadVariant {
    reader.skip()
    return UnreadVariant()
  }

  func write(to writer: inout MessageWriter) throws(CodingError) { try variant.write(to: &writer) }
}
