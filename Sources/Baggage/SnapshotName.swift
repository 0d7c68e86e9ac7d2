import SceneModel

/// The name of a snapshot's file: the session; a dot, or a tilde if the window was private; and the type, in which each byte that is neither a letter,
/// a digit nor one of `+-._` becomes a percent sign and two digits.
struct SnapshotName {
  let session: UniqueIdentifier
  let type: Text
  let isPrivate: Bool
  let text: String

  /// A name has at most 255 bytes on Linux.
  private static let maximumLength = 255
  private static let lengthOfSession = 36

  /// `nil` if the type is too long.
  init?(_ session: UniqueIdentifier, _ type: Text, isPrivate: Bool) {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes = Array("\(session)\(isPrivate ? "~" : ".")".utf8)
    type.withBytes { type in
      for byte in type {
        if SnapshotName.standsForItself(byte) {
          bytes.append(byte)
        } else {
          bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
      }
    }
    if bytes.count > SnapshotName.maximumLength { return nil }
    (self.session, self.type, self.isPrivate) = (session, type, isPrivate)
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// `nil` if the text is no such name.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    let length = SnapshotName.lengthOfSession
    guard bytes.count > length,
      let session = UniqueIdentifier(Text(String(decoding: bytes[..<length], as: UTF8.self)))
    else { return nil }
    var type: [UInt8] = []
    var rest = bytes[(length + 1)...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        type.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      type.append(value)
      rest = rest.dropFirst(2)
    }
    guard let string = String(validating: type, as: UTF8.self) else { return nil }
    let isPrivate = bytes[length] == UInt8(ascii: "~")
    // Another spelling of the same name would be a second file.
    guard let name = SnapshotName(session, Text(string), isPrivate: isPrivate), name.text == text else { return nil }
    self = name
  }

  private static func standsForItself(_ byte: UInt8) -> Bool {
    MIMESyntax.isLetterOrDigit(byte) || "+-._".utf8.contains(byte)
  }
}
