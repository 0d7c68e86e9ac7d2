import ServiceSupport

/// Files of groups and keys, as the desktop specifications have them.
enum KeyFile {
  static func entries(of path: String) -> [(group: String, key: String, value: String)] {
    guard let bytes = SmallFile.read(path, limit: 1 << 20) else { return [] }
    var entries: [(String, String, String)] = []
    var group = ""
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("[") {
        group = String(text.dropFirst().prefix { $0 != "]" })
      } else if !text.hasPrefix("#"), let equals = text.firstIndex(of: "=") {
        entries.append((group, trimmed(text[..<equals]), unescaped(trimmed(text[text.index(after: equals)...]))))
      }
    }
    return entries
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text.drop { $0.isWhitespace })
  }

  /// A value with what its escapes stand for; a backslash before anything else stays.
  private static func unescaped(_ value: String) -> String {
    let meanings: [Unicode.Scalar: Unicode.Scalar] = ["s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"]
    guard value.utf8.contains(UInt8(ascii: "\\")) else { return value }
    var plain = String.UnicodeScalarView()
    var rest = value.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == "\\", let meaning = rest.first.flatMap({ meanings[$0] }) {
        plain.append(meaning)
        rest = rest.dropFirst()
      } else {
        plain.append(scalar)
      }
    }
    return String(plain)
  }
}
