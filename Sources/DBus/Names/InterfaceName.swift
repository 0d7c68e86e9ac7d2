/// The name of an interface: two or more elements between dots, such as `org.freedesktop.DBus.Peer`.
///
/// ```swift
/// let interface: InterfaceName = "org.example.Greeter"
/// print(interface)
/// ```
public struct InterfaceName: ValidatedName {
  /// The name, in its spelling on the wire.
  public let rawValue: String

  /// Wraps a string that is known to be a valid interface name.
  public init(unchecked rawValue: String) { self.rawValue = rawValue }

  /// The interface of the message bus itself.
  package static let bus: InterfaceName = "org.freedesktop.DBus"

  /// "interface name"
  public static var kind: String { "interface name" }

  /// The fault of `text` as an interface name.
  public static func fault(in text: String) -> String? {
    faultInDottedName(text, allowHyphen: false, allowLeadingDigit: false)
  }
}
