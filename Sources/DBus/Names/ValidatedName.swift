/// A string that was checked once, when it was made, against the rules of the D-Bus specification.
///
/// Names in your source are literals, and an invalid one traps. Names from elsewhere go through ``init(_:)``, which throws ``InvalidName``.
///
/// ```swift
/// let path: ObjectPath = "/org/example/Greeter"
/// let typed = readLine() ?? "org.example.Greeter"
/// let name = try BusName(typed)
/// print(path, name.rawValue)
/// ```
public protocol ValidatedName: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name, in its spelling on the wire.
  var rawValue: String { get }

  /// Wraps a string that is known to be valid.
  ///
  /// Use it only for a name that a bus has already checked, or that this module has composed: libdbus ends the process when it gets an invalid name.
  init(unchecked rawValue: String)

  /// The fault of `text`, in words that finish the sentence "… is not an object path: ", or `nil`.
  static func fault(in text: String) -> String?

  /// The kind of this name, for people: "object path".
  static var kind: String { get }
}

extension ValidatedName {
  /// Checks `text`.
  ///
  /// ```swift
  /// let typed = "no/slash/in/front"
  /// do {
  ///   _ = try ObjectPath(typed)
  /// } catch {
  ///   print(error)  // "no/slash/in/front" is not an object path: it does not begin with "/"
  /// }
  /// ```
  public init(_ text: String) throws(InvalidName) {
    if let fault = Self.fault(in: text) {
      throw InvalidName(text: text, kind: Self.kind, fault: fault)
    }
    self.init(unchecked: text)
  }

  /// A name written in source. An invalid one is a programming error and traps.
  public init(stringLiteral text: String) {
    if let fault = Self.fault(in: text) {
      preconditionFailure("\(InvalidName(text: text, kind: Self.kind, fault: fault))")
    }
    self.init(unchecked: text)
  }

  /// The name itself.
  public var description: String { rawValue }

  /// Orders names byte by byte.
  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
  }
}

/// A string that is not a valid name of its kind.
///
/// ```swift
/// let error = InvalidName(text: "Hello!", kind: "member name", fault: "it has a \"!\"")
/// print(error)  // "Hello!" is not a member name: it has a "!"
/// ```
public struct InvalidName: Error, Sendable, Hashable, CustomStringConvertible {
  /// The string.
  public let text: String
  /// The kind of name: "object path", "bus name" and so on.
  public let kind: String
  /// The fault of the string.
  public let fault: String

  /// Describes a string that failed its check.
  public init(text: String, kind: String, fault: String) {
    self.text = text
    self.kind = kind
    self.fault = fault
  }

  /// One sentence that stands by itself.
  public var description: String {
    let article = kind.hasPrefix("i") || kind.hasPrefix("o") || kind.hasPrefix("e") ? "an" : "a"
    return "\(quoted(text)) is not \(article) \(kind): \(fault)"
  }
}

/// The fault of a text with too many bytes. The specification allows the usual limit to bus, interface, member and error names.
func faultOfLength(_ count: Int, limit: Int = 255) -> String? {
  count > limit ? "it has \(count) bytes, and \(limit) is the limit" : nil
}

/// The common rules of interface, error and well-known bus names: elements between dots.
func faultInDottedName(_ text: String, allowHyphen: Bool, allowLeadingDigit: Bool) -> String? {
  let bytes = text.utf8
  if bytes.isEmpty { return "it is empty" }
  if let fault = faultOfLength(bytes.count) { return fault }
  var elements = 1
  var elementIsEmpty = true
  for byte in bytes {
    if byte == UInt8(ascii: ".") {
      if elementIsEmpty { return elements == 1 ? "it begins with a dot" : "it has two dots in a row" }
      elements += 1
      elementIsEmpty = true
    } else {
      let isFirst = elementIsEmpty
      elementIsEmpty = false
      if byte == UInt8(ascii: "-") && allowHyphen { continue }
      if !isNameByte(byte) { return fault(ofByteIn: text, allowHyphen: allowHyphen) }
      if isFirst && !allowLeadingDigit && isDigit(byte) { return "an element begins with a digit" }
    }
  }
  if elementIsEmpty { return "it ends with a dot" }
  if elements < 2 { return "it has no dot" }
  return nil
}

/// Names the first character that is not allowed in a name.
func fault(ofByteIn text: String, allowHyphen: Bool = false, allowSlash: Bool = false) -> String {
  let offender = text.unicodeScalars.first { scalar in
    guard scalar.isASCII, let byte = UInt8(exactly: scalar.value) else { return true }
    if byte == UInt8(ascii: "-") { return !allowHyphen }
    if byte == UInt8(ascii: "/") { return !allowSlash }
    return !isNameByte(byte) && byte != UInt8(ascii: ".")
  }
  guard let offender else { return "it has a character that may not stand there" }
  return offender.value < 0x20 || offender.value == 0x7F
    ? "it has the control character U+\(hexadecimal(offender.value))"
    : "it has a \"\(offender)\""
}

/// `[A-Za-z0-9_]`
func isNameByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
  default: isDigit(byte)
  }
}

func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

func hexadecimal(_ value: UInt32) -> String {
  let digits = String(value, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
