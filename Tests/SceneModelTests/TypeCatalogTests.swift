import SceneModel
import SceneTestSupport
import Testing

/// The laws of conformance, which hold for every database.
@Suite struct TypeCatalogLawTests {
  private static let strangers = [
    "image/x-foo", "text/x-foo", "application/x-foo", "application/x-foo+json", "inode/x-foo", "com.example.mine",
    "text/plain;charset=utf-8", "text/html;charset=utf-8", "image/png;a=1;b=2", "image/png;b=2",
  ]

  /// All names of the database and the built-in tables, and more.
  private static func sample(_ database: TypeDatabase) throws -> [ContentType] {
    let names = TypeFixtures.names(in: database) + strangers + BuiltInTypes.identifiers.map(\.name.string)
    return try names.map { try ContentType.asked($0) }
  }

  @Test func `conformance is reflexive and transitive, and goes both ways only between names of one type`() throws {
    let database = try TypeFixtures.database
    let catalog = TypeCatalog([database])
    try expectLaws(catalog, try TypeCatalogLawTests.sample(database))
  }

  @Test func `the laws hold for what is built in alone`() throws {
    try expectLaws(TypeCatalog(), try TypeCatalogLawTests.sample(try TypeFixtures.database))
  }

  @Test func `every name of a type conforms to the same types`() throws {
    let database = try TypeFixtures.database
    let catalog = TypeCatalog([database])
    let sample = try TypeCatalogLawTests.sample(database)
    for type in sample {
      let canonical = catalog.canonical(type)
      #expect(catalog.canonical(canonical) == canonical)
      #expect(catalog.conforms(type, to: canonical) && catalog.conforms(canonical, to: type))
      for other in sample {
        let answer = catalog.conforms(type, to: other)
        if answer != catalog.conforms(canonical, to: catalog.canonical(other)) {
          Issue.record("\(type), which is \(canonical), to \(other): \(answer)")
        }
      }
    }
  }

  @Test func `the order of lines changes no answer`() throws {
    let database = try TypeFixtures.database
    // Lines that contradict each other, and circles, so that the order decides something.
    let aliases = "\nx/a x/b\nx/b x/c\nx/c x/a\nx/d x/e\nx/d x/f\nimage/png x/e\nimage/x-bmp image/x-tga\n"
    let subclasses = "\nx/a x/e\nx/e x/f\nx/f x/a\ntext/plain x/f\nx/b image/png\n"
    func shuffled(_ bytes: [UInt8], _ more: String, _ random: inout SeededRandom) -> [UInt8] {
      var lines = (bytes + Array(more.utf8)).split(separator: UInt8(ascii: "\n"))
      lines.shuffle(using: &random)
      return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
    var random = SeededRandom(seed: 1)
    let sample =
      try TypeCatalogLawTests.sample(database) + ["a", "b", "c", "d", "e", "f"].map { try .asked("x/\($0)") }
    let pairs = (0..<2_000).map { _ in (random.one(of: sample), random.one(of: sample)) }
    var answers: [Bool] = []
    var names: [ContentType] = []
    for round in 0..<20 {
      let catalog = TypeCatalog([
        TypeDatabase(
          name: "mime", subclasses: shuffled(database.subclasses, subclasses, &random),
          aliases: shuffled(database.aliases, aliases, &random))
      ])
      let nowAnswers = pairs.map { catalog.conforms($0, to: $1) }
      let nowNames = sample.map { catalog.canonical($0) }
      if round == 0 { (answers, names) = (nowAnswers, nowNames) }
      #expect(nowAnswers == answers)
      #expect(nowNames == names)
    }
  }

  private func expectLaws(_ catalog: TypeCatalog, _ sample: [ContentType]) throws {
    var above: [ContentType: [ContentType]] = [:]
    for type in sample { above[type] = sample.filter { catalog.conforms(type, to: $0) } }
    let sets = above.mapValues { Set($0) }
    for type in sample {
      let types = try #require(sets[type])
      #expect(types.contains(type))
      for other in types {
        let further = try #require(sets[other])
        if !further.isSubset(of: types) {
          Issue.record("\(type) is of \(other), and not of \(further.subtracting(types))")
        }
        if further.contains(type), catalog.canonical(type) != catalog.canonical(other) {
          Issue.record("\(type) and \(other) are of each other, and not the same")
        }
      }
    }
  }
}

@Suite struct BuiltInTypesTests {
  @Test func `the tables name each type once, and nothing that is no type`() throws {
    let identifiers = BuiltInTypes.identifiers.map(\.name.string)
    #expect(Set(identifiers).count == identifiers.count)
    for entry in BuiltInTypes.identifiers {
      #expect(try ContentType.asked(entry.name.string).text == entry.name)
      for parent in entry.parents { #expect(identifiers.contains(parent.string), "\(entry.name)") }
    }
    let aliases = BuiltInTypes.aliases.map(\.name.string)
    #expect(Set(aliases).count == aliases.count)
    for name in BuiltInTypes.aliases.flatMap({ [$0.name, $0.type] })
      + BuiltInTypes.subclasses.flatMap({ [$0.type, $0.parent] })
    {
      #expect(ContentType(name)?.form == .mime)
      #expect(ContentType(name)?.text == name)
    }
    #expect(Set(BuiltInTypes.aliases.map(\.type)).isDisjoint(with: Set(BuiltInTypes.aliases.map(\.name))))
  }

  @Test func `the documentation has the table of identifiers`() throws {
    let rows = try Page("docs/types.md").rows.filter { row in
      ["public.", "com.", "org.", "net."].contains { row[0].hasPrefix("`\($0)") }
    }
    let expected = BuiltInTypes.identifiers.map { entry in
      let parents = entry.parents.map { "`\($0)`" }.joined(separator: ", ")
      return ["`\(entry.name)`", entry.twin.map { "`\($0)`" } ?? "", parents]
    }
    #expect(rows == expected)
  }

  @Test func `a database and what is built in agree about all that is built in`() throws {
    let names =
      BuiltInTypes.identifiers.map(\.name) + BuiltInTypes.aliases.map(\.name) + BuiltInTypes.subclasses.map(\.type)
    try expectAgreement(TypeCatalog([try TypeFixtures.database]), about: Set(names.map(\.string)))
  }

  /// Fewer types than above: releases of the database differ in the main name of a type, and in which types are the same.
  @Test(.enabled(if: TypeFixtures.isInstalled, "no shared MIME database is installed here"))
  func `the machine's own database and what is built in agree about common types`() throws {
    let installed = TypeCatalog([try TypeFixtures.database(in: TypeFixtures.installed)])
    #expect(installed.problems == [])
    try expectAgreement(
      installed,
      about: [
        "public.item", "public.content", "public.data", "public.text", "public.plain-text", "public.utf8-plain-text",
        "public.html", "public.xml", "public.json", "public.rtf", "public.source-code", "public.url", "public.file-url",
        "public.image", "public.png", "public.jpeg", "public.tiff", "public.svg-image", "com.compuserve.gif",
        "org.webmproject.webp", "com.microsoft.bmp", "public.audio", "public.mp3", "public.movie", "public.mpeg-4",
        "com.apple.quicktime-movie", "public.font", "public.archive", "public.zip-archive", "public.tar-archive",
        "public.folder", "public.vcard", "com.apple.ical.ics", "public.email-message", "com.adobe.pdf",
        "org.idpf.epub-container", "org.oasis-open.opendocument.text", "com.microsoft.word.doc",
        "org.openxmlformats.wordprocessingml.document", "public.comma-separated-values-text",
        "net.daringfireball.markdown", "text/plain", "text/xml", "text/x-csv", "text/x-anything", "image/x-bmp",
        "image/x-anything", "audio/mp3", "video/webm", "application/x-pdf", "application/x-anything", "inode/directory",
      ])
  }

  private func expectAgreement(_ catalog: TypeCatalog, about names: Set<String>) throws {
    let alone = TypeCatalog()
    let types = try names.map { try ContentType.asked($0) }
    for type in types {
      for other in types where catalog.conforms(type, to: other) != alone.conforms(type, to: other) {
        Issue.record("\(type) to \(other): \(catalog.conforms(type, to: other)) by the database")
      }
    }
  }
}
