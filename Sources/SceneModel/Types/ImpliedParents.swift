/// The parents that a type's name implies.
struct ImpliedParents: Sendable {
  private let plainText: TypeNames.Number
  let data: TypeNames.Number
  private let item: TypeNames.Number
  /// By the part before the slash: `image` of `image/*`.
  private let kinds: [Text: TypeNames.Number]
  /// The same without their names.
  let allKinds: Set<TypeNames.Number>
  /// By the part after the last plus sign.
  private let suffixes: [Text: TypeNames.Number]

  /// `canonical` returns the number of a name's type.
  init(_ canonical: (Text) -> TypeNames.Number) {
    plainText = canonical("text/plain")
    data = canonical("application/octet-stream")
    item = canonical("public.item")
    var kinds: [Text: TypeNames.Number] = [:]
    for kind in BuiltInTypes.identifiers {
      guard let twin = kind.twin, twin.form == .wildcard, let halves = MIMEHalves(twin.name) else { continue }
      kinds[halves.type] = canonical(twin.name)
    }
    self.kinds = kinds
    allKinds = Set(kinds.values)
    suffixes = BuiltInTypes.suffixes.mapValues(canonical)
  }

  /// `isDescribed`: whether somebody has named a parent. Then the suffix does not count, because it may be wrong: the drawings of one office suite
  /// are called `…+xml`, and are zip archives.
  func parents(of name: Text, isDescribed: Bool) -> [TypeNames.Number] {
    guard let halves = MIMEHalves(name) else { return [data] }
    if ContentType.isLink(name) { return [] }
    if halves.type == "inode" { return [item] }
    var parents = [data]
    if let kind = kinds[halves.type] { parents.append(kind) }
    if halves.type == "text" { parents.append(plainText) }
    if !isDescribed, let suffix = halves.suffix, let type = suffixes[suffix] { parents.append(type) }
    return parents
  }
}

/// The parts before and after the slash of a MIME type; `nil` for an identifier, which has no slash.
struct MIMEHalves {
  let type: Text
  /// `xml` of `image/svg+xml`.
  let suffix: Text?

  init?(_ name: Text) {
    let bytes = name.string.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    type = Text(String(name.string[..<slash]))
    suffix = bytes[slash...].lastIndex(of: UInt8(ascii: "+")).map {
      Text(String(name.string[bytes.index(after: $0)...]))
    }
  }
}
