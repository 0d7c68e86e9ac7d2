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
    annotations.first { $0.name == name }?.value
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
    annotation(Introspection.Annotation.emitsChangedSignal(.true).name).flatMap(EmitsChangedSignal.init)
  }

  private func has(_ known: Introspection.Annotation) -> Bool { annotation(known.name) == known.value }
}
