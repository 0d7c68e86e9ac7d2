import SceneModel
import SceneTestSupport
import Testing

@Suite struct PayloadTests {
  static let rules = ReadingRules(types: TypeCatalog())

  private func type(_ spelling: Text) throws -> ContentType { try #require(ContentType(spelling)) }

  @Test func `the example of the page for senders says what it says`() throws {
    let payload = try Payload(json: Text(try Page("docs/documents.md").blocks("json")[1]), Self.rules)
    let activity = UserActivity(
      activityType: "org.stagedoor.examples.Gallery.openDetail", targetContentIdentifier: "photo-7", title: "Beach",
      userInfo: ["photoID": "7", "taken": .date(Instant(microseconds: 1_777_636_800_000_000))],
      webpageURL: "https://example.org/photos/7", requiredUserInfoKeys: ["photoID"], keywords: ["sea"],
      persistentIdentifier: "photo-7", expirationDate: Instant(microseconds: 1_798_675_200_000_000))
    let item = Item(
      suggestedName: "Beach.png", activities: [activity],
      representations: [
        Representation(type: try type("image/png"), .file("file:///home/user/Beach.png"), openInPlace: true),
        Representation(type: try type("image/webp"), .data(Array("RIFF\0\0\0\0WEBP".utf8))),
        Representation(type: try type("text/plain"), .text("A beach")),
      ])
    #expect(payload.items == [item])
    #expect(payload.options.disposition == .existing)
  }

  @Test func `an activity stands for an item with just that`() throws {
    let short = try Payload(json: #"{"activity":{"activityType":"a"}}"#, Self.rules)
    #expect(short == Payload(UserActivity(activityType: "a")))
    #expect(short == (try Payload(json: #"{"items":[{"activities":[{"activityType":"a"}]}]}"#, Self.rules)))
    #expect(short == (try Payload(json: #"{"items":[],"activity":{"activityType":"a"}}"#, Self.rules)))
  }

  @Test(
    arguments: [
      #"{"options":{"session":"x"}}"#, #"{"options":{"application":"org.example.Gallery"}}"#,
      #"{"options":{"application":"a.b","disposition":"new"}}"#, #"{"items":[],"options":{"session":"x"}}"#,
      #"{"items":null,"activity":null,"options":{"session":"x"}}"#,
    ] as [Text])
  func `options that name a session or an application are enough`(json: Text) throws {
    #expect(try Payload(json: json, Self.rules).items.isEmpty)
  }

  private static let nothing =
    "expected an activity or items, or options that name a session or an application, got none"

  private static let incomplete: [(Text, String)] = [
    (#"{"activities":[]}"#, nothing + #", beside the unknown key "activities""#),
    ("{}", nothing), (#"{"items":[]}"#, nothing), (#"{"activity":null}"#, nothing),
    (#"{"options":{"configuration":"Main","role":"a","requestingSession":"b"}}"#, nothing),
    (#"{"activity":{"activityType":"a"},"items":[{}]}"#, "expected either an activity or items, got both"),
    (
      #"{"items":[{}],"activity":{"activityType":"a"},"options":{"session":"x"}}"#,
      "expected either an activity or items, got both"
    ),
    ("[]", "expected a payload, got a list"), ("null", "expected a payload, got null"),
    ("7", "expected a payload, got 7"),
    (#""{}""#, "expected a payload, got \"{}\""),
  ]

  @Test(arguments: incomplete)
  func `there has to be something to route, said in one way`(json: Text, message: String) {
    let fault = #expect(throws: Fault.self) { try Payload(json: json, Self.rules) }
    #expect(fault == Fault(at: "", message))
  }

  @Test func `null is as good as nothing, but not in a list`() throws {
    let payload = try Payload(
      json: #"""
        {"activity":{"activityType":"a","title":null,"userInfo":null,"webpageURL":null,"requiredUserInfoKeys":null,
         "keywords":null,"expirationDate":null,"visibility":null},"options":{"session":null,"deadline":null,"strict":null}}
        """#, Self.rules)
    #expect(payload == Payload(UserActivity(activityType: "a")))
    let fault = #expect(throws: Fault.self) { try Payload(json: #"{"items":[null]}"#, Self.rules) }
    #expect(fault?.description == "items[0]: expected an item, got null")
  }

  @Test func `the limits of lists hold at n and n + 1`() throws {
    func repeated(_ element: String, _ count: Int) -> String {
      "[" + [String](repeating: element, count: count).joined(separator: ",") + "]"
    }
    func items(_ count: Int) throws { _ = try Payload(json: Text("{\"items\":\(repeated("{}", count))}"), Self.rules) }
    try items(Limits.items)
    #expect(throws: Fault(.limit, at: "items", "expected at most 1000 items")) { try items(Limits.items + 1) }

    func activities(_ count: Int) throws {
      let activities = repeated(#"{"activityType":"a"}"#, count)
      _ = try Payload(json: Text("{\"items\":[{},{\"activities\":\(activities)}]}"), Self.rules)
    }
    try activities(Limits.perItem)
    #expect(throws: Fault(.limit, at: "items[1].activities", "expected at most 100 activities")) {
      try activities(Limits.perItem + 1)
    }

    func representations(_ count: Int) throws {
      let representations = (0..<count).map { "{\"type\":\"a/b\($0)\",\"text\":\"\"}" }.joined(separator: ",")
      _ = try Payload(json: Text("{\"items\":[{\"representations\":[\(representations)]}]}"), Self.rules)
    }
    try representations(Limits.perItem)
    #expect(throws: Fault(.limit, at: "items[0].representations", "expected at most 100 representations")) {
      try representations(Limits.perItem + 1)
    }
  }

  @Test func `as many files as a payload may have are read again as they were stored`() throws {
    let files = (0..<Limits.perItem).map { number in
      Representation(
        type: ContentType(Text("application/x\(number)")) ?? .anyData, .stored(size: 1, url: "file:///a"),
        openInPlace: true,
        visibility: .application)
    }
    let payload = Payload(items: Array(repeating: Item(representations: files), count: 100))
    #expect(try Payload(json: payload.json, ReadingRules(storedIn: TypeCatalog())) == payload)
  }

  @Test func `a text by itself has the limit of a payload`() throws {
    func payload(_ count: Int) throws(Fault) -> Payload {
      try Payload(text: Text(String(repeating: "a", count: count)), directory: "", info: [:])
    }
    #expect(try payload(Limits.payload).items.count == 1)
    let fault = Fault.tooLong(Limits.payload + 1, limit: Limits.payload, at: "text")
    #expect(throws: fault) { try payload(Limits.payload + 1) }
  }

  @Test(arguments: ["work", ".", "~"])
  func `relative paths in a text begin in a directory with an absolute path`(directory: String) throws {
    let payload = try Payload(text: "a", directory: "/", info: ["dir": "/src"])
    #expect(payload.options.info["dir"] == "/")
    let fault = Fault(at: "directory", "expected an absolute path, got \"\(directory)\"")
    #expect(throws: fault) { try Payload(text: "a", directory: Text(directory), info: [:]) }
  }
}

@Suite struct UserActivityTests {
  @Test(
    arguments: [
      (nil, nil, nil), ("a", nil, "a"), (nil, "b:c", "b:c"), ("a", "b:c", "a"), ("", "b:c", "b:c"), (" ", "b:c", " "),
      ("", nil, nil), ("", "", nil),
    ] as [(Text?, Text?, Text?)])
  func `its key is its content, else its page`(target: Text?, page: Text?, key: Text?) {
    #expect(UserActivity(activityType: "x", targetContentIdentifier: target, webpageURL: page).key == key)
  }

  @Test func `one with as many entries as a call may have is read again as it was stored`() throws {
    let entries = (0..<Limits.values / 2).map { UserInfo.Entry(key: Text("\($0)"), value: "") }
    let activity = try UserActivity(type: "x", key: "1", userInfo: try #require(UserInfo(entries)))
    #expect(try UserActivity(json: activity.json, ReadingRules(types: TypeCatalog()).ofStored) == activity)
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
