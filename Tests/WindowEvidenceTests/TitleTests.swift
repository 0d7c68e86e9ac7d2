import Testing
import WindowEvidence

/// Titles as real programs write them, and what they say about a file.
@Suite struct TitleTests {
  private static let home: Bytes = bytes("/home/ann")

  private func claims(_ title: String, _ names: String...) -> Set<Title.Claim> {
    Title(bytes(title), names: Set(names.map(bytes)), home: TitleTests.home).claims
  }

  @Test func `a title that is the path names it`() {
    #expect(claims("/tmp/a.txt", "Mousepad") == [.path(bytes("/tmp/a.txt"))])
    #expect(claims("/tmp/a.txt - Mousepad", "Mousepad").contains(.path(bytes("/tmp/a.txt"))))
    #expect(claims("Xpdf: /tmp/a.pdf", "Xpdf").contains(.path(bytes("/tmp/a.pdf"))))
    #expect(claims("~/notes/a.txt - Editor", "Editor").contains(.path(bytes("/home/ann/notes/a.txt"))))
  }

  @Test func `a star before the path marks changes, or is a part of a relative name`() {
    #expect(claims("*/tmp/a.txt - Mousepad", "Mousepad").contains(.path(bytes("/tmp/a.txt"))))
  }

  @Test(arguments: [
    ("a.txt (/tmp) - gedit", "gedit"), ("a.txt (/tmp) - GVIM", "GVIM"), ("a.txt + (/tmp) - GVIM1", "GVIM1"),
    ("a.txt - /tmp - Geany", "Geany"), ("*a.txt - /tmp - Geany", "Geany"), ("*a.txt (/tmp) - gedit", "gedit"),
  ])
  func `a name and a directory are read together`(title: String, program: String) {
    #expect(claims(title, program).contains(.name(bytes("a.txt"), directory: bytes("/tmp"))))
  }

  @Test func `a mark may be a part of the name, so both readings are claimed`() {
    let both = claims("a.txt + (/tmp) - GVIM", "GVIM")
    #expect(both.contains(.name(bytes("a.txt +"), directory: bytes("/tmp"))))
    #expect(both.contains(.name(bytes("a.txt"), directory: bytes("/tmp"))))
  }

  @Test func `a name with dashes keeps them`() {
    let claims = claims("/a/b - c.txt - Mousepad", "Mousepad")
    #expect(claims == [.path(bytes("/a/b - c.txt")), .path(bytes("/a/b - c.txt - Mousepad"))])
    #expect(self.claims("b - c.txt - /a - Geany", "Geany").contains(.name(bytes("b - c.txt"), directory: bytes("/a"))))
  }

  @Test func `the program's name is taken away only where the program has this name`() {
    #expect(claims("/tmp/a.txt - Mousepad", "Geany") == [.path(bytes("/tmp/a.txt - Mousepad"))])
  }

  @Test func `a name alone is no path`() {
    #expect(
      claims("a.txt - Mousepad", "Mousepad") == [.bareName(bytes("a.txt")), .bareName(bytes("a.txt - Mousepad"))])
    #expect(claims("alpha.txt - GNU Emacs at host", "GNU Emacs at host").contains(.bareName(bytes("alpha.txt"))))
  }

  @Test(arguments: [
    ("a.txt", true), ("*a.txt - x", true), ("x (a.txt)", true), ("/tmp/a.txt", true), ("\"a.txt\"", true),
    ("a.txt<b>", false), ("aa.txt", false), ("a.txt~", false), ("a.txt.bak", false), ("b a.txt2", false), ("", false),
  ])
  func `a word ends where a name cannot go on`(title: String, isThere: Bool) {
    #expect(Title.hasWord(bytes("a.txt"), in: bytes(title)) == isThere)
  }

  @Test func `two spellings of one letter are two names`() {
    let (composed, decomposed) = (bytes("/tmp/\u{e9}.txt"), bytes("/tmp/e\u{301}.txt"))
    #expect(
      Title(composed, names: [], home: TitleTests.home).claims
        != Title(decomposed, names: [], home: TitleTests.home).claims)
  }

  @Test func `a name need not be UTF-8`() {
    let path = bytes("/tmp/") + [0xFF, 0xFE] + bytes(".txt")
    #expect(
      Title(path + bytes(" - Mousepad"), names: [bytes("Mousepad")], home: TitleTests.home).claims.contains(.path(path))
    )
  }

  @Test func `a title beyond the limit names nothing`() {
    let long = bytes("/") + Bytes(repeating: UInt8(ascii: "a"), count: Title.maximumLength)
    #expect(Title(long, names: [], home: TitleTests.home).claims.isEmpty)
    #expect(Title(Bytes(long.dropLast()), names: [], home: TitleTests.home).claims == [.path(Bytes(long.dropLast()))])
  }
}

func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }
