import SceneModel
import SceneTestSupport
import Testing

/// For each key: the values that it may not have, and the message to the sender.
@Suite struct PayloadFaultTests {
  private func fault(_ json: String) -> String? {
    #expect(throws: Fault.self) { try Payload(json: Text(json), PayloadTests.rules) }?.description
  }

  private static let activities: [(String, String)] = pairs(
    #"""
    | 7 | : expected an activity, got 7 |
    | [] | : expected an activity, got a list |
    | {} | .activityType: expected the type of the activity, got nothing |
    | {"activityType":null} | .activityType: expected the type of the activity, got nothing |
    | {"title":"a","activityTyp":"a"} | .activityType: expected the type of the activity, got nothing, beside the unknown key "activityTyp" |
    | {"activityType":""} | .activityType: expected the type of the activity, got "" |
    | {"activityType":1} | .activityType: expected the type of the activity, got 1 |
    | {"activityType":"a\u0000b"} | .activityType: expected text without NUL |
    | {"targetContentIdentifier":7} | .targetContentIdentifier: expected text, got 7 |
    | {"targetContentIdentifier":"\u0000"} | .targetContentIdentifier: expected text without NUL |
    | {"title":["a"]} | .title: expected text, got a list |
    | {"title":"\u0000"} | .title: expected text without NUL |
    | {"userInfo":[]} | .userInfo: expected a dictionary, got a list |
    | {"userInfo":{"$date":"2026-05-01T12:00:00Z"}} | .userInfo: expected a dictionary, in $literal where its only key begins with $, got a dictionary |
    | {"userInfo":{"when":{"$date":"yesterday"}}} | .userInfo.when: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got "yesterday" |
    | {"userInfo":{"a.b":{"":[{"$url":1}]}}} | .userInfo["a.b"][""][0]: expected an absolute URL, got an integer |
    | {"userInfo":{"n":9223372036854775808}} | .userInfo.n: expected an integer from -2^63 to 2^63 - 1, or a number with a point, got 9223372036854775808 |
    | {"webpageURL":true} | .webpageURL: expected an absolute URL such as https://example.org/photos/7, got true |
    | {"webpageURL":""} | .webpageURL: expected an absolute URL such as https://example.org/photos/7, got "" |
    | {"webpageURL":"photos/7"} | .webpageURL: expected an absolute URL such as https://example.org/photos/7, got "photos/7" |
    | {"webpageURL":"https://example.org/Müll"} | .webpageURL: expected an absolute URL such as https://example.org/photos/7, got "https://example.org/Müll"; a space is written %20, and each byte of a letter beyond ASCII likewise |
    | {"requiredUserInfoKeys":"a"} | .requiredUserInfoKeys: expected a list of keys, got "a" |
    | {"requiredUserInfoKeys":["a",1]} | .requiredUserInfoKeys[1]: expected text, got 1 |
    | {"requiredUserInfoKeys":["\u0000"]} | .requiredUserInfoKeys[0]: expected text without NUL |
    | {"keywords":{}} | .keywords: expected a list of keywords, got a dictionary |
    | {"keywords":[null]} | .keywords[0]: expected text, got null |
    | {"persistentIdentifier":1.5} | .persistentIdentifier: expected text, got 1.5 |
    | {"expirationDate":1777636800} | .expirationDate: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got 1777636800 |
    | {"expirationDate":"2026-12-31"} | .expirationDate: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got "2026-12-31" |
    | {"expirationDate":"2026-12-31T00:00:00"} | .expirationDate: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got "2026-12-31T00:00:00" |
    | {"visibility":"none"} | .visibility: expected "all", "application" or "ownProcess", got "none" |
    | {"visibility":true} | .visibility: expected "all", "application" or "ownProcess", got true |
    | {"visibility":"All"} | .visibility: expected "all", "application" or "ownProcess", got "All" |
    """#)

  @Test(arguments: activities)
  func `of an activity`(json: String, message: String) {
    #expect(fault("{\"activity\":\(json)}") == "activity\(message)")
  }

  private static let items: [(String, String)] = pairs(
    #"""
    | "a" | : expected an item, got "a" |
    | {"suggestedName":1} | .suggestedName: expected text, got 1 |
    | {"suggestedName":"\u0000"} | .suggestedName: expected text without NUL |
    | {"activities":{}} | .activities: expected a list of activities, got a dictionary |
    | {"activities":[{"activityType":"a"},{"activityType":2}]} | .activities[1].activityType: expected the type of the activity, got 2 |
    | {"activities":[{"activityType":"a","userInfo":{"when":{"$date":"yesterday"}}}]} | .activities[0].userInfo.when: expected an RFC 3339 date, such as 2026-12-31T00:00:00Z, got "yesterday" |
    | {"representations":false} | .representations: expected a list of representations, got false |
    | {"representations":["a"]} | .representations[0]: expected a representation, got "a" |
    """#)

  @Test(arguments: items)
  func `of an item`(json: String, message: String) {
    #expect(fault("{\"items\":[{},\(json)]}") == "items[1]\(message)")
  }

  private static let image = "expected a content type such as image/png or public.png, got "
  private static let file = "expected a file URL such as file:///home/user/Beach.png, got "
  private static let representations: [(String, String)] = pairs(
    #"""
    | {"text":""} | .type: expected a MIME type or a uniform type identifier, got nothing |
    | {"text":"","mimeType":"text/plain"} | .type: expected a MIME type or a uniform type identifier, got nothing, beside the unknown key "mimeType" |
    | {"type":1,"text":""} | .type: expected a content type such as image/png or public.png, got 1 |
    | {"type":"image","text":""} | .type: \#(image)"image": there is neither a slash nor a dot |
    | {"type":"image/*","text":""} | .type: \#(image)"image/*": a wildcard stands for many types, and data has one |
    | {"type":"image/p\u0000g","text":""} | .type: expected text without NUL |
    | {"type":"image/png"} | : expected one of "data", "text" and "file", got none |
    | {"type":"image/png","text":null} | : expected one of "data", "text" and "file", got none |
    | {"type":"image/png","text":"","data":""} | : expected one of "data", "text" and "file", got 2 |
    | {"type":"image/png","text":"","data":"","file":"file:///a"} | : expected one of "data", "text" and "file", got 3 |
    | {"type":"image/png","data":"A"} | .data: expected data in base64, got "A" |
    | {"type":"image/png","data":[1]} | .data: expected data in base64, got a list |
    | {"type":"image/png","text":1} | .text: expected text, got 1 |
    | {"type":"image/png","file":1} | .file: \#(file)1 |
    | {"type":"image/png","file":"/home/user/Beach.png"} | .file: \#(file)"/home/user/Beach.png" |
    | {"type":"image/png","file":"file:///home/user/My Beach.png"} | .file: \#(file)"file:///home/user/My Beach.png"; a space is written %20, and each byte of a letter beyond ASCII likewise |
    | {"type":"image/png","text":"","openInPlace":"true"} | .openInPlace: expected true or false, got "true" |
    | {"type":"image/png","text":"","openInPlace":1} | .openInPlace: expected true or false, got 1 |
    | {"type":"image/png","text":"","visibility":"me"} | .visibility: expected "all", "application" or "ownProcess", got "me" |
    | {"type":"image/png","fd":3} | .fd: expected data, text or file; only the dictionaries of DeliverItems take descriptors and promises |
    | {"type":"image/png","text":"","provider":"/a"} | .provider: expected data, text or file; only the dictionaries of DeliverItems take descriptors and promises |
    """#)

  @Test(arguments: representations)
  func `of a representation`(json: String, message: String) {
    #expect(fault("{\"items\":[{\"representations\":[\(json)]}]}") == "items[0].representations[0]\(message)")
  }

  private static let sameTypes: [(String, String, String?)] = [
    ("image/png", "image/png", "image/png"), ("image/png", "public.png", "public.png"),
    ("public.png", "image/png", "image/png"), ("image/x-png", "IMAGE/PNG", "IMAGE/PNG"),
    ("public.utf8-plain-text", "text/plain; charset=UTF-8", "text/plain; charset=UTF-8"), ("a.b", "A.B", "A.B"),
    ("a/b;c=d;e=f", "a/b;e=f;c=d", "a/b;e=f;c=d"), ("text/plain", "text/plain;charset=utf-8", nil),
    ("image/png", "image/webp", nil), ("a.b", "a/b", nil),
  ]

  @Test(arguments: sameTypes)
  func `a type occurs once in an item, by whatever name`(one: String, other: String, told: String?) throws {
    let json = """
      {"items":[{"representations":[{"type":"\(one)","text":""},{"type":"x/y","text":""},{"type":"\(other)","text":""}]},
        {"representations":[{"type":"\(one)","text":""}]}]}
      """
    guard let told else {
      _ = try Payload(json: Text(json), PayloadTests.rules)
      return
    }
    #expect(fault(json) == "items[0].representations[2].type: expected each type once in an item, got \"\(told)\"")
  }

  @Test func `representation text and userInfo may hold NUL, since they do not travel as text`() throws {
    let json =
      #"{"items":[{"activities":[{"activityType":"a","userInfo":{"\u0000":"\u0000"}}],"representations":[{"type":"a/b","text":"\u0000"}]}]}"#
    let payload = try Payload(json: Text(json), PayloadTests.rules)
    #expect(payload.items[0].activities[0].userInfo == ["\0": "\0"])
    #expect(payload.items[0].representations[0].content == .text("\0"))
  }

  @Test(arguments: [
    ("activityType", Limits.name), ("targetContentIdentifier", Limits.text), ("title", Limits.text),
    ("persistentIdentifier", Limits.text),
  ])
  func `text has as many bytes as its limit, and not one more`(key: String, limit: Int) throws {
    // Characters of two bytes each, so that a count of letters would be wrong.
    func json(_ bytes: Int) -> String {
      let text = String(repeating: "é", count: bytes / 2) + (bytes % 2 == 1 ? "e" : "")
      return key == "activityType"
        ? "{\"activity\":{\"activityType\":\"\(text)\"}}"
        : "{\"activity\":{\"activityType\":\"a\",\"\(key)\":\"\(text)\"}}"
    }
    _ = try Payload(json: Text(json(limit)), PayloadTests.rules)
    let fault = #expect(throws: Fault.self) { try Payload(json: Text(json(limit + 1)), PayloadTests.rules) }
    #expect(fault == Fault(.limit, at: "activity.\(key)", "expected at most \(limit) bytes, got \(limit + 1)"))
  }
}
