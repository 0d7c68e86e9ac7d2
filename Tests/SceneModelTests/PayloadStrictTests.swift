import SceneModel
import Testing

/// Unknown keys are ignored, so that newer senders work with older services, unless the options say strict.
@Suite struct PayloadStrictTests {
  private static let activity =
    "activityType, targetContentIdentifier, title, userInfo, webpageURL, requiredUserInfoKeys, "
    + "keywords, persistentIdentifier, expirationDate, isEligibleForHandoff or visibility"
  private static let options =
    "disposition, session, application, configuration, role, requestingSession, presentationStyle, "
    + "token, deadline, wait, activationToken, keepPromises, allowedOperations, private, batch, asStranger, origin, "
    + "rules, info or strict"

  /// The test replaces STRICT by the option, or by nothing.
  private static let unknown: [(String, String)] = [
    (#"{"activity":{"activityType":"a"},"new":1,"options":{STRICT}}"#, "new: expected items, activity or options"),
    (
      #"{"options":{STRICT},"activity":{"activityType":"a"},"new":{"deep":[1,{}]}}"#,
      "new: expected items, activity or options"
    ),
    (#"{"new":null,"options":{STRICT},"activity":{"activityType":"a"}}"#, "new: expected items, activity or options"),
    (#"{"activity":{"activityType":"a","tilte":"x"},"options":{STRICT}}"#, "activity.tilte: expected \(activity)"),
    (#"{"options":{STRICT},"activity":{"activityType":"a","tilte":"x"}}"#, "activity.tilte: expected \(activity)"),
    (
      #"{"items":[{},{"name":"x"}],"options":{STRICT}}"#,
      "items[1].name: expected suggestedName, activities or representations"
    ),
    (
      #"{"items":[{"activities":[{"activityType":"a","New":null}]}],"options":{STRICT}}"#,
      "items[0].activities[0].New: expected \(activity)"
    ),
    (
      #"{"items":[{"representations":[{"type":"a/b","text":"","":1}]}],"options":{STRICT}}"#,
      "items[0].representations[0][\"\"]: expected type, data, text, file, openInPlace or visibility"
    ),
    (#"{"activity":{"activityType":"a"},"options":{"a b":1,STRICT}}"#, "options[\"a b\"]: expected \(options)"),
    (#"{"activity":{"activityType":"a"},"options":{STRICT,"new":1e999}}"#, "options.new: expected \(options)"),
  ]

  @Test(arguments: unknown.indices)
  func `an unknown key is passed over, and refused if the sender would rather be told`(index: Int) throws {
    let (json, message) = Self.unknown[index]
    for lenient in [#""strict":false"#, #""strict":null"#, #""batch":"allOrNothing""#] {
      _ = try Payload(json: Text(json.replacing("STRICT", with: lenient)), PayloadTests.rules)
    }
    let strict = json.replacing("STRICT", with: #""strict":true"#)
    let fault = #expect(throws: Fault.self) { try Payload(json: Text(strict), PayloadTests.rules) }
    let key = fault.map { String($0.reason.drop { $0 != "\"" }) } ?? ""
    #expect(fault?.description == "\(message), since the options say strict, got \(key)")
    #expect(key.count > 1 && json.contains(key))
  }

  @Test func `what somebody's userInfo holds is never unknown`() throws {
    let json: Text = #"{"activity":{"activityType":"a","userInfo":{"new":{"newer":null}}},"options":{"strict":true}}"#
    #expect(try Payload(json: json, PayloadTests.rules).items[0].activities[0].userInfo == ["new": ["newer": nil]])
  }

  @Test func `options by themselves are as strict as they say`() throws {
    _ = try PayloadOptions(json: #"{"new":1}"#, PayloadTests.rules)
    #expect(throws: Fault.self) { try PayloadOptions(json: #"{"new":1,"strict":true}"#, PayloadTests.rules) }
  }

  @Test func `strictness of one payload says nothing of the next`() throws {
    #expect(throws: Fault.self) {
      try Payload(json: #"{"items":[{"x":1}],"options":{"strict":true}}"#, PayloadTests.rules)
    }
    _ = try Payload(json: #"{"items":[{"x":1}]}"#, PayloadTests.rules)
  }
}
