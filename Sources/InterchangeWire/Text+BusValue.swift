public import DBus
public import SceneModel

/// On the bus a text is a string. Texts are compared by their bytes, so a dictionary keeps two keys that look the same.
extension Text: BasicBusValue {
  /// That of a string.
  public static var signature: Signature { String.signature }

  /// Reads a string.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Text {
    Text(try String.read(from: &reader))
  }

  /// Writes a string.
  public func write(to writer: inout MessageWriter) throws(CodingError) { try string.write(to: &writer) }

  /// The string in a variant.
  public init(_ variant: Variant) throws(CodingError) { self.init(try String(variant)) }

  /// A variant with the string.
  public var variant: Variant { string.variant }
}
