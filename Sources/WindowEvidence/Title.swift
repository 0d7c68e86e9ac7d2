/// A window's title, read for the file that it names.
///
/// Programs write their titles in a few forms: `PATH - App`, `NAME (DIRECTORY) - App`, `NAME - DIRECTORY - App`, `App: PATH`, and `NAME - App`,
/// with a mark for changes. A title is read as a whole: what is left when the program's own name and the marks are taken away must be one of these
/// forms. So `/a/b - c.txt - App` names `/a/b - c.txt` and never `/a/b`.
package struct Title {
  package enum Claim: Hashable, Sendable {
    case path(Bytes)
    case name(Bytes, directory: Bytes)
    /// The name alone, which two directories may have.
    case bareName(Bytes)

    /// The path; `nil` for a claim without a directory.
    var path: Bytes? {
      switch self {
      case .path(let path): path
      case .name(let name, let directory): File.path(of: name, in: directory)
      case .bareName: nil
      }
    }
  }

  /// Longer titles name no file.
  package static let maximumLength = 8_192

  /// Everything that the title may mean. A mark may also be a part of the name, so there may be several.
  package let claims: Set<Claim>

  /// The paths that the title names with their directories.
  var wholePaths: Set<Bytes> { Set(claims.compactMap(\.path)) }

  /// - Parameters:
  ///   - names: The names by which the program may call itself.
  ///   - home: The person's home directory, for `~`.
  ///   - hasDirectory: Whether the program is known to write the directory behind the name. A file may be called `a (~)`; a slash it cannot have.
  package init(_ text: Bytes, names: Set<Bytes>, home: Bytes, hasDirectory: Bool = false) {
    guard text.count <= Title.maximumLength else {
      claims = []
      return
    }
    var claims: Set<Claim> = []
    for rest in Title.withoutProgram(text[...], names) {
      for bare in Title.withoutMarks(rest) { claims.formUnion(Title.claims(of: bare, home, hasDirectory)) }
    }
    self.claims = claims
  }

  /// Whether a name stands in a title as a word of its own. `a.txt` is no word of `a.txt<b>`, `aa.txt` or `a.txt~`.
  package static func hasWord(_ name: Bytes, in title: Bytes) -> Bool {
    guard !name.isEmpty, title.count >= name.count, title.count <= maximumLength else { return false }
    return (0...(title.count - name.count)).contains { start in
      let end = start + name.count
      return title[start..<end] == name[...] && (start == 0 || opening.contains(title[start - 1]))
        && (end == title.count || closing.contains(title[end]))
    }
  }

  private static let opening = Bytes(" */([\"'".utf8)
  private static let closing = Bytes(" )]\"'*".utf8)

  // MARK: The program's own name

  private static let dashes = [" - ", " — ", " – ", " | "].map { Bytes($0.utf8) }
  private static let colon = Bytes(": ".utf8)

  /// The title without the program's name at its end or its beginning, in each way that fits.
  private static func withoutProgram(_ title: ArraySlice<UInt8>, _ names: Set<Bytes>) -> [ArraySlice<UInt8>] {
    // The name may also be a part of the file's.
    var found = [title]
    for name in names where !name.isEmpty {
      if title.ends(with: name) {
        let rest = title.dropLast(name.count)
        for dash in dashes where rest.ends(with: dash) { found.append(rest.dropLast(dash.count)) }
      }
      if title.starts(with: name) {
        let rest = title.dropFirst(name.count)
        for sign in dashes + [colon] where rest.starts(with: sign) { found.append(rest.dropFirst(sign.count)) }
      }
    }
    return found
  }

  // MARK: Marks of a document with changes

  private static let marksBefore = ["*", "• ", "+ ", "● "].map { Bytes($0.utf8) }
  private static let marksBehind = [
    "*", " +", " =", " -", " +-", " [+]", " [modified]", " (modified)", " [Modified]", " [Read-Only]", " [Read only]",
    " [read only]", " •",
  ].map { Bytes($0.utf8) }

  private static func withoutMarks(_ title: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var found = [trimmed(title)]
    for mark in marksBefore where title.starts(with: mark) { found.append(trimmed(title.dropFirst(mark.count))) }
    for mark in marksBehind where title.ends(with: mark) { found.append(trimmed(title.dropLast(mark.count))) }
    return found
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let space = UInt8(ascii: " ")
    guard let first = text.firstIndex(where: { $0 != space }), let last = text.lastIndex(where: { $0 != space }) else {
      return []
    }
    return text[first...last]
  }

  // MARK: The forms

  private static func claims(of text: ArraySlice<UInt8>, _ home: Bytes, _ hasDirectory: Bool) -> [Claim] {
    if text.isEmpty { return [] }
    if let path = absolute(text, home) { return [.path(path)] }
    if let (name, directory) = nameAndDirectory(text), hasDirectory || directory.count > 1,
      let directory = absolute(directory, home)
    {
      // vim writes its marks between the name and the directory.
      let claims = withoutMarks(name).filter { !$0.isEmpty }.map { Claim.name(Bytes($0), directory: directory) }
      return claims + [.bareName(Bytes(text))]
    }
    return [.bareName(Bytes(text))]
  }

  /// `NAME (DIRECTORY)` or `NAME - DIRECTORY`.
  private static func nameAndDirectory(
    _ text: ArraySlice<UInt8>
  ) -> (name: ArraySlice<UInt8>, directory: ArraySlice<UInt8>)? {
    if text.last == UInt8(ascii: ")"), let parts = split(text.dropLast(), Bytes(" (".utf8)) { return parts }
    return split(text, Bytes(" - ".utf8))
  }

  /// Splits at the last sign behind which a directory begins.
  private static func split(
    _ text: ArraySlice<UInt8>, _ sign: Bytes
  ) -> (name: ArraySlice<UInt8>, directory: ArraySlice<UInt8>)? {
    for start in text.indices.dropLast(sign.count).reversed() where text[start...].starts(with: sign) {
      let rest = text[(start + sign.count)...]
      if rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "~") { return (text[..<start], rest) }
    }
    return nil
  }

  /// An absolute path without a slash at its end; `~` stands for the home directory.
  private static func absolute(_ text: ArraySlice<UInt8>, _ home: Bytes) -> Bytes? {
    let slash = UInt8(ascii: "/")
    var path = Bytes(text)
    if path.first == UInt8(ascii: "~"), path.count == 1 || path[1] == slash { path = home + path.dropFirst() }
    guard path.first == slash else { return nil }
    while path.count > 1, path.last == slash { path.removeLast() }
    return path
  }
}

extension ArraySlice<UInt8> {
  fileprivate func ends(with ending: Bytes) -> Bool { suffix(ending.count).elementsEqual(ending) }
}
