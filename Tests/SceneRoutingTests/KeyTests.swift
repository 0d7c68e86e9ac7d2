import SceneModel
import SceneRouting
import Testing

/// 2: the key, where it is not in the generated worlds of `ReferenceLaws`.
@Suite struct KeyTests {
  private let cats = app("org.example.Cats", "viewCat", takes: ["image/*", "text/uri-list", "public.url"])

  @Test(arguments: [
    text("text/uri-list", "# cats\r\n\r\nhttps://example.org/cat1\r\nhttps://example.org/cat2\r\n"),
    text("public.url", "https://example.org/cat1"),
    Representation(type: contentType("text/uri-list"), .data(Array("https://example.org/cat1\0".utf8))),
  ])
  func `it is the first item's link, as text or as bytes, which may end with a NUL as some toolkits send it`(
    link: Representation
  ) {
    var stage = Stage(cats)
    #expect(stage.drop(items: [item(as: link)]) == .created("Default"))
    #expect(stage.key == "https://example.org/cat1")
    #expect(stage.whyKey == .link)
  }

  @Test(arguments: [
    ("file:///a/cat%201.png", "FILE://LocalHost/b/../a/./%63at%201.png/", "file"),
    ("https://example.org/~cat/%C3%A9?q=%2F", "HTTPS://EXAMPLE.org:443/dogs/../%7Ecat/%c3%a9?q=%2f", "text"),
  ])
  func `every spelling of the URL of a file or a link is one key`(normal: Text, other: Text, field: String) throws {
    var stage = Stage(cats)
    let type = field == "file" ? "image/png" : "text/uri-list"
    for url in [normal, other] {
      _ = try stage.drop(json: #"{"items": [{"representations": [{"type": "\#(type)", "\#(field)": "\#(url)"}]}]}"#)
      #expect(stage.key == normal)
    }
    #expect(stage.because == .onlyInTier)
  }

  @Test func `what an activity says counts byte by byte`() {
    var stage = Stage(cats)
    for page in ["https://example.org/cat1", "HTTPS://example.org/cat1"] as [Text] {
      #expect(stage.drop(Payload(UserActivity(activityType: "viewCat", webpageURL: page))) == .created("Default"))
      #expect(stage.key == page)
    }
  }

  @Test func `keys are compared by all of their bytes, in conditions too`() {
    let keys: [Text] = ["Caf\u{E9}", "Cafe\u{301}", "Caf\u{C9}", "cat", "Cat", "cat ", " cat", "cat\u{200B}", "cat/"]
    var (shown, wanted) = (Stage(cats), Stage(cats))
    for (number, key) in keys.enumerated() {
      #expect(shown.drop("viewCat", key: key) == .created("Default"))
      #expect(shown.key == key)
      wanted.session("#\(number + 1)", can: Text("SELF == \"\(key)\""))
    }
    for (number, key) in keys.enumerated() {
      #expect(shown.drop("viewCat", key: key) == .activated("#\(number + 1)"))
      #expect(wanted.drop("viewCat", key: key) == .activated("#\(number + 1)"))
      #expect(wanted.because == .onlyInTier)
    }
  }
}
