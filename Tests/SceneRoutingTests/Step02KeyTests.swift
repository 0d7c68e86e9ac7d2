import SceneModel
import SceneRouting
import Testing

/// 2: the key.
@Suite struct Step02KeyTests {
  private let cats = app("org.example.Cats", "viewCat", takes: ["image/*", "text/uri-list", "public.url"])

  private func cat(_ identifier: Text?, page: Text?) -> UserActivity {
    UserActivity(activityType: "viewCat", targetContentIdentifier: identifier, webpageURL: page)
  }

  @Test(arguments: [nil, ""] as [Text?])
  func `it is the identifier of the activity's content, or without one its page`(identifier: Text?) {
    var stage = Stage(cats)
    _ = stage.drop(Payload(cat("cat1", page: "https://example.org/cat1")))
    #expect(stage.key == "cat1")
    #expect(stage.whyKey == .targetContentIdentifier)
    let payload = Payload(cat(identifier, page: "https://example.org/cat1"))
    #expect(stage.drop(payload) == .created("Default"))
    #expect(stage.key == "https://example.org/cat1")
    #expect(stage.whyKey == .webpageURL)
    #expect(stage.drop(payload) == .activated("#2"))
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

  @Test(arguments: [
    text("text/uri-list", "# cats\r\n\r\nhttps://example.org/cat1\r\nhttps://example.org/cat2\r\n"),
    text("public.url", "https://example.org/cat1"),
    Representation(type: contentType("text/uri-list"), .data(Array("https://example.org/cat1\0".utf8))),
  ])
  func `or the first item's link, as text or as bytes, which may end with a NUL as some toolkits send it`(
    link: Representation
  ) {
    var stage = Stage(cats)
    #expect(stage.drop(items: [item(as: link)]) == .created("Default"))
    #expect(stage.key == "https://example.org/cat1")
    #expect(stage.whyKey == .link)
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

  // MARK: The normal form

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
