/// Exporting objects. On the connection's loop each of these functions takes effect at once, elsewhere in the order of the calls: objects that you
/// export before you request a name exist when you own the name.
extension Connection {
  /// Exports an object at `path`, or adds to the object there. An interface of the same name is replaced.
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
      var replaced: [InterfaceName] = []
      for interface in interfaces {
        if let index = node.interfaces.firstIndex(where: { $0.name == interface.name }) {
          node.interfaces[index].tellProperties(false, on: connection, path)
          node.interfaces[index] = interface
          replaced.append(interface.name)
        } else {
          node.interfaces.append(interface)
        }
        interface.tellProperties(true, on: connection, path)
      }
      connection.announceAdded(path, interfaces.map(\.name), inPlaceOf: replaced)
    }
  }

  /// Removes interfaces from the object at `path`; without names, removes the whole object.
  public nonisolated func unexport(_ names: InterfaceName..., at path: ObjectPath) {
    onLoop { connection in
      guard let node = connection.objects[path] else { return }
      let gone = node.interfaces.filter { names.isEmpty || names.contains($0.name) }
      node.interfaces.removeAll { interface in gone.contains { $0.name == interface.name } }
      for interface in gone { interface.tellProperties(false, on: connection, path) }
      connection.announceRemoved(path, gone.map(\.name))
      connection.objects.prune(path)
    }
  }

  /// Declares the objects below `path` without exporting them. See ``Subtree``.
  public nonisolated func export(_ subtree: Subtree, below path: ObjectPath) {
    onLoop { $0.objects.node(making: path).subtree = subtree }
  }

  /// Makes the object at `path` an object manager: it lists all objects below it, and announces when they come and go.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.exportObjectManager(at: "/org/example/Library")
  /// ```
  ///
  /// - Parameters:
  ///   - path: The path of the manager, which announces the objects below it.
  ///   - advice: Advice for a caller when the objects do not fit into the 16 MiB that a list may take: "ListBooks lists them page by page".
  public nonisolated func exportObjectManager(at path: ObjectPath, advice: String? = nil) {
    onLoop { connection in
      let node = connection.objects.node(making: path)
      (node.isManager, node.advice) = (true, advice)
    }
  }

  /// Announces through the object manager that an object of a ``Subtree`` exists now.
  public nonisolated func objectAdded(at path: ObjectPath) {
    onLoop { $0.announceAdded(path, ($0.objects.interfaces(at: path, for: nil) ?? []).map(\.name)) }
  }

  /// Announces through the object manager that an object of a ``Subtree``, with these interfaces, is gone.
  public nonisolated func objectRemoved(at path: ObjectPath, _ interfaces: [InterfaceName]) {
    onLoop { $0.announceRemoved(path, interfaces) }
  }

  /// Announces that a property has another value. `PropertiesChanged` is sent once for all changes of this turn of the loop, and before any reply or
  /// signal that is sent after this call.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.propertyChanged("Mood", of: "org.example.Greeter", at: "/org/example/Greeter")
  /// ```
  public nonisolated func propertyChanged(_ property: MemberName, of interface: InterfaceName, at path: ObjectPath) {
    onLoop { $0.announceChanged(path, interface, property, withValue: true) }
  }

  /// Announces that a property has another value that not everyone may see: `PropertiesChanged` names the property without its value.
  public nonisolated func propertyInvalidated(_ property: MemberName, of interface: InterfaceName, at path: ObjectPath)
  {
    onLoop { $0.announceChanged(path, interface, property, withValue: false) }
  }

  /// Runs `body` on the loop, unless the connection has ended: nobody would see the effects, and exported objects would stay.
  nonisolated func onLoop(_ body: @escaping @Sendable (isolated Connection) -> Void) {
    if loop.isCurrent {
      assumeIsolated { if !$0.isClosed { body($0) } }
    } else {
      loop.execute { self.assumeIsolated { if !$0.isClosed { body($0) } } }
    }
  }
}

extension ObjectTree {
  /// Ends the export of all objects.
  func detachAll(from connection: Connection) {
    for (path, node) in nodes {
      for interface in node.interfaces { interface.tellProperties(false, on: connection, path) }
    }
  }
}

extension Interface {
  /// Tells the stored properties that the interface is exported at this place, or no longer.
  fileprivate func tellProperties(_ isExported: Bool, on connection: Connection, _ path: ObjectPath) {
    for attach in storedProperties { attach(connection, path, isExported) }
  }
}
