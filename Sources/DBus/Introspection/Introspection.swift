/// The description of an object: its interfaces, their members, and the objects below it.
///
/// The types in here are plain values. ``Node/init(xml:)`` reads the document that `org.freedesktop.DBus.Introspectable.Introspect` returns, and
/// ``Node/xml`` writes it.
///
/// ```swift
/// let node = Introspection.Node(interfaces: [
///   .init(
///     "org.example.Greeter",
///     methods: [.init("Greet", in: [.init("name", "s")], out: [.init("greeting", "s")])])
/// ])
/// let copy = try Introspection.Node(xml: node.xml)
/// print(copy == node)  // true
/// ```
///
/// Documentation travels in comments: a comment that stands directly before an element, with no blank line
/// between, is that element's documentation. The specification has no place for it, and every tool skips comments.
public enum Introspection {
  /// The depth to which the elements of a document may nest. Real documents need four levels and rarely six. A recursive reader must not run out of
  /// stack because a peer is malicious.
  public static let maximumDepth = 64

  /// The longest document that is read, in bytes. A parent of a hundred thousand objects needs half of it, and the values of a document take a few
  /// times its size in memory.
  public static let maximumLength = 8 << 20

  /// The document type declaration of the D-Bus specification, with which every written document begins.
  public static let documentType = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    """
}

// MARK: - The parts of a document

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

  /// An interface: methods to call, signals to watch, properties to read and write.
  ///
  /// ```swift
  /// let lamp = Introspection.Interface(
  ///   "org.example.Lamp",
  ///   methods: [.init("Toggle")],
  ///   properties: [.init("Brightness", "d", access: .readWrite)])
  /// print(lamp.property("Brightness")?.type ?? "")  // d
  /// ```
  public struct Interface: IntrospectionElement {
    /// The interface's name.
    public var name: InterfaceName
    /// The description of the interface for people.
    public var documentation: String?
    /// Remarks for programs.
    public var annotations: [Annotation]
    /// The methods in the order of their declaration. Some services have several methods of one name.
    public var methods: [Method]
    /// The signals in the order of their declaration.
    public var signals: [Signal]
    /// The properties in the order of their declaration.
    public var properties: [Property]

    /// Describes an interface.
    public init(
      _ name: InterfaceName, documentation: String? = nil, annotations: [Annotation] = [], methods: [Method] = [],
      signals: [Signal] = [], properties: [Property] = []
    ) {
      self.name = name
      self.documentation = documentation
      self.annotations = annotations
      self.methods = methods
      self.signals = signals
      self.properties = properties
    }

    /// The first method of that name, if there is one.
    public func method(_ name: MemberName) -> Method? { methods.first { $0.name == name } }

    /// The first signal of that name, if there is one.
    public func signal(_ name: MemberName) -> Signal? { signals.first { $0.name == name } }

    /// The property of that name, if there is one.
    public func property(_ name: MemberName) -> Property? { properties.first { $0.name == name } }

    /// The content of `PropertiesChanged` when one of this interface's properties changes: according to the property's annotation, or else the
    /// interface's, or else with the new value.
    ///
    /// ```swift
    /// let version = Introspection.Property("Version", "u", annotations: [.emitsChangedSignal(.const)])
    /// let interface = Introspection.Interface("org.example.Lamp", properties: [version])
    /// print(interface.emitsChangedSignal(of: version))  // const
    /// ```
    public func emitsChangedSignal(of property: Introspection.Property) -> EmitsChangedSignal {
      property.emitsChangedSignal ?? emitsChangedSignal ?? .true
    }
  }

  /// A method of an interface.
  ///
  /// ```swift
  /// let greet = Introspection.Method("Greet", in: [.init("name", "s")], out: [.init("greeting", "s")])
  /// print(greet.inArguments.map(\.type))  // [s]
  /// ```
  public struct Method: IntrospectionElement {
    /// The method's name.
    public var name: MemberName
    /// The description of the method for people.
    public var documentation: String?
    /// Remarks for programs.
    public var annotations: [Annotation]
    /// The arguments that the caller sends.
    public var inArguments: [Argument]
    /// The values of the reply.
    public var outArguments: [Argument]

    /// Describes a method.
    public init(
      _ name: MemberName, documentation: String? = nil, annotations: [Annotation] = [],
      in inArguments: [Argument] = [], out outArguments: [Argument] = []
    ) {
      self.name = name
      self.documentation = documentation
      self.annotations = annotations
      self.inArguments = inArguments
      self.outArguments = outArguments
    }
  }

  /// A signal of an interface.
  ///
  /// ```swift
  /// let lent = Introspection.Signal("Lent", [.init("book", "o"), .init("to", "s")])
  /// print(lent.arguments.count)  // 2
  /// ```
  public struct Signal: IntrospectionElement {
    /// The signal's name.
    public var name: MemberName
    /// The description of the signal for people.
    public var documentation: String?
    /// Remarks for programs.
    public var annotations: [Annotation]
    /// The values that the signal carries.
    public var arguments: [Argument]

    /// Describes a signal.
    public init(
      _ name: MemberName, documentation: String? = nil, annotations: [Annotation] = [], _ arguments: [Argument] = []
    ) {
      self.name = name
      self.documentation = documentation
      self.annotations = annotations
      self.arguments = arguments
    }
  }

  /// A property of an interface.
  ///
  /// ```swift
  /// let brightness = Introspection.Property("Brightness", "d", access: .readWrite)
  /// print(brightness.access.isWritable)  // true
  /// ```
  public struct Property: IntrospectionElement {
    /// The property's name.
    public var name: MemberName
    /// The description of the property for people.
    public var documentation: String?
    /// Remarks for programs.
    public var annotations: [Annotation]
    /// The type of its value: exactly one complete type.
    public var type: Signature
    /// How others may use it.
    public var access: Access

    /// Describes a property.
    public init(
      _ name: MemberName, _ type: Signature, access: Access = .read, documentation: String? = nil,
      annotations: [Annotation] = []
    ) {
      self.name = name
      self.documentation = documentation
      self.annotations = annotations
      self.type = type
      self.access = access
    }
  }

  /// How others may use a property.
  ///
  /// ```swift
  /// print(Introspection.Access(rawValue: "readwrite") == .readWrite)  // true
  /// ```
  public enum Access: String, Sendable, Hashable, CaseIterable {
    /// Only read it.
    case read
    /// Only write it.
    case write
    /// Read it and write it.
    case readWrite = "readwrite"

    /// Whether `Get` works.
    public var isReadable: Bool { self != .write }
    /// Whether `Set` works.
    public var isWritable: Bool { self != .read }
  }

  /// One value that a method takes or returns, or that a signal carries.
  ///
  /// ```swift
  /// let data = Introspection.Argument("data", "h", documentation: "The read end of a pipe.")
  /// let nameless = Introspection.Argument(nil, "a{sv}")
  /// print(data.type, nameless.type)  // h a{sv}
  /// ```
  public struct Argument: IntrospectionElement {
    /// The name of the argument for people. The wire does not carry it, and many services leave it out.
    public var name: String?
    /// The description of the argument for people.
    public var documentation: String?
    /// Remarks for programs.
    public var annotations: [Annotation]
    /// Its type: exactly one complete type.
    public var type: Signature

    /// Describes an argument.
    public init(_ name: String?, _ type: Signature, documentation: String? = nil, annotations: [Annotation] = []) {
      self.name = name
      self.documentation = documentation
      self.annotations = annotations
      self.type = type
    }
  }

  /// A remark about an element, for programs.
  ///
  /// ```swift
  /// let old = Introspection.Method("Hello", annotations: [.deprecated, .init("org.example.Since", "1.2")])
  /// print(old.isDeprecated, old.annotation("org.example.Since") ?? "")  // true 1.2
  /// ```
  public struct Annotation: Sendable, Hashable {
    /// The subject of the remark, spelled like an interface name.
    public var name: String
    /// The value of the remark.
    public var value: String

    /// Makes a remark.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    /// The element should not be used any longer.
    public static let deprecated = Self("org.freedesktop.DBus.Deprecated", "true")

    /// The method never replies.
    public static let noReply = Self("org.freedesktop.DBus.Method.NoReply", "true")

    /// The method carries file descriptors; GLib's code generator needs this annotation.
    public static let unixFD = Self("org.gtk.GDBus.C.UnixFD", "true")

    /// The content of `PropertiesChanged` for a property, or for every property of an interface.
    public static func emitsChangedSignal(_ value: EmitsChangedSignal) -> Self {
      Self("org.freedesktop.DBus.Property.EmitsChangedSignal", value.rawValue)
    }
  }
}

// MARK: - What elements have in common

/// The common part of the elements of an introspection document: they can be documented and annotated.
///
/// ```swift
/// func remarks(on element: some IntrospectionElement) -> String {
///   (element.isDeprecated ? "Deprecated. " : "") + (element.documentation ?? "")
/// }
/// ```
public protocol IntrospectionElement: Sendable, Hashable {
  /// The description of the element for people.
  var documentation: String? { get set }
  /// Remarks for programs, in the order of their declaration.
  var annotations: [Introspection.Annotation] { get set }
}

extension IntrospectionElement {
  /// The value of the first annotation of that name, if there is one.
  public func annotation(_ name: String) -> String? {
    annotations.first { areEqual($0.name, name) }?.value
  }

  /// Whether the element should not be used any longer.
  public var isDeprecated: Bool { has(.deprecated) }

  /// Whether the element is a method that never replies.
  public var hasNoReply: Bool { has(.noReply) }

  /// Whether the element carries file descriptors, according to GLib's annotation.
  public var carriesUnixFD: Bool { has(.unixFD) }

  /// The element's own annotation about `PropertiesChanged`, or `nil` if it has none or an unknown one.
  ///
  /// ``Introspection/Interface/emitsChangedSignal(of:)`` is the answer that counts for a property.
  public var emitsChangedSignal: EmitsChangedSignal? {
    annotation(Introspection.Annotation.emitsChangedSignal(.true).name).flatMap { value in
      EmitsChangedSignal.allCases.first { areEqual($0.rawValue, value) }
    }
  }

  private func has(_ known: Introspection.Annotation) -> Bool {
    annotation(known.name).map { areEqual($0, known.value) } ?? false
  }
}

/// Byte by byte: the text may come from a peer, and Swift compares strings in a time that grows with the square of a run of accents.
private func areEqual(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

/// The content of `PropertiesChanged` when a property changes, spelled as in the D-Bus specification.
///
/// ```swift
/// let annotation = Introspection.Annotation.emitsChangedSignal(.invalidates)
/// print(annotation.value)  // invalidates
/// ```
public enum EmitsChangedSignal: String, Sendable, Hashable, CaseIterable {
  /// The signal carries the new value. This is the default.
  case `true`
  /// The signal names the property without its value.
  case invalidates
  /// The property never changes while its object lives, so there is no signal.
  case const
  /// The property changes without a signal.
  case `false`
}
