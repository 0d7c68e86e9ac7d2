import DBus
import Testing

/// Documents that are refused.
@Suite struct IntrospectionErrorTests {
  private static let malformed: [(String, String)] = [
    // Not documents.
    ("", "line 1, column 1: expected an element, found the end of the document"),
    ("\u{FEFF}", "line 1, column 1: expected an element, found the end of the document"),
    (" \n<!-- only -->\r\n ", "line 3, column 2: expected an element, found the end of the document"),
    ("\u{FEFF}text", "line 1, column 1: expected an element, found \"t\""),
    ("<?xml version='1.0'?>\n&amp;", "line 2, column 1: expected an element, found \"&\""),
    ("<node/>\n<node/>", "line 2, column 1: expected nothing after the root element, found \"<\""),
    ("<node/>\n text", "line 2, column 2: expected nothing after the root element, found \"t\""),
    ("<![CDATA[a]]><node/>", "line 1, column 1: expected no text outside the root element, found it"),
    ("<node/></node>", "line 1, column 8: expected no end of an element that has not begun, found \"<\""),
    // Tags.
    ("<node>\n</knot>", "line 2, column 1: expected </node>, found </knot>"),
    ("<node>\n<é>", "line 2, column 4: expected </é> for the element of line 2, found the end of the document"),
    (
      "<node>\r\n<a>\r</a>\n",
      "line 4, column 1: expected </node> for the element of line 1, found the end of the document"
    ),
    ("<", "line 1, column 2: expected an element's name, found the end of the document"),
    ("<<", "line 1, column 2: expected an element's name, found \"<\""),
    ("< node/>", "line 1, column 2: expected an element's name, found a space"),
    ("<-node/>", "line 1, column 2: expected an element's name, found \"-\""),
    ("<node></>", "line 1, column 9: expected an element's name, found \">\""),
    ("<node></node\n", "line 2, column 1: expected \">\" after </node, found the end of the document"),
    ("<node", "line 1, column 6: expected \">\" or white space in <node>, found the end of the document"),
    ("<node ", "line 1, column 7: expected \">\" or white space in <node>, found the end of the document"),
    ("<node/ >", "line 1, column 6: expected \">\" or white space in <node>, found \"/\""),
    ("<!ELEMENT node>", "line 1, column 2: expected an element's name, found \"!\""),
    // Attributes.
    ("<node name/>", "line 1, column 11: expected \"=\" after an attribute's name, found \"/\""),
    ("<node name=a/>", "line 1, column 12: expected a value in quotes, found \"a\""),
    ("<node name=\"a'/>", "line 1, column 17: expected the value to end with its quote, found the end of the document"),
    ("<node a=''b=''/>", "line 1, column 11: expected \">\" or white space in <node>, found \"b\""),
    ("<node a=''\n b='' a=\"\"/>", "line 2, column 7: expected no second attribute \"a\", found \"a\""),
    ("<node a='<'/>", "line 1, column 10: expected no \"<\" within a value, found \"<\""),
    ("<node =''/>", "line 1, column 7: expected an attribute, \">\" or \"/>\", found \"=\""),
    // Comments and skipped content.
    ("<node><!-- a", "line 1, column 13: expected \"-->\" to end the comment, found the end of the document"),
    ("<node><!-- a -- b --></node>", "line 1, column 14: expected no \"--\" within a comment, found it"),
    ("<node><![CDATA[a]]></node", "line 1, column 26: expected \">\" after </node, found the end of the document"),
    (
      "<node><![CDATA[a]]",
      "line 1, column 19: expected \"]]>\" to end the CDATA section, found the end of the document"
    ),
    ("<?a", "line 1, column 4: expected \"?>\" to end the processing instruction, found the end of the document"),
    ("<??>", "line 1, column 3: expected a processing instruction's target, found \"?\""),
    (" <?xml?><node/>", "line 1, column 2: expected an XML declaration at the very beginning only, found it"),
    ("<!DOCTYPE a", "line 1, column 12: expected \">\" to end the document type, found the end of the document"),
    ("<!DOCTYPE a '>", "line 1, column 15: expected a quote to end the string, found the end of the document"),
    ("<!DOCTYPE a [>", "line 1, column 15: expected \"]\" to end the internal subset, found the end of the document"),
    ("<!DOCTYPE a><!DOCTYPE a><node/>", "line 1, column 13: expected no document type here, found it"),
    ("<node><!DOCTYPE a></node>", "line 1, column 7: expected no document type here, found it"),
    // Characters.
    ("<node>\0</node>", "line 1, column 7: expected a character that XML allows, found U+0000"),
    ("<node a='🎭\u{1F}'/>", "line 1, column 11: expected a character that XML allows, found U+001F"),
    ("<node>\u{FFFE}", "line 1, column 7: expected a character that XML allows, found U+FFFE"),
  ]

  @Test(arguments: malformed)
  func `what is no XML is refused with its place`(xml: String, description: String) {
    let error = refusal(of: xml, as: .malformed)
    #expect(error?.description == description)
  }

  private static let references: [String] = [
    "&", "& ", "&;", "&lol;", "&amp", "&AMP;", "&#;", "&#x;", "&#X41;", "&#1a;", "&#0;", "&#x1F;", "&#xD800;",
    "&#xFFFF;", "&#x110000;", "&#99999999999999999999;", "&#-1;", "&ltx;", "&lt ;", "&&lt;",
  ]

  @Test(arguments: references)
  func `a reference to what is not known is refused with its place`(reference: String) {
    for (xml, column) in [("<node><a>\(reference)</a></node>", 10), ("<node a='\(reference)'/>", 10)] {
      let error = refusal(of: xml, as: .malformed)
      #expect(error?.line == 1)
      #expect(error?.column == column)
      #expect(error?.reason.hasPrefix("expected a character's number or one of &amp; &lt; &gt; &quot; &apos;") == true)
    }
  }

  private static let unexpected: [(String, String)] = [
    ("<knot/>", "line 1, column 1: expected <node> as the root, found <knot>"),
    ("<x:node/>", "line 1, column 1: expected <node> as the root, found <x:node>"),
    ("<node>\n <node/></node>", "line 2, column 2: expected an attribute \"name\" in <node>"),
    ("<node><interface/></node>", "line 1, column 7: expected an attribute \"name\" in <interface>"),
    (inside("<method/>"), "line 2, column 1: expected an attribute \"name\" in <method>"),
    (inside("<signal/>"), "line 2, column 1: expected an attribute \"name\" in <signal>"),
    (inside("<property type='s' access='read'/>"), "line 2, column 1: expected an attribute \"name\" in <property>"),
    (inside("<property name='A' access='read'/>"), "line 2, column 1: expected an attribute \"type\" in <property>"),
    (inside("<property name='A' type='s'/>"), "line 2, column 1: expected an attribute \"access\" in <property>"),
    (
      inside("<property name='A' type='s' access='rw'/>"),
      "line 2, column 37: expected \"read\", \"write\" or \"readwrite\", found \"rw\""
    ),
    (inside("<annotation value=''/>"), "line 2, column 1: expected an attribute \"name\" in <annotation>"),
    (inside("<annotation name='a'/>"), "line 2, column 1: expected an attribute \"value\" in <annotation>"),
    (inside("<method name='A'><arg/></method>"), "line 2, column 18: expected an attribute \"type\" in <arg>"),
    (
      inside("<method name='A'><arg type='s' direction='inout'/></method>"),
      "line 2, column 43: expected \"in\" or \"out\", found \"inout\""
    ),
    (
      inside("<signal name='A'><arg type='s' direction='in'/></signal>"),
      "line 2, column 43: expected \"out\" or no direction in a signal, found \"in\""
    ),
  ]

  @Test(arguments: unexpected)
  func `what is no introspection document is refused with its place`(xml: String, description: String) {
    let error = refusal(of: xml, as: .unexpected)
    #expect(error?.description == description)
  }

  private static let invalidNames: [(String, Int, Int, String)] = [
    ("<node name='/a/'/>", 1, 13, "object path"),
    ("<node name=''/>", 1, 13, "relative object path"),
    ("<node name='a b'/>", 1, 13, "relative object path"),
    ("<node><node name='/a'/></node>", 1, 19, "relative object path"),
    ("<node><node name='a/'/></node>", 1, 19, "relative object path"),
    ("<node>\n<interface name = 'Nodot'/></node>", 2, 20, "interface name"),
    (inside("<method name='a.b'/>"), 2, 15, "member name"),
    (inside("<signal name=''/>"), 2, 15, "member name"),
    (inside("<property name='1' type='s' access='read'/>"), 2, 17, "member name"),
    (inside("<property name='A' type='a{' access='read'/>"), 2, 26, "signature"),
    (inside("<property name='A' type='' access='read'/>"), 2, 26, "single complete type"),
    (inside("<method name='A'><arg type='ss'/></method>"), 2, 29, "single complete type"),
    (inside("<method name='A'><arg type='\(String(repeating: "a", count: 33))s'/></method>"), 2, 29, "signature"),
    (inside("<signal name='A'><arg type='z'/></signal>"), 2, 29, "signature"),
  ]

  @Test(arguments: invalidNames)
  func `a wrong name is refused with its place`(xml: String, line: Int, column: Int, kind: String) {
    let error = refusal(of: xml, as: .invalidName)
    #expect(error?.line == line)
    #expect(error?.column == column)
    #expect(error?.invalidName?.kind == kind)
    #expect(error?.reason == error?.invalidName?.description)
  }

  private static func inside(_ members: String) -> String {
    "<node><interface name='a.b'>\n\(members)</interface></node>"
  }

  // MARK: Documents so long that a quadratic reader would never finish

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

  private static let endless: [(start: String, units: [String])] = [
    ("", ["<", "[", "<!", "<?", "</", "&"]),
    ("<node>", ["&", "&amp", "&#", "<![CDATA[", "<!-- -", "<!-- -->", "<!--\n-->", "<!--\r\n-->\t"]),
    ("<node>", ["<?pi?>", "<x/>", "\n"]),
    ("<node>&", ["a"]),
    ("<node>&#", ["0"]),
    ("<node a='", ["&lt;"]),
    ("<", ["n"]),
    ("<node", [" "]),
    ("<node ", ["n"]),
    ("<!DOCTYPE node ", ["[", "'\""]),
    ("<!DOCTYPE node [", ["<!-- -->", "<!ENTITY a '&b;&b;'>"]),
  ]

  @Test(.timeLimit(.minutes(5)), arguments: endless)
  func `what never ends is refused soon`(start: String, units: [String]) {
    for unit in units {
      let error = refusal(of: Self.bomb(start, unit, length: Self.million / 4), as: .malformed)
      #expect((error?.reason.utf8.count ?? .max) < 200)
    }
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

/// The error of reading a document, which has this code.
func refusal(
  of xml: String, as code: IntrospectionError.Code, at place: SourceLocation = #_sourceLocation
) -> IntrospectionError? {
  let error = #expect(throws: IntrospectionError.self, sourceLocation: place) { try Introspection.Node(xml: xml) }
  #expect(error?.code == code, sourceLocation: place)
  return error
}
