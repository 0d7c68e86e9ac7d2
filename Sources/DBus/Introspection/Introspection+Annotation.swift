extension Introspection {
  /// A remark about an element, for programs.
  ///
  /// ```swift
  /// let old = Introspection.Method("Hello", annotations: [.deprecated, .init("org.example.Since", "1.2")])
  /// print(old.isDeprecated, old.annotation("org.example.Since") ?? "")  // true 1.2
  /// ```
  public struct Annotation: Sendable, Hashable {
    /// The subject of the remark, spelled like an interface name.
    public var name: String
    /// The value of the remark.
    public var value: String

    /// Makes a remark.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

extension Introspection.Annotation {
  /// The element should not be used any longer.
  public static let deprecated = Self("org.freedesktop.DBus.Deprecated", "true")

  /// The method never replies.
  public static let noReply = Self("org.freedesktop.DBus.Method.NoReply", "true")

  /// The method carries file descriptors; GLib's code generator needs this annotation.
  public static let unixFD = Self("org.gtk.GDBus.C.UnixFD", "true")

  /// The content of `PropertiesChanged` for a property, or for every property of an interface.
  public static func emitsChangedSignal(_ value: EmitsChangedSignal) -> Self {
    Self("org.freedesktop.DBus.Property.EmitsChangedSignal", value.rawValue)
  }
}
