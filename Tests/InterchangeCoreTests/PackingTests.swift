import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// The contents of deliveries are packed before the deliveries are decided.
@Suite struct PackingTests {
  private let stage = Stage(cats())

  private static let large = Allowance.smallParcel + 1

  @Test func `small contents are stored beside the delivery at once, and no file of the baggage store`() throws {
    let answer = stage.drop(.text(), .data(Allowance.smallParcel), .promise())
    let delivered = try #require(answer?.delivered)
    #expect(stage.baggage.packings.isEmpty)
    let entries = try #require(stage.shelf.baggage[delivered.delivery]).items[0]
    #expect(entries.map(\.parcel.size) == [5, Int64(Allowance.smallParcel), nil])
    #expect(entries[0].parcel.content == .data(Array("a cat".utf8)))
    #expect(entries[2].parcel.content == .promise(Promise(source: ":1.1", path: "/cat", item: 0, type: "image/jpeg")))
    // The document no longer has the content.
    let payload = try #require(stage.shelf.deliveries[delivered.delivery]).payload.string
    #expect(!payload.contains("a cat") && !payload.contains("/cat"))
  }

  @Test func `an activity alone carries nothing`() throws {
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    #expect(stage.shelf.baggage.isEmpty && stage.memory.baggage.isEmpty)
    stage.attach()
    #expect(stage.open(delivered)?.refusal?.name == .noSuchItem)
  }

  @Test func `large data, files and descriptors are packed first, and the decision waits`() throws {
    let answer = stage.drop(
      .data(Self.large, type: "image/webp"), .text(Text(String(repeating: "x", count: Self.large)), type: "text/html"),
      .file(), .file("b", type: "text/x-b", inPlace: true), .descriptor(3), .text())
    #expect(answer == nil)
    #expect(stage.shelf.deliveries.isEmpty && stage.shelf.sessions.isEmpty)
    let orders = try #require(stage.baggage.packings.first).orders
    #expect(orders.map(\.number) == [0, 1, 2, 3, 4])
    #expect(orders[2].source == .file("file:///home/user/a.png", inPlace: false))
    #expect(orders[2].place == "items[0].representations[2].file")
    #expect(orders[4].source == .descriptor(3))
    stage.baggagePacks([nil, nil, 7, 8, nil])
    let delivered = try #require(stage.answer?.delivered)
    #expect(orders.allSatisfy { $0.delivery == delivered.delivery })
    let parcels = try #require(stage.shelf.baggage[delivered.delivery]).items[0].map(\.parcel)
    #expect(parcels[2] == Parcel(.kept(2), size: 7))
    #expect(parcels[3] == Parcel(.file("file:///home/user/b"), size: 8))
    #expect(parcels[4] == Parcel(.held(4), size: nil))
    #expect(parcels[5].content == .data(Array("a cat".utf8)))
  }

  @Test func `a promise that is to be kept is fetched, and its source may forget it`() throws {
    stage.drop(.promise()) { $0.keepPromises = true }
    let promise = Promise(source: ":1.1", path: "/cat", item: 0, type: "image/jpeg")
    #expect(stage.baggage.packings.first?.orders.map(\.source) == [.promise(promise)])
    stage.baggagePacks([9])
    let delivered = try #require(stage.answer?.delivered)
    #expect(stage.shelf.baggage[delivered.delivery]?.items[0].map(\.parcel) == [Parcel(.kept(0), size: 9)])
    #expect(stage.errands.contains(.endPromises([promise])))
  }

  @Test func `what is refused packs nothing, and packing that fails refuses the call`() {
    #expect(stage.drop(.descriptor()) { $0.application = "org.example.Dogs" }?.refusal != nil)
    #expect(stage.baggage.packings.isEmpty && stage.parcels.isEmpty)
    stage.drop(.descriptor(), .file())
    stage.baggageFails()
    #expect(stage.answer?.refusal?.message == "there is no such file")
    #expect(stage.parcels.isEmpty && stage.shelf.deliveries.isEmpty && stage.memory.packings.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `a decision that is refused after the packing frees what was packed`() {
    let stage = Stage()
    stage.call(.register(cats(), size: 1))
    stage.drop(.descriptor())
    let call = stage.lastCall
    stage.call(.unregister("org.example.Cats"))
    stage.baggagePacks()
    #expect(stage.answers[call]?.refusal != nil)
    #expect(stage.parcels.isEmpty && stage.memory.packings.isEmpty)
  }

  @Test func `a turn that the store refuses leaves nothing behind, and the call is answered once`() throws {
    stage.drop(.descriptor(), .text())
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.answer?.refusal?.name == .storageFailed)
    #expect(stage.parcels.isEmpty && stage.shelf.baggage.isEmpty && stage.memory.baggage.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
    // A later report about the same packing has no effect.
    stage.play(.packed(stage.lastCall, .packed([1])))
    stage.drop(.descriptor())
    stage.baggagePacks()
    #expect(stage.answer?.delivered != nil)
  }

  // MARK: Two calls with one token

  @Test(arguments: [true, false])
  func `two calls with one token make one delivery, and the other's contents are freed`(inOneTurn: Bool) throws {
    for _ in 0..<2 { stage.drop(.descriptor()) { $0.token = "once" } }
    let packings = stage.baggage.packings
    func pack(_ stage: Stage) { for _ in 0..<2 { stage.baggagePacks() } }
    if inOneTurn { stage.turn(pack) } else { pack(stage) }
    let answers = packings.map { stage.answers[$0.number]?.delivered }
    #expect(answers.count == 2 && answers[0] != nil && answers[0] == answers[1])
    #expect(stage.shelf.deliveries.count == 1)
    #expect(Array(stage.parcels.keys) == [packings[0].orders[0].delivery])
    // A third call packs nothing.
    #expect(stage.drop(.descriptor()) { $0.token = "once" }?.delivered == answers[0])
    #expect(stage.baggage.packings.isEmpty)
  }

  @Test func `a second call with a token whose contents cannot be packed gets the answer of the first`() throws {
    for _ in 0..<2 { stage.drop(.descriptor(), .file()) { $0.token = "once" } }
    let payload = stage.payload([.descriptor(), .file()]) { $0.token = "each" }
    for _ in 0..<2 { stage.call(.deliverEach(payload, digest: "d", size: 1)) }
    for _ in 0..<2 {
      stage.baggagePacks()
      stage.baggageFails()
    }
    #expect(stage.answers[1]?.delivered != nil && stage.answers[1] == stage.answers[2])
    #expect(stage.answers[3]?.items != nil && stage.answers[3] == stage.answers[4])
    #expect(stage.shelf.deliveries.count == 2 && stage.parcels.count == 2)
  }

  @Test func `each item by itself: two calls with one token make each delivery once`() throws {
    let payload = twoItems(of: stage) { $0.token = "once" }
    for _ in 0..<2 { stage.call(.deliverEach(payload, digest: "d", size: 1)) }
    for _ in 0..<2 { stage.baggagePacks() }
    #expect(stage.answer == stage.answers[stage.lastCall - 1])
    #expect(stage.shelf.deliveries.count == 2 && stage.parcels.count == 2)
  }

  // MARK: Each item by itself

  private func twoItems(of stage: Stage, _ change: (inout PayloadOptions) -> Void = { _ in }) -> Payload {
    var payload = stage.payload([.descriptor(0)], "1", change)
    payload.items += stage.payload([.descriptor(1)], "2").items
    return payload
  }

  @Test func `with best effort the contents of an item that is refused are freed, and else all of them`() throws {
    for batch in [PayloadOptions.Batch.bestEffort, .allOrNothing] {
      let stage = Stage(cats())
      var payload = twoItems(of: stage) { $0.batch = batch }
      payload.items[0].activities[0].activityType = "unknown"
      stage.call(.deliverEach(payload, digest: "", size: 1))
      stage.baggagePacks()
      guard batch == .bestEffort else {
        #expect(stage.answer?.refusal != nil)
        #expect(stage.parcels.isEmpty && stage.shelf.deliveries.isEmpty)
        continue
      }
      let items = try #require(stage.answer?.items)
      let delivered = try #require(items[1].delivered)
      #expect(items[0].refusal != nil && stage.parcels == [delivered.delivery: [1]])
      #expect(stage.shelf.baggage[delivered.delivery]?.items.count == 1)
    }
  }

  @Test func `with best effort an item that cannot be taken leaves the others`() throws {
    for batch in [PayloadOptions.Batch.bestEffort, .allOrNothing] {
      let stage = Stage(cats())
      var payload = stage.payload([.file(), .descriptor()], "1")
      payload.items += stage.payload([.file(), .promise("/a")], "2").items + stage.payload([], "3").items
      payload.options.batch = batch
      stage.call(.deliverEach(payload, digest: "digest", size: 100))
      let task = stage.baggage.packings.removeFirst()
      #expect(task.orders.map(\.item) == [0, 0, 1])
      for order in task.orders where order.item == 0 { stage.keep(order) }
      let error = InterchangeError(.invalidPayload, "no such file")
      guard batch == .bestEffort else {
        stage.play(.packed(task.number, .failed(error)))
        #expect(stage.answer == .refused(error) && stage.parcels.isEmpty)
        continue
      }
      stage.play(.packed(task.number, .packed([7, nil, nil], failures: [1: error])))
      let items = try #require(stage.answer?.items)
      #expect(items.count == 3 && items[1] == .refused(error))
      #expect(stage.shelf.deliveries.count == 2 && stage.shelf.baggage.count == 1)
      #expect(stage.endedPromises == [["/a"]])
    }
  }

  // MARK: Senders

  private func painter() -> Manifest { cats { $0.contentTypes = [contentType("public.image")] } }

  @Test func `a sandboxed sender hands over declared types only, and nothing else is kept`() throws {
    let stage = Stage(painter())
    let delivered = try stage.packed(
      .descriptor(0, type: "image/gif"), .descriptor(1, type: "text/plain"), by: .sandbox("org.example.Mail"))
    #expect(stage.shelf.baggage[delivered.delivery]?.items[0].map(\.type.name) == ["image/gif"])
    #expect(stage.parcels == [delivered.delivery: [0]])
    // If no representation remains, no baggage is kept.
    let other = try stage.packed(.descriptor(0, type: "text/plain"), by: .sandbox("org.example.Mail"))
    #expect(stage.shelf.baggage[other.delivery] == nil)
    #expect(stage.parcels == [delivered.delivery: [0]])
  }

  @Test func `a sandboxed sender renews what its own application has promised`() throws {
    let stage = Stage(painter())
    let answer = stage.drop(.promise(type: "image/gif"), by: .sandbox("org.example.Box", 1)) { $0.token = "t" }
    let delivered = try #require(answer?.delivered)
    let renewal = Ask.renewPromises(token: "t")
    #expect(stage.call(renewal, by: .sandbox("org.example.Other", 1))?.refusal?.name == .noSuchDelivery)
    #expect(stage.call(renewal, by: .sandbox("org.example.Box", 2)) == .done)
    #expect(stage.shelf.baggage[delivered.delivery]?.promises.map(\.source) == [":3.2"])
  }

  @Test func `a sandboxed sender names no files in URLs and in lists of URIs`() {
    let sandbox = Caller.sandbox("org.example.Mail")
    #expect(stage.drop(.file(), by: sandbox)?.refusal?.name == .accessDenied)
    #expect(stage.baggage.packings.isEmpty)
    for (url, isFile) in [
      ("file:///etc/hostname", true), ("FILE:/etc/hostname", true), ("https://example.org/a", false),
    ]
      as [(Text, Bool)]
    {
      var payload = stage.activity("view", "1")
      payload.items[0].activities[0].webpageURL = url
      let refusal = stage.call(.deliver(payload, digest: "digest", size: 100), by: sandbox)?.refusal
      #expect((refusal?.name == .accessDenied) == isFile, "\(url)")
    }
    let lists: [(Text, Text, Bool)] = [
      ("text/uri-list", "# a comment\r\nhttps://example.org/\r\nfile:///etc/hostname\r\n", true),
      ("text/uri-list", "https://example.org/file:///etc/hostname", false),
      ("text/uri-list;charset=utf-8", " /etc/hostname", true), ("Text/X-Moz-URL", "file:///a\nA", true),
      ("public.file-url", "file:///etc/hostname", true), ("x-scheme-handler/file", "file:///etc/hostname", true),
      ("x-special/gnome-copied-files", "copy\nfile:///etc/a", true),
      ("text/plain", "file:///etc/hostname", false),
    ]
    for (type, text, isFile) in lists {
      let bytes = text.withBytes { [UInt8]($0) }
      for content in [Representation.Content.text(text), .data(bytes)] {
        let refusal = stage.drop(Representation(type: contentType(type), content), by: sandbox)?.refusal
        #expect((refusal?.name == .accessDenied) == isFile, "\(type) \(text)")
        // A program outside may name any file.
        #expect(stage.drop(Representation(type: contentType(type), content))?.refusal == nil)
      }
    }
  }

  @Test func `a caller without a name promises nothing`() {
    let caller = Caller(connection: nil, isSandboxed: false, application: .empty)
    #expect(stage.drop(.promise(), by: caller)?.refusal?.name == .invalidPayload)
  }

  @Test func `there are as many representations as the limit says, and not one more`() {
    var payload = stage.payload([])
    let item = Item(representations: [Representation](repeating: .text(), count: 100))
    payload.items += [Item](repeating: item, count: Limits.representations / 100)
    #expect(stage.call(.deliver(payload, digest: "", size: 1))?.delivered != nil)
    payload.items[0].representations = [.text()]
    #expect(stage.call(.deliver(payload, digest: "", size: 1))?.refusal?.name == .limitsExceeded)
  }
}
