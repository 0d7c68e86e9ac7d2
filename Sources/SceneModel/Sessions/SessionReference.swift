/// The names of a session: its identifier, or its path on the bus.
package enum SessionReference {
  package static let path: Text = "/org/stagedoor/Interchange1/session/"

  package static func path(of identifier: UniqueIdentifier) -> Text { identifier.path(after: path) }

  package static func identifier(_ text: Text) -> UniqueIdentifier? {
    text.hasPrefix(path) ? UniqueIdentifier(path: text, after: path) : UniqueIdentifier(text)
  }
}

extension UniqueIdentifier {
  /// The last element of an object's path: '_' stands for '-', which no path can hold.
  package func path(after beginning: Text) -> Text { Text(text(after: beginning, separator: UInt8(ascii: "_"))) }

  /// Reads the output of `path(after:)`.
  package init?(path: Text, after beginning: Text) {
    guard path.hasPrefix(beginning),
      let read = path.withBytes({ UniqueIdentifier($0.dropFirst(beginning.count), separator: UInt8(ascii: "_")) })
    else { return nil }
    self = read
  }
}
