extension Introspection {
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
}
