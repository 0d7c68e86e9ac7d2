/// The numbers. Once libdbus has corrected the byte order, their memory is their wire format, so arrays of them are copied whole.
protocol FixedSizeBusValue: PlainBusValue, BitwiseCopyable {
  static var zero: Self { get }
}

extension FixedSizeBusValue {
  /// Reads a number.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Self {
    try reader.basic(wireType, zero: zero)
  }

  /// Appends a number.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.basic(self, as: Self.wireType)
  }

  /// Reads an array of numbers in one step.
  public static func readArray(from reader: inout MessageReader) throws(CodingError) -> [Self] {
    try reader.fixedArray(of: wireType) { Array($0) }
  }

  /// Appends an array of numbers in one step.
  public static func writeArray(_ values: [Self], to writer: inout MessageWriter) throws(CodingError) {
    try values.withUnsafeBufferPointer { (elements) throws(CodingError) in
      try writer.fixedArray(elements, of: wireType, signature: signature)
    }
  }
}

extension UInt8: FixedSizeBusValue {
  /// "y": a byte.
  public static var signature: Signature { Signature(unchecked: "y") }
  /// This number as the content of a variant.
  public var variant: Variant { .byte(self) }
  static var wireType: WireType { .byte }
  static func held(by variant: Variant) -> UInt8? { if case .byte(let value) = variant { value } else { nil } }

  /// The bytes that a variant holds.
  public static func array(from variant: Variant) throws(CodingError) -> [UInt8] {
    guard let bytes = variant.heldBytes else {
      throw .typeMismatch(expected: "ay", found: variant.contentSignature)
    }
    return bytes
  }

  /// Bytes as the content of a variant.
  public static func variant(of values: [UInt8]) -> Variant { .bytes(values) }
}

extension Int16: FixedSizeBusValue {
  /// "n": a 16-bit integer.
  public static var signature: Signature { Signature(unchecked: "n") }
  /// This number as the content of a variant.
  public var variant: Variant { .int16(self) }
  static var wireType: WireType { .int16 }
  static func held(by variant: Variant) -> Int16? { if case .int16(let value) = variant { value } else { nil } }
}

extension UInt16: FixedSizeBusValue {
  /// "q": an unsigned 16-bit integer.
  public static var signature: Signature { Signature(unchecked: "q") }
  /// This number as the content of a variant.
  public var variant: Variant { .uint16(self) }
  static var wireType: WireType { .uint16 }
  static func held(by variant: Variant) -> UInt16? { if case .uint16(let value) = variant { value } else { nil } }
}

extension Int32: FixedSizeBusValue {
  /// "i": a 32-bit integer.
  public static var signature: Signature { Signature(unchecked: "i") }
  /// This number as the content of a variant.
  public var variant: Variant { .int32(self) }
  static var wireType: WireType { .int32 }
  static func held(by variant: Variant) -> Int32? { if case .int32(let value) = variant { value } else { nil } }
}

extension UInt32: FixedSizeBusValue {
  /// "u": an unsigned 32-bit integer.
  public static var signature: Signature { Signature(unchecked: "u") }
  /// This number as the content of a variant.
  public var variant: Variant { .uint32(self) }
  static var wireType: WireType { .uint32 }
  static func held(by variant: Variant) -> UInt32? { if case .uint32(let value) = variant { value } else { nil } }
}

extension Int64: FixedSizeBusValue {
  /// "x": a 64-bit integer.
  public static var signature: Signature { Signature(unchecked: "x") }
  /// This number as the content of a variant.
  public var variant: Variant { .int64(self) }
  static var wireType: WireType { .int64 }
  static func held(by variant: Variant) -> Int64? { if case .int64(let value) = variant { value } else { nil } }
}

extension UInt64: FixedSizeBusValue {
  /// "t": an unsigned 64-bit integer.
  public static var signature: Signature { Signature(unchecked: "t") }
  /// This number as the content of a variant.
  public var variant: Variant { .uint64(self) }
  static var wireType: WireType { .uint64 }
  static func held(by variant: Variant) -> UInt64? { if case .uint64(let value) = variant { value } else { nil } }
}

extension Double: FixedSizeBusValue {
  /// "d": a floating-point number.
  public static var signature: Signature { Signature(unchecked: "d") }
  /// This number as the content of a variant.
  public var variant: Variant { .double(self) }
  static var wireType: WireType { .double }
  static func held(by variant: Variant) -> Double? { if case .double(let value) = variant { value } else { nil } }
}
