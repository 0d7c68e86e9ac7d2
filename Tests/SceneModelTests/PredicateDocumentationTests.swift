import SceneModel
import SceneTestSupport
import Testing

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
