/// A value as dbus-send and dbus-monitor print it. They print the value of a variant without a mark of its own.
indirect enum Shown: Hashable, Sendable {
  /// The type in words, and the text: ("string", "Main"), ("uint32", "7")
  case value(String, String)
  /// The elements of an array or a structure.
  case list([Shown])
  case entry(Shown, Shown)

  var text: String {
    if case .value(_, let text) = self { text } else { "\(self)" }
  }

  var elements: [Shown] {
    if case .list(let elements) = self { elements } else { [] }
  }

  /// The value of a dictionary for a key.
  subscript(_ key: String) -> Shown? {
    for case .entry(let name, let value) in elements where name.text == key { return value }
    return nil
  }

  /// The entries of a dictionary, which have no order.
  var fields: Set<Shown> { Set(elements) }

  var keys: [String] {
    elements.compactMap { element in
      if case .entry(let name, _) = element { name.text } else { nil }
    }
  }
}

/// Reads the output of those programs line by line. It would misread a text of more than one line, which no document of the service has.
struct ShownReader {
  private var lines: ArraySlice<Substring>

  init(_ lines: some Sequence<Substring>) {
    self.lines =
      lines.map { line in
        var rest = line.drop { $0 == " " }
        while rest.hasPrefix("variant ") { rest = rest.dropFirst("variant ".count).drop { $0 == " " } }
        return rest
      }[...]
  }

  /// `nil` at the end of the output or of a container.
  mutating func next() -> Shown? {
    guard let line = lines.popFirst() else { return nil }
    switch line {
    case "]", "}", ")": return nil
    case "array [", "struct {": return .list(rest())
    case "dict entry(":
      let parts = rest()
      return parts.count == 2 ? .entry(parts[0], parts[1]) : nil
    default: return value(line)
    }
  }

  mutating func rest() -> [Shown] {
    var elements: [Shown] = []
    while let element = next() { elements.append(element) }
    return elements
  }

  private func value(_ line: Substring) -> Shown {
    if let quote = line.firstIndex(of: "\"") {
      return .value(String(line[..<quote].dropLast()), String(line[quote...].dropFirst().dropLast()))
    }
    let type = line.prefix { $0 != " " }
    return .value(String(type), String(line.dropFirst(type.count + 1)))
  }
}

/// A JSON document that the service wrote.
func parsed(_ text: String) throws -> Value { try JSON.value(Text(text)) }

extension Value {
  /// The fields that are texts.
  var texts: [String: String] {
    guard case .dictionary(let fields) = self else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: fields.entries.compactMap { entry in entry.value.string.map { (entry.key.string, $0) } })
  }
}
