extension Introspection {
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
}
