extension Introspection {
  /// An object: its interfaces, and the objects below it.
  ///
  /// ```swift
  /// let node = try Introspection.Node(xml: "<node><node name=\"book_7\"/></node>")
  /// print(node.children.compactMap(\.name))  // ["book_7"]
  /// ```
  public struct Node: Sendable, Hashable {
    /// The object's path: absolute or absent at the top of a document, relative to its parent below.
    public var name: String?
    /// The description of the object for people.
    public var documentation: String?
    /// The interfaces in the order of their declaration.
    public var interfaces: [Interface]
    /// The objects below. Most are only named; introspect them to learn more.
    public var children: [Node]

    /// Describes an object.
    public init(
      _ name: String? = nil, documentation: String? = nil, interfaces: [Interface] = [], children: [Node] = []
    ) {
      self.name = name
      self.documentation = documentation
      self.interfaces = interfaces
      self.children = children
    }
  }
}

extension Introspection.Node {
  /// Reads an introspection document.
  ///
  /// The reader skips elements and attributes that the specification does not define, and text. It refuses a name, a signature, an access or a
  /// direction that is wrong; the error names the place and the expected value.
  ///
  /// ```swift
  /// do {
  ///   _ = try Introspection.Node(xml: "<node>\n  <interface/>\n</node>")
  /// } catch {
  ///   print(error)  // line 2, column 3: expected an attribute "name" in <interface>
  /// }
  /// ```
  public init(xml: String) throws(IntrospectionError) {
    var reader = try IntrospectionReader(xml)
    self = try reader.document()
  }

  /// The introspection document.
  ///
  /// A character that XML cannot hold, such as U+0000, becomes U+FFFD. Everything else reads back the same.
  ///
  /// ```swift
  /// print(Introspection.Node(children: [.init("book_7")]).xml)
  /// // <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
  /// //   "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
  /// // <node>
  /// //   <node name="book_7"/>
  /// // </node>
  /// ```
  public var xml: String {
    var writer = IntrospectionWriter()
    writer.document(self)
    return writer.text
  }

  /// The interface of that name, if the object has it.
  public func interface(_ name: InterfaceName) -> Introspection.Interface? {
    interfaces.first { $0.name == name }
  }
}
