package import DBus

/// The members of interfaces as lines to compare: one for each member, with everything that a caller has to know about it.
package struct InterfaceLines {
  /// Each line begins with a name such as `Interchange1.Drop`.
  package private(set) var lines: Set<String> = []

  package init(_ interfaces: some Sequence<Introspection.Interface>) {
    for interface in interfaces {
      let name = interface.name.rawValue.split(separator: ".").last ?? ""
      for method in interface.methods {
        let taken = Self.list(method.inArguments)
        let remarks = method.annotations.map { " [\($0.name) \($0.value)]" }.sorted().joined()
        lines.insert("\(name).\(method.name): method (\(taken)) -> (\(Self.list(method.outArguments)))\(remarks)")
      }
      for property in interface.properties {
        let emits = interface.emitsChangedSignal(of: property)
        lines.insert("\(name).\(property.name): property \(property.type) \(property.access.rawValue) emits \(emits)")
      }
      for signal in interface.signals {
        lines.insert("\(name).\(signal.name): signal (\(Self.list(signal.arguments)))")
      }
    }
  }

  private static func list(_ arguments: [Introspection.Argument]) -> String {
    arguments.map { "\($0.name ?? "?"): \($0.type)" }.joined(separator: ", ")
  }
}

extension Introspection.Interface {
  /// Whether the interface is one of Stagedoor's own, and not one of D-Bus's.
  package var isStagedoors: Bool { name.rawValue.hasPrefix("org.stagedoor.") }
}
