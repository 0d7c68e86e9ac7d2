import SceneModel
import SceneTestSupport
import Testing

@Suite struct TagsTests {
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
    let fault = #expect(throws: Fault.self) {
      try Value(tagged: ["a": [0, value]], at: .document.key("userInfo"))
    }
    #expect(fault?.description == "userInfo.a[1]: \(reason)")
  }

  @Test func `what is in a tag is looked at too`() throws {
    let place = Place.document.key("u")
    let twice = #expect(throws: Fault.self) { try Value(tagged: ["$set": [1, 2, 1]], at: place) }
    #expect(twice?.description == "u[2]: expected each value of a set once")
    let within = #expect(throws: Fault.self) {
      try Value(tagged: ["$literal": ["$a": ["$uuid": ""]]], at: place)
    }
    #expect(within?.description == "u.$a: expected a UUID, got \"\"")
    #expect(try Value(tagged: ["$literal": ["a": 1]], at: place) == ["a": 1])
    #expect(try Value(tagged: ["$uuid": "x", "$url": "y"], at: place) == ["$uuid": "x", "$url": "y"])
  }
}
