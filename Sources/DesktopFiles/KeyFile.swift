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
        entries.append((group, trimmed(text[..<equals]), trimmed(text[text.index(after: equals)...])))
      }
    }
    return entries
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text.drop { $0.isWhitespace })
  }
}
