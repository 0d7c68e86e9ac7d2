import SceneModel
import SceneTestSupport
import Testing

/// How large a text may be, and the cost of a text that is meant to be expensive.
@Suite struct JSONLimitTests {
  @Test func `the depth limit holds at n and n + 1`() throws {
    func lists(_ depth: Int) -> Text {
      Text(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }
    func dictionaries(_ depth: Int) -> Text {
      Text(String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth))
    }
    _ = try JSON.value(lists(Limits.depth))
    _ = try JSON.value(dictionaries(Limits.depth))
    let list = #expect(throws: Fault.self) { try JSON.value(lists(Limits.depth + 1)) }
    #expect(list == Fault(.limit, at: "line 1, column 65", "expected at most 64 levels of nesting"))
    let dictionary = #expect(throws: Fault.self) { try JSON.value(dictionaries(Limits.depth + 1)) }
    #expect(dictionary == Fault(.limit, at: "line 1, column 321", "expected at most 64 levels of nesting"))
  }

  @Test func `what was closed is not deep`() throws {
    let pairs = String(repeating: "[[]],{\"a\":[]},", count: 1000)
    _ = try JSON.value(Text("[\(pairs)0]"))
  }

  @Test func `the limit of values holds at n and n + 1`() throws {
    func many(_ count: Int) -> Text { Text("[" + String(repeating: "0,", count: count - 2) + "0]") }
    _ = try JSON.value(many(Limits.values))
    let fault = #expect(throws: Fault.self) { try JSON.value(many(Limits.values + 1)) }
    #expect(fault == Fault(.limit, at: "line 1, column 200000", "expected at most 100000 values in a document"))

    // Keys are values too.
    func keys(_ count: Int) -> Text { Text("{" + (0..<count).map { "\"\($0)\":0" }.joined(separator: ",") + "}") }
    _ = try JSON.value(keys((Limits.values - 1) / 2))
    let other = #expect(throws: Fault.self) { try JSON.value(keys((Limits.values - 1) / 2 + 1)) }
    #expect(other?.kind == .limit)
  }

  @Test func `the limit of bytes holds at n and n + 1`() throws {
    func text(_ bytes: Int) -> Text { Text("\"" + String(repeating: "x", count: bytes - 2) + "\"") }
    #expect(try JSON.value(text(Limits.payload)) == .string(Text(String(repeating: "x", count: Limits.payload - 2))))
    let fault = #expect(throws: Fault.self) { try JSON.value(text(Limits.payload + 1)) }
    #expect(fault == Fault(.limit, at: "", "expected at most 16777216 bytes, got 16777217"))

    _ = try JSON.value("[1,2]", atMost: 5)
    #expect(throws: Fault(.limit, at: "", "expected at most 4 bytes, got 5")) { try JSON.value("[1,2]", atMost: 4) }
  }

  @Test(arguments: ["[", #"{"a":"#, "[[],", #"{"a":1,"b":"#, "[{\"\":"])
  func `brackets by the megabyte are refused where they get too deep`(opening: String) {
    let fault = #expect(throws: Fault.self) {
      try JSON.value(Text(String(repeating: opening, count: (1 << 20) / opening.utf8.count)))
    }
    #expect(fault?.kind == .limit)
    // The reader did not look at anything after that.
    let levels = opening.utf8.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
    let isPair = opening.hasPrefix("[[]")
    let column = isPair ? 63 * opening.count + 2 : Limits.depth / levels * opening.count + 1
    #expect(fault?.place == "line 1, column \(column)")
  }

  private static let expensive: [(String, @Sendable (Int) -> String)] = [
    ("blanks", { String(repeating: " \n", count: $0) + "x" }),
    ("a text without end", { "\"" + String(repeating: "x", count: $0) }),
    ("escapes", { "\"" + String(repeating: "\\ud83c\\udfad\\n", count: $0) + "\"" }),
    ("values, then a fault", { "[" + String(repeating: "0,", count: $0) + "1e999]" }),
    ("keys, then a fault", { count in "{" + (0..<count).map { "\"\($0)\":0," }.joined() + "\"x\":1e999}" }),
    ("keys with escapes", { count in "{" + (0..<count).map { "\"\\u0041\($0)\":0" }.joined(separator: ",") + "}" }),
    (
      "keys with one beginning",
      { count in
        let beginning = String(repeating: "k", count: 40)
        return "{" + (0..<count).map { "\"\(beginning)\($0)\":0" }.joined(separator: ",") + "}"
      }
    ),
    ("digits", { "1." + String(repeating: "7", count: $0) + "e-5" }),
    ("tags", { "[" + String(repeating: #"{"$date":"2026-05-01T12:00:00Z"},"#, count: $0) + "0]" }),
    ("empty lists", { "[" + String(repeating: "[],", count: $0) + "[]]" }),
    (
      "a deep place",
      { count in
        String(repeating: "[0,", count: 60) + String(repeating: "0,", count: count) + "99999999999999999999"
          + String(repeating: "]", count: 60)
      }
    ),
    ("sets", { count in "{\"$set\":[" + (0..<count).map { "\($0)" }.joined(separator: ",") + "]}" }),
  ]

  @Test(arguments: expensive.indices)
  func `what is four times as long takes about four times as long`(index: Int) {
    let (what, text) = Self.expensive[index]
    let growth = growth(from: Text(text(1_500)), to: Text(text(6_000))) { _ = try? JSON.value($0) }
    #expect(growth < 9, "\(what)")
  }

  /// The elements of a set are written in order, and so are those of the sets inside it.
  @Test func `sets in sets are written in little time`() throws {
    func nested(_ depth: Int) -> Value {
      depth == 0 ? .set([]) : .set([nested(depth - 1), .set([nested(depth - 1), 1])])
    }
    #expect(growth(from: nested(8), to: nested(10)) { _ = JSON.text(of: $0) } < 9)
    #expect(try JSON.value(JSON.text(of: nested(8))) == nested(8))
  }

  @Test func `a reader of files of its own allows more values`() throws {
    let text = Text("[" + String(repeating: "0,", count: Limits.values) + "0]")
    #expect(throws: Fault.self) { try JSON.value(text) }
    #expect(try JSON.value(text, values: .max).elements.count == Limits.values + 1)
  }

  @Test func `reading sets in sets takes no longer if each has many other elements`() {
    // The innermost list is hashed once for each set around it, and not each time that one of these has grown.
    func document(_ siblings: Int) -> Text {
      func list(_ numbers: Range<Int>) -> String { numbers.map(String.init).joined(separator: ",") }
      var text = "[\(list(0..<(8_000 + 26 * (100 - siblings))))]"
      for _ in 0..<26 { text = "{\"$set\": [\(text),\(list(0..<siblings))]}" }
      return Text(text)
    }
    #expect(growth(from: document(1), to: document(100)) { _ = try? JSON.value($0) } < 1.35)
  }
}
