/// The characters between the quotes of a JSON text.
enum JSONText {
  /// The first byte from `start` on that has a meaning: a quote, a backslash, or a control character. This reads eight bytes at a time.
  static func plainEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var offset = start
    while offset &+ 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      // The lowest marked byte is exact; those above it may be marked by a borrow.
      let marked =
        ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word) & tops
      if marked != 0 { return offset &+ marked.trailingZeroBitCount / 8 }
      offset &+= 8
    }
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return offset }
      offset &+= 1
    }
    return offset
  }

  /// The end of the escape at `start`; `nil` if it is not an escape, or is half of a pair of surrogates.
  static func escapeEnd(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard start + 1 < bytes.count else { return nil }
    switch bytes[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return start + 2
    case UInt8(ascii: "u"):
      guard let unit = codeUnit(bytes, at: start) else { return nil }
      if !UTF16.isSurrogate(unit) { return start + 6 }
      guard UTF16.isLeadSurrogate(unit), let trail = codeUnit(bytes, at: start + 6), UTF16.isTrailSurrogate(trail)
      else { return nil }
      return start + 12
    default: return nil
    }
  }

  /// The number in the `\uXXXX` at `start`.
  static func codeUnit(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt16? {
    guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt16 = 0
    for byte in bytes[(start + 2)..<(start + 6)] {
      guard let digit = hexadecimalDigit(byte) else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// The meaning of a node's text. The scanner has checked its escapes.
  static func decoded(_ node: JSONTape.Node, _ bytes: UnsafeRawBufferPointer) -> String {
    let raw = UnsafeRawBufferPointer(rebasing: bytes[node.range])
    if !node.hasEscapes {
      // The whole document is UTF-8, because it came as a string, and a quote is a whole character.
      return raw.withMemoryRebound(to: UInt8.self) { String(copying: UTF8Span(unchecked: $0.span)) }
    }
    return String(unsafeUninitializedCapacity: raw.count) { buffer in
      var (from, to) = (0, 0)
      while from < raw.count {
        if raw[from] != UInt8(ascii: "\\") {
          buffer[to] = raw[from]
          from += 1
          to += 1
          continue
        }
        let end = escapeEnd(raw, at: from) ?? raw.count
        if let plain = plainMeaning(raw[from + 1]) {
          buffer[to] = plain
          to += 1
        } else {
          // An escape of six or twelve bytes stands for four bytes at most.
          for byte in UTF8.encode(scalar(raw, escapedAt: from)) ?? UTF8.encodedReplacementCharacter {
            buffer[to] = byte
            to += 1
          }
        }
        from = end
      }
      return to
    }
  }

  private static func plainMeaning(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "u"): nil
    default: letter
    }
  }

  static func scalar(_ bytes: UnsafeRawBufferPointer, escapedAt start: Int) -> Unicode.Scalar {
    let unit = codeUnit(bytes, at: start) ?? 0
    if let scalar = Unicode.Scalar(unit) { return scalar }
    return UTF16.decode(UTF16.EncodedScalar([unit, codeUnit(bytes, at: start + 6) ?? 0]))
  }

  /// The text at a byte, for a message: a whole word such as `None`, or else one character.
  static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> String {
    let word = bytes[offset...].prefix(maximumShown).prefix { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte == UInt8(ascii: "_")
    }
    if word.count > 1 { return String(decoding: word, as: UTF8.self) }
    let around = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self)
    return around.unicodeScalars.first.map { String(Character($0)) } ?? ""
  }
}

enum JSONKeys {
  /// The second of two equal keys, if there are any. A few keys are compared with each other; many are sorted.
  static func duplicate(in nodes: [JSONTape.Node], of object: Int, _ bytes: UnsafeRawBufferPointer) -> Int? {
    let few = 12
    let end = Int(nodes[object].next)
    var count = 0
    var key = object + 1
    while key < end {
      if nodes[key].hasEscapes || count == few { return duplicateOfMany(in: nodes, of: object, bytes) }
      var other = object + 1
      while other < key {
        if areEqual(nodes[key], nodes[other], bytes) { return key }
        other = Int(nodes[other + 1].next)
      }
      count += 1
      key = Int(nodes[key + 1].next)
    }
    return nil
  }

  private static func areEqual(_ one: JSONTape.Node, _ other: JSONTape.Node, _ bytes: UnsafeRawBufferPointer) -> Bool {
    one.end &- one.start == other.end &- other.start
      && Text.areEqual(
        UnsafeRawBufferPointer(rebasing: bytes[one.range]), UnsafeRawBufferPointer(rebasing: bytes[other.range]))
  }

  private static func duplicateOfMany(
    in nodes: [JSONTape.Node], of object: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Int? {
    var keys: [(text: Text, node: Int)] = []
    var key = object + 1
    while key < Int(nodes[object].next) {
      keys.append((Text(JSONText.decoded(nodes[key], bytes)), key))
      key = Int(nodes[key + 1].next)
    }
    keys.sort { ($0.text, $0.node) < ($1.text, $1.node) }
    return zip(keys, keys.dropFirst()).filter { $0.text == $1.text }.map { $1.node }.min()
  }
}
