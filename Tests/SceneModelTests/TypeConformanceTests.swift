import SceneModel
import Testing

@Suite struct TypeConformanceTests {
  private static let conforming = [
    ("image/png", "image/png"), ("image/png", "public.png"), ("public.png", "image/png"), ("image/x-png", "public.png"),
    ("image/png", "public.image"), ("image/png", "image/*"), ("public.png", "image/*"), ("public.image", "image/*"),
    ("PUBLIC.PNG", "Image/*"), ("image/png", "public.content"), ("image/png", "public.data"),
    ("image/png", "application/octet-stream"), ("image/png", "public.item"), ("image/png", "*/*"),
    ("image/x-foo", "image/*"), ("image/x-foo", "public.image"), ("image/x-foo", "public.data"),
    ("image/x-foo", "image/x-foo"), ("image/x-foo+xml", "application/xml"), ("image/x-foo+xml", "public.text"),
    ("application/x-foo+json", "public.json"), ("application/x-foo+zip", "public.zip-archive"),
    ("application/x-foo+zip", "public.archive"), ("application/x-foo+gzip", "application/gzip"),
    ("application/x-foo+yaml", "public.yaml"), ("text/markdown", "text/plain"), ("text/markdown", "public.text"),
    ("text/x-foo", "public.plain-text"), ("text/x-foo", "text/*"), ("image/svg+xml", "application/xml"),
    ("image/svg+xml", "text/plain"), ("image/svg+xml", "public.text"), ("image/svg+xml", "public.image"),
    ("public.svg-image", "text/xml"), ("application/json", "text/plain"), ("application/json", "public.text"),
    ("public.json", "text/*"), ("public.rtf", "text/rtf"), ("text/rtf", "public.text"), ("public.html", "text/plain"),
    ("text/x-c++src", "public.source-code"), ("public.c-plus-plus-header", "public.c-header"),
    ("text/x-python", "public.script"), ("text/javascript", "com.netscape.javascript-source"),
    ("application/pdf", "com.adobe.pdf"), ("com.adobe.pdf", "public.composite-content"),
    ("com.adobe.pdf", "application/*"), ("application/epub+zip", "application/zip"),
    ("org.idpf.epub-container", "public.archive"), ("application/vnd.oasis.opendocument.text", "public.content"),
    ("com.microsoft.word.doc", "application/msword"), ("audio/mpeg", "public.audio"), ("audio/mp3", "public.mp3"),
    ("public.mp3", "public.audiovisual-content"), ("audio/x-vorbis+ogg", "audio/ogg"), ("video/mp4", "public.movie"),
    ("video/mp4", "video/*"), ("com.apple.quicktime-movie", "video/*"), ("video/3gpp", "video/mp4"),
    ("video/x-matroska", "application/x-matroska"), ("text/uri-list", "public.url"), ("public.file-url", "public.url"),
    ("public.file-url", "text/uri-list"), ("text/vcard", "public.contact"), ("text/calendar", "public.calendar-event"),
    ("message/rfc822", "public.message"), ("message/rfc822", "public.email-message"),
    ("text/csv", "public.delimited-values-text"), ("font/otf", "public.font"), ("inode/directory", "public.folder"),
    ("public.folder", "inode/*"), ("inode/mount-point", "public.directory"), ("inode/x-foo", "public.item"),
    ("model/obj", "public.3d-content"), ("com.example.mine", "com.example.mine"), ("com.example.mine", "public.data"),
    ("com.example.mine", "public.item"), ("com.example.mine", "*/*"), ("chemical/x-pdb", "chemical/*"),
    ("application/octet-stream", "application/*"), ("application/*", "application/*"), ("chemical/*", "*/*"),
    ("*/*", "*/*"), ("text/uri-list", "*/*"), ("x-scheme-handler/https", "*/*"),
    ("x-scheme-handler/https", "x-scheme-handler/*"), ("X-Scheme-Handler/HTTPS", "x-scheme-handler/https"),
    ("public.item", "*/*"), ("public.content", "*/*"), ("text/plain;charset=utf-8", "text/plain"),
    ("text/plain;charset=utf-8", "public.text"), ("text/plain;charset=UTF-8", "public.utf8-plain-text"),
    ("public.utf8-plain-text", "text/plain; charset=utf-8"), ("public.utf8-plain-text", "public.plain-text"),
    ("text/html;charset=utf-8", "text/plain;charset=utf-8"),
    ("text/plain;charset=utf-8;format=flowed", "text/plain;format=flowed"), ("image/x-foo;a=1", "image/*"),
  ]

  private static let notConforming = [
    ("public.image", "image/png"), ("public.image", "public.png"), ("image/png", "image/jpeg"), ("image/png", "text/*"),
    ("image/png", "application/*"), ("image/png", "public.text"), ("application/pdf", "public.image"),
    ("text/plain", "text/markdown"), ("text/plain", "public.html"), ("text/plain", "public.image"),
    ("application/octet-stream", "image/png"), ("application/octet-stream", "public.text"),
    ("application/octet-stream", "public.content"), ("application/zip", "application/epub+zip"),
    ("inode/directory", "application/octet-stream"), ("inode/directory", "public.data"),
    ("inode/x-foo", "public.data"), ("public.folder", "public.content"), ("video/mp4", "public.video"),
    ("video/mp4", "audio/*"), ("audio/mpeg", "video/*"), ("audio/mpeg", "public.movie"),
    ("image/x-foo", "image/x-bar"), ("image/png", "image/x-foo"), ("imagex/png", "image/*"), ("image/png", "imag/*"),
    ("com.example.mine", "com.example"), ("com.example.mine", "com.example.other"),
    ("com.example.mine", "public.content"), ("com.example.mine", "application/*"),
    ("application/*", "application/octet-stream"), ("application/*", "public.data"), ("*/*", "public.item"),
    ("text/plain", "text/plain;charset=utf-8"), ("text/plain", "public.utf8-plain-text"),
    ("text/plain;charset=utf-16", "public.utf8-plain-text"), ("public.utf16-plain-text", "public.utf8-plain-text"),
    ("public.text", "public.plain-text"), ("text/plain;a=X", "text/plain;a=x"), ("public.xml", "public.svg-image"),
    // A link is no text.
    ("text/uri-list", "text/plain"), ("text/uri-list", "text/*"), ("text/uri-list", "public.text"),
    ("text/uri-list", "public.data"), ("public.url", "application/octet-stream"), ("public.file-url", "public.item"),
    ("x-scheme-handler/https", "text/plain"), ("x-scheme-handler/https", "public.data"),
    ("x-scheme-handler/https", "application/octet-stream"), ("x-scheme-handler/https", "text/uri-list"),
    ("x-scheme-handler/https", "x-scheme-handler/http"), ("x-scheme-handler/https", "public.url"),
  ]

  @Test func `whatever a database says, a link conforms to nothing`() throws {
    let database = TypeDatabase(
      name: "mime", subclasses: Array("text/uri-list text/plain\nx-scheme-handler/https text/plain\n".utf8), aliases: []
    )
    let catalog = TypeCatalog([database])
    for type in ["text/uri-list", "public.url", "x-scheme-handler/https"] {
      #expect(try !catalog.conforms(type, to: "text/plain"))
    }
  }

  @Test func `the types that a type conforms to come with their distances, the nearest first`() throws {
    let kinds = TypeCatalog().kinds(of: try ContentType.asked("text/x-python"))
    let steps = [
      "text/x-python": 0, "text/plain": 1, "application/x-shellscript": 1, "public.script": 2, "public.source-code": 3,
    ]
    for (name, steps) in steps {
      let distance = try #require(kinds.first { $0.name.string == name }).distance
      #expect(distance.level == .ancestor && distance.steps == steps, "\(name)")
    }
    let last = [
      "public.source-code", "public.text", "public.content", "application/octet-stream", "public.item", "*/*",
    ]
    for (one, other) in zip(last, last.dropFirst()) {
      let distances = try [one, other].map { name in try #require(kinds.first { $0.name.string == name }).distance }
      #expect(distances[0] < distances[1], "\(one) and \(other)")
    }
  }

  @Test func `the types with distances are those that a type conforms to, each once`() throws {
    let catalog = TypeCatalog([try TypeFixtures.database])
    let names = TypeFixtures.names(in: try TypeFixtures.database)
    for name in names {
      let type = try ContentType.asked(name)
      let kinds = catalog.kinds(of: type).map(\.name)
      #expect(Set(kinds).count == kinds.count, "\(name)")
      let above = Set(
        try names.filter { try catalog.conforms(name, to: $0) }.map { try catalog.canonical(.asked($0)).name })
      #expect(above.subtracting(kinds).isEmpty, "\(name)")
    }
  }

  @Test func `a type conforms to what it is a kind of, and to nothing else, with the database and without`() throws {
    for catalog in [TypeCatalog(), TypeCatalog([try TypeFixtures.database])] {
      #expect(catalog.problems == [])
      for (type, other) in TypeConformanceTests.conforming {
        #expect(try catalog.conforms(type, to: other), "\(type) to \(other)")
      }
      for (type, other) in TypeConformanceTests.notConforming {
        #expect(try !catalog.conforms(type, to: other), "\(type) to \(other)")
      }
    }
  }

  @Test(arguments: [
    ("public.png", "image/png"), ("image/x-png", "image/png"), ("IMAGE/PNG", "image/png"), ("image/*", "public.image"),
    ("public.image", "public.image"), ("public.data", "application/octet-stream"), ("public.item", "public.item"),
    ("public.url", "text/uri-list"), ("application/*", "application/*"), ("*/*", "*/*"), ("image/x-foo", "image/x-foo"),
    ("public.utf8-plain-text", "text/plain;charset=utf-8"), ("image/x-png;a=1", "image/png;a=1"),
    ("com.example.Mine", "com.example.mine"), ("public.heic", "image/heif"), ("x-directory/normal", "inode/directory"),
  ])
  func `a type has one canonical name`(type: String, canonical: String) throws {
    for catalog in [TypeCatalog(), TypeCatalog([try TypeFixtures.database])] {
      #expect(try catalog.canonical(type) == canonical)
      #expect(try catalog.canonical(canonical) == canonical)
      #expect(try catalog.canonical(ContentType.asked(type)).form == ContentType.asked(canonical).form)
    }
  }

  @Test func `a database adds what is not built in`() throws {
    let catalog = TypeCatalog([try TypeFixtures.database])
    for (type, other) in [
      ("image/x-nikon-nef", "public.tiff"), ("image/x-nikon-nef", "public.camera-raw-image"),
      ("application/json", "application/x-executable"), ("video/x-mjpeg", "image/*"),
      ("application/vnd.ms-word.document.macroEnabled.12", "org.openxmlformats.wordprocessingml.document"),
      ("application/x-mozilla-bookmarks", "public.html"), ("application/x-mimearchive", "multipart/related"),
    ] {
      #expect(try catalog.conforms(type, to: other), "\(type) to \(other)")
      #expect(try !TypeCatalog().conforms(type, to: other), "\(type) to \(other)")
    }
    #expect(try !catalog.conforms("application/x-mimearchive", to: "multipart/*"))
  }

  @Test func `a suffix counts only where nobody says what a type is`() throws {
    let type = "application/vnd.ms-visio.drawing.main+xml"
    let catalog = TypeCatalog([try TypeFixtures.database])
    #expect(try catalog.conforms(type, to: "application/zip"))
    #expect(try !catalog.conforms(type, to: "application/xml"))
    #expect(try TypeCatalog().conforms(type, to: "application/xml"))
  }
}
