import TextPatterns

extension Comparison {
  /// The differences that a comparison ignores. Both sides are folded in the same way, and then compared by their bytes.
  package struct Options: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`: full case folding, so "Straße" is "STRASSE".
    package static let ignoringCase = Options(rawValue: 1)
    /// `[d]`: decomposed, and without combining marks, so "é" is "e".
    package static let ignoringMarks = Options(rawValue: 2)
  }
}

extension Text {
  /// The text that comparisons with these options compare. Folding it again changes nothing.
  ///
  /// Each scalar is folded by itself. Without marks, normalisation has nothing to sort, so a run of marks costs no more than its length. The result
  /// has at most three times the bytes, and a few more for a Hangul syllable.
  package func folded(_ options: Comparison.Options) -> Text {
    if options.isEmpty || withBytes({ Text.isUnchanged($0, options) }) { return self }
    var folded: [UInt8] = []
    folded.reserveCapacity(count)
    for scalar in string.unicodeScalars {
      if options.contains(.ignoringMarks) {
        scalar.forEachBase { base in
          if !options.contains(.ignoringCase) { return folded.append(base) }
          // A base folds to bases only; a letter that would bring a mark, such as İ, has lost it already.
          base.forEachFoldedCase { folded.append($0) }
        }
      } else {
        scalar.forEachFoldedCase { folded.append($0) }
      }
    }
    return Text(String(decoding: folded, as: UTF8.self))
  }

  /// Whether folding changes nothing: true for ASCII without capitals, and so for most keys.
  private static func isUnchanged(_ bytes: UnsafeRawBufferPointer, _ options: Comparison.Options) -> Bool {
    let capitals = options.contains(.ignoringCase) ? UInt8(ascii: "A")...UInt8(ascii: "Z") : 0x80...0x80
    return bytes.allSatisfy { $0 < 0x80 && !capitals.contains($0) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ scalar: Unicode.Scalar) { append(contentsOf: UTF8.encode(scalar) ?? .init()) }
}

extension Unicode.Scalar {
  fileprivate func forEachFoldedCase(_ body: (Unicode.Scalar) -> Void) {
    if value < 0x80 {
      let isCapital = value >= 0x41 && value <= 0x5A
      return body(isCapital ? Unicode.Scalar(UInt8(value) | 0x20) : self)
    }
    let simple = Unicode.Scalar(CaseFolding.folded(value)) ?? self
    switch value {
    // Among these are the letters that fold to several: their capitals are several, or İ is their capital. The library looks for capitals slowly.
    case 0xDF, 0x130, 0x149, 0x1F0, 0x390, 0x3B0, 0x587, 0x1E96...0x1E9E, 0x1F50...0x1FFC, 0xFB00...0xFB17:
      let capitals = simple.properties.uppercaseMapping.unicodeScalars
      if capitals.dropFirst().isEmpty && self != "İ" { return body(simple) }
      for capital in capitals { capital.properties.lowercaseMapping.unicodeScalars.forEach(body) }
    default: body(simple)
    }
  }

  /// The parts of its decomposition that are not marks: none for a mark, two or three for a Hangul syllable, otherwise one.
  fileprivate func forEachBase(_ body: (Unicode.Scalar) -> Void) {
    if value < 0xC0 { return body(self) }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return
    default: break
    }
    if let syllable = HangulSyllable(self) { return syllable.parts.forEach(body) }
    body(Unicode.Scalar(UnicodeTables.base(of: value)) ?? self)
  }
}

/// What folding needs to know of Unicode, and Swift's library does not tell.
enum UnicodeTables {
  /// The scalars, each in the upper half before what is left of it.
  private static let bases: [UInt64] = {
    var bases: [UInt64] = []
    var next: UInt64?
    for word in runs.unicodeScalars.split(separator: " ") {
      guard let scalar = next else {
        next = UInt64(String(word), radix: 16)
        continue
      }
      for (place, base) in word.enumerated() { bases.append((scalar + UInt64(place)) << 32 | UInt64(base.value)) }
      next = nil
    }
    return bases
  }()

  fileprivate static func base(of scalar: UInt32) -> UInt32 {
    let bases = bases
    var (low, high) = (0, bases.count)
    while low < high {
      let middle = (low + high) / 2
      if bases[middle] >> 32 < scalar { low = middle + 1 } else { high = middle }
    }
    guard low < bases.count, bases[low] >> 32 == scalar else { return scalar }
    return UInt32(truncatingIfNeeded: bases[low])
  }
}

/// A syllable of Unicode, section 3.12, which the positions of its letters number.
private struct HangulSyllable {
  let parts: [Unicode.Scalar]

  init?(_ scalar: Unicode.Scalar) {
    guard scalar.value >= 0xAC00, scalar.value <= 0xD7A3 else { return nil }
    let index = scalar.value - 0xAC00
    let (leading, vowel, trailing) = (index / (21 * 28), index / 28 % 21, index % 28)
    let values = [0x1100 + leading, 0x1161 + vowel] + (trailing == 0 ? [] : [0x11A7 + trailing])
    parts = values.compactMap(Unicode.Scalar.init)
  }
}
