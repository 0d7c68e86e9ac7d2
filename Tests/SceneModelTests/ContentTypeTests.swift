import SceneModel
import Testing

@Suite struct ContentTypeTests {
  @Test(arguments: [
    ("image/png", ContentType.Form.mime, "image/png"), ("Image/PNG", .mime, "image/png"),
    ("application/vnd.ms-excel.sheet.macroEnabled.12", .mime, "application/vnd.ms-excel.sheet.macroenabled.12"),
    ("text/x-c++src", .mime, "text/x-c++src"), ("a/b", .mime, "a/b"), ("x/a!#$&-^_.+0", .mime, "x/a!#$&-^_.+0"),
    ("text/plain;charset=UTF-8", .mime, "text/plain;charset=utf-8"),
    ("text/plain ; Charset=\"utf-8\" ;format=Flowed", .mime, "text/plain;charset=utf-8;format=Flowed"),
    ("text/x;b=2;a=1", .mime, "text/x;a=1;b=2"), (#"text/x;a="1 \" 2""#, .mime, #"text/x;a="1 \" 2""#),
    (#"text/x;a="""#, .mime, #"text/x;a="""#), ("public.png", .identifier, "public.png"),
    ("com.Adobe.PDF", .identifier, "com.adobe.pdf"), ("com.example.my-format", .identifier, "com.example.my-format"),
    ("com.例.Ä", .identifier, "com.例.Ä"), ("7.8", .identifier, "7.8"), ("image/*", .wildcard, "image/*"),
    ("IMAGE/*", .wildcard, "image/*"), ("*/*", .everything, "*/*"),
  ])
  func `a type is written in one way`(spelling: String, form: ContentType.Form, text: String) throws {
    let type = try ContentType(Text(spelling), as: .asked, at: .document)
    #expect(type.form == form)
    #expect(type.text.string == text)
    #expect(type.spelling.string == spelling)
    let again = try ContentType(type.text, as: .asked, at: .document)
    #expect(again == type)
    #expect(again.hashValue == type.hashValue)
  }

  @Test(arguments: [
    ("", "there is nothing"), ("png", "there is neither a slash nor a dot"),
    ("UTF8_STRING", #""_" cannot stand there"#), ("image/", "there is nothing after the slash"),
    ("/png", "there is nothing before the slash"), ("/", "there is nothing before the slash"),
    ("image/p ng", #"" " cannot stand there"#), ("image/png/x", #""/" cannot stand there"#),
    (" image/png", #"" " cannot stand there"#), ("image/png ", #"" " cannot stand there"#),
    ("image/.png", "a letter or digit comes first after the slash"), ("image/bild-ä", "only ASCII can stand there"),
    ("*/png", #""*" cannot stand there"#), ("image/*;q=1", "a wildcard has no parameters"),
    ("image/p*", #""*" cannot stand there"#), ("*", #""*" cannot stand there"#),
    ("text/plain;", "after a semicolon comes name=value"), ("text/plain;charset", "after a semicolon comes name=value"),
    ("text/plain;charset=", "after a semicolon comes name=value"),
    ("text/plain;=a", "after a semicolon comes name=value"), ("text/plain;a=1;A=2", #""a" stands twice"#),
    ("text/plain;a=1 b", #""b" cannot stand there"#), ("text/plain;a=\"1", "a quotation does not end"),
    ("text/plain;a=\"1\\", "a backslash has a letter after it"), ("text/plain;a=\"\n\"", #""\n" cannot stand there"#),
    ("public..png", "there is nothing on one side of a dot"), (".png", "there is nothing on one side of a dot"),
    ("public.", "there is nothing on one side of a dot"), ("public.my_type", #""_" cannot stand there"#),
    ("public.png;a=1", #"";" cannot stand there"#), ("public.\u{0}", #""\u{0}" cannot stand there"#),
    (String(repeating: "a", count: 128) + "/b", "there are more than 127 letters before the slash"),
    ("b/" + String(repeating: "a", count: 128), "there are more than 127 letters after the slash"),
  ])
  func `what is no type is refused with a reason`(text: String, reason: String) throws {
    let place = Place.document.key("items").index(1).key("type")
    let fault = try #require(throws: Fault.self) { try ContentType(Text(text), as: .asked, at: place) }
    #expect(fault.kind == .invalid)
    #expect(fault.place == "items[1].type")
    #expect(fault.reason.hasPrefix("expected a content type such as image/png or public.png, got \""))
    #expect(fault.reason.hasSuffix("\": \(reason)"), "\(fault.reason)")
    #expect(ContentType(Text(text), as: .asked) == nil)
  }

  @Test(arguments: ["image/*", "*/*"])
  func `nothing is of the type of a wildcard`(text: String) throws {
    let fault = try #require(throws: Fault.self) { try ContentType(Text(text), as: .carried, at: .document) }
    #expect(fault.reason.hasSuffix("a wildcard stands for many types, and data has one"))
    #expect(ContentType(Text(text)) == nil)
  }

  @Test func `a type has at most 255 bytes`() throws {
    let longest = "com." + String(repeating: "a", count: 251)
    #expect(ContentType(Text(longest)) != nil)
    let fault = try #require(throws: Fault.self) { try ContentType(Text(longest + "a"), as: .carried, at: .document) }
    #expect(fault.kind == .limit)
    #expect(fault.reason == "a content type has at most 255 bytes, and this one 256")
  }

  @Test func `types are equal whatever letters they were spelled in`() throws {
    #expect(ContentType("image/png") == ContentType("IMAGE/PnG"))
    #expect(ContentType("com.adobe.pdf") == ContentType("com.Adobe.PDF"))
    #expect(ContentType("text/plain; charset=UTF-8") == ContentType("TEXT/plain;CHARSET=\"utf-8\""))
    #expect(ContentType("text/x;a=1;b=2") == ContentType("text/x; b=2; a=1"))
    #expect(ContentType("text/x;a=X") != ContentType("text/x;a=x"))
    #expect(ContentType("text/plain") != ContentType("text/plain;charset=utf-8"))
    #expect(ContentType("image/png") != ContentType("public.png"))
  }
}

/// What the name or the beginning of a file says about its type.
@Suite struct FileTypesTests {
  private static let user = """
    # of the user
    50:text/x-mine:*.mine
    50:image/x-users:*.png
    0:text/x-replaced:__NOGLOBS__
    50:text/x-replaced:*.replacing
    """
  private static let system = """
    # of the system
    80:text/html:*.html
    60:application/x-sharedlib:*.so.[0-9]*
    50:image/png:*.png
    50:text/x-replaced:*.replaced
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
    50:text/x-no-bracket:*.[!]a]r
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
      ("a.aq", nil), ("a.br", "text/x-no-bracket"), ("a.]r", nil), ("a.ar", nil), ("x[y", "a/bracket"),
      ("README", "text/x-readme"), ("readme.html", "text/html"),
      ("a.very.heavy", "text/x-heavy"), ("a.broken", nil), ("a.x", nil), ("a.unknown", nil), ("a", nil), ("", nil),
      ("html", nil), ("a.html ", nil), ("a.replaced", nil), ("a.replacing", "text/x-replaced"), ("__NOGLOBS__", nil),
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
