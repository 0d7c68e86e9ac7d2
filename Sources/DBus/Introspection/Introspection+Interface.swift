extension Introspection {
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
  }
}

extension Introspection.Interface {
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
