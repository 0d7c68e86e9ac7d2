/// Exporting objects. Each of these takes effect at once on the connection's loop, and elsewhere in the order of the calls: what
/// is exported before a name is asked for is there when the name is.
extension Connection {
  /// Puts an object at `path`, or adds to the one that is there. An interface of the same name is replaced.
  ///
  /// ```swift
  /// var greeter = Interface("org.example.Greeter")
  /// greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
  /// let connection = try await Connection.session()
  /// connection.export(greeter, at: "/org/example/Greeter")
  /// ```
  public nonisolated func export(_ interfaces: Interface..., at path: ObjectPath) {
    onLoop { connection in
      let node = connection.objects.node(making: path)
      for interface in interfaces {
        if let index = node.interfaces.firstIndex(where: { $0.name == interface.name }) {
          node.interfaces[index].detach(from: connection, path)
          node.interfaces[index] = interface
        } else {
          node.interfaces.append(interface)
        }
        interface.attach(to: connection, path)
      }
      connection.announceAdded(path, interfaces.map(\.name))
    }
  }

  /// Takes interfaces away from the object at `path`; without naming any, the whole object.
  public nonisolated func unexport(_ names: InterfaceName..., at path: ObjectPath) {
    onLoop { connection in
      guard let node = connection.objects[path] else { return }
      let gone = node.interfaces.filter { names.isEmpty || names.contains($0.name) }
      node.interfaces.removeAll { interface in gone.contains { $0.name == interface.name } }
      for interface in gone { interface.detach(from: connection, path) }
      connection.announceRemoved(path, gone.map(\.name))
      connection.objects.prune(path)
    }
  }

  /// Says what lies below `path` without exporting any of it. See ``Subtree``.
  public nonisolated func export(_ subtree: Subtree, below path: ObjectPath) {
    onLoop { $0.objects.node(making: path).subtree = subtree }
  }

  /// Makes the object at `path` an object manager: it lists all that lies below it, and tells what comes and goes.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.exportObjectManager(at: "/org/example/Library")
  /// ```
  ///
  /// - Parameters:
  ///   - path: Where the manager stands; it tells of the objects below.
  ///   - advice: What a caller can do when the objects do not fit into the 16 MiB that a list may take: "ListBooks lists them page by page".
  public nonisolated func exportObjectManager(at path: ObjectPath, advice: String? = nil) {
    onLoop { connection in
      let node = connection.objects.node(making: path)
      (node.isManager, node.advice) = (true, advice)
    }
  }

  /// An object of a ``Subtree`` has come into being: its object manager says so.
  public nonisolated func objectAdded(at path: ObjectPath) {
    onLoop { $0.announceAdded(path, ($0.objects.interfaces(at: path, for: nil) ?? []).map(\.name)) }
  }

  /// An object of a ``Subtree`` has gone, with these interfaces: its object manager says so.
  public nonisolated func objectRemoved(at path: ObjectPath, _ interfaces: [InterfaceName]) {
    onLoop { $0.announceRemoved(path, interfaces) }
  }

  /// A property has another value: `PropertiesChanged` says so, once for all that changed in this turn of the loop, and before
  /// any reply or signal that comes after this call.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.propertyChanged("Mood", of: "org.example.Greeter", at: "/org/example/Greeter")
  /// ```
  public nonisolated func propertyChanged(_ property: MemberName, of interface: InterfaceName, at path: ObjectPath) {
    onLoop { $0.announceChanged(path, interface, property, withValue: true) }
  }

  /// A property has another value, which not everyone may see: `PropertiesChanged` names it and keeps the value back.
  public nonisolated func propertyInvalidated(_ property: MemberName, of interface: InterfaceName, at path: ObjectPath)
  {
    onLoop { $0.announceChanged(path, interface, property, withValue: false) }
  }

  /// Runs `body` on the loop. On a connection that is no more nobody would see what it does, and what it puts there would stay.
  nonisolated func onLoop(_ body: @escaping @Sendable (isolated Connection) -> Void) {
    if loop.isCurrent {
      assumeIsolated { if !$0.isClosed { body($0) } }
    } else {
      loop.execute { self.assumeIsolated { if !$0.isClosed { body($0) } } }
    }
  }
}

extension ObjectTree {
  /// What is exported is exported no longer.
  func detachAll(from connection: Connection) {
    for (path, node) in nodes {
      for interface in node.interfaces { interface.detach(from: connection, path) }
    }
  }
}

extension Interface {
  fileprivate func attach(to connection: Connection, _ path: ObjectPath) {
    for attach in storedProperties { attach(connection, path, true) }
  }

  fileprivate func detach(from connection: Connection, _ path: ObjectPath) {
    for attach in storedProperties { attach(connection, path, false) }
  }
}
