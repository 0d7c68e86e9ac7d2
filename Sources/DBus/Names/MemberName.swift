/// The name of a method, a signal or a property: one element, such as `GetAll`.
///
/// ```swift
/// let member: MemberName = "Greet"
/// print(member)
/// ```
public struct MemberName: ValidatedName {
  /// The name, in its spelling on the wire.
  public let rawValue: String

  /// Wraps a string that is known to be a valid member name.
  public init(unchecked rawValue: String) { self.rawValue = rawValue }

  /// "member name"
  public static var kind: String { "member name" }

  /// The fault of `text` as a member name.
  public static func fault(in text: String) -> String? {
    let bytes = text.utf8
    guard let first = bytes.first else { return "it is empty" }
    if let fault = faultOfLength(bytes.count) { return fault }
    if isDigit(first) { return "it begins with a digit" }
    if bytes.contains(UInt8(ascii: ".")) { return "it has a dot" }
    return bytes.allSatisfy(isNameByte) ? nil : DBus.fault(ofByteIn: text)
  }
}
