import SceneModel
import SceneTestSupport
import Testing

/// The pages for senders and for authors of applications agree with the code.
@Suite struct PageTests {
  @Test func `every payload on the page for senders is one`() throws {
    let blocks = try Page("docs/documents.md").blocks("json")
    #expect(blocks.count == 3)
    for block in blocks {
      let payload = try Payload(json: Text(block), PayloadTests.rules)
      var strict = payload
      strict.options.isStrict = true
      #expect(try Payload(json: strict.json, PayloadTests.rules) == strict)
      // No key on the page is ignored.
      let given = try JSON.value(Text(block))
      guard case .dictionary(var fields) = given else { continue }
      var options = UserInfo()
      if case .dictionary(let given)? = fields["options"] { options = given }
      options["strict"] = true
      fields["options"] = .dictionary(options)
      #expect(try Payload(json: JSON.text(of: .dictionary(fields)), PayloadTests.rules) == strict)
    }
  }

  @Test func `every manifest on the page for authors is one`() throws {
    let blocks = try Page("docs/manifest.md").blocks("json")
    #expect(blocks.count == 2)
    for block in blocks {
      let manifest = try Manifest(Array(block.utf8), installedAs: "org.example.Gallery", types: ManifestTests.types)
      #expect(try JSON.value(manifest.json) == JSON.value(Text(block)))
    }
  }

  @Test func `every tag on the page is one, and comes back`() throws {
    let rows = try Page("docs/documents.md").section("User info").rows
    #expect(rows.count == 6)
    var kinds: Set<String> = []
    for row in rows {
      let value = try JSON.value(Text(row[0].trimming("`")))
      #expect(try JSON.value(JSON.text(of: value)) == value)
      kinds.insert(String(row[0].dropFirst(4).prefix { $0 != "\"" }))
    }
    #expect(kinds == ["date", "data", "uuid", "url", "set", "literal"])
  }

  /// The keys that a strict reader lists as known.
  private func known(_ json: String) throws -> Set<String> {
    let fault = #expect(throws: Fault.self) { try Payload(json: Text(json), PayloadTests.rules) }
    let list = try #require(fault?.reason.dropFirst("expected ".count).split(separator: ", since")[0])
    return Set(list.replacing(" or ", with: ", ").split(separator: ", ").map(String.init))
  }

  private static let documents = [
    ("Payload", #"{"x":1,"options":{"strict":true}}"#),
    ("Item", #"{"items":[{"x":1}],"options":{"strict":true}}"#),
    ("Activity", #"{"activity":{"x":1},"options":{"strict":true}}"#),
    ("Representation", #"{"items":[{"representations":[{"x":1}]}],"options":{"strict":true}}"#),
    ("Options", #"{"options":{"x":1,"strict":true}}"#),
  ]

  @Test(arguments: documents)
  func `the page has every key that there is, and no other`(section: String, json: String) throws {
    let rows = try Page("docs/documents.md").section(section).rows.filter { $0[0].hasPrefix("`") }
    let keys = rows.flatMap { $0[0].split(separator: "`").filter { $0.allSatisfy(\.isLetter) } }
    var expected = try known(json)
    // It has a section of its own, and two tables mention it.
    if section == "Representation" { expected.formUnion(["data", "text", "file"]) }
    #expect(Set(keys.map(String.init)) == expected)
    #expect(keys.count == expected.count)
  }

  @Test func `the page has every choice that there is`() throws {
    let rows = try Page("docs/documents.md").section("Options").rows
    func choices<Choice: CaseIterable & RawRepresentable<String>>(_: Choice.Type) -> [String] {
      Choice.allCases.map(\.rawValue)
    }
    for (key, choices) in [
      ("disposition", choices(PayloadOptions.Disposition.self)), ("wait", choices(PayloadOptions.Wait.self)),
      ("presentationStyle", choices(PayloadOptions.PresentationStyle.self)),
      ("batch", choices(PayloadOptions.Batch.self)),
    ] {
      let row = try #require(rows.first { $0[0] == "`\(key)`" })
      for choice in choices { #expect(row[1].contains("`\(choice)`")) }
      #expect(row[2] == "`\(choices[0])`")
    }
  }

  @Test func `the page for authors has the limits of a manifest`() throws {
    let manifest = try Page("docs/manifest.md").text
    for limit in ["\(Limits.configurations) configurations", "1,000 declared", "After \(Limits.faults) faults"] {
      #expect(manifest.contains(limit))
    }
    #expect(Limits.types == 1000)
  }

  @Test func `the faults on the page for authors are those of a manifest`() throws {
    let block = try #require(try Page("docs/manifest.md").blocks("").first { $0.hasPrefix("CFBundleName") })
    let faults = ManifestTests.faults(
      #"""
      {"CFBundleIdentifier":"a.b","CFBundleName":7,"UIApplicationSceneManifest":{"UISceneConfigurations":{
       "UIWindowSceneSessionRoleApplication":[{"UISceneConfigurationName":"a"},{"UISceneConfigurationName":"b",
       "StagedoorLaunch":"once"},{"UISceneConfigurationName":"c","StagedoorCanActivatePredicate":"SELF =="}]}}}
      """#)
    #expect(block == faults.joined(separator: "\n"))
  }
}

/// The examples of the page for script writers are true.
@Suite struct PredicateDocumentationTests {
  private let page: Page

  init() throws { page = try Page("docs/predicates.md") }

  @Test func `each example parses, and nothing is said against it`() throws {
    let examples = page.blocks("predicate").flatMap { $0.split(separator: "\n") }
    #expect(examples.count > 10)
    for example in examples { try expectFine(example) }
  }

  @Test func `each operator in its table parses`() throws {
    let rows = rows(under: "What there is").filter { $0[0].hasPrefix("`SELF") || $0[0].contains("TRUEPREDICATE") }
    #expect(rows.count == 8)
    for example in rows.flatMap({ code(in: $0[0]) }) { try expectFine(example) }
  }

  @Test func `what is refused is refused, and what to write instead is not`() throws {
    let rows = rows(under: "What is refused")
    #expect(rows.count > 10)
    for row in rows {
      for example in code(in: row[0]) {
        #expect((try? Predicate(Text(String(example)))) == nil, "\(example)")
      }
      for example in code(in: row[1]) { try expectFine(example) }
    }
  }

  @Test func `what is warned about is warned about`() throws {
    let rows = rows(under: "Warnings")
    #expect(rows.count == 4)
    for example in rows.flatMap({ code(in: $0[0]) }) {
      let conditions = ActivationConditions(can: try Predicate(Text(String(example))))
      #expect(conditions.warnings.count == 1, "\(example)")
    }
  }

  @Test func `the limits are those of the page`() {
    #expect(Limits.predicate == 4096 && page.text.contains("**4,096 bytes.**"))
    #expect(Limits.predicateDepth == 64 && page.text.contains("**64 levels**"))
  }

  private func expectFine(_ example: Substring) throws {
    let conditions = ActivationConditions(can: try Predicate(Text(String(example))))
    #expect(conditions.warnings.isEmpty, "\(example)")
  }

  /// The cells of the tables' rows below a heading. Some cells have a bar inside.
  private func rows(under heading: String) -> [[Substring]] {
    let lines = page.section(heading).lines
    return zip(lines, lines.dropFirst()).compactMap { line, next in
      guard line.hasPrefix("| "), !next.hasPrefix("|-") else { return nil }
      return line.dropFirst(2).split(separator: " | ")
    }
  }

  /// The text between backquotes.
  private func code(in cell: Substring) -> [Substring] {
    let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
  }
}
