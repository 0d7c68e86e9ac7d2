/// What `PropertiesChanged` says when a property changes, spelled as the D-Bus specification spells it.
///
/// ```swift
/// let annotation = Introspection.Annotation.emitsChangedSignal(.invalidates)
/// print(annotation.value)  // invalidates
/// ```
public enum EmitsChangedSignal: String, Sendable, Hashable, CaseIterable {
  /// The signal carries the new value. This is what holds where nothing is said.
  case `true`
  /// The signal says that the value changed, and whoever wants it asks.
  case invalidates
  /// The property never changes while its object lives, so there is nothing to say.
  case const
  /// The property changes and no signal says so.
  case `false`
}
