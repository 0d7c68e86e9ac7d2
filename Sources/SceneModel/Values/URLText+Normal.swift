extension URLText {
  /// The normal form of a URL: the one spelling for all URLs that RFC 3986 calls equal, by sections 6.2.2 (case, percent-encoding, dot segments) and
  /// 6.2.3 (the scheme's own port, and the path of a server). The URL of a file has neither `localhost` nor a slash at its end.
  ///
  /// A text that is no URL stays as it is.
  package static func normal(_ url: Text) -> Text {
    guard let scheme = scheme(of: url) else { return url }
    let bytes = Array(url.string.utf8)
    let rest = bytes[(scheme.count + 1)...]
    let end = rest.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? rest.endIndex
    let authority = authority(in: rest[..<end])
    var path = unescaped(rest[(authority?.endIndex ?? rest.startIndex)..<end])
    // A path that does not begin at a root, as in `mailto:`, is the scheme's own affair.
    if path.first == slash, zip(path, path.dropFirst()).contains(where: { $0 == slash && $1 == UInt8(ascii: ".") }) {
      path = withoutDotSegments(path)
    }
    var written = Array(scheme.string.utf8) + [UInt8(ascii: ":")]
    if let authority {
      written += [slash, slash] + normal(authority: authority, scheme)
      if path.isEmpty, ports[scheme] != nil { path = [slash] }
      if scheme == "file" { while path.count > 1, path.last == slash { path.removeLast() } }
    } else if path.starts(with: [slash, slash]) {
      // Without this, the path would begin with the name of a server.
      path = [slash, UInt8(ascii: ".")] + path
    }
    written += path + unescaped(rest[end...])
    // The slash after a server may be one byte too many.
    return written.count > Limits.text ? url : Text(String(decoding: written, as: UTF8.self))
  }

  private static let slash = UInt8(ascii: "/")
  /// The schemes whose URLs begin with a server, and the port of each that need not be written.
  private static let ports: [Text: String] = ["http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"]

  /// What stands between `//` and the path.
  private static func authority(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard bytes.starts(with: [slash, slash]) else { return nil }
    let rest = bytes.dropFirst(2)
    return rest.prefix { $0 != slash }
  }

  private static func normal(authority: ArraySlice<UInt8>, _ scheme: Text) -> [UInt8] {
    var bytes = unescaped(authority)
    let user = bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? bytes.startIndex
    var end = bytes.endIndex
    while let colon = bytes[user..<end].lastIndex(of: UInt8(ascii: ":")), case let port = bytes[(colon + 1)..<end],
      port.isEmpty || ports[scheme].map({ port.elementsEqual($0.utf8) }) == true
    {
      end = colon
    }
    bytes.removeSubrange(end...)
    var index = user
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "%") { index += 3; continue }
      bytes[index] = MIMESyntax.small(bytes[index])
      index += 1
    }
    return scheme == "file" && bytes.elementsEqual("localhost".utf8) ? [] : bytes
  }

  /// Writes letters, digits, `-`, `.`, `_` and `~` as themselves, and the digits of other escapes in capitals.
  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    if !bytes.contains(UInt8(ascii: "%")) { return Array(bytes) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
        let high = hexadecimalDigit(bytes[index + 1]),
        let low = hexadecimalDigit(bytes[index + 2])
      else {
        result.append(bytes[index])
        index += 1
        continue
      }
      result += FileURL.written(high << 4 | low, ifPlain: "-._~")
      index += 3
    }
    return result
  }

  /// RFC 3986, section 5.2.4, for a path that begins with a slash.
  private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
    var kept: [ArraySlice<UInt8>] = []
    let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
    for (number, segment) in segments.enumerated() {
      let isParent = segment.elementsEqual("..".utf8)
      if !isParent, !segment.elementsEqual(".".utf8) {
        kept.append(segment)
        continue
      }
      if isParent { _ = kept.popLast() }
      if number == segments.count - 1 { kept.append([]) }
    }
    return kept.reduce(into: []) { $0 += [slash] + $1 }
  }
}
