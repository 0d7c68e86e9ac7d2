import XML

/// Prints an introspection document in the form that the specification and the usual tools use.
///
/// In each element annotations come first, then methods, signals and properties, each in the order of declaration. busctl refuses text between
/// elements, so there is only white space.
struct IntrospectionWriter {
  private(set) var text = ""
  private var depth = 0

  mutating func document(_ node: Introspection.Node) {
    text += Introspection.documentType + "\n"
    self.node(node)
  }

  private mutating func node(_ node: Introspection.Node) {
    comment(node.documentation)
    let isEmpty = node.interfaces.isEmpty && node.children.isEmpty
    element("node", [("name", node.name)], isEmpty: isEmpty) { writer in
      for interface in node.interfaces { writer.interface(interface) }
      for child in node.children { writer.node(child) }
    }
  }

  private mutating func interface(_ interface: Introspection.Interface) {
    let isEmpty = interface.methods.isEmpty && interface.signals.isEmpty && interface.properties.isEmpty
    annotated("interface", [("name", interface.name.rawValue)], interface, isEmpty: isEmpty) { writer in
      for method in interface.methods { writer.method(method) }
      for signal in interface.signals { writer.signal(signal) }
      for property in interface.properties { writer.property(property) }
    }
  }

  private mutating func method(_ method: Introspection.Method) {
    let isEmpty = method.inArguments.isEmpty && method.outArguments.isEmpty
    annotated("method", [("name", method.name.rawValue)], method, isEmpty: isEmpty) { writer in
      for argument in method.inArguments { writer.argument(argument, direction: "in") }
      for argument in method.outArguments { writer.argument(argument, direction: "out") }
    }
  }

  private mutating func signal(_ signal: Introspection.Signal) {
    annotated("signal", [("name", signal.name.rawValue)], signal, isEmpty: signal.arguments.isEmpty) { writer in
      for argument in signal.arguments { writer.argument(argument, direction: nil) }
    }
  }

  private mutating func property(_ property: Introspection.Property) {
    let attributes = [
      ("name", property.name.rawValue), ("type", property.type.rawValue), ("access", property.access.rawValue),
    ]
    annotated("property", attributes, property)
  }

  private mutating func argument(_ argument: Introspection.Argument, direction: String?) {
    let attributes = [("name", argument.name), ("type", argument.type.rawValue), ("direction", direction)]
    annotated("arg", attributes, argument)
  }

  private mutating func annotated(
    _ name: String, _ attributes: [(String, String?)], _ subject: some IntrospectionElement, isEmpty: Bool = true,
    content: (inout Self) -> Void = { _ in }
  ) {
    comment(subject.documentation)
    element(name, attributes, isEmpty: isEmpty && subject.annotations.isEmpty) { writer in
      for annotation in subject.annotations {
        writer.element("annotation", [("name", annotation.name), ("value", annotation.value)], isEmpty: true)
      }
      content(&writer)
    }
  }

  private mutating func element(
    _ name: String, _ attributes: [(String, String?)], isEmpty: Bool, content: (inout Self) -> Void = { _ in }
  ) {
    indent()
    text += "<\(name)"
    for case (let key, let value?) in attributes {
      text += " \(key)=\""
      XMLText.append(attribute: value, to: &text)
      text += "\""
    }
    if isEmpty {
      text += "/>\n"
      return
    }
    text += ">\n"
    depth += 1
    content(&self)
    depth -= 1
    indent()
    text += "</\(name)>\n"
  }

  private mutating func comment(_ documentation: String?) {
    guard let documentation else { return }
    indent()
    text += DocumentationComment.print(documentation, indentation: 2 * depth)
    text += "\n"
  }

  private mutating func indent() {
    for _ in 0..<depth { text += "  " }
  }
}
