/// The identifier of an application is a name on the bus: `org.example.Gallery`.
package enum ApplicationIdentifier {
  /// The names of the bus and of this service, which no application can have.
  package static let taken: [Text] = ["org.freedesktop.DBus", "org.stagedoor.Interchange1"]

  /// At least two elements of letters, digits, `_` and `-`, none of which begins with a digit; at most 255 bytes.
  package static func isValid(_ text: Text) -> Bool {
    guard text.count <= Limits.name, !taken.contains(text) else { return false }
    let elements = text.string.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return elements.count >= 2
      && elements.allSatisfy { element in
        guard let first = element.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return element.allSatisfy { byte in
          MIMESyntax.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
      }
  }
}

/// A variable that Xcode writes into a project's `Info.plist` and fills in during the build: `$(PRODUCT_BUNDLE_IDENTIFIER)`.
enum BuildVariable {
  private static let bundleIdentifier = ["$(PRODUCT_BUNDLE_IDENTIFIER)", "${PRODUCT_BUNDLE_IDENTIFIER}"]

  static func isBundleIdentifier(_ text: Text) -> Bool { bundleIdentifier.contains(text.string) }

  static func occurs(in text: Text) -> Bool {
    zip(text.string.utf8, text.string.utf8.dropFirst()).contains {
      $0 == UInt8(ascii: "$") && ($1 == UInt8(ascii: "(") || $1 == UInt8(ascii: "{"))
    }
  }

  /// An activity type is often written as the bundle's identifier and a word.
  static func withBundleIdentifier(_ identifier: Text, in text: Text) -> Text {
    for variable in bundleIdentifier where text.hasPrefix(Text(variable)) {
      return Text(identifier.string + String(decoding: text.string.utf8.dropFirst(variable.utf8.count), as: UTF8.self))
    }
    return text
  }
}
