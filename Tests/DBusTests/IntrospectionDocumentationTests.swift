import DBus
import Testing

@Suite struct IntrospectionDocumentationTests {
  private func methods(_ inside: String) throws -> [Introspection.Method] {
    try Introspection.Node(xml: "<node><interface name='a.b'>\(inside)</interface></node>").interfaces[0].methods
  }

  @Test func `a comment before a method is its documentation`() throws {
    #expect(
      try methods("<!-- Does it. --><method name='A'/><method name='B'/>").map(\.documentation) == ["Does it.", nil])
  }

  @Test func `every kind of element has documentation`() throws {
    let node = try Introspection.Node(
      xml: """
        <!--node-->
        <node>
          <!-- interface -->
          <interface name="a.b">
            <!-- property -->
            <property name="P" type="s" access="read"/>
            <!-- signal -->
            <signal name="S">
              <!-- argument -->
              <arg type="s"/>
            </signal>
          </interface>
          <!-- child -->
          <node name="c"/>
        </node>
        """)
    let interface = node.interfaces[0]
    #expect(node.documentation == "node")
    #expect(interface.documentation == "interface")
    #expect(interface.properties[0].documentation == "property")
    #expect(interface.signals[0].documentation == "signal")
    #expect(interface.signals[0].arguments[0].documentation == "argument")
    #expect(node.children[0].documentation == "child")
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
    let xml = "<node><interface name='a.b'>\n\(comment)\n<method name='A'/></interface></node>"
    #expect(try Introspection.Node(xml: xml).interfaces[0].methods[0].documentation == documentation)
  }
}
