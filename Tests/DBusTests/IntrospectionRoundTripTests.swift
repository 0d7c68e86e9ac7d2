import DBus
import Glibc
import Testing

@Suite struct IntrospectionRoundTripTests {
  /// `make stress` prints four times as many.
  @Test(arguments: 0..<(getenv("STAGEDOOR_STRESS") == nil ? 5 : 20))
  func `what is printed is read back as it was`(batch: Int) throws {
    for seed in (batch * 100)..<(batch * 100 + 100) {
      var generator = IntrospectionGenerator(seed: UInt64(seed))
      let node = generator.node(name: generator.pick([nil, "/", "/org/example/Object_1", "relative"]))
      let xml = node.xml
      let copy = try Introspection.Node(xml: xml)
      #expect(copy == node, "seed \(seed)")
      // Strings that look the same are equal in Swift. Here the bytes must be equal, too.
      #expect(Array(copy.xml.utf8) == Array(xml.utf8), "seed \(seed)")
    }
  }

  @Test(arguments: [
    "", " ", "\n", " \n ", "-", "--", "a--", "--a", "-----", "a\n  b\nc", "a\n  b", "  a\nb", "a\n\n\nb", "\n\na",
    "a\n\n",
    "a \nb\t", "\ta", "-->", "&", "&&", "&amp;", "&#45;-", "&#45", "a\r\nb", "\r", "<a>\n\t<b/>\n</a>", "é\n é",
  ])
  func `documentation comes back as it was`(documentation: String) throws {
    let node = Introspection.Node(
      documentation: documentation,
      interfaces: [
        .init(
          "org.example.A",
          methods: [.init("A", documentation: documentation, in: [.init("a", "s", documentation: documentation)])])
      ])
    let copy = try Introspection.Node(xml: node.xml)
    #expect(copy == node)
    #expect(copy.documentation.map { Array($0.utf8) } == Array(documentation.utf8))
  }

  @Test func `what XML cannot hold becomes a replacement character`() throws {
    let node = Introspection.Node(
      documentation: "a\0\u{FFFF}", interfaces: [.init("org.example.A", annotations: [.init("b\u{1}", "\u{FFFE}c")])])
    let copy = try Introspection.Node(xml: node.xml)
    #expect(copy.documentation == "a\u{FFFD}\u{FFFD}")
    #expect(copy.interfaces.first?.annotations == [.init("b\u{FFFD}", "\u{FFFD}c")])
  }

  @Test func `a document as deep as may be read is read`() throws {
    var node = Introspection.Node("leaf")
    for _ in 1..<Introspection.maximumDepth { node = .init("parent", children: [node]) }
    #expect(try Introspection.Node(xml: node.xml) == node)
    #expect(throws: IntrospectionError.self) { try Introspection.Node(xml: Introspection.Node(children: [node]).xml) }
  }
}
