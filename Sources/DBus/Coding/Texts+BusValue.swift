/// A basic type whose values stand in a variant as they are.
protocol PlainBusValue: BasicBusValue {
  static var wireType: WireType { get }
  /// The value in a variant; `nil` if the variant holds another type.
  static func held(by variant: Variant) -> Self?
}

extension PlainBusValue {
  /// The value that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard let value = Self.held(by: variant) else {
      throw .typeMismatch(expected: Self.signature, found: variant.contentSignature)
    }
    self = value
  }
}

extension Bool: PlainBusValue {
  /// "b": a boolean, which takes four bytes on the wire.
  public static var signature: Signature { Signature(unchecked: "b") }
  /// This boolean as the content of a variant.
  public var variant: Variant { .boolean(self) }
  static var wireType: WireType { .boolean }
  static func held(by variant: Variant) -> Bool? { if case .boolean(let value) = variant { value } else { nil } }

  /// Reads a boolean.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Bool {
    try reader.basic(wireType, zero: UInt32(0)) != 0
  }

  /// Appends a boolean.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.basic(UInt32(self ? 1 : 0), as: Self.wireType)
  }
}

/// The texts. libdbus has validated those that come in.
protocol TextBusValue: PlainBusValue {
  init(unchecked rawValue: String)
  var rawValue: String { get }
}

extension TextBusValue {
  /// Reads a text.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Self {
    Self(unchecked: try reader.string(wireType))
  }

  /// Appends a text, which must not contain a NUL.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.string(rawValue, as: Self.wireType)
  }
}

extension String: TextBusValue {
  /// "s": a string, which must not contain a NUL.
  public static var signature: Signature { Signature(unchecked: "s") }
  /// This string as the content of a variant.
  public var variant: Variant { .string(self) }
  static var wireType: WireType { .string }
  static func held(by variant: Variant) -> String? { if case .string(let value) = variant { value } else { nil } }
  init(unchecked rawValue: String) { self = rawValue }
  var rawValue: String { self }
}

extension ObjectPath: TextBusValue {
  /// "o": an object path.
  public static var signature: Signature { Signature(unchecked: "o") }
  /// This object path as the content of a variant.
  public var variant: Variant { .objectPath(self) }
  static var wireType: WireType { .objectPath }
  static func held(by variant: Variant) -> ObjectPath? {
    if case .objectPath(let value) = variant { value } else { nil }
  }
}

extension Signature: TextBusValue {
  /// "g": a signature.
  public static var signature: Signature { Signature(unchecked: "g") }
  /// This signature as the content of a variant.
  public var variant: Variant { .signature(self) }
  static var wireType: WireType { .signature }
  static func held(by variant: Variant) -> Signature? { if case .signature(let value) = variant { value } else { nil } }
}
