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
