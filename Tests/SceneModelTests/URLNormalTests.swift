import SceneModel
import SceneTestSupport
import Testing

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
}
