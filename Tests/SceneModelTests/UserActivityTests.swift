import SceneModel
import Testing

@Suite struct UserActivityTests {
  @Test(
    arguments: [
      (nil, nil, nil), ("a", nil, "a"), (nil, "b:c", "b:c"), ("a", "b:c", "a"), ("", "b:c", "b:c"), (" ", "b:c", " "),
      ("", nil, nil), ("", "", nil),
    ] as [(Text?, Text?, Text?)])
  func `its key is its content, else its page`(target: Text?, page: Text?, key: Text?) {
    #expect(UserActivity(activityType: "x", targetContentIdentifier: target, webpageURL: page).key == key)
  }

  @Test func `one from separate arguments has the limits of a document`() {
    var many = UserInfo()
    for key in 0...Limits.values / 2 { many[Text("\(key)")] = "" }
    let long: UserInfo = ["a": .string(Text(String(repeating: "a", count: Limits.payload + 1)))]
    for info in [many, long] {
      let fault = #expect(throws: Fault.self) { try UserActivity(type: "x", key: "1", userInfo: info) }
      #expect(fault?.kind == .limit)
    }
  }
}
