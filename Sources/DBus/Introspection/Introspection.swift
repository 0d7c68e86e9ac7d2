/// The description of an object: its interfaces, their members, and the objects below it.
///
/// The types in here are plain values. ``Node/init(xml:)`` reads the document that `org.freedesktop.DBus.Introspectable.Introspect` returns, and
/// ``Node/xml`` writes it.
///
/// ```swift
/// let node = Introspection.Node(interfaces: [
///   .init(
///     "org.example.Greeter",
///     methods: [.init("Greet", in: [.init("name", "s")], out: [.init("greeting", "s")])])
/// ])
/// let copy = try Introspection.Node(xml: node.xml)
/// print(copy == node)  // true
/// ```
///
/// Documentation travels in comments: a comment that stands directly before an element, with no blank line
/// between, is that element's documentation. The specification has no place for it, and every tool skips comments.
public enum Introspection {
  /// The depth to which the elements of a document may nest. Real documents need four levels and rarely six. A recursive reader must not run out of
  /// stack because a peer is malicious.
  public static let maximumDepth = 64

  /// The longest document that is read, in bytes. A parent of a hundred thousand objects needs half of it, and the values of a document take a few
  /// times its size in memory.
  public static let maximumLength = 8 << 20

  /// The document type declaration of the D-Bus specification, with which every written document begins.
  public static let documentType = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    """
}
