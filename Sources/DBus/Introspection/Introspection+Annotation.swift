extension Introspection {
  /// A remark about an element that programs read.
  ///
  /// ```swift
  /// let old = Introspection.Method("Hello", annotations: [.deprecated, .init("org.example.Since", "1.2")])
  /// print(old.isDeprecated, old.annotation("org.example.Since") ?? "")  // true 1.2
  /// ```
  public struct Annotation: Sendable, Hashable {
    /// What the remark is about, named as interfaces are.
    public var name: String
    /// What it says.
    public var value: String

    /// Makes a remark.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

extension Introspection.Annotation {
  /// Nobody should use the element any longer.
  public static let deprecated = Self("org.freedesktop.DBus.Deprecated", "true")

  /// The method never replies.
  public static let noReply = Self("org.freedesktop.DBus.Method.NoReply", "true")

  /// The method carries file descriptors: GLib's code generator has to know.
  public static let unixFD = Self("org.gtk.GDBus.C.UnixFD", "true")

  /// What `PropertiesChanged` says about a property, or about every property of an interface.
  public static func emitsChangedSignal(_ value: EmitsChangedSignal) -> Self {
    Self("org.freedesktop.DBus.Property.EmitsChangedSignal", value.rawValue)
  }
}
