import DBus
import DaemonTestSupport

/// An interface document of this repository, and the documentation of its elements.
enum InterfaceFile: String, CaseIterable {
  case interchange = "dbus/org.stagedoor.Interchange1.xml"
  case sceneHost = "dbus/org.stagedoor.SceneHost1.xml"
  case understudy = "dbus/org.stagedoor.Understudy1.xml"

  func node() throws -> Introspection.Node { try Introspection.Node(xml: Repository.text(of: rawValue)) }

  /// An element by name, such as `SceneSession1.Destroy`, and its documentation.
  struct Element {
    let name: String
    let documentation: String?
  }

  /// The document, its interfaces and their members, without their arguments.
  static func elements(of node: Introspection.Node) -> [Element] {
    [Element(name: "node", documentation: node.documentation)]
      + node.interfaces.flatMap { interface in
        let name = "\(interface.name)"
        return [Element(name: name, documentation: interface.documentation)]
          + interface.methods.map { Element(name: "\(name).\($0.name)", documentation: $0.documentation) }
          + interface.signals.map { Element(name: "\(name).\($0.name)", documentation: $0.documentation) }
          + interface.properties.map { Element(name: "\(name).\($0.name)", documentation: $0.documentation) }
      }
  }

  static func arguments(of node: Introspection.Node) -> [Element] {
    node.interfaces.flatMap { interface in
      let methods = interface.methods.map { ($0.name, $0.inArguments + $0.outArguments) }
      let signals = interface.signals.map { ($0.name, $0.arguments) }
      return (methods + signals).flatMap { member, arguments in
        arguments.map {
          Element(name: "\(interface.name).\(member).\($0.name ?? "")", documentation: $0.documentation)
        }
      }
    }
  }
}
