import Testing

@testable import XML

@Suite struct IntrospectionScannerTests {
  private func tokens(_ xml: String) throws -> [XMLToken] {
    var scanner = try XMLScanner(xml, maximumLength: 1000, maximumDepth: 3)
    var tokens: [XMLToken] = []
    repeat { tokens.append(try scanner.next()) } while tokens.last != .endOfDocument
    return tokens
  }

  @Test func `a document comes apart into its tokens`() throws {
    #expect(
      try tokens("<?xml version='1'?><a><b b='&lt;1>'/>x &amp; y<![CDATA[&amp;\r\n]]>\r\n  <!-- c\n --></a>\n").map(
        shape)
        == [
          "declaration", "<a>", "<b b=<1>>", "end", "x & y", "&amp;\n", "\n  ", "comment 2  c\n ", "end", "\n",
          "endOfDocument",
        ])
  }

  @Test func `offsets lead to places`() throws {
    var scanner = try XMLScanner("\u{FEFF}<a>\r\n\té<b c='d'/></a>", maximumLength: 100, maximumDepth: 3)
    var tags: [XMLTag] = []
    var token = try scanner.next()
    while token != .endOfDocument {
      if case .start(let tag) = token { tags.append(tag) }
      token = try scanner.next()
    }
    #expect(
      tags.map { scanner.position(of: $0.offset) } == [XMLPosition(line: 1, column: 1), .init(line: 2, column: 3)])
    let value = try #require(tags.last?["c"])
    #expect(scanner.position(of: value.valueOffset) == XMLPosition(line: 2, column: 9))
    #expect(tags.last?["d"] == nil)
  }

  @Test func `the length limit holds at n and n + 1`() throws {
    let longest = "<a>" + String(repeating: " ", count: 993) + "</a>"
    #expect(try tokens(longest).count == 4)
    #expect(throws: XMLError.self) { try tokens(longest + " ") }
  }

  @Test func `as many attributes are taken as may be, and no more`() throws {
    let attributes = (0..<XMLScanner.maximumAttributes).map { "a\($0)=''" }.joined(separator: " ")
    #expect(try tokens("<a \(attributes)/>").count == 3)
    #expect(throws: XMLError.self) { try tokens("<a \(attributes) b=''/>") }
  }

  private func shape(_ token: XMLToken) -> String {
    switch token {
    case .start(let tag):
      "<" + ([tag.name.string] + tag.attributes.map { "\($0.name)=\($0.value)" }).joined(separator: " ") + ">"
    case .end: "end"
    case .text(let text): text
    case .comment(let comment): "comment \(comment.indentation) \(comment.content)"
    case .declaration: "declaration"
    case .endOfDocument: "endOfDocument"
    }
  }
}
