import SceneModel
import Testing

/// What the name or the beginning of a file says about its type.
@Suite struct FileTypesTests {
  private static let user = """
    # of the user
    50:text/x-mine:*.mine
    50:image/x-users:*.png
    """
  private static let system = """
    # of the system
    80:text/html:*.html
    60:application/x-sharedlib:*.so.[0-9]*
    50:image/png:*.png
    50:application/gzip:*.gz
    50:application/x-compressed-tar:*.tar.gz
    50:text/x-csrc:*.c
    50:text/x-c++src:*.C:cs
    50:application/x-trash:*~
    50:text/x-makefile:makefile
    50:application/x-core:core:cs
    50:application/x-troff-man:*.[1-9]
    50:video/mpeg:[0-9][0-9][0-9].vdr
    50:text/x-not-a:*.[!a]q
    50:a/bracket:x[y
    10:text/x-readme:readme*
    60:text/x-heavy:*.heavy
    50:text/x-light:*.very.heavy
    broken
    50:broken:*.broken
    x:text/x:*.x
    50:text/x-empty:
    """
  private let types = FileTypes([Array(user.utf8), Array(system.utf8)])

  @Test(
    arguments: [
      ("a.html", "text/html"), ("A.HTML", "text/html"), (".html", "text/html"), ("a.b.html", "text/html"),
      ("a.mine", "text/x-mine"), ("a.png", "image/x-users"), ("a.gz", "application/gzip"),
      ("a.tar.gz", "application/x-compressed-tar"), ("a.TAR.gz", "application/x-compressed-tar"),
      ("a.c", "text/x-csrc"), ("a.C", "text/x-c++src"), ("a.html~", "application/x-trash"),
      ("Makefile", "text/x-makefile"), ("makefile", "text/x-makefile"), ("core", "application/x-core"), ("Core", nil),
      ("ls.1", "application/x-troff-man"), ("ls.0", nil), ("ls.12", nil), ("libc.so.6", "application/x-sharedlib"),
      ("libc.so.6.1", "application/x-sharedlib"), ("001.vdr", "video/mpeg"), ("0a1.vdr", nil), ("a.bq", "text/x-not-a"),
      ("a.aq", nil), ("x[y", "a/bracket"), ("README", "text/x-readme"), ("readme.html", "text/html"),
      ("a.very.heavy", "text/x-heavy"), ("a.broken", nil), ("a.x", nil), ("a.unknown", nil), ("a", nil), ("", nil),
      ("html", nil), ("a.html ", nil),
    ] as [(Text, String?)])
  func `a name has the type of the rule that counts most`(name: Text, type: String?) {
    #expect(types.type(ofName: name)?.description == type)
  }

  @Test func `no name is longer than the system takes`() {
    let longest = String(repeating: "a", count: 250) + ".html"
    #expect(types.type(ofName: Text(longest)) != nil)
    #expect(types.type(ofName: Text("a" + longest)) == nil)
  }

  @Test(
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D], "image/png"), ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"),
      (Array("GIF89a".utf8), "image/gif"), (Array("%PDF-1.7".utf8), "application/pdf"),
      (Array("Müll\t\r\n".utf8), "text/plain"), ([], "text/plain"), ([0x41, 0], "application/octet-stream"),
      ([UInt8](repeating: 0x41, count: 128) + [0], "text/plain"),
    ] as [([UInt8], String)])
  func `content says at its beginning what it is`(bytes: [UInt8], type: String) {
    #expect(FileTypes.type(ofBytes: bytes).description == type)
  }
}
