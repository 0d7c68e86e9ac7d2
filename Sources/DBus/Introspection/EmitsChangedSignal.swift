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
