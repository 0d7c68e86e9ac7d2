import XML

/// Converts documentation to a comment, and back.
///
/// A comment cannot hold every text: `--` would end it, and white space at its edges is layout. So documentation is read like text, with `&lt;` for
/// `<` and `&#45;` for `-`; but an `&` that begins no reference is just an `&`. Printed documentation reads back the same, except for characters that
/// XML does not allow.
///
///     <!-- The first line.
///          Its continuation stands below its beginning. -->
enum DocumentationComment {
  private static let opening = "<!--"

  // MARK: Printing

  /// Prints `documentation` as a comment. `indentation` spaces stand before the comment.
  static func print(_ documentation: String, indentation: Int) -> String {
    let allowed = documentation.unicodeScalars.map { XMLText.isAllowed($0) ? $0 : "\u{FFFD}" }
    let bytes = Array(String(String.UnicodeScalarView(allowed)).utf8)
    if bytes.isEmpty { return "\(opening) -->" }
    var output = Array("\(opening) ".utf8)
    let margin = Array(repeating: UInt8(ascii: " "), count: indentation + output.count)
    let isText: (UInt8) -> Bool = { $0 != UInt8(ascii: "\n") }
    let first = bytes.firstIndex(where: isText) ?? bytes.count
    let last = bytes.lastIndex(where: isText) ?? -1

    for (place, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "\n") where first < place && place < last:
        output.append(byte)
        if bytes[place + 1] != byte { output += margin }
      // These characters stand at an edge here, and would be taken for layout.
      case UInt8(ascii: "\n"): output += reference(to: byte)
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        let endsLine = place + 1 == bytes.count || bytes[place + 1] == UInt8(ascii: "\n")
        output += endsLine || place == 0 ? reference(to: byte) : [byte]
      case UInt8(ascii: "-") where output.last == byte: output += reference(to: byte)
      case UInt8(ascii: "\r"): output += reference(to: byte)
      case UInt8(ascii: "&") where XMLText.reference(in: bytes, at: place) != nil: output += Array("&amp;".utf8)
      default: output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self) + " -->"
  }

  private static func reference(to byte: UInt8) -> [UInt8] { Array("&#\(byte);".utf8) }

  // MARK: Reading

  /// The documentation in a comment, without its layout.
  static func read(_ comment: XMLComment) -> String {
    let lines = Array(comment.content.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard let first = lines.firstIndex(where: { !isBlank($0) }), let last = lines.lastIndex(where: { !isBlank($0) })
    else { return "" }
    let margin = margin(of: lines, in: comment)
    var text: [UInt8] = []
    for place in first...last {
      let line = lines[place]
      if place > first { text.append(UInt8(ascii: "\n")) }
      let layout = place == 0 ? indentation(of: line) : min(indentation(of: line), margin)
      text += withoutTrailingBlanks(line.dropFirst(layout))
    }
    return replacingReferences(in: text)
  }

  /// The part of the indentation that is layout: the indentation that all lines but the first share, up to the beginning of a text that stands beside
  /// the `<!--`.
  private static func margin(of lines: [ArraySlice<UInt8>], in comment: XMLComment) -> Int {
    let common = lines.dropFirst().filter { !isBlank($0) }.map { indentation(of: $0) }.min() ?? 0
    guard let first = lines.first, !isBlank(first) else { return common }
    return min(common, comment.indentation + opening.utf8.count + indentation(of: first))
  }

  private static func isBlank(_ line: ArraySlice<UInt8>) -> Bool { line.allSatisfy(XMLText.isBlank) }

  private static func indentation(of line: ArraySlice<UInt8>) -> Int { line.prefix(while: XMLText.isBlank).count }

  private static func withoutTrailingBlanks(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = line
    while let byte = line.last, XMLText.isBlank(byte) { line.removeLast() }
    return line
  }

  private static func replacingReferences(in bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var place = 0
    while place < bytes.count {
      if bytes[place] == UInt8(ascii: "&"), let reference = XMLText.reference(in: bytes, at: place) {
        text += Array(UTF8.encode(reference.scalar) ?? UTF8.encodedReplacementCharacter)
        place = reference.end
      } else {
        text.append(bytes[place])
        place += 1
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
