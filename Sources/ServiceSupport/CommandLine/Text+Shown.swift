extension String {
  /// The text on one line, without characters that control a terminal: titles and keys come from anybody.
  package var printable: String {
    let isPlain = utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    if isPlain { return self }
    return escaping(\.steers) { scalar in
      switch scalar {
      case "\n": "\\n"
      case "\t": "\\t"
      case "\r": "\\r"
      default: "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }

  /// The same for a JSON document, which can contain such characters only in texts.
  package var printableJSON: String {
    escaping {
      $0.value >= 0x7F && $0.steers
    } _: { scalar in
      String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }

  private func escaping(
    _ isWanted: (Unicode.Scalar) -> Bool, _ escape: (Unicode.Scalar) -> String
  ) -> String {
    guard unicodeScalars.contains(where: isWanted) else { return self }
    var shown = ""
    for scalar in unicodeScalars {
      if isWanted(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  /// The number of terminal columns that the text takes.
  package var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return unicodeScalars.reduce(0) { $0 + $1.columns }
  }

  /// The part of the text that fits into this many columns, with an ellipsis for the part that is cut off.
  package func fitted(_ width: Int, keepingEnd: Bool = false) -> String {
    if columns <= width { return self }
    var (shown, used) = ([Character](), 0)
    for character in keepingEnd ? Array(reversed()) : Array(self) {
      let columns = String(character).columns
      if used + columns > width - 1 { break }
      shown.append(character)
      used += columns
    }
    return keepingEnd ? "…" + String(shown.reversed()) : String(shown) + "…"
  }

  /// The text with blanks up to this width.
  package func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

  package var capitalizedStart: String { prefix(1).uppercased() + dropFirst() }

  package var withoutPeriod: String { hasSuffix(".") ? String(dropLast()) : self }

  /// The text as lines of at most this many columns, broken at blanks.
  package func wrapped(_ width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in split(separator: " ") {
      if line.isEmpty {
        line = String(word)
      } else if line.columns + 1 + String(word).columns <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = String(word)
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}

extension Unicode.Scalar {
  fileprivate var steers: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Characters that are invisible or reverse the direction could make one name look like another. Two of them join letters and pictures.
    case .format: value != 0x200C && value != 0x200D
    default: false
    }
  }

  fileprivate var columns: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // The wide blocks of UAX 11 in common use: Hangul, CJK, full-width forms, and pictures.
    return switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
