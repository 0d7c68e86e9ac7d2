/// The length at which an error cuts a foreign text, which may be as long as a message.
private let limit = 72

/// A foreign name in the spelling of an error: in quotes, cut if it is long, and without characters that do not fit on one line.
func quoted(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(limit).map { scalar in
    let isPlain = scalar.value >= 0x20 && scalar.value != 0x7F && scalar != "\"" && scalar != "\\"
    return isPlain && (scalar.isASCII || scalar.properties.isAlphabetic) ? "\(scalar)" : scalar.escaped(asASCII: true)
  }
  return "\"\(shown.joined())\(text.unicodeScalars.count > limit ? "…" : "")\""
}

/// A path, cut if it is long. Nothing in a path needs quotes.
func shown(_ path: ObjectPath) -> String {
  let text = path.rawValue.utf8
  return text.count > limit ? "\(Substring(text.prefix(limit)))…" : path.rawValue
}
