import SceneModel
import Testing

@Suite struct PlaceTests {
  private static let places: [(Place, String)] = [
    (.document, ""), (.document.key("items"), "items"), (.document.index(0), "[0]"),
    (
      .document.key("items").index(1).key("activities").index(0).key("userInfo").key("when"),
      "items[1].activities[0].userInfo.when"
    ),
    (.document.index(2).index(3).key("a"), "[2][3].a"), (.document.key("$date").key("a-b_C9"), "$date.a-b_C9"),
    (.document.key(""), "[\"\"]"), (.document.key("a").key("b.c"), "a[\"b.c\"]"),
    (.document.key("a b").key("c"), "[\"a b\"].c"),
    (.document.key("é"), "[\"é\"]"), (.document.key("a\"b\n"), "[\"a\\\"b\\n\"]"), (.document.key("[0]"), "[\"[0]\"]"),
    (.document.key(Text(String(repeating: "x", count: 72))), String(repeating: "x", count: 72)),
    (.document.key(Text(String(repeating: "x", count: 73))), "[\"\(String(repeating: "x", count: 72))…\"]"),
  ]

  @Test(arguments: places)
  func `a place is a path`(place: Place, path: String) {
    #expect(place.description == path)
  }

  @Test(arguments: [
    ("", "\"\""), ("a", "\"a\""), ("é猫🎭", "\"é猫🎭\""), ("\"\\\n\r\t", #""\"\\\n\r\t""#),
    ("\0\u{1f}\u{7f}", #""\u{0}\u{1f}\u{7f}""#),
    // Characters that reverse the line, or are invisible.
    ("a\u{202e}b", #""a\u{202e}b""#), ("\u{200b}\u{feff}", #""\u{200b}\u{feff}""#),
    ("\u{2028}\u{2029}", #""\u{2028}\u{2029}""#),
    ("\u{e000}\u{fffe}", #""\u{e000}\u{fffe}""#), ("e\u{301}", "\"e\u{301}\""), ("\u{1b}[31m", #""\u{1b}[31m""#),
  ])
  func `somebody's text is shown on one line`(text: String, shown: String) {
    #expect(Array(quoted(text).unicodeScalars) == Array(shown.unicodeScalars))
  }

  @Test func `a long text is cut at 72 characters`() {
    #expect(quoted(String(repeating: "é", count: 72)) == "\"\(String(repeating: "é", count: 72))\"")
    #expect(quoted(String(repeating: "é", count: 73)) == "\"\(String(repeating: "é", count: 72))…\"")
    #expect(quoted(String(repeating: "e\u{301}", count: 1_000_000)).unicodeScalars.count == 75)
  }

  @Test func `a fault is its place and its reason`() {
    #expect("\(Fault(at: .document.key("a"), "expected b"))" == "a: expected b")
    #expect("\(Fault(at: "", "expected b"))" == "expected b")
    #expect("\(Fault.expected("b", at: .document.index(1)))" == "[1]: expected b")
    #expect("\(Fault.expected("b", got: "c", at: .document))" == "expected b, got c")
    let faults = Faults(Fault(at: "a", "b"), [Fault(at: "", "c")])
    #expect("\(faults)" == "a: b\nc")
    #expect(Faults([]) == nil)
  }
}
