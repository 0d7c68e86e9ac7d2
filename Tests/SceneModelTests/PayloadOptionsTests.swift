import SceneModel
import SceneTestSupport
import Testing

@Suite struct PayloadOptionsTests {
  private func options(_ json: String) throws -> PayloadOptions {
    try Payload(json: Text("{\"items\":[{}],\"options\":\(json)}"), PayloadTests.rules).options
  }

  @Test func `what nobody says is as the page for senders has it`() throws {
    let options = try options("{}")
    #expect(options == PayloadOptions())
    #expect(options.disposition == .auto)
    #expect(options.session == nil && options.application == nil && options.configuration == nil && options.role == nil)
    #expect(options.requestingSession == nil && options.token == nil && options.activationToken == nil)
    #expect(PayloadOptions.defaultRole == "UIWindowSceneSessionRoleApplication")
    #expect(options.presentationStyle == .automatic)
    #expect(options.deadline == 20)
    #expect(options.wait == .routed)
    #expect(options.keepPromises == false)
    #expect(options.allowedOperations == [.copy])
    #expect(options.isPrivate == false)
    #expect(options.batch == .allOrNothing)
    #expect(options.isStrict == false)
  }

  @Test func `every option is read`() throws {
    let read = try options(
      #"""
      {"disposition":"existingOnly","application":"a.b","configuration":"c","role":"d","requestingSession":"e",
       "presentationStyle":"prominent","token":"f","deadline":7,"wait":"handled","activationToken":"","keepPromises":true,
       "allowedOperations":["move","copy"],"private":true,"batch":"bestEffort","strict":true}
      """#)
    var expected = PayloadOptions()
    expected.disposition = .existingOnly
    expected.application = "a.b"
    expected.configuration = "c"
    expected.role = "d"
    expected.requestingSession = "e"
    expected.presentationStyle = .prominent
    expected.token = "f"
    expected.statedDeadline = 7
    expected.wait = .handled
    expected.activationToken = ""
    expected.keepPromises = true
    expected.allowedOperations = [.move, .copy]
    expected.isPrivate = true
    expected.batch = .bestEffort
    expected.isStrict = true
    #expect(read == expected)
    #expect(try options(#"{"session":"x"}"#).session == "x")
  }

  @Test(arguments: [
    ("disposition", ["auto", "new", "existing", "existingOnly"]),
    ("presentationStyle", ["automatic", "standard", "prominent"]),
    ("wait", ["routed", "handled"]), ("batch", ["allOrNothing", "bestEffort"]),
  ])
  func `a choice is one of those that are listed`(key: String, choices: [String]) throws {
    for choice in choices { _ = try options("{\"\(key)\":\"\(choice)\"}") }
    let quoted = choices.map { "\"\($0)\"" }
    let list = quoted.dropLast().joined(separator: ", ") + " or \(quoted[quoted.count - 1])"
    for wrong in ["\"other\"", "\"\(choices[0].uppercased())\"", "\"\"", "1", "[\"\(choices[0])\"]"] {
      let fault = #expect(throws: Fault.self) { try options("{\"\(key)\":\(wrong)}") }
      #expect(fault?.description == "options.\(key): expected \(list), got \(wrong.hasPrefix("[") ? "a list" : wrong)")
    }
  }

  private static let wrong: [(String, String)] = pairs(
    #"""
    | [] | : expected options, got a list |
    | true | : expected options, got true |
    | {"session":7} | .session: expected a session's identifier or path, got 7 |
    | {"session":""} | .session: expected a session's identifier or path, got "" |
    | {"session":"\u0000"} | .session: expected text without NUL |
    | {"application":""} | .application: expected an application's identifier, got "" |
    | {"application":["a.b"]} | .application: expected an application's identifier, got a list |
    | {"configuration":false} | .configuration: expected the name of a configuration, got false |
    | {"role":""} | .role: expected a session role, got "" |
    | {"requestingSession":{}} | .requestingSession: expected a session's identifier or path, got a dictionary |
    | {"token":""} | .token: expected a name for this request, got "" |
    | {"token":7} | .token: expected a name for this request, got 7 |
    | {"activationToken":7} | .activationToken: expected text, got 7 |
    | {"activationToken":"\u0000"} | .activationToken: expected text without NUL |
    | {"keepPromises":1} | .keepPromises: expected true or false, got 1 |
    | {"private":"yes"} | .private: expected true or false, got "yes" |
    | {"strict":"true"} | .strict: expected true or false, got "true" |
    | {"allowedOperations":"copy"} | .allowedOperations: expected a list of operations, got "copy" |
    | {"allowedOperations":[]} | .allowedOperations: expected "copy", "move" or both, got neither |
    | {"allowedOperations":["link"]} | .allowedOperations[0]: expected "copy" or "move", got "link" |
    | {"allowedOperations":["copy","copy"]} | .allowedOperations[1]: expected each operation once, got "copy" |
    """#)

  @Test(arguments: wrong)
  func `an option that is wrong is told`(json: String, message: String) {
    let fault = #expect(throws: Fault.self) { try options(json) }
    #expect(fault?.description == "options\(message)")
  }

  @Test(arguments: ["1", "0.001", "20", "3600", "3600.0", "36e2", "5e-324"])
  func `a deadline is more than nothing and at most an hour`(seconds: String) throws {
    #expect(try options("{\"deadline\":\(seconds)}").deadline == Double(seconds))
  }

  @Test(arguments: [
    "0", "-1", "0.0", "-0.0", "3601", "3600.0000000000005", "1e999", "99999999999999999999", "\"20\"", "true",
  ])
  func `a deadline is nothing else`(seconds: String) {
    let fault = #expect(throws: Fault.self) { try options("{\"deadline\":\(seconds)}") }
    #expect(
      fault?.description == "options.deadline: expected a number of seconds above 0 and at most 3600, got \(seconds)")
  }

  @Test(arguments: [
    ("application", "\"a.b\""), ("configuration", "\"c\""), ("role", "\"UIWindowSceneSessionRoleApplication\""),
    ("disposition", "\"auto\""), ("disposition", "\"new\""),
  ])
  func `a session says by itself where it goes`(key: String, value: String) {
    for json in ["{\"session\":\"x\",\"\(key)\":\(value)}", "{\"\(key)\":\(value),\"session\":\"x\"}"] {
      let fault = #expect(throws: Fault.self) { try options(json) }
      #expect(
        fault?.description == "options.session: expected a session alone to say where it goes, got \(key) too")
    }
  }

  @Test func `beside a session may stand what does not say where it goes`() throws {
    let read = try options(
      #"{"session":"x","requestingSession":"y","presentationStyle":"standard","token":"t","deadline":1,"wait":"handled","role":null}"#
    )
    #expect(read.session == "x" && read.requestingSession == "y")
  }

  @Test(arguments: ["session", "application", "configuration", "role", "requestingSession", "token"])
  func `a name has at most 255 bytes`(key: String) throws {
    _ = try options("{\"\(key)\":\"\(String(repeating: "x", count: 255))\"}")
    let fault = #expect(throws: Fault.self) { try options("{\"\(key)\":\"\(String(repeating: "x", count: 256))\"}") }
    #expect(fault == Fault(.limit, at: "options.\(key)", "expected at most 255 bytes, got 256"))
  }
}

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
  private static let unknown: [(String, String)] = pairs(
    #"""
    | {"activity":{"activityType":"a"},"new":1,"options":{STRICT}} | new: expected items, activity or options |
    | {"options":{STRICT},"activity":{"activityType":"a"},"new":{"deep":[1,{}]}} | new: expected items, activity or options |
    | {"new":null,"options":{STRICT},"activity":{"activityType":"a"}} | new: expected items, activity or options |
    | {"activity":{"activityType":"a","tilte":"x"},"options":{STRICT}} | activity.tilte: expected \#(activity) |
    | {"options":{STRICT},"activity":{"activityType":"a","tilte":"x"}} | activity.tilte: expected \#(activity) |
    | {"items":[{},{"name":"x"}],"options":{STRICT}} | items[1].name: expected suggestedName, activities or representations |
    | {"items":[{"activities":[{"activityType":"a","New":null}]}],"options":{STRICT}} | items[0].activities[0].New: expected \#(activity) |
    | {"items":[{"representations":[{"type":"a/b","text":"","":1}]}],"options":{STRICT}} | items[0].representations[0][""]: expected type, data, text, file, openInPlace or visibility |
    | {"activity":{"activityType":"a"},"options":{"a b":1,STRICT}} | options["a b"]: expected \#(options) |
    | {"activity":{"activityType":"a"},"options":{STRICT,"new":1e999}} | options.new: expected \#(options) |
    """#)

  @Test(arguments: unknown)
  func `an unknown key is passed over, and refused if the sender would rather be told`(json: String, message: String)
    throws
  {
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
}

/// Payloads with `asStranger`, and the option `origin`.
@Suite struct StrangerTests {
  @Test(
    arguments: pairs(
      #"""
      | {"activity":{"activityType":"a"},"options":{"asStranger":true,"requestingSession":"b"}} | options.requestingSession: expected no session beside asStranger, got one |
      | {"activity":{"activityType":"a","visibility":"application"},"options":{"asStranger":true}} | activity.visibility: expected no visibility beside asStranger, got one |
      | {"items":[{},{"activities":[{"activityType":"a","visibility":"ownProcess"}]}],"options":{"asStranger":true}} | items[1].activities[0].visibility: expected no visibility beside asStranger, got one |
      | {"items":[{},{"representations":[{"type":"a/b","text":"","visibility":"ownProcess"}]}],"options":{"asStranger":true}} | items[1].representations[0].visibility: expected no visibility beside asStranger, got one |
      | {"items":[{"representations":[{"type":"application/vnd.portal.filetransfer","text":"key"}]}],"options":{"asStranger":true}} | items[0].representations[0].type: expected no portal's key beside asStranger, got one |
      """#))
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
