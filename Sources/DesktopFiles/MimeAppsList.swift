/// The text of a person's `mimeapps.list`, and Stagedoor's handler in it.
///
/// The handler stands before the applications that the person has chosen. Everything else stays, byte for byte: comments, the order, groups and keys of
/// others, and line ends. ``withoutHandler`` returns to the text before ``withHandler(for:)``.
package struct MimeAppsList: Equatable, Sendable {
  /// The contents of the file; `nil` if there is none.
  package let bytes: [UInt8]?

  package init(_ bytes: [UInt8]?) { self.bytes = bytes }

  private init(_ lines: [Line]) { bytes = lines.flatMap { $0.start + $0.text } }

  private static let handler = Array("\(Applications.handler).desktop".utf8)
  private static let group = Array("[Default Applications]".utf8)
  /// They say what to remove. A value that was empty gets a blank, which no reader sees.
  private static let ofGroup = Array("# The group is of `stagedoor open --make-default`.".utf8)
  private static let ofFile = Array("# The file is of `stagedoor open --make-default`.".utf8)
  private static let inEmpty = handler + Array("; ".utf8)
  private static let alone = handler + Array(";".utf8)

  // MARK: Editing

  /// The list in which the handler is the first choice for these types.
  package func withHandler(for types: Set<String>) -> MimeAppsList {
    if types.isEmpty { return self }
    var lines = Line.all(in: bytes ?? [])
    var missing = types
    for (place, key, value) in Line.defaults(in: lines) where types.contains(key) {
      missing.remove(key)
      let (begin, old) = (lines[place].text[..<value], Array(lines[place].text[value...]))
      if Line.parts(old).first == MimeAppsList.handler { continue }
      let others = MimeAppsList.withoutHandler(old)
      lines[place].text = begin + (others.isEmpty ? MimeAppsList.inEmpty : MimeAppsList.alone + others)
    }
    if missing.isEmpty { return MimeAppsList(lines) }
    let start = lines.first { !$0.start.isEmpty }?.start ?? Array("\n".utf8)
    var new = missing.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { type in
      Line(start: start, text: Array("\(type)=".utf8) + MimeAppsList.alone)
    }
    let place: Int
    if let group = lines.firstIndex(where: { $0.group == MimeAppsList.group }) {
      place = group + 1
    } else {
      let comment = bytes == nil ? MimeAppsList.ofFile : MimeAppsList.ofGroup
      new = [comment, MimeAppsList.group].map { Line(start: start, text: $0) } + new
      // The last line is empty in a file that ends as it should.
      place = lines.last?.text.isEmpty == true ? lines.count - 1 : lines.count
    }
    Line.insert(new, at: place, of: &lines)
    return MimeAppsList(lines)
  }

  /// The list without the handler, and without what was added for it.
  package var withoutHandler: MimeAppsList {
    guard let bytes else { return self }
    var lines = Line.all(in: bytes)
    var removed: Set<Int> = []
    var keyed: Set<Int> = []
    for (place, _, value) in Line.defaults(in: lines) {
      let old = Array(lines[place].text[value...])
      let new = MimeAppsList.withoutHandler(old)
      if new != old, new.isEmpty, old != MimeAppsList.inEmpty {
        removed.insert(place)
      } else {
        lines[place].text = lines[place].text[..<value] + new
        keyed.insert(place)
      }
    }
    var isOurFile = false
    for (place, line) in lines.enumerated() where line.text == MimeAppsList.ofGroup || line.text == MimeAppsList.ofFile
    {
      isOurFile = isOurFile || line.text == MimeAppsList.ofFile
      removed.insert(place)
      guard place + 1 < lines.count, lines[place + 1].group == MimeAppsList.group else { continue }
      let end = lines[(place + 2)...].firstIndex { $0.group != nil } ?? lines.count
      if keyed.isDisjoint(with: place + 2..<end) { removed.insert(place + 1) }
    }
    Line.remove(removed, of: &lines)
    let rest = MimeAppsList(lines)
    return isOurFile && rest.bytes == [] ? MimeAppsList(nil) : rest
  }

  private static func withoutHandler(_ value: [UInt8]) -> [UInt8] {
    if value == inEmpty { return [] }
    let semicolon = UInt8(ascii: ";")
    let parts = value.split(separator: semicolon, omittingEmptySubsequences: false)
    let rest = parts.filter { Line.trimmed($0) != handler }
    return rest.count == parts.count ? value : Array(rest.joined(separator: [semicolon]))
  }

  /// The types with a default application.
  package var chosenTypes: Set<String> { Set(Line.defaults(in: Line.all(in: bytes ?? [])).map(\.key)) }

  /// The types whose first choice is the handler.
  package var typesOfHandler: Set<String> {
    let lines = Line.all(in: bytes ?? [])
    return Set(
      Line.defaults(in: lines).filter { Line.parts(lines[$0.place].text[$0.value...]).first == MimeAppsList.handler }
        .map(\.key))
  }

  // MARK: Lines

  /// A line, and the sign that separates it from the line before. So a last line without an end is a line like the others.
  private struct Line {
    var start: [UInt8]
    var text: [UInt8]

    static func all(in bytes: [UInt8]) -> [Line] {
      var lines: [Line] = []
      var start: [UInt8] = []
      for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        lines.append(Line(start: start, text: Array(part)))
        start = Array("\n".utf8)
      }
      for place in lines.indices.dropFirst() where lines[place - 1].text.last == UInt8(ascii: "\r") {
        lines[place - 1].text.removeLast()
        lines[place].start = Array("\r\n".utf8)
      }
      return lines
    }

    /// The header of a group, without blanks around it.
    var group: [UInt8]? {
      let text = Line.trimmed(text[...])
      return text.first == UInt8(ascii: "[") ? text : nil
    }

    /// The lines with default applications: each with its key, and where its value begins.
    static func defaults(in lines: [Line]) -> [(place: Int, key: String, value: Int)] {
      var found: [(Int, String, Int)] = []
      var isInside = false
      for (place, line) in lines.enumerated() {
        if let group = line.group {
          isInside = group == MimeAppsList.group
        } else if isInside, trimmed(line.text[...]).first != UInt8(ascii: "#"),
          let sign = line.text.firstIndex(of: UInt8(ascii: "="))
        {
          let value = line.text[(sign + 1)...].firstIndex { !isBlank($0) } ?? line.text.count
          found.append((place, String(decoding: trimmed(line.text[..<sign]), as: UTF8.self), value))
        }
      }
      return found
    }

    static func parts(_ value: some Sequence<UInt8>) -> [[UInt8]] {
      Array(value).split(separator: UInt8(ascii: ";")).map(trimmed)
    }

    static func insert(_ new: [Line], at place: Int, of lines: inout [Line]) {
      lines.insert(contentsOf: new, at: place)
      if place == 0 {
        lines[new.count].start = lines[0].start
        lines[0].start = []
      } else if lines[place - 1].text.last == UInt8(ascii: "\r") {
        // With a line feed alone, the sign would be a part of the line's end.
        lines[place].start = Array("\r\n".utf8)
      }
    }

    static func remove(_ places: Set<Int>, of lines: inout [Line]) {
      lines = lines.enumerated().filter { !places.contains($0.offset) }.map(\.element)
      if !lines.isEmpty { lines[0].start = [] }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
      guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) })
      else { return [] }
      return Array(text[first...last])
    }
  }
}
