import SceneModel
import SceneTestSupport
import Testing

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
