public import DBus

public import struct FoundationEssentials.Data

extension Data: BusValue {
  /// "ay": bytes.
  public static var signature: Signature { Signature(unchecked: "ay") }

  /// Reads bytes, in one copy.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Data {
    try reader.bytes { Data(buffer: $0) }
  }

  /// Appends bytes, in one copy for each contiguous region.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try bytes.withUnsafeBytes { (bytes) throws(CodingError) in try writer.bytes(bytes) }
  }

  /// The bytes that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard let bytes = variant.heldBytes else {
      throw .typeMismatch(expected: "ay", found: variant.contentSignature)
    }
    self.init(bytes)
  }

  /// These bytes as the content of a variant.
  public var variant: Variant { .bytes([UInt8](self)) }
}
