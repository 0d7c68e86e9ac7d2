import SceneModel
import Testing

/// Payloads with `asStranger`, and the option `origin`.
@Suite struct StrangerTests {
  @Test(arguments: [
    (
      #"{"activity":{"activityType":"a"},"options":{"asStranger":true,"requestingSession":"b"}}"#,
      "options.requestingSession: expected no session beside asStranger, got one"
    ),
    (
      #"{"activity":{"activityType":"a","visibility":"application"},"options":{"asStranger":true}}"#,
      "items[0].activities[0].visibility: expected no visibility beside asStranger, got one"
    ),
    (
      #"{"items":[{},{"representations":[{"type":"a/b","text":"","visibility":"ownProcess"}]}],"options":{"asStranger":true}}"#,
      "items[1].representations[0].visibility: expected no visibility beside asStranger, got one"
    ),
    (
      #"{"items":[{"representations":[{"type":"application/vnd.portal.filetransfer","text":"key"}]}],"options":{"asStranger":true}}"#,
      "items[0].representations[0].type: expected no portal's key beside asStranger, got one"
    ),
  ])
  func `what leads back to the sender is refused`(json: String, fault: String) {
    let thrown = #expect(throws: Fault.self) { try Payload(json: Text(json), PayloadTests.rules) }
    #expect(thrown?.description == fault)
    // Without the option each is a payload.
    let plain = json.replacing(#""asStranger":true"#, with: #""asStranger":false"#)
    #expect(throws: Never.self) { try Payload(json: Text(plain), PayloadTests.rules) }
  }

  @Test func `an origin is 1 to 255 bytes`() throws {
    func read(_ origin: String) throws(Fault) -> Payload {
      try Payload(
        json: JSON.text(of: ["activity": ["activityType": "a"], "options": ["origin": .string(Text(origin))]]),
        PayloadTests.rules)
    }
    #expect(try read("laptop").options.origin == "laptop")
    #expect(try read(String(repeating: "a", count: 255)).options.origin?.count == 255)
    #expect(throws: Fault.self) { try read(String(repeating: "a", count: 256)) }
    #expect(throws: Fault.self) { try read("") }
  }
}
