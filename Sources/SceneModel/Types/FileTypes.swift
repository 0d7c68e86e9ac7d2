/// The types of files by their names, from the files `globs2` of the desktop's shared MIME databases.
///
/// The rule with the greatest weight counts; of several such rules the longest; and of these the user's before the system's.
package struct FileTypes: Sendable {
  private struct Rule {
    let weight: Int
    /// The bytes of the pattern.
    let length: Int
    let type: ContentType

    static func < (one: Rule, other: Rule) -> Bool { (one.weight, one.length) < (other.weight, other.length) }
  }

  /// The text that a pattern is compared with: the name itself, or the name in lower case.
  private struct Key: Hashable {
    let text: Text
    let isCaseSensitive: Bool
  }

  /// Almost all patterns: `*.png` is here as `.png`.
  private var ends: [Key: Rule] = [:]
  /// Patterns that are names, such as `makefile`.
  private var names: [Key: Rule] = [:]
  private var others: [(pattern: TextPattern, isCaseSensitive: Bool, rule: Rule)] = []

  /// - Parameter databases: The bytes of each `globs2`, the user's before the system's.
  package init(_ databases: [[UInt8]]) {
    // The types whose rules in later databases do not count.
    var complete: Set<ContentType> = []
    for database in databases {
      let before = complete
      for line in database.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
        add(line, except: before, &complete)
      }
    }
  }

  /// Reads `50:image/png:*.png`, with `:cs` if case matters, and `0:image/png:__NOGLOBS__`. Other lines are ignored.
  private mutating func add(
    _ line: ArraySlice<UInt8>, except passedOver: Set<ContentType>, _ complete: inout Set<ContentType>
  ) {
    let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { Text(String(decoding: $0, as: UTF8.self)) }
    guard fields.count >= 3, let weight = Int(fields[0].string), let type = ContentType(fields[1]),
      !fields[2].isEmpty, !passedOver.contains(type)
    else { return }
    if fields[2] == "__NOGLOBS__" {
      complete.insert(type)
      return
    }
    let isCaseSensitive = fields.count > 3 && fields[3].string.split(separator: ",").contains("cs")
    let pattern = isCaseSensitive ? fields[2] : Text(fields[2].string.lowercased())
    let rule = Rule(weight: weight, length: pattern.count, type: type)
    let end = Text(String(pattern.string.dropFirst()))
    if pattern.hasPrefix("*."), FileTypes.isPlain(end) {
      FileTypes.add(rule, to: &ends, at: Key(text: end, isCaseSensitive: isCaseSensitive))
    } else if FileTypes.isPlain(pattern) {
      FileTypes.add(rule, to: &names, at: Key(text: pattern, isCaseSensitive: isCaseSensitive))
    } else {
      others.append((TextPattern(glob: pattern), isCaseSensitive, rule))
    }
  }

  private static func add(_ rule: Rule, to rules: inout [Key: Rule], at key: Key) {
    if let known = rules[key], !(known < rule) { return }
    rules[key] = rule
  }

  private static func isPlain(_ pattern: Text) -> Bool {
    pattern.withBytes { $0.allSatisfy { byte in !"*?[".utf8.contains(byte) } }
  }

  /// The most bytes of a file's name. Each dot of a name may begin its end.
  private static let longestName = 255

  package func type(ofName name: Text) -> ContentType? {
    if name.count > FileTypes.longestName { return nil }
    var best: Rule?
    func take(_ rule: Rule?) {
      if let rule, best.map({ $0 < rule }) ?? true { best = rule }
    }
    for isCaseSensitive in [true, false] {
      let name = isCaseSensitive ? name : Text(name.string.lowercased())
      take(names[Key(text: name, isCaseSensitive: isCaseSensitive)])
      for dot in name.string.utf8.indices where name.string.utf8[dot] == UInt8(ascii: ".") {
        take(ends[Key(text: Text(String(name.string[dot...])), isCaseSensitive: isCaseSensitive)])
      }
      for (pattern, _, rule) in others.filter({ $0.isCaseSensitive == isCaseSensitive }) where pattern.matches(name) {
        take(rule)
      }
    }
    return best?.type
  }

  /// The type of content by its beginning, if the name gives none. The few kinds here identify themselves there.
  package static func type(ofBytes bytes: some Collection<UInt8>) -> ContentType {
    let beginnings: [([UInt8], Text)] = [
      ([0x89, 0x50, 0x4E, 0x47], "image/png"), ([0xFF, 0xD8, 0xFF], "image/jpeg"), (Array("GIF8".utf8), "image/gif"),
      (Array("%PDF-".utf8), "application/pdf"), ([0x50, 0x4B, 0x03, 0x04], "application/zip"),
      ([0x1F, 0x8B], "application/gzip"),
    ]
    // The shared database's own rule: content without control characters in its first 128 bytes is text.
    let isText = bytes.prefix(128).allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
    let name = beginnings.first { bytes.starts(with: $0.0) }?.1 ?? (isText ? "text/plain" : "application/octet-stream")
    return ContentType(form: .mime, name: name, parameters: [])
  }
}
