import Testing
import WindowEvidence

/// Titles as real programs write them, and what they say about a file.
@Suite struct TitleTests {
  private static let home: Bytes = bytes("/home/ann")

  private func claims(_ title: String, _ program: String) -> Set<Title.Claim> {
    Title(bytes(title), names: [bytes(program)], home: TitleTests.home).claims
  }

  @Test(arguments: [
    ("/tmp/a.txt - Mousepad", "Mousepad", "/tmp/a.txt"), ("Xpdf: /tmp/a.pdf", "Xpdf", "/tmp/a.pdf"),
    ("~/notes/a.txt - Editor", "Editor", "/home/ann/notes/a.txt"), ("*/tmp/a.txt - Mousepad", "Mousepad", "/tmp/a.txt"),
  ])
  func `a title that is a path names it, also behind a star, which marks changes`(
    title: String, program: String, path: String
  ) {
    #expect(claims(title, program).contains(.path(bytes(path))))
  }

  @Test(arguments: [
    ("a.txt (/tmp) - gedit", "gedit", "a.txt"), ("a.txt (/tmp) - GVIM", "GVIM", "a.txt"),
    ("a.txt - /tmp - Geany", "Geany", "a.txt"), ("*a.txt - /tmp - Geany", "Geany", "a.txt"),
    ("*a.txt (/tmp) - gedit", "gedit", "a.txt"), ("b - c.txt - /tmp - Geany", "Geany", "b - c.txt"),
    // A mark may be a part of the name, so both readings are claimed.
    ("a.txt + (/tmp) - GVIM1", "GVIM1", "a.txt"), ("a.txt + (/tmp) - GVIM1", "GVIM1", "a.txt +"),
  ])
  func `a name and a directory are read together`(title: String, program: String, name: String) {
    #expect(claims(title, program).contains(.name(bytes(name), directory: bytes("/tmp"))))
  }

  @Test(
    arguments: [
      ("/tmp/a.txt", "Mousepad", [.path(bytes("/tmp/a.txt"))]),
      // A name with dashes keeps them.
      ("/a/b - c.txt - Mousepad", "Mousepad", [.path(bytes("/a/b - c.txt")), .path(bytes("/a/b - c.txt - Mousepad"))]),
      // The program's name is taken away only where the program has this name.
      ("/tmp/a.txt - Mousepad", "Geany", [.path(bytes("/tmp/a.txt - Mousepad"))]),
      // A name alone is no path.
      (
        "a.txt - GNU Emacs at x", "GNU Emacs at x",
        [.bareName(bytes("a.txt")), .bareName(bytes("a.txt - GNU Emacs at x"))]
      ),
    ] as [(String, String, Set<Title.Claim>)])
  func `a title claims this and nothing else`(title: String, program: String, expected: Set<Title.Claim>) {
    #expect(claims(title, program) == expected)
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
