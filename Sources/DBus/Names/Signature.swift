/// The types of a message's body, or of one value, in D-Bus's own letters.
///
/// ```swift
/// let signature: Signature = "sa{sv}"
/// print(signature.completeTypes)  // [s, a{sv}]
/// print(Signature.of([String: Int32].self))  // a{si}
/// ```
public struct Signature: ValidatedName {
  /// The signature, in its spelling on the wire.
  public let rawValue: String

  /// Wraps a string that is known to be a valid signature.
  public init(unchecked rawValue: String) { self.rawValue = rawValue }

  /// The signature without types.
  public static let empty: Signature = ""

  /// "signature"
  public static var kind: String { "signature" }

  /// The signature of a sequence of values.
  public static func of<each Value: BusValue>(_ types: repeat (each Value).Type) -> Signature {
    var text = ""
    for type in repeat each types { text += type.signature.rawValue }
    return Signature(unchecked: text)
  }

  /// The signature of the values of one message. It may have a fault if a value has a type of its own.
  static func checked<each Value: BusValue>(of types: repeat (each Value).Type) throws(CodingError) -> Signature {
    let signature = of(repeat each types)
    // Most messages have one letter, and the types of this module are valid.
    if signature.rawValue.utf8.count > 1, let fault = fault(in: signature.rawValue) {
      throw .invalidSignature(InvalidName(text: signature.rawValue, kind: kind, fault: fault))
    }
    return signature
  }

  /// The fault of `text` as a signature, including nesting and length beyond the specification.
  public static func fault(in text: String) -> String? {
    var parser = SignatureParser(text)
    return parser.faultOfWhole()
  }

  /// The complete types, one for each value.
  public var completeTypes: [Signature] {
    let bytes = Array(rawValue.utf8)
    var types: [Signature] = []
    var start = 0
    while start < bytes.count {
      let end = SignatureParser.endOfType(in: bytes, from: start)
      types.append(Signature(unchecked: String(decoding: bytes[start..<end], as: UTF8.self)))
      start = end
    }
    return types
  }

  /// Whether this is the signature of exactly one value.
  public var isSingleCompleteType: Bool {
    let bytes = Array(rawValue.utf8)
    return !bytes.isEmpty && SignatureParser.endOfType(in: bytes, from: 0) == bytes.count
  }

  /// The element of an array, or the members of a structure or a dictionary entry; nothing for other types.
  var contents: [Signature] {
    switch rawValue.utf8.first {
    case UInt8(ascii: "a"): [Signature(unchecked: String(rawValue.dropFirst()))]
    case UInt8(ascii: "("), UInt8(ascii: "{"):
      Signature(unchecked: String(rawValue.dropFirst().dropLast())).completeTypes
    default: []
    }
  }
}

extension Signature {
  /// The longest signature, in bytes.
  public static let maximumLength = 255
  /// The depth to which arrays may nest in a signature, and also structures.
  public static let maximumDepth = 32
}

/// Parses a signature once, from left to right, and finds its fault.
struct SignatureParser {
  private let bytes: [UInt8]
  private var index = 0
  private var arrays = 0
  private var structures = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func faultOfWhole() -> String? {
    if let fault = faultOfLength(bytes.count, limit: Signature.maximumLength) { return fault }
    while index < bytes.count {
      if let fault = faultOfType() { return fault }
    }
    return nil
  }

  /// The limits that this checks bound the depth of the recursion.
  private mutating func faultOfType() -> String? {
    guard index < bytes.count else { return "it ends where a type is expected" }
    let code = bytes[index]
    index += 1
    switch code {
    case UInt8(ascii: "a"):
      arrays += 1
      defer { arrays -= 1 }
      if arrays > Signature.maximumDepth { return "arrays nest deeper than \(Signature.maximumDepth)" }
      return index < bytes.count && bytes[index] == UInt8(ascii: "{") ? faultOfEntry() : faultOfType()
    case UInt8(ascii: "("):
      structures += 1
      defer { structures -= 1 }
      if structures > Signature.maximumDepth { return "structures nest deeper than \(Signature.maximumDepth)" }
      if index < bytes.count, bytes[index] == UInt8(ascii: ")") { return "a structure has no members" }
      while index < bytes.count, bytes[index] != UInt8(ascii: ")") {
        if let fault = faultOfType() { return fault }
      }
      guard index < bytes.count else { return "a \"(\" is not closed" }
      index += 1
      return nil
    default:
      if Self.isBasic(code) || code == UInt8(ascii: "v") { return nil }
      return code >= 0x20 && code < 0x7F
        ? "\"\(Character(UnicodeScalar(code)))\" at \(index) is no type"
        : "the byte 0x\(code < 16 ? "0" : "")\(String(code, radix: 16, uppercase: true)) at \(index) is no type"
    }
  }

  private mutating func faultOfEntry() -> String? {
    index += 1
    structures += 1
    defer { structures -= 1 }
    if structures > Signature.maximumDepth { return "structures nest deeper than \(Signature.maximumDepth)" }
    guard index < bytes.count, Self.isBasic(bytes[index]) else { return "a dictionary's key is not a basic type" }
    index += 1
    if index < bytes.count, bytes[index] == UInt8(ascii: "}") { return "a dictionary has no value type" }
    if let fault = faultOfType() { return fault }
    guard index < bytes.count, bytes[index] == UInt8(ascii: "}") else { return "a \"{\" is not closed after two types" }
    index += 1
    return nil
  }

  static func isBasic(_ code: UInt8) -> Bool {
    switch code {
    case UInt8(ascii: "y"), UInt8(ascii: "b"), UInt8(ascii: "n"), UInt8(ascii: "q"), UInt8(ascii: "i"),
      UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "s"),
      UInt8(ascii: "o"), UInt8(ascii: "g"), UInt8(ascii: "h"):
      true
    default: false
    }
  }

  /// The end of the complete type that begins at `start`, in a valid signature.
  static func endOfType<Letters: Collection<UInt8>>(in bytes: Letters, from start: Int) -> Int
  where Letters.Index == Int {
    var index = start
    while index < bytes.endIndex, bytes[index] == UInt8(ascii: "a") { index += 1 }
    var open = 0
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "("), UInt8(ascii: "{"): open += 1
      case UInt8(ascii: ")"), UInt8(ascii: "}"): open -= 1
      default: break
      }
      index += 1
      if open == 0 { break }
    }
    return index
  }
}
