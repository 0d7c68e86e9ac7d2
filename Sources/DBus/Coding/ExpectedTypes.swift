/// The types that may be written into a message or a container, in order.
///
/// libdbus ends the process if a value in an array or variant does not have the type that the container was opened with, or if a signature grows too
/// long. The types of this module write what they declare. A type that is written by hand may not, and gets an error.
struct ExpectedTypes {
  private let whole: ArraySlice<UInt8>
  /// The types that are still to come.
  private var rest: ArraySlice<UInt8>
  /// In an array the types repeat for each element.
  private let repeats: Bool

  private init(_ letters: ArraySlice<UInt8>, repeats: Bool) {
    whole = letters
    rest = letters
    self.repeats = repeats
  }

  /// The types that an array or a variant with `contents` may hold.
  init(of contents: Signature, repeats: Bool) {
    self.init(ArraySlice(contents.rawValue.utf8), repeats: repeats)
  }

  /// Passes over the next type, which must be `type`, and returns the types that a structure or an entry of that type may hold.
  mutating func take(_ type: WireType, contents: Signature?) throws(CodingError) -> ExpectedTypes {
    if rest.isEmpty && repeats { rest = whole }
    // A quick path for the types of most messages.
    if rest.first == type.rawValue && type != .array {
      rest = rest.dropFirst()
      return ExpectedTypes([], repeats: false)
    }
    let end = SignatureParser.endOfType(in: rest, from: rest.startIndex)
    let next = rest[rest.startIndex..<end]
    let fits =
      switch type {
      case .structure: next.first == UInt8(ascii: "(")
      case .dictionaryEntry: next.first == UInt8(ascii: "{")
      case .array: next.first == UInt8(ascii: "a") && next.dropFirst().elementsEqual((contents ?? .empty).rawValue.utf8)
      default: next.elementsEqual(CollectionOfOne(type.rawValue))
      }
    if !fits { throw .typeMismatch(expected: signature(of: next), found: found(type, contents)) }
    rest = rest[end...]
    switch type {
    case .structure, .dictionaryEntry: return ExpectedTypes(next.dropFirst().dropLast(), repeats: false)
    default: return ExpectedTypes([], repeats: false)
    }
  }

  /// Whether the container may end here.
  func checkEnd() throws(CodingError) {
    if rest.isEmpty || (repeats && rest.count == whole.count) { return }
    throw .endOfValues(expected: signature(of: rest))
  }

  private func signature(of letters: ArraySlice<UInt8>) -> Signature {
    Signature(unchecked: String(decoding: letters, as: UTF8.self))
  }

  private func found(_ type: WireType, _ contents: Signature?) -> Signature {
    switch type {
    case .structure: Signature(unchecked: "(")
    case .dictionaryEntry: Signature(unchecked: "{")
    case .array: Signature(unchecked: "a\(contents?.rawValue ?? "")")
    default: type.signature
    }
  }
}
