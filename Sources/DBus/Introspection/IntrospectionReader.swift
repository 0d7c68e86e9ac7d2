import XML

/// Makes the values of an introspection document from its tokens.
///
/// The scanner counts open elements, and so bounds the recursion.
struct IntrospectionReader {
  var scanner: XMLScanner

  init(_ xml: String) throws(IntrospectionError) {
    do throws(XMLError) {
      scanner = try XMLScanner(
        xml, maximumLength: Introspection.maximumLength, maximumDepth: Introspection.maximumDepth)
    } catch {
      throw IntrospectionError(error)
    }
  }

  mutating func document() throws(IntrospectionError) -> Introspection.Node {
    guard let root = try nextChild() else {
      preconditionFailure("The scanner ends a document without a root with an error.")
    }
    guard root.tag.name == "node" else {
      throw IntrospectionError(
        unexpected: "expected <node> as the root, found <\(XMLText.excerpt(root.tag.name.string))>",
        at: scanner.position(of: root.tag.offset))
    }
    let node = try node(root, isRoot: true)
    while try next() != .endOfDocument {}
    return node
  }

  // MARK: Elements

  private mutating func node(_ child: Child, isRoot: Bool) throws(IntrospectionError) -> Introspection.Node {
    var node = Introspection.Node(documentation: child.documentation)
    if let name = child.tag["name"] {
      node.name = try nodeName(name, isRoot: isRoot)
    } else if !isRoot {
      throw missing("name", in: child.tag)
    }
    while let child = try nextChild() {
      switch child.tag.name {
      case "interface": node.interfaces.append(try interface(child))
      case "node": node.children.append(try self.node(child, isRoot: false))
      default: try skip()
      }
    }
    return node
  }

  private mutating func interface(_ child: Child) throws(IntrospectionError) -> Introspection.Interface {
    var interface = Introspection.Interface(try name(in: child.tag), documentation: child.documentation)
    while let child = try nextChild() {
      switch child.tag.name {
      case "method": interface.methods.append(try method(child))
      case "signal": interface.signals.append(try signal(child))
      case "property": interface.properties.append(try property(child))
      default: try annotationOrUnknown(child, of: &interface)
      }
    }
    return interface
  }

  private mutating func method(_ child: Child) throws(IntrospectionError) -> Introspection.Method {
    var method = Introspection.Method(try name(in: child.tag), documentation: child.documentation)
    while let child = try nextChild() {
      guard child.tag.name == "arg" else {
        try annotationOrUnknown(child, of: &method)
        continue
      }
      switch child.tag["direction"]?.word {
      case "in", nil: method.inArguments.append(try argument(child))
      case "out": method.outArguments.append(try argument(child))
      default: throw unexpected("direction", in: child.tag, expected: "\"in\" or \"out\"")
      }
    }
    return method
  }

  private mutating func signal(_ child: Child) throws(IntrospectionError) -> Introspection.Signal {
    var signal = Introspection.Signal(try name(in: child.tag), documentation: child.documentation)
    while let child = try nextChild() {
      guard child.tag.name == "arg" else {
        try annotationOrUnknown(child, of: &signal)
        continue
      }
      switch child.tag["direction"]?.word {
      case "out", nil: signal.arguments.append(try argument(child))
      default: throw unexpected("direction", in: child.tag, expected: "\"out\" or no direction in a signal")
      }
    }
    return signal
  }

  private mutating func property(_ child: Child) throws(IntrospectionError) -> Introspection.Property {
    let name: MemberName = try name(in: child.tag)
    let type = try type(in: child.tag)
    let word = try required("access", in: child.tag).word
    guard let access = Introspection.Access.allCases.first(where: { word == XMLName($0.rawValue) }) else {
      throw unexpected("access", in: child.tag, expected: "\"read\", \"write\" or \"readwrite\"")
    }
    var property = Introspection.Property(name, type, access: access, documentation: child.documentation)
    while let child = try nextChild() { try annotationOrUnknown(child, of: &property) }
    return property
  }

  private mutating func argument(_ child: Child) throws(IntrospectionError) -> Introspection.Argument {
    var argument = Introspection.Argument(
      child.tag["name"]?.value, try type(in: child.tag), documentation: child.documentation)
    while let child = try nextChild() { try annotationOrUnknown(child, of: &argument) }
    return argument
  }

  private mutating func annotationOrUnknown(
    _ child: Child, of element: inout some IntrospectionElement
  ) throws(IntrospectionError) {
    if child.tag.name == "annotation" {
      let name = try required("name", in: child.tag).value
      element.annotations.append(.init(name, try required("value", in: child.tag).value))
    }
    try skip()
  }
}
