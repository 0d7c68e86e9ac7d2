import SceneModel
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

  private static let wrong: [(String, String)] = [
    ("[]", "options: expected options, got a list"), ("true", "options: expected options, got true"),
    (#"{"session":7}"#, "options.session: expected a session's identifier or path, got 7"),
    (#"{"session":""}"#, "options.session: expected a session's identifier or path, got \"\""),
    (#"{"session":"\u0000"}"#, "options.session: expected text without NUL"),
    (#"{"application":""}"#, "options.application: expected an application's identifier, got \"\""),
    (#"{"application":["a.b"]}"#, "options.application: expected an application's identifier, got a list"),
    (#"{"configuration":false}"#, "options.configuration: expected the name of a configuration, got false"),
    (#"{"role":""}"#, "options.role: expected a session role, got \"\""),
    (
      #"{"requestingSession":{}}"#,
      "options.requestingSession: expected a session's identifier or path, got a dictionary"
    ),
    (#"{"token":""}"#, "options.token: expected a name for this request, got \"\""),
    (#"{"token":7}"#, "options.token: expected a name for this request, got 7"),
    (#"{"activationToken":7}"#, "options.activationToken: expected text, got 7"),
    (#"{"activationToken":"\u0000"}"#, "options.activationToken: expected text without NUL"),
    (#"{"keepPromises":1}"#, "options.keepPromises: expected true or false, got 1"),
    (#"{"private":"yes"}"#, "options.private: expected true or false, got \"yes\""),
    (#"{"strict":"true"}"#, "options.strict: expected true or false, got \"true\""),
    (#"{"allowedOperations":"copy"}"#, "options.allowedOperations: expected a list of operations, got \"copy\""),
    (#"{"allowedOperations":[]}"#, "options.allowedOperations: expected \"copy\", \"move\" or both, got neither"),
    (#"{"allowedOperations":["link"]}"#, "options.allowedOperations[0]: expected \"copy\" or \"move\", got \"link\""),
    (
      #"{"allowedOperations":["copy","copy"]}"#,
      "options.allowedOperations[1]: expected each operation once, got \"copy\""
    ),
  ]

  @Test(arguments: wrong.indices)
  func `an option that is wrong is told`(index: Int) {
    let fault = #expect(throws: Fault.self) { try options(Self.wrong[index].0) }
    #expect(fault?.description == Self.wrong[index].1)
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
