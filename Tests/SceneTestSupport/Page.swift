import FoundationEssentials

/// A page of the documentation or of the sources, for tests that compare them with the code.
package struct Page {
  package static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

  package let text: String

  /// - Parameter path: The place of the page in the repository.
  package init(_ path: String) throws {
    text = String(decoding: try Data(contentsOf: URL(filePath: "\(Page.repository)/\(path)")), as: UTF8.self)
  }

  fileprivate init(text: String) { self.text = text }

  package var lines: [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  /// What stands below a heading, up to the next one of its kind.
  package func section(_ heading: String) -> Page {
    let section = lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    return Page(text: section.joined(separator: "\n"))
  }

  /// The text between the fences of this language.
  package func blocks(_ language: String) -> [String] {
    let lines = lines
    return lines.indices.filter { lines[$0] == "```\(language)" }
      .map { lines[($0 + 1)...].prefix { $0 != "```" }.joined(separator: "\n") }
  }

  /// The cells of the rows of all tables, without the rows that name the columns.
  package var rows: [[String]] {
    zip(lines, lines.dropFirst() + [""]).compactMap { line, next in
      guard line.hasPrefix("| "), !next.hasPrefix("|-") else { return nil }
      return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
        String($0).trimming(" ")
      }
    }
  }
}

/// Cases of a test as a table, one in each row: `| what is given | what is expected |`. The end of a line in a cell is ⏎. Lines between the rows
/// say what the next rows are about.
package func pairs(_ table: String) -> [(String, String)] { cells(of: table).map { ($0[0], $0[1]) } }

package func triples(_ table: String) -> [(String, String, String)] { cells(of: table).map { ($0[0], $0[1], $0[2]) } }

private func cells(of table: String) -> [[String]] {
  Page(text: table).rows.map { $0.map { $0.replacing("⏎", with: "\n") } }
}

extension String {
  /// The text without this character at its beginning and at its end.
  package func trimming(_ character: Character) -> String {
    String(drop { $0 == character }.reversed().drop { $0 == character }.reversed())
  }
}
