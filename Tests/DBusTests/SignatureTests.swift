import DBus
import Testing

@Suite struct SignatureTests {
  @Test(
    arguments: [
      ("", []),
      ("s", ["s"]),
      ("sa{sv}", ["s", "a{sv}"]),
      ("(ii)aa(s)ay", ["(ii)", "aa(s)", "ay"]),
      ("a{s(ia{yv})}v", ["a{s(ia{yv})}", "v"]),
      ("ybnqiuxtdsogh", ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "h"]),
      ("((((s))))aaaai", ["((((s))))", "aaaai"]),
    ] as [(Signature, [Signature])])
  func `a signature falls into its complete types`(signature: Signature, types: [Signature]) {
    #expect(signature.completeTypes == types)
    #expect(signature.isSingleCompleteType == (types.count == 1))
    #expect(types.filter(\.isSingleCompleteType) == types)
    #expect(types.map(\.rawValue).joined() == signature.rawValue)
  }

  @Test(arguments: [
    ("it ends where a type is expected", ["a", "aaa", "a{s"]),
    ("a structure has no members", ["()"]),
    ("a \"(\" is not closed", ["(", "(s"]),
    ("\")\" at 3 is no type", ["(a)"]),
    ("\")\" at 1 is no type", [")"]),
    ("\")\" at 2 is no type", ["s)"]),
    ("\"{\" at 1 is no type", ["{sv}"]),
    ("\"{\" at 2 is no type", ["({sv})"]),
    ("a dictionary's key is not a basic type", ["a{", "a{}", "a{vs}", "a{(s)s}", "a{ass}"]),
    ("a dictionary has no value type", ["a{s}"]),
    ("a \"{\" is not closed after two types", ["a{ss", "a{sss}"]),
    ("\"}\" at 5 is no type", ["a{sa}"]),
    ("\"z\" at 1 is no type", ["z"]),
    ("\"r\" at 2 is no type", ["sr"]),
    ("the byte 0x00 at 2 is no type", ["s\u{0}"]),
    ("\" \" at 2 is no type", ["s é"]),
    ("the byte 0xC3 at 1 is no type", ["é"]),
  ])
  func `these are no signatures`(fault: String, texts: [String]) {
    for text in texts { #expect(Signature.fault(in: text) == fault) }
  }

  // MARK: Limits

  private static func nested(_ start: String, _ end: String, _ depth: Int) -> String {
    String(repeating: start, count: depth) + "y" + String(repeating: end, count: depth)
  }

  private static let limits: [(String, String?)] = [
    (String(repeating: "y", count: 255), nil),
    (String(repeating: "y", count: 256), "it has 256 bytes, and 255 is the limit"),
    (nested("a", "", 32), nil),
    (nested("a", "", 33), "arrays nest deeper than 32"),
    (String(repeating: nested("a", "", 30), count: 8), nil),
    (nested("(", ")", 32), nil),
    (nested("(", ")", 33), "structures nest deeper than 32"),
    (String(repeating: "(y)", count: 85), nil),
    (String(repeating: "a", count: 32) + nested("(", ")", 32), nil),
    (String(repeating: "a", count: 33) + nested("(", ")", 32), "arrays nest deeper than 32"),
    (nested("a{y", "}", 32), nil),
    (nested("a{y", "}", 33), "arrays nest deeper than 32"),
  ]

  @Test(arguments: limits) func `each limit holds at n and n + 1`(text: String, fault: String?) {
    #expect(Signature.fault(in: text) == fault)
  }

  // MARK: Swift types

  @Test func `the signature of Swift types`() {
    #expect(Signature.of() == "")
    #expect(Signature.of(UInt8.self, [String: [Variant]].self, Structure<Int32, Double>.self) == "ya{sav}(id)")
    #expect(Signature.of([[Bool]].self) == "aab")
    #expect(Signature.of(OwnedFileDescriptor.self, ObjectPath.self, Signature.self) == "hog")
  }
}
