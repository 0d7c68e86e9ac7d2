extension Introspection {
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
}
