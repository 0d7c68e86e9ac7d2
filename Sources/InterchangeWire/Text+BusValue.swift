package import DBus
package import SceneModel

/// On the bus a text is a string. Texts are compared by their bytes, so a dictionary keeps two keys that look the same.
extension Text: BasicBusValue {
  package static var signature: Signature { String.signature }

  package static func read(from reader: inout MessageReader) throws(CodingError) -> Text {
    Text(try String.read(from: &reader))
  }

  package func write(to writer: inout MessageWriter) throws(CodingError) { try string.write(to: &writer) }

  package init(_ variant: Variant) throws(CodingError) { self.init(try String(variant)) }

  package var variant: Variant { string.variant }
}
