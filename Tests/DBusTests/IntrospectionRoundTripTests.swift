import DBus
import SceneTestSupport
import Testing

/// Documents that are written, and read back.
@Suite struct IntrospectionRoundTripTests {
  @Test(arguments: 0..<rounds(5))
  func `what is printed is read back as it was`(batch: Int) throws {
    for seed in (batch * 100)..<(batch * 100 + 100) {
      var generator = SeededRandom(seed: UInt64(seed))
      let node = generator.node(name: generator.one(of: [nil, "/", "/org/example/Object_1", "relative"]))
      let xml = node.xml
      let copy = try Introspection.Node(xml: xml)
      #expect(copy == node, "seed \(seed)")
      // Strings that look the same are equal in Swift. Here the bytes must be equal, too.
      #expect(Array(copy.xml.utf8) == Array(xml.utf8), "seed \(seed)")
    }
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

  // MARK: Damage

  @Test(arguments: 0..<8)
  func `a damaged document is read or refused`(seed: Int) throws {
    var generator = SeededRandom(seed: UInt64(seed))
    let documents = [
      IntrospectionReaderTests.busDriver,
      generator.node(name: nil).xml,
      "\u{FEFF}<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><node><!-- d --><node name='e'><![CDATA[f]]></node></node>",
    ]
    for _ in 0..<500 {
      let damaged = damage(generator.one(of: documents), &generator)
      do throws(IntrospectionError) {
        let node = try Introspection.Node(xml: damaged)
        // Every document that was read can also be printed.
        #expect(try Introspection.Node(xml: node.xml) == node)
      } catch {
        #expect(error.line > 0 && error.column > 0)
        #expect(error.line <= damaged.utf8.count + 1 && error.column <= damaged.utf8.count + 1)
      }
    }
  }

  private func damage(_ document: String, _ generator: inout SeededRandom) -> String {
    let markup = Array("<>/&;'\"=-!?[]# \n\r\t".utf8)
    var bytes = Array(document.utf8)
    for _ in 0...generator.below(3) where !bytes.isEmpty {
      let place = generator.below(bytes.count)
      switch generator.below(6) {
      case 0: bytes[place] ^= 1 << UInt8(generator.below(8))
      case 1: bytes[place] = generator.one(of: markup)
      case 2: bytes.insert(generator.one(of: markup), at: place)
      case 3: bytes.remove(at: place)
      case 4: bytes.removeSubrange(place...)
      default:
        let length = min(generator.below(40), bytes.count - place)
        bytes.insert(contentsOf: bytes[place..<(place + length)], at: generator.below(bytes.count))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Layout

  @Test func `a document is laid out as everyone lays it out`() {
    let node = Introspection.Node(
      "/org/example/Library", documentation: "A library.",
      interfaces: [
        .init(
          "org.example.Library1", documentation: "Lends books.\n\nOne at a time:\n  lend --now",
          annotations: [.emitsChangedSignal(.invalidates)],
          methods: [
            .init(
              "Lend", annotations: [.unixFD, .init("org.example.Type", "List<\"Book\" & 'Map'>\n")],
              in: [.init("book", "o", documentation: "Which."), .init(nil, "a{sv}")], out: [.init("data", "h")]),
            .init("Close"),
          ],
          signals: [.init("Lent", [.init("book", "o", annotations: [.deprecated])]), .init("Closed")],
          properties: [
            .init("Open", "b", access: .readWrite), .init("Version", "u", annotations: [.emitsChangedSignal(.const)]),
          ]),
        .init("org.example.Empty"),
      ],
      children: [.init("book_7")])
    #expect(
      node.xml == """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <!-- A library. -->
        <node name="/org/example/Library">
          <!-- Lends books.

               One at a time:
                 lend -&#45;now -->
          <interface name="org.example.Library1">
            <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="invalidates"/>
            <method name="Lend">
              <annotation name="org.gtk.GDBus.C.UnixFD" value="true"/>
              <annotation name="org.example.Type" value="List&lt;&quot;Book&quot; &amp; 'Map'&gt;&#10;"/>
              <!-- Which. -->
              <arg name="book" type="o" direction="in"/>
              <arg type="a{sv}" direction="in"/>
              <arg name="data" type="h" direction="out"/>
            </method>
            <method name="Close"/>
            <signal name="Lent">
              <arg name="book" type="o">
                <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
              </arg>
            </signal>
            <signal name="Closed"/>
            <property name="Open" type="b" access="readwrite"/>
            <property name="Version" type="u" access="read">
              <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
            </property>
          </interface>
          <interface name="org.example.Empty"/>
          <node name="book_7"/>
        </node>

        """)
  }

  @Test func `an object without anything is an empty element`() {
    #expect(Introspection.Node().xml == Introspection.documentType + "\n<node/>\n")
  }
}

/// Makes introspection documents, the same ones for the same seed, with everything that is hard to print.
extension SeededRandom {
  // MARK: Strings

  private static let nasty = [
    "word", "two words", "-", "--", "---", "-->", "<!--", "<![CDATA[", "]]>", "<", ">", "</node>", "\"", "'", "&", "&&",
    "&amp;", "&amp", "&lt;", "&#45;", "&#x2d;", "&#", "&#0;", "&lol;", ";", "#45;", "amp;", " ", "  ", "\t", "\n",
    "\n\n", "\n     ", " \n", "\r", "\r\n", "é", "e\u{301}", "🎭", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{FFFD}",
    "\u{10FFFF}", "<?xml ?>", "%s", "\\", "\u{7F}",
  ]

  fileprivate mutating func text() -> String { several(8) { $0.one(of: Self.nasty) }.joined() }

  fileprivate mutating func documentation() -> String? { below(3) == 0 ? nil : text() }

  fileprivate mutating func member() -> MemberName { one(of: ["Get", "_", "a1", "Set_All", "VeryLongNameOfAMember"]) }

  fileprivate mutating func type() -> Signature {
    var depth = 0
    return Signature(unchecked: type(&depth))
  }

  private mutating func type(_ depth: inout Int) -> String {
    depth += 1
    let basic = ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "h"]
    if depth > 4 { return one(of: basic) }
    switch below(6) {
    case 0: return "a" + type(&depth)
    case 1: return "a{" + one(of: basic) + type(&depth) + "}"
    case 2: return "(" + type(&depth) + type(&depth) + ")"
    case 3: return "v"
    default: return one(of: basic)
    }
  }

  // MARK: Elements

  fileprivate mutating func node(name: String?, depth: Int = 0) -> Introspection.Node {
    Introspection.Node(
      name, documentation: documentation(), interfaces: several(3) { $0.interface() },
      children: depth == 3
        ? [] : several(2) { $0.node(name: $0.one(of: ["child", "a/b", "_1", "0"]), depth: depth + 1) })
  }

  private mutating func interface() -> Introspection.Interface {
    Introspection.Interface(
      one(of: ["org.example.A", "a.b", "_._", "org.freedesktop.DBus.Peer"]), documentation: documentation(),
      annotations: annotations(),
      methods: several(2) {
        .init(
          $0.member(), documentation: $0.documentation(), annotations: $0.annotations(),
          in: $0.several(3) { $0.argument() }, out: $0.several(2) { $0.argument() })
      },
      signals: several(2) {
        .init(
          $0.member(), documentation: $0.documentation(), annotations: $0.annotations(), $0.several(3) { $0.argument() }
        )
      },
      properties: several(2) {
        .init(
          $0.member(), $0.type(), access: $0.one(of: Introspection.Access.allCases), documentation: $0.documentation(),
          annotations: $0.annotations())
      })
  }

  private mutating func argument() -> Introspection.Argument {
    Introspection.Argument(
      below(3) == 0 ? nil : text(), type(), documentation: documentation(), annotations: annotations())
  }

  private mutating func annotations() -> [Introspection.Annotation] {
    several(2) { generator in
      generator.one(of: [
        .deprecated, .noReply, .unixFD, .emitsChangedSignal(.const), .init("org.example.Note", generator.text()),
        .init(generator.text(), generator.text()),
      ])
    }
  }
}
