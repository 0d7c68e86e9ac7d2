/// What the elements of an introspection document have in common: they can be documented and annotated.
///
/// ```swift
/// func remarks(on element: some IntrospectionElement) -> String {
///   (element.isDeprecated ? "Deprecated. " : "") + (element.documentation ?? "")
/// }
/// ```
public protocol IntrospectionElement: Sendable, Hashable {
  /// What people should know about the element.
  var documentation: String? { get set }
  /// Remarks that programs read, in the order of their declaration.
  var annotations: [Introspection.Annotation] { get set }
}

extension IntrospectionElement {
  /// What the first annotation of that name says, if there is one.
  public func annotation(_ name: String) -> String? {
    annotations.first { $0.name == name }?.value
  }

  /// Whether nobody should use the element any longer.
  public var isDeprecated: Bool { has(.deprecated) }

  /// Whether the element is a method that never replies.
  public var hasNoReply: Bool { has(.noReply) }

  /// Whether the element carries file descriptors, as GLib's annotation has it.
  public var carriesUnixFD: Bool { has(.unixFD) }

  /// What the element's own annotation says about `PropertiesChanged`, or `nil` where it has none or an unknown one.
  ///
  /// ``Introspection/Interface/emitsChangedSignal(of:)`` is the answer that counts for a property.
  public var emitsChangedSignal: EmitsChangedSignal? {
    annotation(Introspection.Annotation.emitsChangedSignal(.true).name).flatMap(EmitsChangedSignal.init)
  }

  private func has(_ known: Introspection.Annotation) -> Bool { annotation(known.name) == known.value }
}
