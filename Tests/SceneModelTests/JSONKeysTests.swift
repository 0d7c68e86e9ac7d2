import SceneModel
import SceneTestSupport
import Testing

/// An object has each key once.
@Suite struct JSONKeysTests {
  @Test(arguments: [
    (#"{"a":1,"a":1}"#, 8, "a"), (#"{"a":1,"b":2,"a":3}"#, 14, "a"), (#"[{"x":{"a":1,"a":2}}]"#, 14, "a"),
    (#"{"a":1,"\u0061":2}"#, 8, "a"), (#"{"\u0061":1,"a":2}"#, 13, "a"), (#"{"":1,"":2}"#, 7, ""),
    (#"{"\n":1,"\u000A":2}"#, 9, "\\n"), (#"{"é":1,"\u00e9":2}"#, 8, "é"), (#"{"🎭":1,"\ud83c\udfad":2}"#, 8, "🎭"),
    (#"{"a":1,"b":{"a":1},"b":2}"#, 20, "b"), (#"{"a":1,"a":2,"b":3,"b":4}"#, 8, "a"),
  ])
  func `a key that stands twice is refused at the second`(json: String, column: Int, key: String) {
    let fault = #expect(throws: Fault.self) { try JSON.value(Text(json)) }
    #expect(fault?.description == "line 1, column \(column): the key \"\(key)\" stands here twice")
  }

  @Test(arguments: [
    #"{"a":1,"b":{"a":1}}"#, #"[{"a":1},{"a":1}]"#, #"{"a":{"a":{"a":1}}}"#, #"{"a":1,"A":2}"#, #"{"a":1,"a ":2}"#,
    "{\"\u{e9}\":1,\"e\u{301}\":2}", #"{"a":"a","b":"a"}"#, #"{"\u0061":1,"\u0062":2}"#, #"{"a":1,"a\u0000":2}"#,
    #"{"\\u0061":1,"a":2}"#,
  ])
  func `keys that differ by a byte, or stand elsewhere, are two`(json: String) throws {
    _ = try JSON.value(Text(json))
  }

  /// Few keys are compared with each other; many are sorted.
  @Test func `it does not matter how many keys there are`() throws {
    for count in [1, 2, 11, 12, 13, 14, 40, 1000] {
      let keys = (0..<count).map { "\"key \($0)\":{\"key 0\":\($0)}" }
      _ = try JSON.value(Text("{\(keys.joined(separator: ","))}"))
      for twice in Set([0, count / 2, count - 1]) {
        let json = "{\((keys + ["\"key \(twice)\":0"]).joined(separator: ","))}"
        let fault = #expect(throws: Fault.self) { try JSON.value(Text(json)) }
        #expect(fault?.reason == "the key \"key \(twice)\" stands here twice")
        #expect(fault?.place == "line 1, column \(json.utf8.count - "\"key \(twice)\":0}".utf8.count + 1)")
      }
    }
  }

  @Test func `the first key that stands twice is told, however it is found`() {
    let keys = (0..<30).map { "\"k\($0)\":0" } + ["\"k9\":0", "\"k1\":0"]
    let fault = #expect(throws: Fault.self) { try JSON.value(Text("{\(keys.joined(separator: ","))}")) }
    #expect(fault?.reason == "the key \"k9\" stands here twice")
  }
}
