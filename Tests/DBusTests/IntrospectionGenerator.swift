import DBus

/// Makes introspection documents, the same ones for the same seed, with everything that is hard to print.
struct IntrospectionGenerator: RandomNumberGenerator {
  private var random: CodingRandom

  init(seed: UInt64) { random = CodingRandom(seed: seed) }

  mutating func next() -> UInt64 { random.next() }

  // MARK: Strings

  private static let nasty = [
    "word", "two words", "-", "--", "---", "-->", "<!--", "<![CDATA[", "]]>", "<", ">", "</node>", "\"", "'", "&", "&&",
    "&amp;", "&amp", "&lt;", "&#45;", "&#x2d;", "&#", "&#0;", "&lol;", ";", "#45;", "amp;", " ", "  ", "\t", "\n",
    "\n\n",
    "\n     ", " \n", "\r", "\r\n", "é", "e\u{301}", "🎭", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{FFFD}", "\u{10FFFF}",
    "<?xml ?>", "%s", "\\", "\u{7F}",
  ]

  mutating func text() -> String { several(8) { $0.pick(Self.nasty) }.joined() }

  mutating func documentation() -> String? { number(below: 3) == 0 ? nil : text() }

  mutating func member() -> MemberName { pick(["Get", "_", "a1", "Set_All", "VeryLongNameOfAMember"]) }

  mutating func type() -> Signature {
    var depth = 0
    return Signature(unchecked: type(&depth))
  }

  private mutating func type(_ depth: inout Int) -> String {
    depth += 1
    let basic = ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "h"]
    if depth > 4 { return pick(basic) }
    switch number(below: 6) {
    case 0: return "a" + type(&depth)
    case 1: return "a{" + pick(basic) + type(&depth) + "}"
    case 2: return "(" + type(&depth) + type(&depth) + ")"
    case 3: return "v"
    default: return pick(basic)
    }
  }

  // MARK: Elements

  mutating func node(name: String?, depth: Int = 0) -> Introspection.Node {
    Introspection.Node(
      name, documentation: documentation(), interfaces: several(3) { $0.interface() },
      children: depth == 3
        ? [] : several(2) { $0.node(name: $0.pick(["child", "a/b", "_1", "0"]), depth: depth + 1) })
  }

  private mutating func interface() -> Introspection.Interface {
    Introspection.Interface(
      pick(["org.example.A", "a.b", "_._", "org.freedesktop.DBus.Peer"]), documentation: documentation(),
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
          $0.member(), $0.type(), access: $0.pick(Introspection.Access.allCases), documentation: $0.documentation(),
          annotations: $0.annotations())
      })
  }

  private mutating func argument() -> Introspection.Argument {
    Introspection.Argument(
      number(below: 3) == 0 ? nil : text(), type(), documentation: documentation(), annotations: annotations())
  }

  private mutating func annotations() -> [Introspection.Annotation] {
    several(2) { generator in
      generator.pick([
        .deprecated, .noReply, .unixFD, .emitsChangedSignal(.const), .init("org.example.Note", generator.text()),
        .init(generator.text(), generator.text()),
      ])
    }
  }
}
