import SceneModel
import Testing

@Suite struct FileURLTests {
  @Test(
    arguments: [
      ("file:///", "/"), ("file:///x", "/x"), ("file://localhost/x", "/x"), ("file://LocalHost/x", "/x"),
      ("FILE:///x", "/x"), ("file:///home/user/My%20Beach.png", "/home/user/My Beach.png"),
      ("file:///M%C3%BCll", "/Müll"), ("file:///%e7%8c%ab", "/猫"), ("file:///a/../b/./", "/a/../b/./"),
      ("file:////a", "//a"),
      ("file:///a%3Fb%23c%25", "/a?b#c%"), ("file:///a+b", "/a+b"), ("file:///localhost/x", "/localhost/x"),
      ("file:///%66ile", "/file"),
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
      "file://localhost.example/x",
      "file://localhostx/x", "file://user@localhost/x", "file://localhost:80/x", "file://127.0.0.1/x", "http:///x",
      "http://localhost/x",
      "https://example.org/x", "files:///x", "afile:///x", " file:///x", "file:///x ", "file:///a b", "file:///ü",
      "file:///a\n",
      "file:///%00", "file:///a%00b", "file:///%zz", "file:///%", "file:///%2", "file:///a%2G", "file:///a?b",
      "file:///a#b", "file:///a\u{0}",
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
