import FoundationEssentials
import SceneModel
import Testing

/// The examples of the page for script writers are true.
@Suite struct PredicateDocumentationTests {
  private let lines: [Substring]

  init() throws {
    let file = URL(filePath: #filePath).resolvingSymlinksInPath().path
    let root = file.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
    let page = try Data(contentsOf: URL(filePath: "\(root)/docs/predicates.md"))
    lines = String(decoding: page, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func `each example parses, and nothing is said against it`() throws {
    var examples: [Substring] = []
    var isInside = false
    for line in lines {
      if line.hasPrefix("```") {
        isInside = line == "```predicate"
      } else if isInside {
        examples.append(line)
      }
    }
    #expect(examples.count > 10)
    for example in examples { try expectFine(example) }
  }

  @Test func `each operator in its table parses`() throws {
    let rows = rows(under: "## What there is").filter { $0[0].hasPrefix("`SELF") || $0[0].contains("TRUEPREDICATE") }
    #expect(rows.count == 8)
    for example in rows.flatMap({ code(in: $0[0]) }) { try expectFine(example) }
  }

  @Test func `what is refused is refused, and what to write instead is not`() throws {
    let rows = rows(under: "## What is refused")
    #expect(rows.count > 10)
    for row in rows {
      for example in code(in: row[0]) {
        #expect((try? Predicate(Text(String(example)))) == nil, "\(example)")
      }
      for example in code(in: row[1]) { try expectFine(example) }
    }
  }

  @Test func `what is warned about is warned about`() throws {
    let rows = rows(under: "## Warnings")
    #expect(rows.count == 4)
    for example in rows.flatMap({ code(in: $0[0]) }) {
      let conditions = ActivationConditions(can: try Predicate(Text(String(example))))
      #expect(conditions.warnings.count == 1, "\(example)")
    }
  }

  @Test func `the limits are those of the page`() {
    let page = lines.joined(separator: "\n")
    #expect(Limits.predicate == 4096 && page.contains("**4,096 bytes.**"))
    #expect(Limits.predicateDepth == 64 && page.contains("**64 levels**"))
  }

  private func expectFine(_ example: Substring) throws {
    let conditions = ActivationConditions(can: try Predicate(Text(String(example))))
    #expect(conditions.warnings.isEmpty, "\(example)")
  }

  /// The cells of the tables' rows up to the next heading, without the header rows.
  private func rows(under heading: Substring) -> [[Substring]] {
    let section = lines.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("## ") }
    let isRule: (Substring) -> Bool = { $0.hasPrefix("|--") }
    return zip(section, section.dropFirst()).compactMap { line, next in
      guard line.hasPrefix("|"), !isRule(line), !isRule(next) else { return nil }
      return line.split(separator: " | ").map { $0.drop { $0 == "|" || $0 == " " } }
    }
  }

  /// The text between backquotes.
  private func code(in cell: Substring) -> [Substring] {
    let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
  }
}
