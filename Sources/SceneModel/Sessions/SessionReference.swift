/// How a session is named: by its identifier, or by its path on the bus.
package enum SessionReference {
  package static let path: Text = "/org/stagedoor/Interchange1/session/"

  package static func path(of identifier: UniqueIdentifier) -> Text {
    Text(path.string + String("\(identifier)".map { $0 == "-" ? "_" : $0 }))
  }

  package static func identifier(_ text: Text) -> UniqueIdentifier? {
    guard text.hasPrefix(path) else { return UniqueIdentifier(text) }
    let last = text.string.utf8.dropFirst(path.count)
    if last.contains(UInt8(ascii: "-")) { return nil }
    let name = last.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    return UniqueIdentifier(Text(String(decoding: name, as: UTF8.self)))
  }
}
