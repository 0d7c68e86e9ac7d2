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
}
