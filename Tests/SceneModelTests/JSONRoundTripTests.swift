import SceneModel
import SceneTestSupport
import Testing

@Suite struct JSONRoundTripTests {
  @Test(arguments: [101, 102, 103, 104] as [UInt64])
  func `every value comes back as it was`(seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    for _ in 0..<5000 {
      let value = generator.value()
      let text = JSON.text(of: value)
      #expect(try JSON.value(text) == value)
      #expect(JSON.text(of: try JSON.value(text)) == text)
    }
  }

  @Test func `the same value is always written the same`() {
    func copied(_ value: Value) -> Value {
      switch value {
      case .array(let elements): return .array(elements.map(copied))
      case .set(let set): return .set(ValueSet(set.elements.reversed().map(copied)))
      case .dictionary(let entries):
        var dictionary = UserInfo()
        for entry in entries.entries.reversed() { dictionary[entry.key] = copied(entry.value) }
        return .dictionary(dictionary)
      default: return value
      }
    }
    var generator = ValueGenerator(seed: 105)
    for _ in 0..<2000 {
      let value = generator.value(depth: 5)
      #expect(JSON.text(of: copied(value)) == JSON.text(of: value))
    }
  }

  private static let written: [(Value, Text)] = [
    (nil, "null"), (true, "true"), (false, "false"), (1, "1"), (1.0, "1.0"), ("a", #""a""#), ([], "[]"), ([:], "{}"),
    ([1, [2, [:]]], "[1,[2,{}]]"), (["b": 1, "a": 2, "": 3], #"{"":3,"a":2,"b":1}"#), (.data([]), #"{"$data":""}"#),
    (.data([0xFF]), #"{"$data":"/w=="}"#), (.date(Instant(microseconds: 0)), #"{"$date":"1970-01-01T00:00:00Z"}"#),
    (.date(Instant(microseconds: -1)), #"{"$date":"1969-12-31T23:59:59.999999Z"}"#),
    (.uuid("1B4E28BA-2fa1-11d2-883f-b9a761bde3fb"), #"{"$uuid":"1B4E28BA-2fa1-11d2-883f-b9a761bde3fb"}"#),
    (.url("mailto:a@b"), #"{"$url":"mailto:a@b"}"#), (.set([]), #"{"$set":[]}"#),
    (.set(["b", 2, "a", 1.0, 1, nil]), #"{"$set":[null,1,2,1.0,"a","b"]}"#),
    (.set([.set([1]), .set([])]), #"{"$set":[{"$set":[]},{"$set":[1]}]}"#), (["$a": 1], #"{"$literal":{"$a":1}}"#),
    (["$literal": 1], #"{"$literal":{"$literal":1}}"#), (["$date": "x"], #"{"$literal":{"$date":"x"}}"#),
    (["$a": 1, "$b": 2], #"{"$a":1,"$b":2}"#), (["a$": 1], #"{"a$":1}"#),
    (["$": ["$": nil]], #"{"$literal":{"$":{"$literal":{"$":null}}}}"#),
  ]

  @Test(arguments: written)
  func `a value is written in one way, and read back`(value: Value, text: Text) throws {
    #expect(JSON.text(of: value) == text)
    #expect(try JSON.value(text) == value)
  }

  @Test(arguments: [
    (#"{"$date":"2026-05-01T14:00:00+02:00"}"#, #"{"$date":"2026-05-01T12:00:00Z"}"#),
    (#"{"$date":"2026-05-01t12:00:00.1234567z"}"#, #"{"$date":"2026-05-01T12:00:00.123456Z"}"#),
    (#"{"$data":"A Q\nI="}"#, #"{"$data":"AQI="}"#), (#"{"$literal":{"a":1}}"#, #"{"a":1}"#),
    (#"{"$literal":{}}"#, "{}"), (#"{"$url":"y","$uuid":"x"}"#, #"{"$url":"y","$uuid":"x"}"#),
    (#"{"\u0024set":[]}"#, #"{"$set":[]}"#),
    (#"{"$literal":{"$set":[1]}}"#, #"{"$literal":{"$set":[1]}}"#),
    (#"{"$date":"2026-05-01T12:00:00Z","a":1}"#, #"{"$date":"2026-05-01T12:00:00Z","a":1}"#),
    (" [ 1 ,\r\n2 ] ", "[1,2]"),
    ("1e2", "100.0"), ("-0", "0"),
    (
      #"{"$set":[{"$date":"1970-01-01T00:00:00Z"},{"$set":[{"$uuid":"00000000-0000-0000-0000-000000000000"}]}]}"#,
      #"{"$set":[{"$date":"1970-01-01T00:00:00Z"},{"$set":[{"$uuid":"00000000-0000-0000-0000-000000000000"}]}]}"#
    ),
  ])
  func `what can be written in several ways comes back in one`(text: String, again: String) throws {
    #expect(JSON.text(of: try JSON.value(Text(text))) == Text(again))
  }

  @Test(
    arguments: pairs(
      #"""
      | {"a":[{"$Date":""}]} | a[0]: expected $date, $data, $uuid, $url, $set or $literal, got "$Date" |
      | {"a":{"$date":"yesterday"}} | a: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got "yesterday" |
      | {"a":{"$date":{"$date":"1970-01-01T00:00:00Z"}}} | a: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got a dictionary |
      | {"$set":[1,{"$set":[0,{"$data":"?"}]}]} | [1][1]: expected base64, got "?" |
      | {"$set":[{"$date":"1970-01-01T00:00:00Z"},{"$date":"1970-01-01T01:00:00+01:00"}]} | [1]: expected each value of a set once |
      | {"$set":[1,1.0,1]} | [2]: expected each value of a set once |
      | {"$set":[[{"a":{"$url":"x"}}]]} | [0][0].a: expected an absolute URL, got "x" |
      | {"$literal":{"$literal":{"$x":1}}} | $literal: expected $date, $data, $uuid, $url, $set or $literal, got "$x" |
      | {"$data":null} | : expected base64, got null |
      | {"a":[0,{"$uuid":"x"}]} | a[1]: expected a UUID, got "x" |
      | {"$uuid":7} | : expected a UUID, got an integer |
      | {"$url":null} | : expected an absolute URL, got null |
      | {"$date":1.5} | : expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got a number |
      | {"$data":[]} | : expected base64, got an array |
      | {"$set":{"a":1}} | : expected an array in $set, got a dictionary |
      | {"$literal":[]} | : expected a dictionary in $literal, got an array |
      | {"$":1} | : expected $date, $data, $uuid, $url, $set or $literal, got "$" |
      | {"$set":[1e999]} | $set[0]: expected a number that a double can hold, got 1e999 |
      """#))
  func `a tag that is wrong is refused where it stands`(text: String, fault: String) {
    let error = #expect(throws: Fault.self) { try JSON.value(Text(text)) }
    #expect(error.map { "\($0.place): \($0.reason)" } == fault)
  }
}
