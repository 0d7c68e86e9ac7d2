import CDBus
import DBus
import SceneTestSupport
import Testing

/// libdbus ends the process if it gets a name that it finds invalid, so its verdict and the binding's must agree.
@Suite struct NamesLibdbusTests {
  private static let pieces: [String] = [
    "a", "Z", "_", "0", "9", "ab", "a1", "1a", ".", "..", "/", "//", ":", "-", " ", "\t", "\n", "\u{7F}", "@", "[", "`",
    "{",
    "é", "🎭", "e\u{301}", "\u{80}", "org", ".a", "/a", ":1", "\u{FEFF}", "$", "\u{301}",
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
