import DBus
import Testing

@testable import XML

/// Documents that are read, and the tokens that they consist of.
@Suite struct IntrospectionReaderTests {
  /// The answer of a bus driver, shortened, in the spelling of the reference implementation.
  static let busDriver = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    <node>
      <interface name="org.freedesktop.DBus">
        <method name="Hello">
          <arg direction="out" type="s"/>
        </method>
        <method name="RequestName">
          <arg direction="in" type="s"/>
          <arg direction="in" type="u"/>
          <arg direction="out" type="u"/>
        </method>
        <method name="GetConnectionCredentials">
          <arg direction="in" type="s"/>
          <arg direction="out" type="a{sv}"/>
        </method>
        <property name="Features" type="as" access="read">
          <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        </property>
        <signal name="NameOwnerChanged">
          <arg type="s"/>
          <arg type="s"/>
          <arg type="s"/>
        </signal>
      </interface>
      <interface name="org.freedesktop.DBus.Introspectable">
        <method name="Introspect">
          <arg direction="out" type="s"/>
        </method>
      </interface>
      <node name="org/freedesktop/DBus"/>
    </node>
    """

  @Test func `the bus's own document is read`() throws {
    let node = try Introspection.Node(xml: Self.busDriver)
    let driver = try #require(node.interface("org.freedesktop.DBus"))
    #expect(driver.method("Hello") == .init("Hello", out: [.init(nil, "s")]))
    #expect(driver.method("RequestName")?.inArguments.map(\.type) == ["s", "u"])
    #expect(driver.method("RequestName")?.outArguments.map(\.type) == ["u"])
    #expect(driver.signal("NameOwnerChanged")?.arguments.count == 3)
    let features = try #require(driver.property("Features"))
    #expect(features.access == .read)
    #expect(driver.emitsChangedSignal(of: features) == .const)
    #expect(node.interface("org.freedesktop.DBus.Introspectable")?.method("Introspect") != nil)
    #expect(node.interface("org.example.None") == nil)
    #expect(node.children.map(\.name) == ["org/freedesktop/DBus"])
  }

  @Test func `what XML allows beside the elements changes nothing`() throws {
    let plain = try Introspection.Node(
      xml: "<node><interface name='a.b'><method name='C'><arg type='s' direction='in'/></method></interface></node>")
    let full = try Introspection.Node(
      xml: """
        \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
        <?style sheet="?"?>
        <!-- not the node's: a declaration is between -->
        <!DOCTYPE node SYSTEM "a>b" [
          <!ENTITY lol "]>"> <!-- " ]> ' --> <?pi ]> "?>
          <!ATTLIST node name CDATA ']'>
        ]>
        <node\txmlns="x" xmlns:tp = 'http://example.org/?a=1&amp;b=2'\r\n>
          <tp:docstring>text &amp; <b>more</b><![CDATA[ <method name="X"> ]]></tp:docstring >
          <interface tp:name-for-bindings="A_B" name="a&#46;b">
            <doc:doc><doc:node name="!"/></doc:doc> stray text
            <method name="&#x43;"><?pi?><arg unknown="" direction="in" type='&#x000073;'></arg><method name="!"/></method>
          </interface>
        </node>
        <!-- done --><?pi?>

        """)
    #expect(full == plain)
  }

  @Test func `an argument without a direction goes in`() throws {
    #expect(try methods("<method name='C'><arg type='s'/></method>") == [.init("C", in: [.init(nil, "s")])])
  }

  @Test func `white space in an attribute becomes spaces unless it is written as a reference`() throws {
    let xml = "<node><interface name='a.b'><annotation name='n' value='\t\n\r\n|&#9;&#10;&#13;'/></interface></node>"
    #expect(try Introspection.Node(xml: xml).interfaces.first?.annotation("n") == "   |\t\n\r")
  }

  // MARK: Documentation

  private func methods(_ inside: String) throws -> [Introspection.Method] {
    try Introspection.Node(xml: "<node><interface name='a.b'>\(inside)</interface></node>").interfaces[0].methods
  }

  @Test func `a comment before a method is its documentation`() throws {
    #expect(
      try methods("<!-- Does it. --><method name='A'/><method name='B'/>").map(\.documentation) == ["Does it.", nil])
  }

  @Test(arguments: [
    "<!-- a heading -->\n\n<method name='A'/>",
    "<!-- a heading -->\r\n \r\n<method name='A'/>",
    "<!-- of something unknown --><other/><method name='A'/>",
    "<!-- before text --> text <method name='A'/>",
    "<!-- before an instruction --><?pi?><method name='A'/>",
    "<method name='A'><!-- inside --></method>",
    "<method name='A'/><!-- after -->",
  ])
  func `a comment that does not stand directly before an element documents nothing`(inside: String) throws {
    #expect(try methods(inside).map(\.documentation) == [nil])
  }

  @Test func `of several comments the last one counts`() throws {
    #expect(try methods("<!-- A heading -->\n<!-- It. -->\n<method name='A'/>").first?.documentation == "It.")
  }

  @Test(arguments: [
    ("<!--a-->", "a"),
    ("<!-- \t a \t -->", "a"),
    ("<!---->", ""),
    ("<!-- \n -->", ""),
    ("<!-- a\n     b -->", "a\nb"),
    ("<!-- a\n\t b\n\t-->", "a\nb"),
    ("   <!-- a\n        b\n          c -->", "a\nb\n  c"),
    ("<!-- a\n  b\n    c\n-->", "a\nb\n  c"),
    ("<!--\n  a  \n\n    b\n  c\n-->", "a\n\n  b\nc"),
    ("<!--\n\n    a\n  b -->", "  a\nb"),
    ("<!-- a\r\n     b\r     c -->", "a\nb\nc"),
    ("<!-- a &lt;b&gt; &amp;&amp; &#99; & &d; AT&T -->", "a <b> && c & &d; AT&T"),
    ("<!-- a - b -&#45; -&#45;c -->", "a - b -- --c"),
  ])
  func `the layout of a comment is not part of it`(comment: String, documentation: String) throws {
    #expect(try methods("\n\(comment)\n<method name='A'/>").map(\.documentation) == [documentation])
  }

  // MARK: Annotations

  @Test func `well-known annotations have names of their own`() {
    let method = Introspection.Method("A", annotations: [.deprecated, .noReply, .unixFD])
    #expect(method.isDeprecated && method.hasNoReply && method.carriesUnixFD)
    #expect(method.annotation("org.freedesktop.DBus.Method.NoReply") == "true")
    let plain = Introspection.Method("A", annotations: [.init("org.freedesktop.DBus.Deprecated", "false")])
    #expect(!plain.isDeprecated && !plain.hasNoReply && !plain.carriesUnixFD)
  }

  @Test(.timeLimit(.minutes(5))) func `an annotation without end is not known`() {
    let names = [Introspection.Annotation.deprecated.name, Introspection.Annotation.emitsChangedSignal(.true).name]
    let annotations =
      [Introspection.Annotation(endlessLetter, "true")] + names.map { Introspection.Annotation($0, endlessLetter) }
    let property = Introspection.Property("A", "s", annotations: annotations)
    #expect(!property.isDeprecated && property.emitsChangedSignal == nil)
  }

  @Test func `of two annotations of one name the first counts`() {
    let method = Introspection.Method("A", annotations: [.init("a.b", "1"), .init("a.b", "2")])
    #expect(method.annotation("a.b") == "1")
  }

  @Test(arguments: EmitsChangedSignal.allCases, EmitsChangedSignal.allCases)
  func `a property's annotation goes before its interface's`(own: EmitsChangedSignal, outer: EmitsChangedSignal) {
    let annotated = Introspection.Property("A", "s", annotations: [.emitsChangedSignal(own)])
    let plain = Introspection.Property("B", "s")
    let interface = Introspection.Interface(
      "a.b", annotations: [.emitsChangedSignal(outer)], properties: [annotated, plain])
    #expect(interface.emitsChangedSignal(of: annotated) == own)
    #expect(interface.emitsChangedSignal(of: plain) == outer)
  }

  @Test func `a property announces its value where nothing known is said`() {
    let strange = Introspection.Annotation("org.freedesktop.DBus.Property.EmitsChangedSignal", "perhaps")
    let property = Introspection.Property("A", "s", annotations: [strange])
    #expect(property.emitsChangedSignal == nil)
    #expect(Introspection.Interface("a.b", properties: [property]).emitsChangedSignal(of: property) == .true)
  }

  @Test func `access says what works`() {
    #expect(Introspection.Access.allCases.filter(\.isReadable) == [.read, .readWrite])
    #expect(Introspection.Access.allCases.filter(\.isWritable) == [.write, .readWrite])
  }

  // MARK: Tokens

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

  @Test func `the length limit holds at n and n + 1`() throws {
    let longest = "<a>" + String(repeating: " ", count: 993) + "</a>"
    #expect(try tokens(longest).count == 4)
    #expect(throws: XMLError.self) { try tokens(longest + " ") }
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
