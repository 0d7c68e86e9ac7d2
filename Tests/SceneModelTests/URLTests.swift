import SceneModel
import SceneTestSupport
import Testing

@Suite struct FileURLTests {
  @Test(
    arguments: [
      ("file:///", "/"), ("file:///x", "/x"), ("file://localhost/x", "/x"), ("file://LocalHost/x", "/x"),
      ("FILE:///x", "/x"), ("file:///home/user/My%20Beach.png", "/home/user/My Beach.png"),
      ("file:///M%C3%BCll", "/Müll"), ("file:///%e7%8c%ab", "/猫"), ("file:///a/../b/./", "/a/../b/./"),
      ("file:////a", "//a"), ("file:///a%3Fb%23c%25", "/a?b#c%"), ("file:///a+b", "/a+b"),
      ("file:///localhost/x", "/localhost/x"), ("file:///%66ile", "/file"),
    ] as [(Text, String)])
  func `a file URL names a path on this machine`(url: Text, path: String) {
    #expect(FileURL.path(of: url) == Array(path.utf8))
    #expect(FileURL.isValid(url))
  }

  @Test func `a path has any bytes but zero`() {
    #expect(FileURL.path(of: "file:///%ff%01%7F") == [0x2F, 0xFF, 0x01, 0x7F])
  }

  @Test(
    arguments: [
      "", "x", "/x", "file:", "file:/", "file:/x", "file://", "file:x", "file://host/x", "file://localhost",
      "file://localhost.example/x", "file://localhostx/x", "file://user@localhost/x", "file://localhost:80/x",
      "file://127.0.0.1/x", "http:///x", "http://localhost/x", "https://example.org/x", "files:///x", "afile:///x",
      " file:///x", "file:///x ", "file:///a b", "file:///ü", "file:///a\n", "file:///%00", "file:///a%00b",
      "file:///%zz", "file:///%", "file:///%2", "file:///a%2G", "file:///a?b", "file:///a#b", "file:///a\u{0}",
      "file:\\\\x", "file://%6cocalhost/x",
    ] as [Text])
  func `nothing else is one`(url: Text) throws {
    #expect(!FileURL.isValid(url))
    let json = JSON.text(of: ["items": [["representations": [["type": "a/b", "file": .string(url)]]]]])
    let fault = #expect(throws: Fault.self) { try Payload(json: json, PayloadTests.rules) }
    #expect(fault?.place == "items[0].representations[0].file")
  }

  @Test func `a URL of the longest path that there is fits`() throws {
    let longest = "file:///" + String(repeating: "%C3", count: 4095)
    let item = #"{"items":[{"representations":[{"type":"a/b","file":"URL"}]}]}"#
    _ = try Payload(json: Text(item.replacing("URL", with: longest)), PayloadTests.rules)
    let longer = longest + String(repeating: "x", count: Limits.text - longest.utf8.count)
    _ = try Payload(json: Text(item.replacing("URL", with: longer)), PayloadTests.rules)
    let fault = #expect(throws: Fault.self) {
      try Payload(json: Text(item.replacing("URL", with: longer + "x")), PayloadTests.rules)
    }
    #expect(fault?.kind == .limit)
  }
}

@Suite struct URLTextTests {
  @Test(arguments: ValueGenerator.urls + ["x-scheme+1.0:opaque", "https://example.org/?a[0]=1", "a:#"])
  func `an absolute URI is one`(text: Text) {
    #expect(URLText.isValid(text))
  }

  @Test(
    arguments: [
      "", ":", "a", "a:", "photos/7", "/photos/7", "//example.org/", "1a:b", "-a:b", "a_b:c", "é:a", " a:b", "a:b c",
      "a:é", "a:猫", "a:%", "a:%2", "a:%2G", "a:b%", "a:\0", "a:b\n", "a:<b>", "a:\"b\"", "a:{b}", "a:b|c", "a:b\\c",
      "a:^", "a:`", "a:b#c#d", "a:\u{7F}",
    ] as [Text])
  func `what is no absolute URI is none`(text: Text) {
    #expect(!URLText.isValid(text))
  }
}

/// The normal form of URLs.
@Suite struct URLNormalTests {
  @Test(
    arguments: [
      // Files
      ("file:///", "file:///"), ("FILE:///a", "file:///a"), ("file://localhost/a", "file:///a"),
      ("file://LocalHost/a", "file:///a"), ("file:///a/", "file:///a"), ("file:///a//", "file:///a"),
      ("file:////", "file:///"), ("file:///a/b/../c/./d", "file:///a/c/d"), ("file:///a/..", "file:///"),
      ("file:///../../a", "file:///a"), ("file:///a/%2E%2e/b", "file:///b"), ("file:///%7Euser/%41", "file:///~user/A"),
      ("file:///a%2fb", "file:///a%2Fb"), ("file:///a+b", "file:///a+b"), ("file:///a%2bb", "file:///a%2Bb"),
      ("file:///M%c3%bCll", "file:///M%C3%BCll"), ("file:////a", "file:////a"), ("file:///...", "file:///..."),
      ("file://host/a/", "file://host/a"), ("file:/a", "file:/a"),
      // Links
      ("HTTP://Example.ORG", "http://example.org/"), ("https://example.org:443", "https://example.org/"),
      ("https://example.org:8443/", "https://example.org:8443/"), ("https://example.org:/", "https://example.org/"),
      ("http://example.org:443/", "http://example.org:443/"), ("http://example.org?q", "http://example.org/?q"),
      ("http://Ann:Pass@Example.org/", "http://Ann:Pass@example.org/"), ("http://[::FF]:80/", "http://[::ff]/"),
      ("http://ex%41mple.org/", "http://example.org/"), ("http://ex%c3%84.org/", "http://ex%C3%84.org/"),
      ("http://example.org/a/", "http://example.org/a/"), ("http://example.org/a/.", "http://example.org/a/"),
      ("http://example.org/a/../../b?x=/../y#/../z", "http://example.org/b?x=/../y#/../z"),
      ("http://example.org/?q=%7e&r=%3d#%2D", "http://example.org/?q=~&r=%3D#-"),
      ("MailTo:Ann@Example.org", "mailto:Ann@Example.org"), ("mailto:%61@b", "mailto:a@b"),
      ("urn:a/../b", "urn:a/../b"),
      ("x:/a/../b", "x:/b"), ("x:/.//a", "x:/.//a"), ("x:/a/..//b", "x:/.//b"), ("x://a", "x://a"),
      ("x://a:/", "x://a/"),
      // What is no URL stays.
      ("", ""), ("a b", "a b"), ("/a/../b", "/a/../b"), ("file:///a b/", "file:///a b/"),
      ("http://a/%zz", "http://a/%zz"),
    ] as [(Text, Text)])
  func `the normal form`(url: Text, normal: Text) {
    #expect(URLText.normal(url) == normal)
  }

  @Test func `a normal form is its own normal form, in generated URLs`() {
    var random = SeededRandom(seed: 1)
    let pieces = [
      "http:", "file:", "X:", "//", "/", "localhost", "B", "@", ":", ":80", "[", "]", "%2E", "%2f", "%41", "%25", ".",
      "..", "a", "?", "#", "~",
    ]
    for _ in 0..<20_000 {
      let url = Text((0..<(1 + random.below(9))).map { _ in random.one(of: pieces) }.joined())
      let normal = URLText.normal(url)
      #expect(URLText.normal(normal) == normal, "\(url)")
      #expect(URLText.isValid(normal) == URLText.isValid(url), "\(url)")
      #expect(FileURL.isValid(normal) || !FileURL.isValid(url), "\(url)")
    }
  }

  @Test func `no path becomes another one, but for dot segments and the slash at its end`() {
    var random = SeededRandom(seed: 2)
    for _ in 0..<5_000 {
      let path = [UInt8(ascii: "/")] + (0..<random.below(9)).map { _ in UInt8(1 + random.below(255)) }
      if path.contains(UInt8(ascii: ".")) || path.last == UInt8(ascii: "/") { continue }
      let url = FileURL.text(ofPath: path)
      #expect(URLText.normal(url) == url)
      #expect(FileURL.path(of: url) == path)
    }
  }

  @Test func `the longest URL keeps within the limit`() {
    let longest = Text("http://a?" + String(repeating: "x", count: Limits.text - 9))
    #expect(URLText.normal(longest) == longest)
    #expect(URLText.normal(Text(String(longest.string.dropLast()))).count == Limits.text)
  }

  @Test func `a server with many empty ports takes time in proportion to its length`() {
    func url(_ colons: Int) -> Text { Text("http://a" + String(repeating: ":", count: colons) + "/b") }
    #expect(URLText.normal(url(9)) == "http://a/b")
    #expect(growth(from: url(80_000), to: url(320_000)) { _ = URLText.normal($0) } < 6)
  }
}
