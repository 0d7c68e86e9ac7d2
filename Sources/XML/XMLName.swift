/// The name of an element or an attribute, or another known word, which is compared byte by byte.
///
/// Swift's `String` compares by canonical equivalence, which takes time in the square of a run of combining marks. A hostile document can
/// have any number of them.
package struct XMLName: Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }
}

extension XMLName: Hashable {
  package static func == (one: XMLName, other: XMLName) -> Bool { one.string.utf8.elementsEqual(other.string.utf8) }

  package func hash(into hasher: inout Hasher) {
    for byte in string.utf8 { hasher.combine(byte) }
  }
}

extension XMLName: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral value: String) { self.init(value) }
  package var description: String { string }
}
