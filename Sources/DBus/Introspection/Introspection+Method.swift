extension Introspection {
  /// A method of an interface.
  ///
  /// ```swift
  /// let greet = Introspection.Method("Greet", in: [.init("name", "s")], out: [.init("greeting", "s")])
  /// print(greet.inArguments.map(\.type))  // [s]
  /// ```
  public struct Method: IntrospectionElement {
    /// The method's name.
    public var name: MemberName
    /// What people should know about the method.
    public var documentation: String?
    /// Remarks that programs read.
    public var annotations: [Annotation]
    /// What the caller sends.
    public var inArguments: [Argument]
    /// What the reply holds.
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
}
