import DBus
import SceneModel
import Testing

/// What a dictionary of the bus can hold and a document cannot, and what the sender is told of it. A payload in dictionaries is otherwise read as
/// documents are, so `PayloadFaultTests` says the rest.
@Suite struct ItemDictionaryFaultTests {
  private func error(_ items: [[Text: Variant]], _ options: [Text: Variant] = [:]) -> InterchangeError? {
    #expect(throws: InterchangeError.self) { try ItemDictionaryTests.payload(items, options) }
  }

  /// Why the payload is invalid.
  private func fault(_ items: [[Text: Variant]], _ options: [Text: Variant] = [:]) -> String? {
    let error = error(items, options)
    #expect(error?.name == .invalidPayload)
    return error?.message
  }

  private static let items: [([Text: Variant], String)] = [
    (["suggestedName": .int32(1)], ".suggestedName: expected text, got 1"),
    (["suggestedName": .objectPath("/a")], ".suggestedName: expected text, got the object path \"/a\""),
    (["suggestedName": .bytes([1])], ".suggestedName: expected text, got bytes"),
    (["suggestedName": .variant(.variant(true))], ".suggestedName: expected text, got true"),
    (["activities": "a"], ".activities: expected a list of activities, got \"a\""),
    (["activities": .bytes([1])], ".activities: expected a list of activities, got bytes"),
    (["activities": [UInt32(7)].variant], ".activities[0]: expected an activity as a document, got 7"),
    (
      ["activities": [["activityType": "open"]].variant],
      ".activities[0]: expected an activity as a document, got a value of type \"a{ss}\""
    ),
    (["activities": [#"{"activityType":"a"}"#, "[]"].variant], ".activities[1]: expected an activity, got a list"),
    (
      ["representations": [String: Variant]().variant],
      ".representations: expected a list of representations, got a value of type \"a{sv}\""
    ),
    (
      ["representations": [[UInt32(1): "a"]].variant],
      ".representations[0]: expected a representation, got a value of type \"a{us}\""
    ),
  ]

  @Test(arguments: items.indices)
  func `of an item`(index: Int) {
    #expect(fault([[:], Self.items[index].0]) == "items[1]\(Self.items[index].1)")
  }

  private static let oneContent = "expected one of \"data\", \"text\", \"file\", \"fd\" and \"provider\", got "
  private static let representations: [([Text: Variant], String)] = [
    (["type": .byte(1), "text": ""], ".type: expected a content type such as image/png or public.png, got 1"),
    (["type": "a/b"], ": \(oneContent)none"),
    (["type": "a/b", "text": "", "provider": .objectPath("/a")], ": \(oneContent)2"),
    // Base64 is only for documents.
    (["type": "a/b", "data": "AAAA"], ".data: expected bytes (ay), got \"AAAA\""),
    (["type": "a/b", "data": [Int16(1)].variant], ".data: expected bytes (ay), got a value of type \"an\""),
    (["type": "a/b", "text": .bytes([65])], ".text: expected text, got bytes"),
    (
      ["type": "a/b", "file": .objectPath("/home")],
      ".file: expected a file URL such as file:///home/user/Beach.png, got the object path \"/home\""
    ),
    (["type": "a/b", "fd": .uint32(0)], ".fd: expected a file descriptor (h), got 0"),
    (["type": "a/b", "provider": "/a"], ".provider: expected an object path (o), got \"/a\""),
    (
      ["type": "a/b", "provider": .objectPath("/a"), "size": .uint64(1 << 63)],
      ".size: expected a number of bytes from 0 to 9223372036854775807, got 9223372036854775808"
    ),
    // Of several faults the message names the first in the order of the keys, every time.
    (
      ["visibility": "none", "type": .byte(1), "text": .byte(2), "openInPlace": .byte(3), "data": .byte(4)],
      ".data: expected bytes (ay), got 4"
    ),
  ]

  @Test(arguments: representations.indices)
  func `of a representation`(index: Int) {
    let item = ItemDictionaryTests.item(["type": "a/a", "text": ""], Self.representations[index].0)
    #expect(fault([item]) == "items[0].representations[1]\(Self.representations[index].1)")
  }

  @Test func `where a descriptor should be something else`() throws {
    let descriptor = try OwnedFileDescriptor.pipe().readEnd.variant
    let item = ItemDictionaryTests.item(["type": "a/b", "data": descriptor])
    #expect(fault([item]) == "items[0].representations[0].data: expected bytes (ay), got a file descriptor")
    let both = ItemDictionaryTests.item(["type": "a/b", "data": .bytes([]), "fd": descriptor])
    #expect(fault([both]) == "items[0].representations[0]: \(Self.oneContent)2")
  }

  private static let options: [([Text: Variant], String)] = [
    (["deadline": "20"], ".deadline: expected a number of seconds above 0 and at most 3600, got \"20\""),
    (["deadline": .int32(-1)], ".deadline: expected a number of seconds above 0 and at most 3600, got -1"),
    (
      ["deadline": .uint64(.max)], ".deadline: expected a number of seconds above 0 and at most 3600, got \(UInt64.max)"
    ),
    (["deadline": .double(.nan)], ".deadline: expected a number of seconds above 0 and at most 3600, got nan"),
    (["deadline": .double(.infinity)], ".deadline: expected a number of seconds above 0 and at most 3600, got inf"),
    (["keepPromises": .double(1)], ".keepPromises: expected true or false, got 1.0"),
    (["allowedOperations": [String]().variant], ".allowedOperations: expected \"copy\", \"move\" or both, got neither"),
    (
      ["application": .objectPath("/a")],
      ".application: expected an application's identifier, got the object path \"/a\""
    ),
    (["session": .int32(7)], ".session: expected a session's identifier or path, got 7"),
    (
      ["session": .objectPath("/a"), "application": "a"],
      ".session: expected a session alone to say where it goes, got application too"
    ),
    (["token": .signature("s")], ".token: expected a name for this request, got a value of type \"g\""),
  ]

  @Test(arguments: options.indices)
  func `of the options`(index: Int) {
    #expect(fault([[:]], Self.options[index].0) == "options\(Self.options[index].1)")
  }

  private static let unknown: [(item: [Text: Variant], options: [Text: Variant], String)] = [
    (
      ItemDictionaryTests.item(["type": "a/b", "text": "", "fds": .bytes([])]), [:],
      "items[0].representations[0].fds: expected type, data, text, file, openInPlace, visibility, fd, provider or size"
    ),
    (
      [:], ["new": .structure([.byte(1)])],
      "options.new: expected disposition, session, application, configuration, role, requestingSession, "
        + "presentationStyle, token, deadline, wait, activationToken, keepPromises, allowedOperations, private, batch, "
        + "asStranger, origin, rules, info or strict"
    ),
  ]

  @Test(arguments: unknown.indices)
  func `an unknown key is passed over, and refused if the sender would rather be told`(index: Int) throws {
    let (item, options, message) = Self.unknown[index]
    _ = try ItemDictionaryTests.payload([item], options)
    let told = fault([item], options.merging(["strict": true]) { $1 })
    #expect(told?.hasPrefix("\(message), since the options say strict, got \"") == true, "\(told ?? "")")
  }

  @Test func `limits are those of a document`() {
    let most = [[Text: Variant]](repeating: [:], count: Limits.items)
    #expect(throws: Never.self) { try ItemDictionaryTests.payload(most) }
    #expect(error(most + [[:]])?.name == .limitsExceeded)
    #expect(error(most + [[:]])?.message == "items: expected at most \(Limits.items) items")

    let path = "/" + String(repeating: "a", count: Limits.text)
    let long = ItemDictionaryTests.item(["type": "a/b", "provider": .objectPath(ObjectPath(stringLiteral: path))])
    #expect(
      error([long])?.message
        == "items[0].representations[0].provider: expected at most \(Limits.text) bytes, got \(Limits.text + 1)")
  }

  @Test func `what is larger than a document comes in another way`() {
    func item(_ count: Int) -> [Text: Variant] {
      ItemDictionaryTests.item(["type": "a/b", "data": .bytes([UInt8](repeating: 7, count: count))])
    }
    #expect(throws: Never.self) { try ItemDictionaryTests.payload([item(Limits.payload - 1000)]) }
    let error = error([item(Limits.payload)])
    #expect(error?.name == .limitsExceeded)
    #expect(error?.message.contains("what is larger comes as a file or a descriptor") == true)
  }
}
