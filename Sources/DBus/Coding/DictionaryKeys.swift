/// Keys from outside that would make a dictionary slow: a peer could hold up a service with one message.
enum DictionaryKeys {
  /// Swift compares strings as people read them, and sorts the marks on a letter for that, in time quadratic in their number. Text in ASCII
  /// has none, and may be of any length.
  static let maximumLength = 1024

  static func check(_ key: Variant) throws(CodingError) {
    switch key {
    // Not a number is not even equal to itself: each would be another key, and all in the same place.
    case .double(let number) where number.isNaN: throw .invalidValue("a dictionary's key is not a number")
    case .string(let text) where text.utf8.count > maximumLength && !text.utf8.allSatisfy({ $0 < 0x80 }):
      throw .invalidValue(
        "a dictionary's key has \(text.utf8.count) bytes, and \(maximumLength) is the limit outside ASCII")
    default: break
    }
  }
}
