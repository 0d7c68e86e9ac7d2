import DBus
import Glibc
import SceneModel
import SceneTestSupport
import Testing

@testable import InterchangeWire

/// A payload as dictionaries means the same as the payload as a document.
@Suite struct ItemDictionaryTests {
  static let types = TypeCatalog()

  /// Reads a payload from dictionaries that went through a message.
  static func payload(
    _ items: [[Text: Variant]], _ options: [Text: Variant] = [:]
  ) throws -> (payload: Payload, descriptors: [OwnedFileDescriptor]) {
    let message = try Message.signal(from: "/a", "a.b", "C", items, options)
    let (items, options) = try message.values(as: [[Text: Variant]].self, [Text: Variant].self)
    return try ItemDictionaries.payload(items, options, types: types)
  }

  static func item(_ representations: [Text: Variant]...) -> [Text: Variant] {
    ["representations": representations.variant]
  }

  @Test func `an item says everything that an item can say`() throws {
    let activity = #"{"activityType":"open","targetContentIdentifier":"photo-7","userInfo":{"n":{"$set":[1]}}}"#
    let items: [[Text: Variant]] = [
      [
        "suggestedName": "Beach.png", "activities": [activity].variant,
        "representations": [
          ["type": "image/png", "file": "file:///home/user/Beach.png", "openInPlace": true] as [Text: Variant],
          ["type": "image/webp", "data": .bytes([0, 0xFF]), "visibility": "ownProcess"],
          ["type": "text/plain", "text": "A beach"],
          ["type": "image/jpeg", "provider": .objectPath("/org/example/Beach"), "visibility": "application"],
        ].variant,
      ], [:],
    ]
    let payload = try Self.payload(items).payload
    #expect(payload.options == PayloadOptions())
    #expect(payload.items.count == 2 && payload.items[1] == Item())
    let item = payload.items[0]
    #expect(item.suggestedName == "Beach.png")
    #expect(item.activities == [try UserActivity(json: Text(activity), ReadingRules(types: Self.types))])
    #expect(item.representations.map(\.type.spelling) == ["image/png", "image/webp", "text/plain", "image/jpeg"])
    #expect(
      item.representations.map(\.content) == [
        .file("file:///home/user/Beach.png"), .data([0, 0xFF]), .text("A beach"), .promise("/org/example/Beach"),
      ])
    #expect(item.representations.map(\.visibility) == [.all, .ownProcess, .all, .application])
    #expect(item.representations.map(\.openInPlace) == [true, false, false, false])
  }

  @Test(
    arguments: [
      .byte(7), .int16(7), .uint16(7), .int32(7), .uint32(7), .int64(7), .uint64(7), .double(7),
      .variant(.variant(.int32(7))),
    ] as [Variant])
  func `a deadline is a number of any type`(deadline: Variant) throws {
    #expect(try Self.payload([[:]], ["deadline": deadline]).payload.options.deadline == 7)
  }

  @Test func `a session is named by text or by its path`() throws {
    let path = "/org/stagedoor/Interchange1/session/0b7a3c5e_0000_4000_8000_000000000000"
    for session: Variant in [.string(path), .objectPath(try ObjectPath(path))] {
      #expect(try Self.payload([], ["session": session]).payload.options.session == Text(path))
      let requesting = try Self.payload([[:]], ["requestingSession": session]).payload.options.requestingSession
      #expect(requesting == Text(path))
    }
  }

  @Test func `variants in variants are what they hold, at every place`() throws {
    let representation: [Text: Variant] = ["type": .variant("text/plain"), "text": .variant(.variant("A beach"))]
    let item: [Text: Variant] = [
      "suggestedName": .variant("Beach"),
      "activities": .variant(.array(of: "v", [.variant(#"{"activityType":"open"}"#)])),
      "representations": .array(of: "v", [.variant(.variant(representation.variant))]),
    ]
    let payload = try Self.payload([item], ["allowedOperations": .array(of: "v", [.variant("move")])]).payload
    #expect(payload.items[0].suggestedName == "Beach")
    #expect(payload.items[0].activities.map(\.activityType) == ["open"])
    #expect(payload.items[0].representations.map(\.content) == [.text("A beach")])
    #expect(payload.options.allowedOperations == [.move])
  }

  @Test func `a dictionary may hold one type only, as clients write where all values have it`() throws {
    let representation = ["type": "text/plain", "text": "A beach"]
    let payload = try Self.payload([["representations": [representation].variant]]).payload
    #expect(payload.items[0].representations.map(\.content) == [.text("A beach")])
  }

  @Test func `descriptors are numbered as representations use them`() throws {
    let pipes = [try OwnedFileDescriptor.pipe(), try OwnedFileDescriptor.pipe()]
    let (payload, descriptors) = try Self.payload([
      Self.item(
        ["type": "a/a", "fd": pipes[1].writeEnd.variant], ["type": "a/b", "text": ""],
        ["type": "a/c", "fd": pipes[0].writeEnd.variant, "unknown": pipes[0].readEnd.variant]),
      Self.item(["type": "a/a", "fd": .variant(pipes[1].writeEnd.variant)]),
    ])
    #expect(
      payload.items.map { $0.representations.map(\.content) } == [
        [.descriptor(0), .text(""), .descriptor(1)], [.descriptor(2)],
      ])
    #expect(descriptors.count == 3)
    for (index, byte) in zip(descriptors.indices, "xyz".utf8) {
      #expect(
        descriptors[index].withRawValue { number in withUnsafeBytes(of: byte) { write(number, $0.baseAddress, 1) } }
          == 1)
    }
    func arrived(_ pipe: OwnedFileDescriptor) -> String {
      var bytes = [UInt8](repeating: 0, count: 8)
      let count = pipe.withRawValue { read($0, &bytes, 8) }
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    #expect(arrived(pipes[1].readEnd) == "xz" && arrived(pipes[0].readEnd) == "y")
  }

  @Test func `items that are added to a drag are read in the same way`() throws {
    let item = Self.item(["type": "a/a", "fd": try OwnedFileDescriptor.pipe().readEnd.variant])
    let (items, descriptors) = try ItemDictionaries.items([item, [:]], types: Self.types)
    #expect(items.map { $0.representations.map(\.content) } == [[.descriptor(0)], []])
    #expect(descriptors.count == 1)
    let error = #expect(throws: InterchangeError.self) {
      try ItemDictionaries.items([[:], ["suggestedName": .int32(1)]], types: Self.types)
    }
    #expect(error?.message == "items[1].suggestedName: expected text, got 1")
  }

  @Test(arguments: 0..<300)
  func `a payload in dictionaries is read as the same payload in a document`(seed: UInt64) throws {
    var generator = DocumentGenerator(seed: seed)
    let payload = generator.payload()
    let (items, options) = payload.dictionaries()
    let outOfDocument = Result { try Payload(json: payload.json, ReadingRules(types: Self.types)) }
    // Texts may hold NUL, and go through no message then.
    func read(_ fields: [String: Variant]) -> [Text: Variant] {
      Dictionary(uniqueKeysWithValues: fields.map { (Text($0), $1) })
    }
    let outOfDictionaries = Result {
      try ItemDictionaries.payload(items.map(read), read(options), types: Self.types).payload
    }
    switch (outOfDocument, outOfDictionaries) {
    case (.success(let one), .success(let other)): #expect(one == other)
    case (.failure(let one as Fault), .failure(let other)):
      #expect(other as? InterchangeError == InterchangeError(payload: one))
    default: Issue.record("\(outOfDocument) is not \(outOfDictionaries)")
    }
  }

  @Test func `what is shown of an item is its types and names`() throws {
    let item = Item(
      suggestedName: "Beach.png",
      activities: [
        UserActivity(
          activityType: "open", targetContentIdentifier: "photo-7", title: "Beach", userInfo: ["secret": 1],
          visibility: .application), UserActivity(activityType: "share"),
      ],
      representations: [
        Representation(type: try #require(ContentType("public.png")), .data([1]), openInPlace: true),
        Representation(type: try #require(ContentType("Image/WebP")), .text("x"), visibility: .ownProcess),
      ])
    let shown: [String: Variant] = [
      "suggestedName": "Beach.png",
      "activities": [#"{"activityType":"open","title":"Beach"}"#, #"{"activityType":"share"}"#].variant,
      "representations": [
        ["type": "public.png", "visibility": "all"] as [String: Variant],
        ["type": "Image/WebP", "visibility": "ownProcess"],
      ].variant,
    ]
    #expect(item.shownOnBus == shown)
    #expect(
      Item().shownOnBus == [
        "activities": .array(of: "s", []), "representations": .array(of: "a{sv}", []),
      ])
  }
}
