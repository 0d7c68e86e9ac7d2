import SceneModel
import SceneRouting
import Testing

/// 2: the key.
@Suite struct Step02KeyTests {
  private let cats = app("org.example.Cats", "viewCat", takes: ["image/*", "text/uri-list", "public.url"])

  private func cat(_ identifier: Text?, page: Text?) -> UserActivity {
    UserActivity(activityType: "viewCat", targetContentIdentifier: identifier, webpageURL: page)
  }

  @Test func `it is the identifier of the activity's content`() {
    var stage = Stage(cats)
    _ = stage.drop(Payload(cat("cat1", page: "https://example.org/cat1")))
    #expect(stage.key == "cat1")
    #expect(stage.whyKey == .targetContentIdentifier)
  }

  @Test(arguments: [nil, ""] as [Text?])
  func `without one it is the activity's page`(identifier: Text?) {
    var stage = Stage(cats)
    let payload = Payload(cat(identifier, page: "https://example.org/cat1"))
    #expect(stage.drop(payload) == .created("Default"))
    #expect(stage.key == "https://example.org/cat1")
    #expect(stage.whyKey == .webpageURL)
    #expect(stage.drop(payload) == .activated("#1"))
  }

  @Test func `an activity that has neither has no key, whatever file comes with it`() {
    var stage = Stage(cats)
    for identifier in [nil, ""] as [Text?] {
      _ = stage.drop(items: [item(cat(identifier, page: nil), as: file("file:///cat.png"))])
      #expect(stage.key == nil)
      #expect(stage.because == .withoutKeyNew)
    }
  }

  @Test func `without an activity it is the first item's file`() {
    var stage = Stage(cats)
    let items = [item(as: file("file:///cat1.png")), item(as: file("file:///cat2.png"))]
    #expect(stage.drop(items: items) == .created("Default"))
    #expect(stage.key == "file:///cat1.png")
    #expect(stage.whyKey == .file)
    #expect(stage.drop(items: [items[0]]) == .activated("#1"))
    #expect(stage.drop(items: [items[1]]) == .created("Default"))
  }

  @Test(arguments: ["text/uri-list", "public.url"] as [Text])
  func `or the first item's link`(type: Text) {
    var stage = Stage(cats)
    let list = text(type, "# cats\r\n\r\nhttps://example.org/cat1\r\nhttps://example.org/cat2\r\n")
    #expect(stage.drop(items: [item(as: list)]) == .created("Default"))
    #expect(stage.key == "https://example.org/cat1")
    #expect(stage.whyKey == .link)
  }

  @Test func `a link may come as bytes, and end with a NUL as some toolkits send it`() {
    var stage = Stage(cats)
    let bytes = Representation(type: contentType("text/uri-list"), .data(Array("https://example.org/cat1\0".utf8)))
    _ = stage.drop(items: [item(as: bytes)])
    #expect(stage.key == "https://example.org/cat1")
  }

  @Test func `of a file and a link the one that was registered first`() {
    var stage = Stage(cats)
    let (one, two) = (file("file:///cat1.png"), text("public.url", "https://example.org/cat1"))
    _ = stage.drop(items: [item(as: one, two)])
    #expect(stage.whyKey == .file)
    _ = stage.drop(items: [item(as: two, one)])
    #expect(stage.whyKey == .link)
  }

  @Test func `text that is no link, and a link in a type that is none, are no key`() {
    var stage = Stage(app("org.example.Cats", takes: ["text/*", "text/uri-list"]))
    for representation in [text("text/uri-list", "a cat"), text("text/plain", "https://example.org/cat1")] {
      #expect(stage.drop(items: [item(as: representation)]) == .created("Default"))
      #expect(stage.key == nil)
    }
  }

  @Test func `the file of a second item is no key`() {
    var stage = Stage(cats)
    let picture = Representation(type: contentType("image/png"), .data([1]))
    #expect(stage.drop(items: [item(as: picture), item(as: file("file:///cat2.png"))]) == .created("Default"))
    #expect(stage.key == nil)
    #expect(stage.because == .withoutKeyNew)
  }

  // MARK: The normal form

  @Test func `every spelling of a file's URL is one key`() throws {
    var stage = Stage(cats)
    for url in ["file:///a/cat%201.png", "FILE://LocalHost/b/../a/./%63at%201.png/"] {
      let json = #"{"items": [{"representations": [{"type": "image/png", "file": "URL"}]}]}"#
      _ = try stage.drop(json: json.replacing("URL", with: url))
      #expect(stage.key == "file:///a/cat%201.png")
    }
    #expect(stage.because == .onlyInTier)
  }

  @Test func `every spelling of a link is one key`() {
    var stage = Stage(cats)
    for link in ["https://example.org/~cat/%C3%A9?q=%2F", "HTTPS://EXAMPLE.org:443/dogs/../%7Ecat/%c3%a9?q=%2f"]
      as [Text]
    {
      _ = stage.drop(items: [item(as: text("text/uri-list", link))])
      #expect(stage.key == "https://example.org/~cat/%C3%A9?q=%2F")
    }
    #expect(stage.because == .onlyInTier)
  }

  @Test func `what an activity says counts byte by byte`() {
    var stage = Stage(cats)
    for page in ["https://example.org/cat1", "HTTPS://example.org/cat1"] as [Text] {
      #expect(stage.drop(Payload(cat(nil, page: page))) == .created("Default"))
      #expect(stage.key == page)
    }
  }

  @Test func `a file's URL from a sandbox is no key`() {
    var stage = Stage(cats)
    let sandboxed = Sender(isSandboxed: true, application: "org.example.Mail")
    let (list, link) = (text("text/uri-list", "file:///cat1.png"), text("public.file-url", "https://example.org/cat1"))
    for representation in [file("file:///cat1.png"), list] {
      _ = stage.drop(items: [item(as: representation)], by: sandboxed)
      #expect(stage.key == nil)
      _ = stage.drop(items: [item(as: representation)])
      #expect(stage.key == "file:///cat1.png")
    }
    _ = stage.drop(items: [item(as: list, link)], by: sandboxed)
    #expect(stage.key == "https://example.org/cat1")
  }

  // MARK: By the byte

  @Test func `keys are compared by their bytes`() {
    var stage = Stage(cats)
    let (composed, decomposed): (Text, Text) = ("Caf\u{E9}", "Cafe\u{301}")
    #expect(stage.drop("viewCat", key: composed) == .created("Default"))
    #expect(stage.drop("viewCat", key: decomposed) == .created("Default"))
    #expect(stage.drop("viewCat", key: composed) == .activated("#1"))
    #expect(stage.drop("viewCat", key: decomposed) == .activated("#2"))
    #expect(stage.drop("viewCat", key: "Caf\u{C9}") == .created("Default"))
  }

  @Test func `so are they in conditions`() {
    var stage = Stage(cats)
    stage.session("composed", can: "SELF == \"Caf\u{E9}\"")
    stage.session("decomposed", can: "SELF == \"Cafe\u{301}\"")
    #expect(stage.drop("viewCat", key: "Caf\u{E9}") == .activated("composed"))
    #expect(stage.drop("viewCat", key: "Cafe\u{301}") == .activated("decomposed"))
    #expect(stage.because == .onlyInTier)
  }

  @Test func `and by all of their bytes, spaces and letters of either size`() {
    var stage = Stage(cats)
    for key in ["cat", "Cat", "cat ", " cat", "cat\u{200B}", "cat/"] as [Text] {
      #expect(stage.drop("viewCat", key: key) == .created("Default"))
      #expect(stage.key == key)
    }
    #expect(stage.drop("viewCat", key: "cat") == .activated("#1"))
  }
}
