/// The name of a connection on a bus: unique (`:1.42`), or well known (`org.example.Greeter`).
///
/// ```swift
/// let greeter: BusName = "org.example.Greeter"
/// print(greeter.isUnique)  // false
/// print(BusName.bus)       // org.freedesktop.DBus
/// ```
public struct BusName: ValidatedName {
  /// The name, in its spelling on the wire.
  public let rawValue: String

  /// Wraps a string that is known to be a valid bus name.
  public init(unchecked rawValue: String) { self.rawValue = rawValue }

  /// The name of the message bus itself.
  public static let bus: BusName = "org.freedesktop.DBus"

  /// Whether the bus gave this name to one connection, for the life of that connection.
  public var isUnique: Bool { rawValue.utf8.first == UInt8(ascii: ":") }

  /// "bus name"
  public static var kind: String { "bus name" }

  /// The fault of `text` as a bus name.
  public static func fault(in text: String) -> String? {
    guard text.utf8.first == UInt8(ascii: ":") else {
      return faultInDottedName(text, allowHyphen: true, allowLeadingDigit: false)
    }
    if let fault = faultOfLength(text.utf8.count) { return fault }
    // Not `dropFirst`: a combining mark after the colon forms one character with it.
    guard let rest = String(text.utf8.dropFirst()), !rest.isEmpty else { return "it has nothing after the \":\"" }
    return faultInDottedName(rest, allowHyphen: true, allowLeadingDigit: true)
  }
}
