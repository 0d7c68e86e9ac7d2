import DBus
import ExitTestSupport
import Testing

/// The message for each name that is not valid. ``NamesLibdbusTests`` says which are.
@Suite struct NamesTableTests {
  private static let longest = "a." + String(repeating: "b", count: 253)
  private static let tooLong = longest + "b"

  private func fault<Name: ValidatedName>(of text: String, as type: Name.Type) -> String? {
    let error = #expect(throws: InvalidName.self) { try Name(text) }
    #expect(error?.text == text)
    #expect(error?.kind == Name.kind)
    return error?.fault
  }

  // MARK: Object paths

  @Test(arguments: [
    ("", "it is empty"),
    ("a", "it does not begin with \"/\""),
    ("a/b", "it does not begin with \"/\""),
    ("é", "it does not begin with \"/\""),
    ("//", "it has an empty element"),
    ("//a", "it has an empty element"),
    ("/a//b", "it has an empty element"),
    ("/a/", "it ends with \"/\""),
    ("/a.b", "it has a \".\""),
    ("/a-b", "it has a \"-\""),
    ("/a b", "it has a \" \""),
    ("/é", "it has a \"é\""),
    ("/a\u{0}", "it has the control character U+0000"),
    ("/a\n", "it has the control character U+000A"),
    ("/\u{7F}", "it has the control character U+007F"),
    ("/a/\u{301}", "it has a \"\u{301}\""),
  ])
  func `these are no object paths`(text: String, expected: String) {
    #expect(fault(of: text, as: ObjectPath.self) == expected)
  }

  // MARK: Interfaces and errors

  @Test(arguments: [
    ("", "it is empty"),
    ("a", "it has no dot"),
    (".", "it begins with a dot"),
    (".a", "it begins with a dot"),
    ("a.", "it ends with a dot"),
    ("a..b", "it has two dots in a row"),
    ("a.b.", "it ends with a dot"),
    ("1.a", "an element begins with a digit"),
    ("a.1", "an element begins with a digit"),
    ("a-b.c", "it has a \"-\""),
    (":1.2", "it has a \":\""),
    ("a/b.c", "it has a \"/\""),
    ("a.b ", "it has a \" \""),
    ("a.ß", "it has a \"ß\""),
    ("a.b\u{0}", "it has the control character U+0000"),
    (tooLong, "it has 256 bytes, and 255 is the limit"),
  ])
  func `these are no interface or error names`(text: String, expected: String) {
    #expect(fault(of: text, as: InterfaceName.self) == expected)
    #expect(fault(of: text, as: ErrorName.self) == expected)
  }

  // MARK: Members

  @Test(arguments: [
    ("", "it is empty"),
    ("1", "it begins with a digit"),
    ("a.b", "it has a dot"),
    ("a-b", "it has a \"-\""),
    ("a/", "it has a \"/\""),
    ("ü", "it has a \"ü\""),
    ("a\u{0}b", "it has the control character U+0000"),
    (String(repeating: "m", count: 256), "it has 256 bytes, and 255 is the limit"),
  ])
  func `these are no member names`(text: String, expected: String) {
    #expect(fault(of: text, as: MemberName.self) == expected)
  }

  // MARK: Bus names

  @Test(arguments: [
    ("", "it is empty"),
    ("a", "it has no dot"),
    (":1", "it has no dot"),
    (":", "it has nothing after the \":\""),
    (":.a", "it begins with a dot"),
    (":1.", "it ends with a dot"),
    (":\u{301}1.2", "it has a \"\u{301}\""),
    (":1..2", "it has two dots in a row"),
    ("1.a", "an element begins with a digit"),
    ("a.2", "an element begins with a digit"),
    ("a:b.c", "it has a \":\""),
    ("::1.2", "it has a \":\""),
    ("a.b/c", "it has a \"/\""),
    ("a.b\u{0}", "it has the control character U+0000"),
    (tooLong, "it has 256 bytes, and 255 is the limit"),
    (":" + longest, "it has 256 bytes, and 255 is the limit"),
  ])
  func `these are no bus names`(text: String, expected: String) {
    #expect(fault(of: text, as: BusName.self) == expected)
  }

  @Test func `a bus name knows whether it is unique`() {
    let unique: BusName = ":1.7"
    #expect(unique.isUnique)
    #expect(!BusName.bus.isUnique)
  }

  // MARK: The error

  @Test func `the error is a sentence with the right article`() {
    let sentences = [
      sentence(ObjectPath.self), sentence(InterfaceName.self), sentence(ErrorName.self), sentence(MemberName.self),
      sentence(BusName.self), sentence(Signature.self),
    ]
    #expect(
      sentences == [
        "\"!\" is not an object path: it does not begin with \"/\"",
        "\"!\" is not an interface name: it has a \"!\"",
        "\"!\" is not an error name: it has a \"!\"",
        "\"!\" is not a member name: it has a \"!\"",
        "\"!\" is not a bus name: it has a \"!\"",
        "\"!\" is not a signature: \"!\" at 1 is no type",
      ])
  }

  private func sentence<Name: ValidatedName>(_ type: Name.Type) -> String {
    let text = "!"
    let error = #expect(throws: InvalidName.self) { try Name(text) }
    return error?.description ?? ""
  }

  @Test func `the error shows only the beginning of what is long`() {
    let text = String(repeating: "é", count: 1000)
    let error = #expect(throws: InvalidName.self) { try MemberName(text) }
    #expect(error?.text == text)
    #expect(
      error?.description
        == "\"\(String(repeating: "é", count: 100))…\" is not a member name: it has 2000 bytes, and 255 is the limit")
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
}
