import DBus
import Testing

/// Documents so long that a quadratic reader would never finish.
@Suite struct IntrospectionHostileTests {
  private static let million = 1 << 20

  private static func bomb(_ start: String, _ unit: String, length: Int = million) -> String {
    start + String(repeating: unit, count: length / unit.utf8.count)
  }

  private static let nesting: [(start: String, unit: String, line: Int, column: Int)] = [
    ("", "<node name='a'>", 1, 64 * 15 + 1),
    ("", "<node name='a'\n>", 65, 2),
    ("<node>", "<x>", 1, 6 + 63 * 3 + 1),
  ]

  @Test(.timeLimit(.minutes(5)), arguments: nesting)
  func `what nests without measure is refused where it passes the limit`(
    start: String, unit: String, line: Int, column: Int
  ) {
    let error = refusal(of: Self.bomb(start, unit), as: .limitExceeded)
    #expect(error?.line == line)
    #expect(error?.column == column)
  }

  private static let marks = "n" + String(repeating: "\u{301}\u{323}", count: million / 4)
  private static let marked = [
    "<node><\(marks)/></node>", "<\(marks)/>", "<node \(marks)=''/>",
    "<node \(marks)='' \(marks)a='' \(marks)b=''/>", "<node><?\(marks)?></node>",
    "<node><interface name='a.b'><method name='A'><arg type='s' direction='\(marks)'/></method></interface></node>",
    "<node><interface name='a.b'><property name='A' type='s' access='\(marks)'/></interface></node>",
  ]

  @Test(.timeLimit(.minutes(5)), arguments: marked.indices)
  func `combining marks without measure are compared as bytes`(index: Int) {
    _ = try? Introspection.Node(xml: Self.marked[index])
  }

  @Test(.timeLimit(.minutes(5))) func `an element with attributes without measure is refused`() {
    var xml = "<node"
    for number in 0..<100_000 { xml += "\na\(number)=''" }
    let error = refusal(of: xml, as: .limitExceeded)
    #expect(error?.description == "line 66, column 1: expected at most 64 attributes in an element")
  }

  private static let endless: [(start: String, unit: String)] = [
    ("", "<"), ("", "["), ("", "<!"), ("", "<?"), ("", "</"), ("", "&"),
    ("<node>", "&"),
    ("<node>", "&amp"),
    ("<node>", "&#"),
    ("<node>&", "a"),
    ("<node>&#", "0"),
    ("<node a='", "&lt;"),
    ("<node>", "<![CDATA["),
    ("<node>", "<!-- -"),
    ("<node>", "<!-- -->"),
    ("<node>", "<!--\n-->"),
    ("<node>", "<!--\r\n-->\t"),
    ("<node>", "<?pi?>"),
    ("<node>", "<x/>"),
    ("<node>", "\n"),
    ("<node", " "),
    ("<", "n"),
    ("<node ", "n"),
    ("<!DOCTYPE node ", "["),
    ("<!DOCTYPE node [", "<!-- -->"),
    ("<!DOCTYPE node [", "<!ENTITY a '&b;&b;'>"),
    ("<!DOCTYPE node ", "'\""),
  ]

  @Test(.timeLimit(.minutes(5)), arguments: endless)
  func `what never ends is refused soon`(start: String, unit: String) {
    let xml = Self.bomb(start, unit, length: Self.million / 4)
    let error = refusal(of: xml, as: .malformed)
    #expect((error?.reason.utf8.count ?? .max) < 200)
  }

  @Test(.timeLimit(.minutes(5))) func `a long document that is meant well is read`() throws {
    // A quadratic algorithm would take minutes for these bytes.
    let node = Introspection.Node(children: (0..<2500).map { .init("child_\($0)", documentation: "The\nchild.") })
    #expect(node.xml.utf8.count > Self.million / 8)
    #expect(try Introspection.Node(xml: node.xml) == node)
    let remarks = Introspection.Node(documentation: Self.bomb("", "- &amp; -\n\n ", length: Self.million / 8))
    #expect(try Introspection.Node(xml: remarks.xml) == remarks)
  }

  @Test func `a document longer than any that is meant well is refused before it is looked at`() {
    let xml = String(repeating: "?", count: Introspection.maximumLength + 1)
    let error = refusal(of: xml, as: .limitExceeded)
    #expect(error?.description == "line 1, column 1: expected a document of at most 8388608 bytes, found 8388609")
  }

  @Test func `entities that a document declares are not expanded`() {
    let xml = """
      <!DOCTYPE node [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>
      <node name="&b;"/>
      """
    let error = refusal(of: xml, as: .malformed)
    #expect(error?.line == 2)
    #expect(error?.column == 13)
  }
}
