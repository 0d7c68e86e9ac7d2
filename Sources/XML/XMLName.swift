/// The name of an element or an attribute, or another word to know, which is compared byte by byte.
///
/// Swift's `String` would look for the same characters in other code points, which takes the square of a run of combining
/// marks. A stranger's document has as many of them as it likes.
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
