/// How a session is named: by its identifier, or by its path on the bus.
package enum SessionReference {
  package static let path: Text = "/org/stagedoor/Interchange1/session/"

  package static func path(of identifier: UniqueIdentifier) -> Text {
    Text(identifier.text(after: path, separator: UInt8(ascii: "_")))
  }

  package static func identifier(_ text: Text) -> UniqueIdentifier? {
    guard text.hasPrefix(path) else { return UniqueIdentifier(text) }
    return text.withBytes { UniqueIdentifier($0.dropFirst(path.count), separator: UInt8(ascii: "_")) }
  }
}
