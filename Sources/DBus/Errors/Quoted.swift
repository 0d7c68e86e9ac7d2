/// How much of what somebody wrote an error repeats: it may be as long as a message.
private let limit = 72

/// What somebody wrote for a name, as an error repeats it: in quotes, cut where it gets long, and without what would not stand on one line.
func quoted(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(limit).map { scalar in
    let isPlain = scalar.value >= 0x20 && scalar.value != 0x7F && scalar != "\"" && scalar != "\\"
    return isPlain && (scalar.isASCII || scalar.properties.isAlphabetic) ? "\(scalar)" : scalar.escaped(asASCII: true)
  }
  return "\"\(shown.joined())\(text.unicodeScalars.count > limit ? "…" : "")\""
}

/// A path, cut where it gets long. A path of the bus has nothing that would have to be quoted.
func shown(_ path: ObjectPath) -> String {
  let text = path.rawValue.utf8
  return text.count > limit ? "\(Substring(text.prefix(limit)))…" : path.rawValue
}
