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

// MARK: - Steps

/// The steps through a document that the reading of an element consists of.
extension IntrospectionReader {
  /// The beginning of an element, and the comment directly before it.
  struct Child {
    let tag: XMLTag
    let comment: XMLComment?

    /// Converted only when it is needed: most comments in foreign documents describe nothing that we keep.
    var documentation: String? { comment.map(DocumentationComment.read) }
  }

  /// The next element inside the open one, or `nil` at the end of the open one.
  mutating func nextChild() throws(IntrospectionError) -> Child? {
    var comment: XMLComment?
    while true {
      switch try next() {
      case .start(let tag): return Child(tag: tag, comment: comment)
      case .end, .endOfDocument: return nil
      case .comment(let found): comment = found
      case .text(let text): if !isLineBreak(text) { comment = nil }
      case .declaration: comment = nil
      }
    }
  }

  /// Skips to the end of the open element.
  mutating func skip() throws(IntrospectionError) {
    var open = 1
    while open > 0 {
      switch try next() {
      case .start: open += 1
      case .end: open -= 1
      case .text, .comment, .declaration, .endOfDocument: break
      }
    }
  }

  mutating func next() throws(IntrospectionError) -> XMLToken {
    do throws(XMLError) { return try scanner.next() } catch { throw IntrospectionError(error) }
  }

  /// White space without a blank line: a comment before it belongs to the element after it.
  private func isLineBreak(_ text: String) -> Bool {
    var lines = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"): lines += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      default: return false
      }
    }
    return lines < 2
  }
}

// MARK: - Attributes

/// Reads the values of attributes, checks each, and names their places in errors.
extension IntrospectionReader {
  func name<Name: ValidatedName>(in tag: XMLTag) throws(IntrospectionError) -> Name {
    try name(try required("name", in: tag))
  }

  func name<Name: ValidatedName>(_ attribute: XMLAttribute) throws(IntrospectionError) -> Name {
    do throws(InvalidName) {
      return try Name(attribute.value)
    } catch {
      throw IntrospectionError(error, at: scanner.position(of: attribute.valueOffset))
    }
  }

  func type(in tag: XMLTag) throws(IntrospectionError) -> Signature {
    let attribute = try required("type", in: tag)
    let type: Signature = try name(attribute)
    if type.isSingleCompleteType { return type }
    let count = type.completeTypes.count
    let fault = count == 0 ? "it is empty" : "it stands for \(count) values"
    throw IntrospectionError(
      InvalidName(text: type.rawValue, kind: "single complete type", fault: fault),
      at: scanner.position(of: attribute.valueOffset))
  }

  /// A node's name is a path; below the root it may be elements of a path.
  func nodeName(_ attribute: XMLAttribute, isRoot: Bool) throws(IntrospectionError) -> String {
    let text = attribute.value
    let isAbsolute = text.utf8.first == UInt8(ascii: "/")
    let fault =
      if isAbsolute {
        isRoot ? ObjectPath.fault(in: text) : "it begins with \"/\""
      } else {
        text.isEmpty ? "it is empty" : ObjectPath.fault(in: "/" + text)
      }
    guard let fault else { return text }
    throw IntrospectionError(
      InvalidName(text: text, kind: isAbsolute && isRoot ? "object path" : "relative object path", fault: fault),
      at: scanner.position(of: attribute.valueOffset))
  }

  func required(_ name: XMLName, in tag: XMLTag) throws(IntrospectionError) -> XMLAttribute {
    guard let attribute = tag[name] else { throw missing(name, in: tag) }
    return attribute
  }

  func missing(_ name: XMLName, in tag: XMLTag) -> IntrospectionError {
    IntrospectionError(
      unexpected: "expected an attribute \"\(name)\" in <\(tag.name)>", at: scanner.position(of: tag.offset))
  }

  func unexpected(_ name: XMLName, in tag: XMLTag, expected: String) -> IntrospectionError {
    let attribute = tag[name]
    return IntrospectionError(
      unexpected: "expected \(expected), found \"\(XMLText.excerpt(attribute?.value ?? ""))\"",
      at: scanner.position(of: attribute?.valueOffset ?? tag.offset))
  }
}
