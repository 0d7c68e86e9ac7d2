import DBus
import DBusTestSupport
import Foundation
import Testing

/// Keys of a portal's file transfer, with which a toolkit drags files out of a sandbox. The document portal needs FUSE, so a program of the test owns
/// the portal's name, and answers as the portal does.
@Suite(.serialized) struct PortalTests {
  /// A portal that returns these files once for each key.
  private func withPortal(_ files: [String: [String]], in house: House, _ body: () async throws -> Void) async throws {
    let rest = Lock(files)
    try await withPortal(in: house) { key, reply in
      if let files = rest.withLock({ $0.removeValue(forKey: key) }) {
        reply.send(files)
      } else {
        reply.fail(ErrorReply("org.freedesktop.DBus.Error.AccessDenied", "Invalid transfer"))
      }
    } _: {
      try await body()
    }
  }

  private func withPortal(
    in house: House, answer: @escaping @Sendable (String, Reply<[String]>) -> Void, _ body: () async throws -> Void
  ) async throws {
    let portal = try await house.bus.connect()
    var interface = Interface("org.freedesktop.portal.FileTransfer")
    interface.method("RetrieveFiles", in: "key", "options", out: "files") {
      (reply: Reply<[String]>, key: String, _: [String: Variant]) in answer(key, reply)
    }
    portal.export(interface, at: "/org/freedesktop/portal/documents")
    _ = try await portal.requestName("org.freedesktop.portal.Documents", .doNotQueue)
    try await portal.whileOpen(body)
  }

  private func document(_ content: String) -> String {
    #"{"items": [{"activities": [{"activityType": "viewCat", "targetContentIdentifier": "cat1"}], "representations": ["#
      + #"{"type": "application/vnd.portal.filetransfer", \#(content)}]}], "options": {"application": "org.example.Cats"}}"#
  }

  @Test(.house)
  func `a key stands for its files, also in a sandbox, and what is behind it keeps its number`() async throws {
    try house.knowFileTypes()
    try await house.carrying { host in
      let (picture, notes) = (try house.file("A beach.png", "the sea"), try house.file("notes.txt", "milk"))
      let files = ["one": [picture, notes], "two": [picture], "three": [notes], "four": [picture, notes]]
      try await withPortal(files, in: house) {
        let landing = try await house.deliver(document(#""text": "one""#))
        #expect(try await host.text(landing.delivery, 0, "image/png") == "the sea")
        #expect(try await host.text(landing.delivery, 1, "text/plain") == "milk")
        let options = try #require(try await host.asked(1, "ConnectScene").first).options
        #expect(options["items"]?.elements.map { $0["suggestedName"]?.string } == ["A beach.png", "notes.txt"])
        #expect(!"\(options)".contains("filetransfer") && !"\(options)".contains(picture))
        try await host.settle()

        // GTK ends the key with a zero.
        let data = document(#""data": "\#(Data("two\0".utf8).base64EncodedString())""#)
        _ = try await house.deliver(data, from: "org.example.Cats")
        let again = try #require(try await host.asked(1, "ContinueScene").first).options
        let delivery = try #require(again["delivery"]?.string)
        #expect(try await host.text(delivery, 0, "image/png") == "the sea")
        try await host.settle()

        let begun = try await house.call("BeginDrag", "string:\(document(#""text": "three""#))")
        #expect("\(begun)".contains("drag"), "\(begun)")
        // Each key is good for one transfer.
        let late = try await house.refusal("Deliver", "string:\(document(#""text": "one""#))")
        #expect(late.name == "org.stagedoor.Error.InvalidPayload")
        #expect(late.message.hasPrefix("items[0].representations[0]: the portal does not accept this key: "))

        let key = #"{"representations": [{"type": "application/vnd.portal.filetransfer", "text": "four"}]}"#
        let text = #"{"representations": [{"type": "text/html", "text": "<p>behind</p>"}]}"#
        let both = #"{"items": [\#(key), \#(text)], "options": {"application": "org.example.Cats", "token": "t"}}"#
        let first = try await house.deliver(both)
        #expect(try await host.text(first.delivery, 1, "text/html") == "<p>behind</p>")
        #expect(try await host.text(first.delivery, 2, "text/plain") == "milk")
        // A token is answered without the portal.
        let second = try await house.deliver(both)
        #expect(second.delivery == first.delivery && second.session == first.session)
      }
    }
  }

  @Test(.host)
  func `the key of a call that failed is put to the portal again, and is not handed over itself`() async throws {
    let file = try house.file("notes.txt", "milk")
    try await withPortal(["one": [file]], in: house) {
      let payload =
        #"{"items": [{"activities": [{"activityType": "viewCat"}], "representations": ["#
        + #"{"type": "application/vnd.portal.filetransfer", "text": "one"}]}], "#
        + #""options": {"application": "org.example.Cats", "token": "t", "wait": "handled"}}"#
      host.next("ConnectScene", .refuses(ErrorReply("org.example.Error.No", "no")))
      #expect(try await house.refusal("Deliver", "string:\(payload)").name == "org.stagedoor.Error.HostRefused")
      // This portal gives the files of a key once.
      let again = try await house.refusal("Deliver", "string:\(payload)")
      #expect(again.name == "org.stagedoor.Error.InvalidPayload")
      #expect(!"\(host.calls)".contains("filetransfer"), "\(host.calls)")
    }
  }

  @Test(.host) func `a stranger's drag takes no key`() async throws {
    let file = try house.file("notes.txt", "milk")
    try await withPortal(["one": [file]], in: house) {
      let activity = #"{"activityType": "viewCat", "targetContentIdentifier": "cat1"}"#
      let stranger = #"{"activity": \#(activity), "options": {"asStranger": true}}"#
      let drag = try await house.call("BeginDrag", "string:\(stranger)")[0].text
      let item = Things.item(Things.text("one", "application/vnd.portal.filetransfer"))
      let source = try await house.bus.connect()
      try await expectError("org.stagedoor.Error.InvalidPayload") {
        try await house.object(drag, House.drag, over: source).call("AddItems", [item])
      }
      // Nobody asked the portal, which gives the files of a key once.
      #expect(try await house.call("BeginDrag", "string:\(document(#""text": "one""#))").count == 2)
    }
  }

  @Test(.host) func `a sender waits for the portal with four calls at most, and others go on`() async throws {
    let waiting = Lock<[Reply<[String]>]>([])
    try await withPortal(in: house) { _, reply in
      waiting.withLock { $0.append(reply) }
    } _: {
      let sender = try await house.bus.connect()
      let document = document(#""text": "one""#)
      func deliver() async throws -> ErrorReply? {
        try await refused { _ = try await house.deliver(document, over: sender) }
      }
      let calls = (0..<4).map { _ in Task { try await deliver() } }
      try await eventually("four calls at the portal") { waiting.withLock { $0.count } == 4 }
      #expect(try await deliver()?.name == .limitsExceeded)
      // Other callers do not wait behind these calls.
      #expect(try await house.drop("viewCat", "cat2").outcome == "created")
      for reply in waiting.withLock(\.self) { reply.send([]) }
      for call in calls { #expect(try await call.value?.name == "org.stagedoor.Error.InvalidPayload") }
      let fifth = Task { try await deliver() }
      try await eventually("the fifth at the portal") { waiting.withLock { $0.count } == 5 }
      waiting.withLock { $0.last }?.send([])
      #expect(try await fifth.value?.name == "org.stagedoor.Error.InvalidPayload")
    }
  }

  @Test(.host)
  func `a key without a portal, without files, or of a file that cannot be read changes nothing`() async throws {
    let before = try await house.eventSequence()
    let alone = try await house.refusal("Deliver", "string:\(document(#""text": "one""#))")
    #expect(alone.name == "org.stagedoor.Error.InvalidPayload", "\(alone)")
    let good = try house.file("good.txt", "good")
    // A sandbox that may write to a folder makes these links after the portal has noted the paths.
    let (link, folder) = (good + "-link", URL(filePath: good).deletingLastPathComponent().path + "-link")
    symlink(good, link)
    symlink(URL(filePath: good).deletingLastPathComponent().path, folder)
    let many = (0...1000).map { _ in good }
    try await withPortal(
      [
        "none": [], "gone": [good, "/nowhere/at/all"], "folder": ["/tmp"], "many": many, "link": [link],
        "other": ["\(folder)/good.txt"],
      ], in: house
    ) {
      for (key, reason) in [
        "none": "no files", "gone": "No such file", "folder": "directory", "link": "symbolic links",
        "other": "symbolic links",
      ] {
        let refusal = try await house.refusal("Deliver", "string:\(document(#""text": "\#(key)""#))")
        #expect(
          refusal.name == "org.stagedoor.Error.InvalidPayload" && refusal.message.contains(reason), "\(refusal)")
      }
      let many = try await house.refusal("Deliver", "string:\(document(#""text": "many""#))")
      #expect(many.name.hasSuffix("LimitsExceeded"), "\(many)")
      let file = try await house.refusal("Deliver", "string:\(document(#""file": "file://\#(good)""#))")
      #expect(file.message.contains(#"expected the key as "text" or "data""#), "\(file)")
    }
    #expect(try await house.eventSequence() == before)
    #expect(host.calls.isEmpty)
  }
}
