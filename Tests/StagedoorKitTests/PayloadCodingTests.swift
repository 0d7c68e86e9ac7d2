import FoundationEssentials
import StagedoorKit
import Testing

/// A payload as bytes, on a clipboard or in a drag.
@Suite struct PayloadCodingTests {
  private var payload: Payload {
    var activity = cat("cat1")
    activity.title = "Tom"
    activity.userInfo = valuesOfEachKind
    var provider = ItemProvider(activity)
    provider.suggestedName = "Tom.png"
    provider.registerData(Data([137, 80]), as: "image/png")
    provider.registerText("a cat")
    provider.registerFile(URL(filePath: "/home/user/Tom at noon.webp"), as: "image/webp", openInPlace: true)
    provider.registerText("a draft", as: "text/markdown", visibility: .application)
    provider.registerText("a secret", as: "text/html", visibility: .ownProcess)
    var options = DeliveryOptions()
    options.disposition = .new
    options.application = "org.example.Cats"
    options.requestingSession = SessionIdentifier("6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41")
    options.deadline = .seconds(5)
    options.wait = .handled
    options.isPrivate = true
    options.keepsPromises = true
    return Payload(items: [DragItem(itemProvider: provider), DragItem(cat("cat2"))], options)
  }

  @Test func `a payload comes back with every type of its values`() async throws {
    let payload = payload
    let bytes = try await payload.encoded(visibleTo: .ownProcess)
    let back = try Payload(decoding: bytes)
    #expect(back.options == payload.options)
    #expect(back.items.map(\.itemProvider.userActivities) == payload.items.map(\.itemProvider.userActivities))
    let (before, after) = (payload.items[0].itemProvider, back.items[0].itemProvider)
    #expect(after.suggestedName == before.suggestedName)
    #expect(after.registeredTypes == before.registeredTypes)
    #expect(try await after.loadDataRepresentation(as: "image/png") == Data([137, 80]))
    #expect(try await after.loadText(as: "text/html") == "a secret")
    #expect(after.fileOpenedInPlace(as: "image/webp") == before.fileOpenedInPlace(as: "image/webp"))
    #expect(try await back.encoded(visibleTo: .ownProcess) == bytes)
    #expect(Payload.contentType == "application/vnd.stagedoor.payload+json")
  }

  @Test(arguments: [
    #""webpageURL":"https://example.org/?filter[a]=1""#, #""webpageURL":"http://[::1""#,
    #""webpageURL":"https://example.org/a""#, #""isEligibleForHandoff":false"#,
    #""expirationDate":"9999-12-31T23:59:59.999999Z""#,
  ])
  func `a field of an activity comes back as it was written`(field: String) async throws {
    let payload = try Payload(decoding: Data(#"{"activity": {"activityType": "viewCat", \#(field)}}"#.utf8))
    let back = String(decoding: try await payload.encoded(), as: UTF8.self)
    #expect(back.contains(field), "\(back)")
    var activity = try #require(payload.items[0].itemProvider.userActivities.first)
    activity.webpageURL = URL(string: "https://example.org/b")
    let changed = String(decoding: try await Payload(activity).encoded(), as: UTF8.self)
    #expect(changed.contains(#""webpageURL":"https://example.org/b""#), "\(changed)")
  }

  @Test func `what others may not see is not among the bytes`() async throws {
    let payload = payload
    func types(_ visibility: Visibility) async throws -> [String] {
      try Payload(decoding: try await payload.encoded(visibleTo: visibility)).items[0].itemProvider.registeredTypes
    }
    #expect(try await types(.all) == ["image/png", "text/plain", "image/webp"])
    #expect(try await types(.application) == ["image/png", "text/plain", "image/webp", "text/markdown"])
    let bytes = try await payload.encoded()
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
  }

  @Test func `bytes that are no payload are refused with the place of the fault`() {
    for (bytes, message) in [
      (#"{"items": [{"activities": [{}]}]}"#, "items[0].activities[0]"), ("{", "expected"),
      (#"{"items": []}"#, "expected"),
      (#"{"activity": {"activityType": "viewCat"}, "options": {"asStranger": true}}"#, "options.asStranger"),
    ] {
      let error = #expect(throws: StagedoorError.self) { try Payload(decoding: Data(bytes.utf8)) }
      #expect(error?.code == .invalidPayload)
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
    #expect(throws: StagedoorError.self) { try Payload(decoding: Data([0xff])) }
  }
}
