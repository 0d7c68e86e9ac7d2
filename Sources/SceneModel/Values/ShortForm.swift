/// Texts and numbers one after another in one text: the short form of a document that is written only when somebody reads it.
///
/// A text stands behind its length, so it may have any characters. A document in JSON begins with a brace, and a short form never does.
package struct ShortForm: ~Copyable {
  private var buffer = ByteBuffer()

  package init() {}

  package mutating func put(_ number: Int) {
    precondition(number >= 0, "a short form has no negative numbers")
    var (rest, digits) = (number, 1)
    while rest >= 10 { (rest, digits) = (rest / 10, digits + 1) }
    let place = buffer.extend(by: digits + 1)
    place.storeBytes(of: UInt8(ascii: " "), toByteOffset: digits, as: UInt8.self)
    rest = number
    for offset in (0..<digits).reversed() {
      place.storeBytes(of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: offset, as: UInt8.self)
      rest /= 10
    }
  }

  package mutating func put(_ text: Text) {
    put(text.count)
    text.withBytes { buffer.append($0) }
  }

  /// As a text.
  package mutating func put(_ identifier: UniqueIdentifier) {
    put(UniqueIdentifier.length)
    let place = buffer.extend(by: UniqueIdentifier.length)
    identifier.write(to: UnsafeMutableRawBufferPointer(start: place, count: UniqueIdentifier.length))
  }

  /// A number that may be missing: as the next one.
  package mutating func put(_ number: Int?) { put(number.map { $0 + 1 } ?? 0) }

  package consuming func text() -> Text { Text(copying: buffer.bytes) }
}

/// Reads what ``ShortForm`` wrote, from text that may have been damaged.
package struct ShortFormReader {
  private var rest: Substring.UTF8View

  package init(_ text: Text) { rest = text.string[...].utf8 }

  package mutating func number() -> Int? {
    guard let end = rest.firstIndex(of: UInt8(ascii: " ")), let number = Int(Substring(rest[..<end])) else {
      return nil
    }
    rest = rest[rest.index(after: end)...]
    return number < 0 ? nil : number
  }

  package mutating func text() -> Text? {
    guard let count = number(), count <= rest.count else { return nil }
    let end = rest.index(rest.startIndex, offsetBy: count)
    defer { rest = rest[end...] }
    return String(rest[..<end]).map { Text($0) }
  }

  /// A number that may be missing. The outer `nil` is a damaged text.
  package mutating func optionalNumber() -> Int?? { number().map { $0 == 0 ? nil : $0 - 1 } }

  package mutating func identifier() -> UniqueIdentifier? { text().flatMap { UniqueIdentifier($0) } }
}
