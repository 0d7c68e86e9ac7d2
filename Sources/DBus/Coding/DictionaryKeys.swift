/// Limits on the keys of dictionaries from outside. Without them a peer could hold up a service with one message full of slow keys.
enum DictionaryKeys {
  /// Swift compares strings as people read them. To do so it sorts the marks on a letter, in time quadratic in their number. Text in ASCII has no
  /// marks, and may be of any length.
  static let maximumLength = 1024

  /// Whether comparing the text with another may take long.
  static func isSlow(_ text: String) -> Bool {
    text.utf8.count > maximumLength && !text.utf8.allSatisfy { $0 < 0x80 }
  }

  static func check(_ key: Variant) throws(CodingError) {
    switch key {
    // NaN does not even equal itself: each NaN would be another key with the same hash.
    case .double(let number) where number.isNaN: throw .invalidValue("a dictionary's key is not a number")
    case .string(let text) where isSlow(text):
      throw .invalidValue(
        "a dictionary's key has \(text.utf8.count) bytes, and \(maximumLength) is the limit outside ASCII")
    default: break
    }
  }
}
