import SceneModel
import SceneTestSupport
import Testing

@Suite struct TagsTests {
  private static let uuid: Text = "1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB"
  private static let moment = Instant(microseconds: 1_777_636_800_000_000)

  @Test func `a property list has dates and data of its own, but no null`() {
    let exact = Value.date(Self.moment)
    let precise = Value.date(Instant(microseconds: Self.moment.microseconds + 1))
    let distant = Value.date(Instant(microseconds: 253_402_300_799_999_999))
    let value: Value = [nil, .data([1]), exact, precise, distant, "\0", ["\0": 1]]
    let precisely: Value = ["$date": "2026-05-01T12:00:00.000001Z"]
    let distantly: Value = ["$date": "9999-12-31T23:59:59.999999Z"]
    #expect(
      value.tagged(in: .propertyList(.xml)) == [
        ["$null": true], .data([1]), exact, precisely, distantly, ["$text": .data([0])],
        ["$entries": [["$text": .data([0])], 1]],
      ])
    #expect(
      value.tagged(in: .propertyList(.binary))
        == [["$null": true], .data([1]), exact, precise, distantly, "\0", ["\0": 1]])
  }

  private static let wrong: [(Value, String)] = [
    (["$uuid": "x"], "expected a UUID, got \"x\""), (["$uuid": 7], "expected a UUID, got an integer"),
    (["$url": "photos/7"], "expected an absolute URL, got \"photos/7\""),
    (["$url": nil], "expected an absolute URL, got null"),
    (["$date": "yesterday"], "expected an RFC 3339 date, got \"yesterday\""),
    (["$date": 1.5], "expected an RFC 3339 date, got a number"), (["$data": "A"], "expected base64, got \"A\""),
    (["$data": []], "expected base64, got an array"),
    (["$set": ["a": 1]], "expected an array in $set, got a dictionary"),
    (["$literal": []], "expected a dictionary in $literal, got an array"),
    (["$new": 1], "expected $date, $data, $uuid, $url, $set or $literal, got \"$new\""),
    (["$": 1], "expected $date, $data, $uuid, $url, $set or $literal, got \"$\""),
  ]

  @Test(arguments: wrong)
  func `a tag that is wrong is refused where it stands`(value: Value, reason: String) {
    for form: TaggedForm in [.json, .propertyList(.xml), .propertyList(.binary)] {
      let fault = #expect(throws: Fault.self) {
        try Value(tagged: ["a": [0, value]], in: form, at: .document.key("userInfo"))
      }
      #expect(fault?.description == "userInfo.a[1]: \(reason)")
    }
  }

  private static let wrongInPropertyLists: [(Value, String)] = [
    (["$null": false], ": expected true in $null, got true or false"),
    (["$text": "x"], ": expected data in $text, got \"x\""), (["$text": .data([0xFF])], ": expected UTF-8 in $text"),
    (["$entries": 1], ": expected an array in $entries, got an integer"),
    (["$entries": ["a"]], "[0]: expected a value after the key"),
    (["$entries": ["a", 1, 2, 3]], "[2]: expected a key, got an integer"),
    (["$entries": ["a", 1, "a", 2]], ": expected each key once, got \"a\" twice"),
  ]

  @Test(arguments: wrongInPropertyLists)
  func `a tag of property lists is unknown to JSON`(value: Value, reason: String) {
    let place = Place.document.key("u")
    #expect(throws: Fault.self) { try Value(tagged: value, in: .json, at: place) }
    let fault = #expect(throws: Fault.self) { try Value(tagged: value, in: .propertyList(.xml), at: place) }
    #expect(fault?.description == "u\(reason)")
  }

  @Test func `what is in a tag is looked at too`() throws {
    let place = Place.document.key("u")
    let twice = #expect(throws: Fault.self) { try Value(tagged: ["$set": [1, 2, 1]], in: .json, at: place) }
    #expect(twice?.description == "u[2]: expected each value of a set once")
    let within = #expect(throws: Fault.self) {
      try Value(tagged: ["$literal": ["$a": ["$uuid": ""]]], in: .json, at: place)
    }
    #expect(within?.description == "u.$a: expected a UUID, got \"\"")
    #expect(try Value(tagged: ["$literal": ["a": 1]], in: .json, at: place) == ["a": 1])
    #expect(try Value(tagged: ["$uuid": "x", "$url": "y"], in: .json, at: place) == ["$uuid": "x", "$url": "y"])
  }
}
