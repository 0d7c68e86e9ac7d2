import SceneModel
import SceneTestSupport
import Testing

@Suite struct SessionTests {
  private static let identifier: Text = "6f1c2a34-0000-4000-8000-00000000abcd"
  private static let least =
    #""persistentIdentifier":"6F1C2A34-0000-4000-8000-00000000ABCD","application":"a.b","configuration":"Main","#
    + #""created":"2026-05-01T12:00:00Z""#

  private func session(_ json: String) throws -> Session { try Session(json: Text(json), PayloadTests.rules) }

  @Test func `a session is at least somebody's, of some kind and some age`() throws {
    let read = try session("{\(Self.least)}")
    let created = Instant(microseconds: 1_777_636_800_000_000)
    let identifier = try #require(UniqueIdentifier(Self.identifier))
    #expect(read == Session(identifier: identifier, application: "a.b", configuration: "Main", created: created))
    #expect(read.role == PayloadOptions.defaultRole)
    #expect(read.lastActivated == created)
    #expect(read.state == .unattached && !read.isConnected && !read.hasBeenConnected && !read.isPrivate)
  }

  /// A value that is accepted must also fit into every document that contains it.
  @Test func `the deepest userInfo that is taken fits into a session and a payload`() throws {
    func nested(_ levels: Int, _ innermost: Value) -> UserInfo {
      (1..<levels).reduce(["a": innermost]) { info, _ in ["a": .dictionary(info)] }
    }
    let deepest = nested(Limits.userInfoDepth - 1, .date(Instant(microseconds: 0)))
    for info in [deepest, ["$a": .dictionary(nested(Limits.userInfoDepth - 4, .set([1])))]] {
      var session = try session("{\(Self.least)}")
      session.userActivity = try UserActivity(type: "a", key: "", userInfo: info)
      session.userInfo = info
      #expect(try Session(json: session.json, PayloadTests.rules) == session)
      let payload = Payload(items: [Item(activities: [try #require(session.userActivity)])])
      #expect(try Payload(json: payload.json, PayloadTests.rules) == payload)
    }
    let fault = #expect(throws: Fault.self) {
      _ = try UserActivity(type: "a", key: "", userInfo: ["a": .dictionary(deepest)])
    }
    #expect(fault?.description == "user_info: expected at most 56 levels of nesting, got 57")
  }

  @Test(
    arguments: pairs(
      #"""
      | [] | expected a session, got a list |
      | {\#(least.replacing("6F1C", with: "6F1"))} | persistentIdentifier: expected a UUID, got "6F12A34-0000-4000-8000-00000000ABCD" |
      | {"application":"a.b","configuration":"Main","created":"2026-05-01T12:00:00Z"} | persistentIdentifier: expected a UUID, got nothing |
      | {\#(least.replacing(",\"created\":\"2026-05-01T12:00:00Z\"", with: ""))} | created: expected an RFC 3339 date, got nothing |
      | {\#(least.replacing("\"application\":\"a.b\",", with: ""))} | application: expected an application's identifier, got nothing |
      | {\#(least.replacing("\"configuration\":\"Main\",", with: ""))} | configuration: expected the name of a configuration, got nothing |
      | {\#(least),"role":""} | role: expected a session role, got "" |
      | {\#(least),"state":"foreground"} | state: expected "foregroundActive", "foregroundInactive", "background" or "unattached", got "foreground" |
      | {\#(least),"connected":0} | connected: expected true or false, got 0 |
      | {\#(least),"hasBeenConnected":""} | hasBeenConnected: expected true or false, got "" |
      | {\#(least),"lastActivated":0} | lastActivated: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got 0 |
      | {\#(least),"title":[]} | title: expected text, got a list |
      | {\#(least),"userActivity":{"activityType":1}} | userActivity.activityType: expected the type of the activity, got 1 |
      | {\#(least),"stateRestorationActivity":1} | stateRestorationActivity: expected an activity, got 1 |
      | {\#(least),"userInfo":{"a":{"$set":1}}} | userInfo.a: expected an array in $set, got an integer |
      | {\#(least),"canActivatePredicate":true} | canActivatePredicate: expected text, got true |
      | {\#(least),"private":1} | private: expected true or false, got 1 |
      """#))
  func `a session that is none is told`(json: String, message: String) {
    let fault = #expect(throws: Fault.self) { try session(json) }
    #expect(fault?.description == message)
  }

  /// Routing decides about a session with such a predicate; here the predicate only has to survive.
  @Test func `a predicate that does not parse is kept as it stands`() throws {
    let read = try session(
      "{\(Self.least),\"canActivatePredicate\":\"SELF MATCHES '\",\"prefersToActivatePredicate\":\"?\"}")
    #expect(read.canActivatePredicate == "SELF MATCHES '")
    #expect(read.prefersToActivatePredicate == "?")
    let longest = String(repeating: " ", count: Limits.predicate)
    _ = try session("{\(Self.least),\"canActivatePredicate\":\"\(longest)\"}")
    let fault = #expect(throws: Fault.self) { try session("{\(Self.least),\"canActivatePredicate\":\"\(longest) \"}") }
    #expect(fault == Fault(.limit, at: "canActivatePredicate", "expected at most 4096 bytes, got 4097"))
  }

  @Test func `what it shows depends on whether it is connected`() throws {
    var session = try session("{\(Self.least)}")
    let (current, restoring) = (UserActivity(activityType: "current"), UserActivity(activityType: "restoring"))
    #expect(session.shownActivity == nil)
    session.userActivity = current
    #expect(session.shownActivity == current)
    session.stateRestorationActivity = restoring
    #expect(session.shownActivity == restoring)
    session.isConnected = true
    #expect(session.shownActivity == current)
    session.userActivity = nil
    #expect(session.shownActivity == nil)
  }

  @Test func `states are ordered by how near they are`() {
    #expect(SceneState.allCases.sorted() == [.foregroundActive, .foregroundInactive, .background, .unattached])
    #expect(SceneState.allCases.shuffled().sorted() == SceneState.allCases)
  }

  // MARK: The names of a session

  @Test(
    arguments: [
      "6f1c2a34-0000-4000-8000-00000000abcd", "6F1C2A34-0000-4000-8000-00000000ABCD",
      "/org/stagedoor/Interchange1/session/6f1c2a34_0000_4000_8000_00000000abcd",
      "/org/stagedoor/Interchange1/session/6F1C2A34_0000_4000_8000_00000000ABCD",
    ] as [Text])
  func `a session is named by its identifier or its path`(text: Text) {
    #expect(SessionReference.identifier(text) == UniqueIdentifier(Self.identifier))
  }

  @Test(
    arguments: [
      "", "/", "/org/stagedoor/Interchange1/session/",
      "/org/stagedoor/Interchange1/session/6f1c2a34-0000-4000-8000-00000000abcd",
      "6f1c2a34_0000_4000_8000_00000000abcd",
      "/org/stagedoor/Interchange1/session/6f1c2a34_0000_4000_8000_00000000abcd/",
      "/org/stagedoor/Interchange1/Session/6f1c2a34_0000_4000_8000_00000000abcd", "6f1c2a34-0000-4000-8000-00000000abc",
      "org/stagedoor/Interchange1/session/6f1c2a34_0000_4000_8000_00000000abcd",
      "{6f1c2a34-0000-4000-8000-00000000abcd}",
    ] as [Text])
  func `nothing else names one`(text: Text) {
    #expect(SessionReference.identifier(text) == nil)
  }

  @Test func `a path leads back to its identifier`() throws {
    let identifier = try #require(UniqueIdentifier(Self.identifier))
    #expect(
      SessionReference.path(of: identifier)
        == "/org/stagedoor/Interchange1/session/6f1c2a34_0000_4000_8000_00000000abcd")
    #expect(SessionReference.identifier(SessionReference.path(of: identifier)) == identifier)
  }

  @Test(
    arguments: [
      ("", "", []), ("SELF == 'a'", "", ["a"]), ("", "SELF IN {'a', 'b', 'a'}", ["a", "b"]),
      ("SELF == 'a'", "TRUEPREDICATE", ["a"]), ("SELF IN {'a', 'b'}", "SELF == 'c'", ["a", "b", "c"]),
      ("TRUEPREDICATE", "SELF == 'a'", [""]), ("", "SELF BEGINSWITH 'a'", [""]), ("FALSEPREDICATE", "SELF == 'a'", []),
      ("SELF == 'a'", "SELF ==", [""]), ("SELF ==[c] 'a'", "", [""]),
    ] as [(Text, Text, [Text])])
  func `a session is filed under the keys that its own conditions are about`(can: Text, prefers: Text, keys: [Text]) {
    #expect(session(can, prefers).conditionKeys == keys)
  }

  @Test func `one that waits for very many keys is filed under any`() {
    func waiting(for count: Int) -> Session {
      session(Text("SELF IN {\((0..<count).map { "'\($0)'" }.joined(separator: ", "))}"), "")
    }
    #expect(waiting(for: 16).conditionKeys.count == 16)
    #expect(waiting(for: 17).conditionKeys == [""])
  }

  private func session(_ can: Text, _ prefers: Text) -> Session {
    Session(
      identifier: UniqueIdentifier(high: 1, low: 1), application: "org.example.A", configuration: "Main",
      created: Instant(microseconds: 0), canActivatePredicate: can, prefersToActivatePredicate: prefers)
  }
}
