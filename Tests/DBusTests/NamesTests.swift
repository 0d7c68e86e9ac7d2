import CDBus
import DBus
import ExitTestSupport
import SceneTestSupport
import Testing

/// Which names are valid, and the message for each that is not.
@Suite struct NamesTests {
  private static let longest = "a." + String(repeating: "b", count: 253)
  private static let tooLong = longest + "b"

  private func fault<Name: ValidatedName>(of text: String, as type: Name.Type) -> String? {
    let error = #expect(throws: InvalidName.self) { try Name(text) }
    #expect(error?.text == text)
    #expect(error?.kind == Name.kind)
    return error?.fault
  }

  private static let dotted: [any ValidatedName.Type] = [InterfaceName.self, ErrorName.self, BusName.self]

  private static let faults: [([any ValidatedName.Type], String, [String])] = [
    ([ObjectPath.self, InterfaceName.self, ErrorName.self, MemberName.self, BusName.self], "it is empty", [""]),

    ([ObjectPath.self], "it does not begin with \"/\"", ["a", "a/b", "é"]),
    ([ObjectPath.self], "it has an empty element", ["//", "//a", "/a//b"]),
    ([ObjectPath.self], "it ends with \"/\"", ["/a/"]),
    ([ObjectPath.self], "it has a \".\"", ["/a.b"]),
    ([ObjectPath.self], "it has a \"-\"", ["/a-b"]),
    ([ObjectPath.self], "it has a \" \"", ["/a b"]),
    ([ObjectPath.self], "it has a \"é\"", ["/é"]),
    ([ObjectPath.self], "it has the control character U+0000", ["/a\u{0}"]),
    ([ObjectPath.self], "it has the control character U+000A", ["/a\n"]),
    ([ObjectPath.self], "it has the control character U+007F", ["/\u{7F}"]),
    ([ObjectPath.self], "it has a \"\u{301}\"", ["/a/\u{301}"]),

    (dotted, "it has no dot", ["a"]),
    (dotted, "it begins with a dot", [".", ".a"]),
    (dotted, "it ends with a dot", ["a.", "a.b."]),
    (dotted, "it has two dots in a row", ["a..b"]),
    (dotted, "an element begins with a digit", ["1.a", "a.1"]),
    (dotted, "it has a \"/\"", ["a/b.c", "a.b/c"]),
    (dotted, "it has a \" \"", ["a.b "]),
    (dotted, "it has a \"ß\"", ["a.ß"]),
    (dotted, "it has the control character U+0000", ["a.b\u{0}"]),
    (dotted, "it has 256 bytes, and 255 is the limit", [tooLong]),
    ([InterfaceName.self, ErrorName.self], "it has a \"-\"", ["a-b.c"]),
    ([InterfaceName.self, ErrorName.self], "it has a \":\"", [":1.2"]),

    ([BusName.self], "it has no dot", [":1"]),
    ([BusName.self], "it has nothing after the \":\"", [":"]),
    ([BusName.self], "it begins with a dot", [":.a"]),
    ([BusName.self], "it ends with a dot", [":1."]),
    ([BusName.self], "it has a \"\u{301}\"", [":\u{301}1.2"]),
    ([BusName.self], "it has two dots in a row", [":1..2"]),
    ([BusName.self], "it has a \":\"", ["a:b.c", "::1.2"]),
    ([BusName.self], "it has 256 bytes, and 255 is the limit", [":" + longest]),

    ([MemberName.self], "it begins with a digit", ["1"]),
    ([MemberName.self], "it has a dot", ["a.b"]),
    ([MemberName.self], "it has a \"-\"", ["a-b"]),
    ([MemberName.self], "it has a \"/\"", ["a/"]),
    ([MemberName.self], "it has a \"ü\"", ["ü"]),
    ([MemberName.self], "it has the control character U+0000", ["a\u{0}b"]),
    ([MemberName.self], "it has 256 bytes, and 255 is the limit", [String(repeating: "m", count: 256)]),

    ([Signature.self], "it ends where a type is expected", ["a", "aaa", "a{s"]),
    ([Signature.self], "a structure has no members", ["()"]),
    ([Signature.self], "a \"(\" is not closed", ["(", "(s"]),
    ([Signature.self], "\")\" at 3 is no type", ["(a)"]),
    ([Signature.self], "\")\" at 1 is no type", [")"]),
    ([Signature.self], "\")\" at 2 is no type", ["s)"]),
    ([Signature.self], "\"{\" at 1 is no type", ["{sv}"]),
    ([Signature.self], "\"{\" at 2 is no type", ["({sv})"]),
    ([Signature.self], "a dictionary's key is not a basic type", ["a{", "a{}", "a{vs}", "a{(s)s}", "a{ass}"]),
    ([Signature.self], "a dictionary has no value type", ["a{s}"]),
    ([Signature.self], "a \"{\" is not closed after two types", ["a{ss", "a{sss}"]),
    ([Signature.self], "\"}\" at 5 is no type", ["a{sa}"]),
    ([Signature.self], "\"z\" at 1 is no type", ["z"]),
    ([Signature.self], "\"r\" at 2 is no type", ["sr"]),
    ([Signature.self], "the byte 0x00 at 2 is no type", ["s\u{0}"]),
    ([Signature.self], "\" \" at 2 is no type", ["s é"]),
    ([Signature.self], "the byte 0xC3 at 1 is no type", ["é"]),
  ]

  @Test(arguments: faults)
  func `these are no names`(kinds: [any ValidatedName.Type], fault: String, texts: [String]) {
    for kind in kinds {
      for text in texts { #expect(self.fault(of: text, as: kind) == fault, "\(kind)") }
    }
  }

  @Test func `a bus name knows whether it is unique`() {
    let unique: BusName = ":1.7"
    #expect(unique.isUnique)
    #expect(!BusName.bus.isUnique)
  }

  // MARK: The error

  @Test func `the error is a sentence with the right article`() {
    func sentence<Name: ValidatedName>(_ type: Name.Type) -> String {
      let text = "!"
      return #expect(throws: InvalidName.self) { try Name(text) }?.description ?? ""
    }
    let kinds: [any ValidatedName.Type] = [
      ObjectPath.self, InterfaceName.self, ErrorName.self, MemberName.self, BusName.self, Signature.self,
    ]
    #expect(
      kinds.map { sentence($0) } == [
        "\"!\" is not an object path: it does not begin with \"/\"",
        "\"!\" is not an interface name: it has a \"!\"",
        "\"!\" is not an error name: it has a \"!\"",
        "\"!\" is not a member name: it has a \"!\"",
        "\"!\" is not a bus name: it has a \"!\"",
        "\"!\" is not a signature: \"!\" at 1 is no type",
      ])
  }

  @Test func `the error shows only the beginning of what is long`() {
    let text = String(repeating: "é", count: 1000)
    let error = #expect(throws: InvalidName.self) { try MemberName(text) }
    #expect(error?.text == text)
    #expect(
      error?.description
        == "\"\(String(repeating: "é", count: 72))…\" is not a member name: it has 2000 bytes, and 255 is the limit")
    let cut = #expect(throws: InvalidName.self) { try MemberName(endlessLetter) }
    #expect((cut?.description.utf8.count ?? .max) < 1000)
  }

  @Test func `the error is one line`() {
    let text = "a\n\"b"
    let error = #expect(throws: InvalidName.self) { try MemberName(text) }
    #expect(error?.description == #""a\n\"b" is not a member name: it has the control character U+000A"#)
  }

  @Test func `the error becomes an answer of the name InvalidArgs`() {
    let text = "a b"
    let error = #expect(throws: InvalidName.self) { try MemberName(text) }
    #expect(error?.errorReply == ErrorReply(.invalidArgs, "\"a b\" is not a member name: it has a \" \""))
  }

  // MARK: All names

  @Test func `names are ordered byte by byte`() {
    let names: [BusName] = ["a.b", "a.B", "a.b.c", "a-b.c", "Z.a", ":1.2", ":1.10"]
    #expect(names.sorted() == [":1.10", ":1.2", "Z.a", "a-b.c", "a.B", "a.b", "a.b.c"])
  }

  @Test(.ownThreads) func `a literal that is no name traps`() async {
    await #expect(processExitsWith: .failure) { _ = "a b" as MemberName }
  }

  // MARK: Which names are valid

  // libdbus ends the process if it gets a name that it finds invalid, so its verdict and the binding's must agree.
  private static let pieces: [String] = [
    "a", "Z", "_", "0", "9", "ab", "a1", "1a", ".", "..", "/", "//", ":", "-", " ", "\t", "\n", "\u{7F}", "@", "[", "`",
    "{", "é", "🎭", "e\u{301}", "\u{80}", "org", ".a", "/a", ":1", "\u{FEFF}", "$", "\u{301}",
  ]

  /// Mostly harmless pieces, so that many texts are valid; sometimes near the limit of 255 bytes.
  private static func text(_ random: inout SeededRandom, start: [String], separator: String) -> String {
    var text = random.one(of: start)
    for _ in 0..<random.below(6) {
      text +=
        random.once(in: 8) ? random.one(of: pieces) : random.one(of: ["a", "B_", "z9", "_", "1", separator, separator])
    }
    if random.once(in: 40) {
      let missing = 252 + random.below(8) - text.utf8.count
      text += String(repeating: random.one(of: ["x", "x", "x", ".y"]), count: max(0, missing))
    }
    return text
  }

  private func compare<Name: ValidatedName>(
    _ type: Name.Type, seed: UInt64, start: [String], separator: String, _ isValid: (String) -> Bool
  ) {
    var random = SeededRandom(seed: seed)
    var valid = 0
    let count = 20_000
    for _ in 0..<count {
      let text = Self.text(&random, start: start, separator: separator)
      let fault = Name.fault(in: text)
      if isValid(text) != (fault == nil) { Issue.record("\(Name.kind) \(text.debugDescription): \(fault ?? "valid")") }
      guard fault == nil else { continue }
      valid += 1
      #expect((try? Name(text))?.rawValue == text)
    }
    // A generator that makes only valid or only invalid names would prove nothing.
    #expect(valid > count / 10 && valid < count - count / 10, "\(Name.kind), seed \(seed)")
  }

  @Test func `each kind of name`() {
    compare(ObjectPath.self, seed: 1, start: ["/", "/", "/a", "/_/", "", "a"], separator: "/") {
      dbus_validate_path($0, nil) != 0
    }
    compare(InterfaceName.self, seed: 2, start: ["a.", "a.b", "org", "_", "", "1"], separator: ".") {
      dbus_validate_interface($0, nil) != 0
    }
    compare(ErrorName.self, seed: 3, start: ["a.", "a.b", "org", "_", "", "1"], separator: ".") {
      dbus_validate_error_name($0, nil) != 0
    }
    compare(MemberName.self, seed: 4, start: ["Get", "a", "_", "", "1"], separator: "G") {
      dbus_validate_member($0, nil) != 0
    }
    // Well-known names, and unique ones.
    compare(BusName.self, seed: 5, start: ["a.", "a.b", "org-", "-", "", "1"], separator: ".", Self.isBusName)
    compare(BusName.self, seed: 6, start: [":", ":1.", ":a.b", ":1.2", ":-"], separator: ".", Self.isBusName)
  }

  /// The specification requires a dot and no empty element in unique names too; libdbus does not check this.
  private static func isBusName(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let isUnique = bytes.first == UInt8(ascii: ":")
    return dbus_validate_bus_name(text, nil) != 0
      && (!isUnique || bytes.contains(UInt8(ascii: ".")) && bytes[1] != UInt8(ascii: "."))
  }

  /// libdbus forgets the depth of arrays at the first basic type, and counts dictionary entries separately. The specification and dbus-broker do not,
  /// and the broker disconnects a peer that sends more.
  @Test func `signatures, where libdbus allows deeper nesting than the specification`() {
    var random = SeededRandom(seed: 7)
    var valid = 0
    for _ in 0..<30_000 {
      let text = Self.signature(&random)
      let fault = Signature.fault(in: text)
      let expected = dbus_signature_validate(text, nil) != 0 && Self.isWithinDepth(text)
      if expected != (fault == nil) {
        Issue.record("signature \(text.debugDescription): \(fault ?? "valid")")
      }
      if fault == nil { valid += 1 }
    }
    #expect(valid > 3000 && valid < 27_000)
  }

  /// Checks the depth of a signature that is valid otherwise.
  private static func isWithinDepth(_ signature: String) -> Bool {
    var arrays = 0
    var outside: [Int] = []
    for byte in signature.utf8 {
      switch byte {
      case UInt8(ascii: "a"): arrays += 1
      case UInt8(ascii: "("), UInt8(ascii: "{"): outside.append(arrays)
      case UInt8(ascii: ")"), UInt8(ascii: "}"):
        outside.removeLast()
        arrays = outside.last ?? 0
      default: arrays = outside.last ?? 0
      }
      if arrays > 32 || outside.count > 32 { return false }
    }
    return true
  }

  private static func signature(_ random: inout SeededRandom) -> String {
    var text = ""
    for _ in 0..<random.below(5) {
      text += random.one(of: [
        "s", "v", "ay", "a{sv}", "(i)", "(sa{u(xx)})", "a", "a(", ")", "{", "}", "a{s", "h", "g", "()", "r", "e",
      ])
    }
    switch random.below(20) {
    case 0: text = String(repeating: "a", count: 29 + random.below(6)) + text
    case 1: text = nest("(", ")", 30 + random.below(5), text)
    case 2: text = nest("a{s", "}", 30 + random.below(5), text)
    case 3:
      let structures = random.below(34)
      text = nest("(", ")", structures, nest("a{s", "}", 31 - structures + random.below(4), text))
    case 4: text += String(repeating: random.one(of: ["y", "ai"]), count: 120 + random.below(12))
    case 5: text += random.one(of: pieces)
    case 6: text = "(" + text + ")"
    case 7: text = "a{" + text + "}"
    default: break
    }
    return text
  }

  private static func nest(_ start: String, _ end: String, _ depth: Int, _ inside: String) -> String {
    String(repeating: start, count: max(depth, 0)) + inside + String(repeating: end, count: max(depth, 0))
  }
}
