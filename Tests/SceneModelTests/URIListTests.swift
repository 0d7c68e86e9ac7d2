import SceneModel
import SceneTestSupport
import Testing

/// Files and links as a shell hands them in.
@Suite struct URIListTests {
  private static func type(_ path: [UInt8]) -> ContentType {
    ContentType(path.suffix(4).elementsEqual(".png".utf8) ? "image/png" : "application/octet-stream")!
  }

  private func items(_ list: Text, _ type: Text = "", _ key: Text = "") throws(Fault) -> [Item] {
    try URIList(list).items(activityType: type, key: key, fileType: Self.type)
  }

  private func fault(_ list: Text, _ type: Text = "", _ key: Text = "") -> String? {
    #expect(throws: Fault.self) { try items(list, type, key) }?.description
  }

  @Test func `a path becomes the URL of a file of its type`() throws {
    let item = try #require(try items("/home/user/My Müll #1%.png").first)
    #expect(item.suggestedName == "My Müll #1%.png")
    #expect(item.representations.map(\.type.spelling) == ["image/png"])
    #expect(item.representations.map(\.content) == [.file("file:///home/user/My%20M%C3%BCll%20%231%25.png")])
    #expect(item.activities.isEmpty)
    #expect(item.representations.map(\.openInPlace) == [true])
  }

  @Test func `a file URL becomes its normal form, as does a path`() throws {
    let item = try #require(try items("FILE://localhost/tmp/../home/My%20Beach.png").first)
    #expect(item.suggestedName == "My Beach.png")
    #expect(item.representations.map(\.content) == [.file("file:///home/My%20Beach.png")])
    #expect(try items("/tmp/../home/./a+b/").map(\.representations[0].content) == [.file("file:///home/a+b")])
  }

  @Test(arguments: ["https://example.org/photos/7?a=b#c", "mailto:ann@example.org", "urn:isbn:1"] as [Text])
  func `any other URI is a link`(link: Text) throws {
    let item = try #require(try items(link).first)
    #expect(item.suggestedName == nil)
    let scheme = link.string.prefix { $0 != ":" }
    #expect(item.representations.map(\.type.spelling) == [Text("x-scheme-handler/\(scheme)"), "text/uri-list"])
    #expect(item.representations.map(\.content) == [.text(link), .text(link)])
  }

  @Test(arguments: ["\n", "\r\n"])
  func `lines end as on any system, and comments and empty lines say nothing`(end: String) throws {
    let lines = ["# two files", "/a.png", "", "  \t", "#/c.png", "file:///b", ""]
    let items = try items(Text(lines.joined(separator: end)))
    #expect(items.map(\.suggestedName) == ["a.png", "b"])
    #expect(items.map(\.representations.first?.type.spelling) == ["image/png", "application/octet-stream"])
  }

  @Test func `what a path has beside its name changes no name`() throws {
    #expect(try items("/a/b/").map(\.suggestedName) == ["b"])
    #expect(try items("/").map(\.suggestedName) == [nil])
    // A file name need not be text.
    #expect(try items("file:///%ff").map(\.suggestedName) == [nil])
    #expect(try URIList("file:///%ff").entries == [.file(url: "file:///%FF", path: [0x2F, 0xFF])])
  }

  @Test func `an activity goes to the first item`() throws {
    let items = try items("/a\n/b", "open", "photo-7")
    #expect(items[0].activities == [UserActivity(activityType: "open", targetContentIdentifier: "photo-7")])
    #expect(items[1].activities.isEmpty)
    #expect(try self.items("/a", "open")[0].activities == [UserActivity(activityType: "open")])
  }

  @Test func `only a list that names files names files`() throws {
    let files = try URIList("# a comment\nhttps://example.org/\n/a b").files
    #expect(files.map(\.url) == ["file:///a%20b"])
    #expect(files.map(\.place) == ["uri_list, line 3"])
    #expect(try URIList("file:///a").files.count == 1)
    #expect(try URIList("https://example.org/").files.isEmpty)
  }

  @Test(
    arguments: pairs(
      #"""
      | | uri_list: expected a URI or an absolute path, got none |
      | # nothing\#r⏎\#r⏎ | uri_list: expected a URI or an absolute path, got none |
      | /a⏎Beach.png | uri_list, line 2: expected a URI or an absolute path, got "Beach.png" |
      | #\#r⏎\#r⏎./a | uri_list, line 3: expected a URI or an absolute path, got "./a" |
      | https://example.org/a b | uri_list, line 1: expected a URI or an absolute path, got "https://example.org/a b"; a space is written %20, and each byte of a letter beyond ASCII likewise |
      | file:a | uri_list, line 1: expected a file URL such as file:///home/user/Beach.png, got "file:a" |
      | File://host/a | uri_list, line 1: expected a file URL such as file:///home/user/Beach.png, got "File://host/a" |
      | file:///a b | uri_list, line 1: expected a file URL such as file:///home/user/Beach.png, got "file:///a b"; a space is written %20, and each byte of a letter beyond ASCII likewise |
      """#))
  func `a fault names its line`(list: String, message: String) {
    #expect(fault(Text(list)) == message)
  }

  @Test func `a key needs an activity`() {
    #expect(fault("/a", "", "photo-7") == "target_content_identifier: needs an activity_type")
    let longest = Text(String(repeating: "a", count: Limits.name + 1))
    #expect(fault("/a", longest) == "activity_type: expected at most 255 bytes, got 256")
  }

  @Test func `a list has a limit, and so has each line`() throws {
    let most = [String](repeating: "/a", count: Limits.items).joined(separator: "\n")
    #expect(try items(Text(most)).count == Limits.items)
    #expect(fault(Text(most + "\n/a")) == "uri_list: expected at most \(Limits.items) files and links")
    let link = "a:" + String(repeating: "x", count: Limits.text - 2)
    #expect(try items(Text(link)).count == 1)
    #expect(
      fault(Text(link + "x")) == "uri_list, line 1: expected at most \(Limits.text) bytes, got \(Limits.text + 1)")
    // The length of a path is that of its URL.
    let path = "/" + String(repeating: "ü", count: Limits.text / 6)
    #expect(fault(Text(path))?.hasPrefix("uri_list, line 1: expected at most \(Limits.text) bytes, got ") == true)
    let lines = String(repeating: "#\n", count: Limits.payload / 2)
    #expect(fault(Text(lines + "/a"))?.hasPrefix("uri_list: expected at most \(Limits.payload) bytes") == true)
  }

  @Test func `an item of one descriptor`() throws {
    let item = try Item(ofType: "public.png", suggestedName: "Beach.png", activityType: "open", key: "photo-7")
    #expect(item.suggestedName == "Beach.png")
    #expect(item.activities == [UserActivity(activityType: "open", targetContentIdentifier: "photo-7")])
    #expect(item.representations.map(\.type.spelling) == ["public.png"])
    #expect(item.representations.map(\.content) == [.descriptor(0)])
    let bare = try Item(ofType: "a/b", suggestedName: "", activityType: "", key: "")
    #expect(bare.suggestedName == nil && bare.activities.isEmpty)
    let fault = #expect(throws: Fault.self) { try Item(ofType: "a", suggestedName: "", activityType: "", key: "") }
    #expect(fault?.place == "type")
    let name = Text(String(repeating: "a", count: Limits.text + 1))
    let long = #expect(throws: Fault.self) { try Item(ofType: "a/b", suggestedName: name, activityType: "", key: "") }
    #expect(long?.place == "suggested_name" && long?.kind == .limit)
  }
}
