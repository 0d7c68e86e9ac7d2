/// URLs of files on this machine: `file:///home/user/Beach.png`.
package enum FileURL {
  package static func isValid(_ text: Text) -> Bool { path(of: text) != nil }

  /// The absolute path that the URL names; `nil` if it is no URL of a file here.
  package static func path(of text: Text) -> [UInt8]? {
    guard URLText.isValid(text), text.count > 7 else { return nil }
    let rest = text.withBytes { bytes -> ArraySlice<UInt8>? in
      let scheme = bytes.prefix(7).map { $0 | 0x20 }
      return scheme.elementsEqual("file://".utf8.map { $0 | 0x20 }) ? Array(bytes)[7...] : nil
    }
    guard var rest else { return nil }
    if rest.starts(with: "localhost/".utf8) { rest = rest.dropFirst(9) }
    guard rest.first == UInt8(ascii: "/"), !rest.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
    else { return nil }
    return percentDecoded(rest)
  }

  private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var path: [UInt8] = []
    path.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      var byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < bytes.endIndex, let high = hexadecimalDigit(bytes[index + 1]),
          let low = hexadecimalDigit(bytes[index + 2])
        else { return nil }
        byte = high << 4 | low
        index += 2
      }
      if byte == 0 { return nil }
      path.append(byte)
      index += 1
    }
    return path
  }
}
