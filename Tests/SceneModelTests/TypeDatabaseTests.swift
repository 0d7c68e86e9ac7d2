import FoundationEssentials
import SceneModel
import SceneTestSupport
import Testing

/// What a database determines, and what it may not do.
@Suite struct TypeDatabaseTests {
  @Test func `the user's directory counts before the system's, and that before what is built in`() throws {
    let user = TypeDatabase("user", aliases: "x/one x/users\n")
    let system = TypeDatabase("system", aliases: "x/one x/systems\nimage/x-bmp x/systems\n")
    #expect(try TypeCatalog([user, system]).canonical("x/one") == "x/users")
    #expect(try TypeCatalog([system, user]).canonical("x/one") == "x/systems")
    #expect(try TypeCatalog([user, system]).canonical("image/x-bmp") == "x/systems")
    #expect(try TypeCatalog([user]).canonical("image/x-bmp") == "image/bmp")
  }

  @Test func `a database may call a type by the name that is built in as another`() throws {
    let catalog = TypeCatalog([TypeDatabase(aliases: "application/javascript text/javascript\n")])
    for name in [
      "application/javascript", "text/javascript", "application/x-javascript", "com.netscape.javascript-source",
    ] {
      #expect(try catalog.canonical(name) == "text/javascript")
    }
    #expect(try catalog.conforms("application/javascript", to: "public.source-code"))
  }

  @Test func `what every directory says about a type counts`() throws {
    let catalog = TypeCatalog([
      TypeDatabase(subclasses: "application/x-mine application/zip\n"),
      TypeDatabase(subclasses: "application/x-mine text/plain\n", aliases: "application/mine application/x-mine\n"),
    ])
    #expect(try catalog.conforms("application/mine", to: "public.archive"))
    #expect(try catalog.conforms("application/mine", to: "public.text"))
  }

  @Test func `circles harm nobody`() throws {
    let catalog = TypeCatalog([
      TypeDatabase(
        subclasses: "a/1 a/2\na/2 a/3\na/3 a/1\nb/0 a/1\napplication/octet-stream image/png\ntext/plain text/html\n",
        aliases: "c/3 c/2\nc/2 c/1\nc/1 c/3\nc/4 c/3\n")
    ])
    for name in ["c/1", "c/2", "c/3", "c/4"] { #expect(try catalog.canonical(name) == "c/1") }
    #expect(try catalog.conforms("a/1", to: "a/3"))
    #expect(try catalog.conforms("a/3", to: "a/2"))
    #expect(try catalog.conforms("b/0", to: "a/3"))
    #expect(try !catalog.conforms("a/3", to: "b/0"))
    #expect(try catalog.conforms("text/x-foo", to: "text/html"))
  }

  @Test func `lines that are wrong are passed over and told`() throws {
    let bytes = Array("image/x-one image/png\nthree words here\n\n# a comment\nimage/x-two\npublic.x image/png\n".utf8)
    let more = Array("a/* image/png\nimage/x image/x\na/b;c=d a/b\n".utf8) + [0xFF, 0x20, 0xFE, 0x0A]
    let last = Array("image/x-three  image/png\r\nimage/x-four\timage/png".utf8)
    let catalog = TypeCatalog([
      TypeDatabase(name: "/home/me/mime", subclasses: bytes + more + last, aliases: Array("x/a x/b\nx/a x/c\n".utf8))
    ])
    for name in ["image/x-one", "image/x-three", "image/x-four"] {
      #expect(try catalog.conforms(name, to: "public.png"))
    }
    #expect(
      catalog.problems.map { $0.place.split(separator: "/").last.map(String.init) } == [
        "subclasses, line 2", "subclasses, line 5", "subclasses, line 6", "subclasses, line 7", "subclasses, line 8",
        "subclasses, line 9", "subclasses, line 10", "aliases, line 2",
      ])
    #expect(
      catalog.problems.first?.description
        == "/home/me/mime/subclasses, line 2: expected two content types, got \"three words here\"")
    #expect(catalog.problems.last?.reason == "\"x/a\" is said to be another type, too")
  }

  @Test func `no more than twenty problems are told one by one`() {
    let garbage = String(repeating: "garbage\n", count: 1_000)
    let problems = TypeCatalog([TypeDatabase(subclasses: garbage)]).problems
    #expect(problems.count == 21)
    #expect(problems.last?.reason == "980 more problems of the type database are not listed")
  }

  @Test func `a chain of 100,000 types is followed to its end`() throws {
    let chain = (0..<100_000).map { "x/\($0) x/\($0 + 1)\n" }.joined()
    let catalog = TypeCatalog([TypeDatabase(subclasses: chain)])
    #expect(catalog.problems == [])
    #expect(try catalog.conforms("x/0", to: "x/100000"))
    #expect(try !catalog.conforms("x/100000", to: "x/0"))
  }

  @Test func `a chain of 20,000 names is followed to its type, in each directory`() throws {
    let chain = (0..<20_000).map { "x/\($0) x/\($0 + 1)\n" }.joined()
    let catalog = TypeCatalog([TypeDatabase(aliases: chain), TypeDatabase(aliases: chain)])
    #expect(catalog.problems == [])
    #expect(try catalog.canonical("x/0") == "x/20000")
  }

  @Test func `a type with 100,000 parents has them all`() throws {
    let parents = (0..<100_000).map { "x/y x/\($0)\n" }.joined()
    let catalog = TypeCatalog([TypeDatabase(subclasses: parents)])
    #expect(try catalog.conforms("x/y", to: "x/99999"))
    #expect(try catalog.conforms("x/y", to: "public.data"))
    #expect(try !catalog.conforms("x/0", to: "x/y"))
  }

  @Test func `bytes of any kind are read to their end`() {
    var random = SeededRandom(seed: 7)
    let pieces = [
      "image/png", " ", "\n", "x/y", "/", "*", ";a=\"", "\t", "#", "\u{0}", "é", "text/plain", "public.png",
    ]
    for _ in 0..<500 {
      var bytes: [UInt8] = []
      for _ in 0..<random.below(40) {
        bytes += random.once(in: 5) ? [UInt8(random.below(256))] : Array(random.one(of: pieces).utf8)
      }
      let catalog = TypeCatalog([TypeDatabase(name: "m", subclasses: bytes, aliases: bytes)])
      #expect(catalog.problems.count <= 21)
    }
    let line = [UInt8](repeating: UInt8(ascii: "a"), count: Limits.typeDatabase)
    let problems = TypeCatalog([TypeDatabase(name: "m", subclasses: line, aliases: line)]).problems
    #expect(problems.map { $0.reason.utf8.count < 200 } == [true, true])
  }
}

enum TypeFixtures {
  static var database: TypeDatabase {
    get throws { try database(in: "\(Page.repository)/Tests/SceneModelTests/Fixtures/mime") }
  }

  /// The place of a desktop's own database.
  static let installed = "/usr/share/mime"
  static var isInstalled: Bool { (try? database(in: installed)) != nil }

  static func database(in directory: String) throws -> TypeDatabase {
    TypeDatabase(
      name: directory, subclasses: Array(try Data(contentsOf: URL(filePath: "\(directory)/subclasses"))),
      aliases: Array(try Data(contentsOf: URL(filePath: "\(directory)/aliases"))))
  }

  /// All names of a database.
  static func names(in database: TypeDatabase) -> [String] {
    let lines = [database.subclasses, database.aliases].flatMap { $0.split(separator: UInt8(ascii: "\n")) }
    let words = lines.filter { $0.first != UInt8(ascii: "#") }.flatMap { $0.split(separator: UInt8(ascii: " ")) }
    return Set(words.map { String(decoding: $0, as: UTF8.self) }).sorted()
  }
}

extension TypeDatabase {
  init(_ name: String = "mime", subclasses: String = "", aliases: String = "") {
    self.init(name: name, subclasses: Array(subclasses.utf8), aliases: Array(aliases.utf8))
  }
}

extension TypeCatalog {
  func conforms(_ type: String, to other: String) throws -> Bool {
    conforms(try .asked(type), to: try .asked(other))
  }

  func canonical(_ type: String) throws -> String { canonical(try .asked(type)).text.string }
}

extension ContentType {
  static func asked(_ text: String) throws -> ContentType { try ContentType(Text(text), as: .asked, at: .document) }
}
