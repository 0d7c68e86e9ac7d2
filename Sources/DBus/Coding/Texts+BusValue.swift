extension Bool: BasicBusValue {
  /// "b": a boolean, which takes four bytes on the wire.
  public static var signature: Signature { Signature(unchecked: "b") }

  /// Reads a boolean.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Bool {
    try reader.basic(.boolean, zero: UInt32(0)) != 0
  }

  /// Appends a boolean.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.basic(UInt32(self ? 1 : 0), as: .boolean)
  }

  /// The boolean that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .boolean(let value) = variant else {
      throw .typeMismatch(expected: "b", found: variant.contentSignature)
    }
    self = value
  }

  /// This boolean as the content of a variant.
  public var variant: Variant { .boolean(self) }
}

extension String: BasicBusValue {
  /// "s": a string.
  public static var signature: Signature { Signature(unchecked: "s") }

  /// Reads a string.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> String {
    try reader.string(.string)
  }

  /// Appends a string, which must not contain a NUL.
  public func write(to writer: inout MessageWriter) throws(CodingError) { try writer.string(self, as: .string) }

  /// The string that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .string(let value) = variant else {
      throw .typeMismatch(expected: "s", found: variant.contentSignature)
    }
    self = value
  }

  /// This string as the content of a variant.
  public var variant: Variant { .string(self) }
}

extension ObjectPath: BasicBusValue {
  /// "o": an object path.
  public static var signature: Signature { Signature(unchecked: "o") }

  /// Reads an object path.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> ObjectPath {
    ObjectPath(unchecked: try reader.string(.objectPath))
  }

  /// Appends an object path.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.string(rawValue, as: .objectPath)
  }

  /// The object path that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .objectPath(let value) = variant else {
      throw .typeMismatch(expected: "o", found: variant.contentSignature)
    }
    self = value
  }

  /// This object path as the content of a variant.
  public var variant: Variant { .objectPath(self) }
}

extension Signature: BasicBusValue {
  /// "g": a signature.
  public static var signature: Signature { Signature(unchecked: "g") }

  /// Reads a signature.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Signature {
    Signature(unchecked: try reader.string(.signature))
  }

  /// Appends a signature.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.string(rawValue, as: .signature)
  }

  /// The signature that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .signature(let value) = variant else {
      throw .typeMismatch(expected: "g", found: variant.contentSignature)
    }
    self = value
  }

  /// This signature as the content of a variant.
  public var variant: Variant { .signature(self) }
}
