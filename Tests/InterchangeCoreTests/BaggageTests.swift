import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// The contents of deliveries are packed before the deliveries are decided.
@Suite struct PackingTests {
  private static let large = Allowance.smallParcel + 1

  @Test func `small contents are stored beside the delivery at once, and no file of the baggage store`() throws {
    let stage = Stage(cats())
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
    let stage = Stage(cats())
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    #expect(stage.shelf.baggage.isEmpty && stage.memory.baggage.isEmpty)
    stage.attach()
    #expect(stage.open(delivered)?.refusal?.name == .noSuchItem)
  }

  @Test func `large data, files and descriptors are packed first, and the decision waits`() throws {
    let stage = Stage(cats())
    let answer = stage.drop(
      .data(Self.large, type: "image/webp"), .text(Text(String(repeating: "x", count: Self.large)), type: "text/html"),
      .file(),
      .file("b", type: "text/x-b", inPlace: true), .descriptor(3), .text())
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
    let stage = Stage(cats())
    stage.drop(.promise()) { $0.keepPromises = true }
    let promise = Promise(source: ":1.1", path: "/cat", item: 0, type: "image/jpeg")
    #expect(stage.baggage.packings.first?.orders.map(\.source) == [.promise(promise)])
    stage.baggagePacks([9])
    let delivered = try #require(stage.answer?.delivered)
    #expect(stage.shelf.baggage[delivered.delivery]?.items[0].map(\.parcel) == [Parcel(.kept(0), size: 9)])
    #expect(stage.errands.contains(.endPromises([promise])))
  }

  @Test func `what is refused packs nothing`() {
    let stage = Stage(cats())
    stage.call(.deliver(stage.payload([.descriptor()]) { $0.application = "org.example.Dogs" }, digest: "", size: 1))
    #expect(stage.answer?.refusal != nil)
    #expect(stage.baggage.packings.isEmpty && stage.parcels.isEmpty)
  }

  @Test func `packing that fails refuses the call, and what was packed is freed`() {
    let stage = Stage(cats())
    stage.drop(.descriptor(), .file())
    stage.baggageFails()
    #expect(stage.answer?.refusal?.message == "there is no such file")
    #expect(stage.parcels.isEmpty && stage.shelf.deliveries.isEmpty && stage.memory.packings.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `a decision that is refused after the packing frees what was packed`() {
    let stage = Stage(cats())
    stage.drop(.descriptor())
    // The application is removed meanwhile.
    stage.play(.installed([:], keeping: []))
    stage.call(.register(cats("org.example.Dogs"), size: 1))
    var payload = stage.payload([.descriptor()])
    payload.options.application = "org.example.Dogs"
    stage.call(.deliver(payload, digest: "", size: 1))
    let call = stage.lastCall
    stage.baggagePacks()
    stage.call(.unregister("org.example.Dogs"))
    stage.baggagePacks()
    #expect(stage.answers[call]?.refusal != nil)
    #expect(stage.memory.packings.isEmpty)
  }

  @Test func `a turn that the store refuses leaves nothing behind, and the call is answered once`() throws {
    let stage = Stage(cats())
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

  @Test func `a call whose turn the store refuses packs nothing`() {
    let stage = Stage(cats())
    stage.turn(refused: true) { $0.drop(.descriptor()) }
    #expect(stage.baggage.packings.isEmpty && stage.memory.packings.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `two calls with one token make one delivery, and the other's contents are freed`() throws {
    let stage = Stage(cats())
    for _ in 0..<2 { stage.drop(.descriptor()) { $0.token = "once" } }
    #expect(stage.baggage.packings.count == 2)
    let (first, second) = (stage.baggage.packings[0], stage.baggage.packings[1])
    stage.baggagePacks()
    stage.baggagePacks()
    let answers = [first, second].map { stage.answers[$0.number]?.delivered }
    #expect(answers[0] != nil && answers[0] == answers[1])
    #expect(stage.shelf.deliveries.count == 1)
    #expect(stage.parcels.keys.map { $0 } == [first.orders[0].delivery])
    // A third call packs nothing.
    #expect(stage.drop(.descriptor()) { $0.token = "once" }?.delivered == answers[0])
    #expect(stage.baggage.packings.isEmpty)
  }

  @Test func `where the contents of the second call with a token cannot be packed, it gets the answer of the first`()
    throws
  {
    let stage = Stage(cats())
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

  @Test func `two calls with one token whose packing ends in one turn make one delivery`() throws {
    let stage = Stage(cats())
    for _ in 0..<2 { stage.drop(.descriptor()) { $0.token = "once" } }
    let numbers = stage.baggage.packings.map(\.number)
    stage.turn { stage in
      stage.baggagePacks()
      stage.baggagePacks()
    }
    #expect(stage.answers[numbers[0]] == stage.answers[numbers[1]])
    #expect(stage.parcels.count == 1)
  }

  @Test func `each item by itself: the contents of an item that fails are freed`() throws {
    let stage = Stage(cats())
    var payload = stage.payload([.descriptor(0)], "1") { $0.batch = .bestEffort }
    payload.items.append(stage.payload([.descriptor(1)], "2").items[0])
    payload.items[0].activities[0].activityType = "unknown"
    stage.call(.deliverEach(payload, digest: "", size: 1))
    stage.baggagePacks()
    let items = try #require(stage.answer?.items)
    #expect(items[0].refusal != nil)
    let delivered = try #require(items[1].delivered)
    #expect(stage.parcels == [delivered.delivery: [1]])
    #expect(stage.shelf.baggage[delivered.delivery]?.items.count == 1)
  }

  @Test func `each item by itself, all or nothing: where one fails all are freed`() throws {
    let stage = Stage(cats())
    var payload = stage.payload([.descriptor(0)], "1")
    payload.items.append(stage.payload([.descriptor(1)], "2").items[0])
    payload.items[1].activities[0].activityType = "unknown"
    stage.call(.deliverEach(payload, digest: "", size: 1))
    stage.baggagePacks()
    #expect(stage.answer?.refusal != nil)
    #expect(stage.parcels.isEmpty && stage.shelf.deliveries.isEmpty)
  }

  @Test func `each item by itself: two calls with one token make each delivery once`() throws {
    let stage = Stage(cats())
    var payload = stage.payload([.descriptor(0)], "1") { $0.token = "once" }
    payload.items.append(stage.payload([.descriptor(1)], "2").items[0])
    for _ in 0..<2 { stage.call(.deliverEach(payload, digest: "d", size: 1)) }
    stage.baggagePacks()
    stage.baggagePacks()
    #expect(stage.answer == stage.answers[stage.lastCall - 1])
    #expect(stage.shelf.deliveries.count == 2 && stage.parcels.count == 2)
  }

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

  @Test func `a sandboxed sender names no files`() {
    let stage = Stage(cats())
    #expect(stage.drop(.file(), by: .sandbox("org.example.Mail"))?.refusal?.name == .accessDenied)
    #expect(stage.baggage.packings.isEmpty)
  }

  @Test func `a sandboxed sender names no files in URLs and in lists of URIs`() {
    let stage = Stage(cats())
    let sandbox = Caller.sandbox("org.example.Mail")
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

  @Test func `each content in a file of its own is charged as a block`() throws {
    let stage = Stage(cats())
    let promises = (0..<100).map { Representation.promise(Text("/\($0)"), type: Text("image/x-\($0)")) }
    stage.call(
      .deliver(stage.payload(promises) { $0.keepPromises = true }, digest: "digest", size: 100))
    stage.baggagePacks((0..<100).map { _ in 4 })
    #expect(stage.answer?.delivered != nil)
    #expect(stage.book.ledger.total(.baggage) == 100 * Parcel.smallestFile)
    // Beside the delivery they take no file.
    stage.drop(.text("a"), .text("b", type: "text/html"), by: .other)
    #expect(stage.book.ledger.total(.baggage) == 100 * Parcel.smallestFile + Allowance.smallestBaggage)
  }

  @Test func `what a host says of sessions that are gone is not logged`() throws {
    let stage = Stage(cats())
    let session = try #require(stage.drop("view") { $0.isPrivate = true }?.delivered?.session)
    stage.attach()
    stage.hostAnswersAll()
    stage.call(.destroy(session, animation: "standard"))
    while !stage.asked.isEmpty { stage.hostAnswers(.refused("the secret words")) }
    #expect(
      stage.sayings.contains {
        if case .log(.warning, let line) = $0 { line.string.contains("Discard") } else { false }
      })
    #expect(!stage.sayings.contains { "\($0)".contains("secret") })
  }

  @Test func `a caller without a name promises nothing`() {
    let stage = Stage(cats())
    let caller = Caller(connection: nil, isSandboxed: false, application: .empty)
    #expect(stage.drop(.promise(), by: caller)?.refusal?.name == .invalidPayload)
  }

  @Test func `there are as many representations as the limit says, and not one more`() {
    let stage = Stage(cats())
    var payload = stage.payload([])
    let item = Item(representations: [Representation](repeating: .text(), count: 100))
    payload.items += [Item](repeating: item, count: Limits.representations / 100)
    #expect(stage.call(.deliver(payload, digest: "", size: 1))?.delivered != nil)
    payload.items[0].representations = [.text()]
    #expect(stage.call(.deliver(payload, digest: "", size: 1))?.refusal?.name == .limitsExceeded)
  }

  @Test func `a sender that leaves while its contents are packed has sent them all the same`() throws {
    let stage = Stage(cats())
    stage.drop(.descriptor())
    stage.callerLeaves(.shell)
    stage.baggagePacks()
    #expect(stage.shelf.deliveries.count == 1)
  }
}

/// Who may open which contents, and when the contents are freed.
@Suite struct BaggageTests {
  @Test(arguments: [Visibility.all, .application, .ownProcess])
  func `who may open`(_ visibility: Visibility) throws {
    let stage = Stage(hosting: cats(), cats("org.example.Dogs"))
    stage.attach("org.example.Dogs", as: .other)
    // From another application, from another connection of the same application, and from its host.
    let sandboxed = Caller.sandbox("org.example.Cats", 1)
    for sender in [Caller.shell, sandboxed, .host] {
      let delivered = try stage.handled(.text("x", visibility), key: "1", by: sender)
      let isAllowed =
        switch visibility {
        case .all: true
        case .application: sender != .shell
        case .ownProcess: sender == .host
        }
      stage.open(delivered)
      if isAllowed {
        stage.baggageOpens(size: 1)
        #expect(stage.answer?.size == 1)
      } else {
        #expect(stage.answer?.refusal?.name == .noSuchItem)
      }
      #expect(stage.baggage.openings.isEmpty)
      // The host of another application, the sender, and everyone else have no right to any content.
      for caller in [Caller.other, .shell, sandboxed, .stranger, .shell(7)] {
        #expect(stage.open(delivered, by: caller)?.refusal?.name == .accessDenied)
        #expect(stage.call(.release(delivered.delivery), by: caller)?.refusal?.name == .accessDenied)
      }
    }
  }

  @Test func `hidden representations are absent, also from what the refusal says`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.text("x", type: "text/html", .ownProcess), .text("y"))
    stage.open(delivered)
    #expect(stage.baggage.openings.first?.parcel.content == .data(Array("y".utf8)))
    let refusal = stage.open(delivered, 0, "text/html")?.refusal
    #expect(refusal?.name == .noSuchItem)
    #expect(refusal?.message.contains("it has text/plain") == true)
  }

  @Test func `who asks for a type gets that type before one that conforms to it`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.text("<p>x", type: "text/html"), .text("x"))
    for (type, text) in [
      ("text/plain", "x"), ("public.plain-text", "x"), ("text/*", "<p>x"), ("", "<p>x"),
    ] as [(Text, String)] {
      stage.open(delivered, 0, type)
      #expect(stage.baggage.openings.first?.parcel.content == .data(Array(text.utf8)), "\(type)")
      stage.baggageOpens(size: 1)
    }
  }

  @Test func `a type is found by conformance, and the first that conforms is the best`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.text("x"), .data(1, type: "image/png"), .data(2, type: "image/jpeg"))
    let expected: [(Text, Int64)] = [
      ("", 1), ("image/png", 1), ("public.png", 1), ("image/*", 1), ("public.image", 1), ("image/jpeg", 2),
      ("text/plain", 1), ("*/*", 1),
    ]
    for (type, size) in expected {
      stage.open(delivered, 0, type)
      let parcel = try #require(stage.baggage.openings.first, "\(type)").parcel
      #expect(parcel.size == size, "\(type)")
      #expect((parcel.content == .data([120])) == ["", "text/plain", "*/*"].contains(type), "\(type)")
      stage.baggageOpens(size: size)
    }
    #expect(stage.open(delivered, 0, "video/mp4")?.refusal?.name == .noSuchItem)
    #expect(stage.open(delivered, 0, "no type")?.refusal?.name == .invalidArgs)
    #expect(stage.open(delivered, 1)?.refusal?.name == .noSuchItem)
    #expect(stage.open(delivered, -1)?.refusal?.name == .noSuchItem)
    #expect(stage.open(delivered, .max)?.refusal?.name == .noSuchItem)
  }

  @Test func `a sandbox does not learn whose another's delivery is`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.text())
    func refusal(_ caller: Caller) -> String? { stage.open(delivered, by: caller)?.refusal?.message }
    for stranger in [Caller.stranger, .sandbox("org.example.Dogs")] {
      #expect(refusal(stranger) == "only the attached host of its application may do that")
    }
    #expect(refusal(.sandbox("org.example.Cats")) == "only the attached host of org.example.Cats may do that")
    #expect(refusal(.other) == "only the attached host of org.example.Cats may do that")
  }

  @Test func `nobody opens what there is not`() {
    let stage = Stage(hosting: cats())
    let unknown = UniqueIdentifier(high: 1, low: 1)
    #expect(stage.call(.openItem(unknown, item: 0, type: .empty), by: .host)?.refusal?.name == .noSuchDelivery)
    #expect(stage.call(.release(unknown), by: .host)?.refusal?.name == .noSuchDelivery)
  }

  @Test func `what the baggage store cannot open can be tried again`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.promise())
    stage.open(delivered)
    stage.baggageCannotOpen()
    #expect(stage.answer?.refusal?.name == .sourceGone)
    stage.open(delivered)
    stage.baggageOpens(size: nil)
    #expect(stage.answer?.size == -1)
    #expect(stage.memory.transfers.isEmpty)
  }

  // MARK: Freeing

  private func freed(_ stage: Stage, _ delivery: UniqueIdentifier) -> Int {
    stage.errands.count { $0 == .free([delivery]) }
  }

  @Test func `what its host releases is freed once, and its promises end`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.descriptor(), .promise("/a"), .promise("/a", type: "image/tiff"))
    #expect(stage.call(.release(delivered.delivery), by: .host) == .done)
    #expect(stage.call(.release(delivered.delivery), by: .host) == .done)
    #expect(freed(stage, delivered.delivery) == 1 && stage.parcels.isEmpty && stage.shelf.baggage.isEmpty)
    #expect(stage.endedPromises == [["/a"]])
    #expect(stage.open(delivered)?.refusal?.name == .noSuchItem)
    stage.passUntilQuiet(seconds: 700)
    #expect(freed(stage, delivered.delivery) == 1)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `a release whose turn the store refuses frees nothing`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.descriptor())
    stage.open(delivered)
    stage.turn(refused: true) { $0.call(.release(delivered.delivery), by: .host) }
    #expect(freed(stage, delivered.delivery) == 0)
    stage.baggageOpens()
    #expect(stage.memory.transfers.isEmpty)
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
  }

  @Test func `what is not released goes after its time`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.descriptor())
    stage.passUntilQuiet(seconds: 599)
    #expect(!stage.parcels.isEmpty)
    stage.passUntilQuiet(seconds: 1)
    #expect(freed(stage, delivered.delivery) == 1 && stage.parcels.isEmpty)
  }

  @Test func `what is held stays as long as it is held`() throws {
    let stage = Stage(cats())
    stage.drop(.descriptor()) { $0.statedDeadline = 3_600 }
    stage.baggagePacks()
    let delivered = try #require(stage.answer?.delivered)
    stage.passUntilQuiet(seconds: 3_000)
    stage.attach()
    stage.hostAnswersAll()
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
  }

  @Test func `it goes with its session`() throws {
    let stage = Stage(hosting: cats())
    let handled = try stage.handled(.descriptor())
    let open = try stage.packed(.descriptor())
    #expect(open.session == handled.session && stage.memory.baggageOfSession.count(of: open.session) == 2)
    stage.call(.destroy(handled.session, animation: "standard"))
    #expect(stage.parcels.isEmpty && stage.shelf.baggage.isEmpty)
    #expect(freed(stage, handled.delivery) == 1 && freed(stage, open.delivery) == 1)
  }

  @Test func `it goes when its delivery fails, is cancelled, or is claimed by nobody`() throws {
    let stage = Stage(cats())
    // A cancelled delivery.
    let cancelled = try stage.packed(.descriptor())
    #expect(stage.call(.cancel(cancelled.delivery)) == .done)
    #expect(stage.parcels.isEmpty && freed(stage, cancelled.delivery) == 1)
    // Nothing can start the application.
    let unclaimed = try stage.packed(.descriptor())
    let launch = stage.errands.compactMap { if case .launch(_, let number, _) = $0 { number } else { nil } }.last
    stage.play(.launch(application: "org.example.Cats", number: try #require(launch), .unknown))
    stage.passUntilQuiet(seconds: 21)
    #expect(stage.progress(of: unclaimed.delivery)?.state == .routed)
    #expect(stage.parcels.isEmpty && freed(stage, unclaimed.delivery) == 1)
    // The host refuses the delivery.
    stage.attach()
    let failed = try stage.packed(.descriptor())
    stage.hostAnswers(.refused("no"))
    #expect(stage.progress(of: failed.delivery)?.state == .failed)
    #expect(stage.parcels.isEmpty && freed(stage, failed.delivery) == 1)
  }

  @Test func `it goes where its delivery goes`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.descriptor(), key: "1") { $0.statedDeadline = 3_600 }
    let other = try stage.handled(.text(), key: "2")
    stage.pass(seconds: 590)
    #expect(stage.call(.redirect(delivered.delivery, to: other.session)) == .outcome("activated"))
    stage.call(.destroy(delivered.session, animation: "standard"))
    #expect(stage.parcels.keys.contains(delivered.delivery))
    stage.hostAnswersAll()
    // The delivery has its whole time again.
    stage.passUntilQuiet(seconds: 599)
    #expect(stage.parcels.keys.contains(delivered.delivery))
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
    stage.call(.destroy(other.session, animation: "standard"))
    #expect(stage.parcels.isEmpty)
  }

  @Test func `a service that begins knows what is kept, and that promises and descriptors are gone`() throws {
    let stage = Stage(hosting: cats())
    let handled = try stage.handled(
      .file("a.gif", type: "image/gif"), .descriptor(type: "image/bmp"), .promise(), key: "1")
    stage.call(.deliver(stage.payload([.text("x")], "2"), digest: "", size: 1))
    let open = try #require(stage.answer?.delivered)
    stage.restart(cats())
    #expect(stage.memory.baggage.count == 2)
    stage.attach(showing: [handled.session])
    stage.hostAnswersAll()
    stage.open(handled, 0, "image/gif")
    // The delivery is read, and what it carries.
    #expect(stage.restarts == 2)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
    for type in ["image/jpeg", "image/bmp"] as [Text] {
      #expect(stage.open(handled, 0, type)?.refusal?.name == .sourceGone)
    }
    stage.open(open)
    stage.baggageOpens(size: 1)
    #expect(stage.answer?.size == 1)
    stage.passUntilQuiet(seconds: 601)
    #expect(stage.shelf.baggage.isEmpty && stage.parcels.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `what the store has lost is told, and not asked for again and again`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.text())
    stage.alterStore(.baggageReleased(delivered.delivery))
    #expect(stage.open(delivered)?.refusal?.name == .noSuchItem)
    #expect(stage.restarts <= 2)
  }

  // MARK: Transfers

  @Test func `transfers are called off when the host leaves or the delivery is released, and answered once`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.promise())
    stage.open(delivered)
    let first = stage.lastCall
    stage.open(delivered)
    stage.call(.release(delivered.delivery), by: .host)
    for call in [first, first + 1] {
      #expect(stage.answers[call]?.refusal?.name == .cancelled)
      #expect(stage.errands.contains(.callOff(call)))
      // A later report of the baggage store has no effect.
      stage.play(.opened(call, .opened(size: 1)))
      stage.play(.opened(call, .failed(InterchangeError(.sourceGone, ""))))
    }
    let other = try stage.handled(.promise(), key: "2")
    stage.open(other)
    let last = stage.lastCall
    stage.hostLeaves()
    #expect(stage.answers[last]?.refusal?.name == .cancelled)
    #expect(stage.memory.transfers.isEmpty)
  }

  @Test func `what is being opened is called off when its time is over`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.promise())
    stage.pass(seconds: 599)
    stage.open(delivered)
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.answer?.refusal?.name == .cancelled)
  }

  // MARK: A sender that was restarted

  private static let mail: Text = "org.example.Mail"

  /// An application sends a promise to another under the token `t`.
  private func stageWithPromise(deadline: Double = 60) throws -> (stage: Stage, delivered: Delivered) {
    let stage = Stage(hosting: cats(), cats(Self.mail))
    stage.attach(Self.mail, as: .other)
    let delivered = try stage.handled(.promise(), by: .other) {
      $0.application = "org.example.Cats"
      $0.token = "t"
      $0.statedDeadline = deadline
    }
    return (stage, delivered)
  }

  private func asked(_ stage: Stage) -> [Text] {
    stage.baggage.openings.compactMap {
      if case .promise(let promise) = $0.parcel.content { promise.source } else { nil }
    }
  }

  @Test(arguments: [true, false])
  func `a load waits for a sender that was restarted, and asks its new connection`(begunAnew: Bool) throws {
    let (stage, delivered) = try stageWithPromise()
    if begunAnew {
      stage.restart(cats(), cats(Self.mail))
      stage.attach(showing: [delivered.session])
      stage.open(delivered)
    } else {
      stage.open(delivered)
      stage.hostLeaves(Self.mail, .other)
      stage.sourceLeaves()
    }
    let load = stage.lastCall
    #expect(stage.answers[load] == nil && stage.baggage.openings.isEmpty)
    let again = Caller.shell(7)
    #expect(stage.call(.renewPromises(token: "t"), by: again)?.refusal?.name == .accessDenied)
    stage.attach(Self.mail, as: again)
    #expect(stage.call(.renewPromises(token: "other"), by: again)?.refusal?.name == .noSuchDelivery)
    #expect(stage.call(.renewPromises(token: "t"), by: again) == .done)
    #expect(asked(stage) == [":2.7"])
    stage.baggageOpens(size: 3)
    #expect(stage.answers[load]?.size == 3)
    // Later loads ask at once.
    stage.open(delivered)
    #expect(asked(stage) == [":2.7"])
    stage.baggageOpens(size: 3)
    stage.call(.release(delivered.delivery), by: .host)
    #expect(stage.endedPromises == [["/cat"]])
    #expect(stage.call(.renewPromises(token: "t"), by: again)?.refusal?.name == .noSuchItem)
  }

  /// A hand-over: the next run takes the sender's place while a load is under way, and the former one leaves later.
  @Test func `a load begins anew at once if the promise was renewed before its source was found gone`() throws {
    let (stage, delivered) = try stageWithPromise()
    stage.open(delivered)
    let load = stage.lastCall
    let again = Caller.shell(7)
    stage.attach(Self.mail, as: again)
    #expect(stage.call(.renewPromises(token: "t"), by: again) == .done)
    #expect(asked(stage) == [":1.2"])
    stage.sourceLeaves()
    try #require(asked(stage) == [":2.7"])
    // The next run leaves as well: now there is nobody to ask.
    stage.sourceLeaves()
    #expect(asked(stage).isEmpty && stage.answers[load] == nil)
    stage.passUntilQuiet(seconds: 61)
    #expect(stage.answers[load]?.refusal?.name == .sourceGone)
  }

  @Test(arguments: [1, 3600] as [Double])
  func `a load waits for a minute, whatever the deadline of the delivery`(deadline: Double) throws {
    let (stage, delivered) = try stageWithPromise(deadline: deadline)
    // The contents outlive the deadline, and so does the wish to open them.
    stage.passUntilQuiet(seconds: 10)
    stage.restart(cats(), cats(Self.mail))
    stage.attach(showing: [delivered.session])
    stage.open(delivered)
    let load = stage.lastCall
    stage.passUntilQuiet(seconds: 59)
    #expect(stage.answers[load] == nil)
    stage.passUntilQuiet(seconds: 2)
    #expect(stage.answers[load]?.refusal?.name == .sourceGone)
    #expect(stage.memory.transfers.isEmpty)
    // The host may try again, and has a minute again, even if it waited in vain before.
    stage.open(delivered)
    let other = stage.lastCall
    stage.passUntilQuiet(seconds: 30)
    stage.attach(Self.mail, as: .other)
    #expect(stage.call(.renewPromises(token: "t"), by: .other) == .done)
    stage.passUntilQuiet(seconds: 20)
    stage.sourceLeaves()
    stage.passUntilQuiet(seconds: 59)
    #expect(stage.answers[other] == nil)
    stage.passUntilQuiet(seconds: 2)
    #expect(stage.answers[other]?.refusal?.name == .sourceGone)
  }

  @Test func `a load waits no longer than the contents stay`() throws {
    let (stage, delivered) = try stageWithPromise()
    stage.restart(cats(), cats(Self.mail))
    stage.attach(showing: [delivered.session])
    stage.passUntilQuiet(seconds: 590)
    stage.open(delivered)
    stage.passUntilQuiet(seconds: 11)
    #expect(stage.answer?.refusal?.name == .cancelled)
    #expect(stage.memory.transfers.isEmpty)
  }

  @Test func `who renews what is asked of it already stores nothing`() throws {
    let (stage, delivered) = try stageWithPromise()
    #expect(stage.play(.call(1_000, .other, .renewPromises(token: "t"))).records.isEmpty)
    #expect(stage.answers[1_000] == .done)
    // After a restart the service asks nobody until somebody says so.
    stage.restart(cats(), cats(Self.mail))
    stage.attach(showing: [delivered.session])
    stage.attach(Self.mail, as: .other)
    #expect(stage.play(.call(1_001, .other, .renewPromises(token: "t"))).records.count == 1)
    #expect(stage.play(.call(1_002, .other, .renewPromises(token: "t"))).records.isEmpty)
    stage.open(delivered)
    #expect(asked(stage) == [":1.2"])
  }

  /// The service stored a delivery, and ended before it answered: the sender repeats its call with its token.
  @Test func `a repeated call takes up its promises`() throws {
    let (stage, delivered) = try stageWithPromise()
    stage.restart(cats(), cats(Self.mail))
    stage.attach(showing: [delivered.session])
    stage.open(delivered)
    let load = stage.lastCall
    // Somebody else with the same document hands in nothing, and may forget what it promised.
    #expect(repeated(by: .shell, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]] && stage.baggage.openings.isEmpty)
    // The sender has not attached yet. Its objects are still those that may be asked.
    #expect(repeated(by: .other, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]] && stage.baggage.openings.isEmpty)
    stage.attach(Self.mail, as: .other)
    #expect(repeated(by: .other, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]])
    try #require(asked(stage) == [":1.2"])
    stage.baggageOpens(size: 3)
    #expect(stage.answers[load]?.size == 3)
    // Its next run repeats the call as well, and a call that changes nothing stores nothing.
    let again = Caller.shell(7)
    stage.attach(Self.mail, as: again)
    #expect(repeated(by: again, stage)?.delivered == delivered)
    stage.open(delivered)
    #expect(asked(stage) == [":2.7"])
    let payload = stage.payload([.promise()], "1", Self.underToken)
    #expect(stage.play(.call(1_000, again, .deliver(payload, digest: "digest", size: 100))).records.isEmpty)
    #expect(stage.answers[1_000]?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]])
    stage.call(.release(delivered.delivery), by: .host)
    #expect(repeated(by: again, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"], ["/cat"], ["/cat"]])
  }

  private func repeated(by caller: Caller, _ stage: Stage) -> CallAnswer? {
    stage.drop(.promise(), by: caller, Self.underToken)
  }

  private static func underToken(_ options: inout PayloadOptions) {
    options.application = "org.example.Cats"
    options.token = "t"
    options.statedDeadline = 60
  }

  @Test func `what a connection without an application has promised is nobody else's`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.promise()) { $0.token = "t" }
    stage.open(delivered)
    stage.sourceLeaves()
    #expect(stage.answer?.refusal?.name == .sourceGone)
    #expect(stage.call(.renewPromises(token: "t"))?.refusal?.name == .noSuchItem)
  }

  // MARK: Limits

  private func small(_ count: Int) -> Stage {
    Stage(hosting: cats()) { $0.baggage = count * Allowance.smallestBaggage }
  }

  @Test func `one sender takes half of what there is, and not one more`() throws {
    let stage = small(4)
    stage.hostLeaves()
    for key in ["1", "2"] as [Text] { #expect(stage.drop(.text(), key: key)?.delivered != nil) }
    let refusal = stage.drop(.text(), key: "3")?.refusal
    #expect(refusal?.name == .limitsExceeded)
    // Another sender takes half of the rest.
    #expect(stage.drop(.text(), key: "3", by: .other)?.delivered != nil)
    #expect(stage.drop(.text(), key: "4", by: .other)?.refusal?.name == .limitsExceeded)
    #expect(stage.shelf.baggage.count == 3)
  }

  @Test func `what was handled makes space, the oldest first`() throws {
    let stage = small(4)
    let first = try stage.handled(.descriptor(), key: "1")
    let second = try stage.handled(.descriptor(), key: "2")
    let third = try stage.handled(.text(), key: "3")
    #expect(freed(stage, first.delivery) == 1 && freed(stage, second.delivery) == 0)
    #expect(Set(stage.shelf.baggage.keys) == [second.delivery, third.delivery])
    // Another sender frees none of these contents.
    _ = try stage.handled(.text(), key: "4", by: .other)
    #expect(stage.drop(.text(), key: "5", by: .other)?.delivered != nil)
    #expect(stage.shelf.baggage[second.delivery] != nil && stage.shelf.baggage[third.delivery] != nil)
  }

  @Test func `two calls in one turn push out no more than they need`() throws {
    let stage = small(8)
    let handled = try ["1", "2", "3", "4"].map { try stage.handled(.text(), key: $0) }
    stage.turn { stage in
      stage.drop(.text(), key: "5")
      stage.drop(.text(), key: "6")
    }
    #expect(handled.map { stage.shelf.baggage[$0.delivery] != nil } == [false, false, true, true])
  }

  @Test func `a call that is refused all the same pushes nothing out`() throws {
    let stage = small(4)
    let first = try stage.handled(.descriptor(), key: "1")
    stage.drop(.file(), key: "2")
    stage.baggagePacks([Int64(5 * Allowance.smallestBaggage)])
    #expect(stage.answer?.refusal?.name == .limitsExceeded)
    #expect(stage.parcels == [first.delivery: [0]])
    #expect(stage.shelf.baggage[first.delivery] != nil)
  }

  @Test func `the baggage store is told how much it may take, with what would make space`() throws {
    let stage = small(8)
    _ = try stage.handled(.text(), key: "1")
    stage.drop(.file(), key: "2")
    #expect(stage.baggage.packings.first?.rest == 4 * Allowance.smallestBaggage)
    stage.baggagePacks([Int64(4 * Allowance.smallestBaggage)])
    #expect(stage.answer?.delivered != nil)
    stage.drop(.descriptor(), key: "3", by: .other)
    #expect(stage.baggage.packings.first?.rest == 2 * Allowance.smallestBaggage)
  }

  @Test func `calls that copy at the same time share their sender's space, and leave half of the places to others`()
    throws
  {
    let stage = Stage(cats())
    let most = Allowance.copyingCalls / 2
    for number in 0..<most { #expect(stage.drop(.file(), key: Text("\(number)")) == nil) }
    #expect(stage.drop(.file(), key: "more")?.refusal?.name == .limitsExceeded)
    // What is not copied needs no place.
    #expect(stage.drop(.text(), key: "more")?.delivered != nil)
    #expect(stage.drop(.file(), key: "other", by: .other) == nil)
    let shares = stage.baggage.packings.prefix(most).map(\.rest)
    #expect(shares.prefix(3) == [shares[0], shares[0] / 4, shares[0] / 9])
    #expect(shares.reduce(0, +) < 2 * shares[0])
    #expect(stage.baggage.packings.last?.rest ?? 0 > shares[0] / 2)
    for _ in 0..<2 { stage.baggagePacks([10]) }
    #expect(stage.drop(.file(), key: "more") == nil)
  }

  @Test func `what a connection handed in that has left is charged on, until it goes`() throws {
    let stage = small(4)
    let delivered = try stage.handled(.text(), key: "1")
    stage.callerLeaves(.shell)
    #expect(stage.book.ledger.taken(.baggage, by: .departed) == Allowance.smallestBaggage)
    stage.call(.release(delivered.delivery), by: .host)
    #expect(stage.book.ledger.total(.baggage) == 0)
  }

  @Test func `a descriptor counts as one, and its bytes as nothing`() throws {
    let stage = Stage(cats()) { ($0.baggage, $0.descriptors) = (100 * Allowance.smallestBaggage, 4) }
    for key in ["1", "2"] as [Text] {
      stage.drop(.descriptor(), key: key)
      stage.baggagePacks([1 << 50])
      #expect(stage.answer?.delivered != nil)
    }
    #expect(stage.book.ledger.total(.baggage) == 2 * Allowance.smallestBaggage)
    stage.drop(.descriptor(), key: "3")
    stage.baggagePacks()
    #expect(stage.answer?.refusal?.name == .limitsExceeded && stage.parcels.count == 2)
    let third = try stage.packed(.descriptor(), key: "3", by: .other)
    stage.restart(cats())
    #expect(stage.book.ledger.total(.descriptors) == 0)
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.open(third)?.refusal?.name == .sourceGone)
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

  // MARK: Promises

  @Test func `the promises of a call that is refused end`() throws {
    let stage = Stage(cats())
    stage.drop(.promise("/refused")) { $0.application = "org.example.Nobody" }
    #expect(stage.answer?.refusal != nil)
    stage.drop(.file(), .promise("/fails"))
    stage.baggageFails()
    stage.drop(.promise("/kept")) { $0.keepPromises = true }
    stage.baggageFails()
    #expect(stage.endedPromises == [["/refused"], ["/fails"], ["/kept"]])
  }

  @Test func `the promises of a call that was carried out before end, unless they are those of the first`() throws {
    let stage = Stage(cats())
    stage.drop(.promise("/first")) { $0.token = "t" }
    stage.drop(.promise("/first")) { $0.token = "t" }
    #expect(stage.endedPromises == [])
    stage.drop(.promise("/second")) { $0.token = "t" }
    #expect(stage.answer?.delivered != nil)
    #expect(stage.endedPromises == [["/second"]])
  }

  @Test func `promises of one object end with the last delivery that has some`() throws {
    let stage = Stage(hosting: cats())
    let one = try stage.handled(.promise("/a"), key: "1")
    let other = try stage.handled(.promise("/a"), key: "2")
    stage.call(.release(one.delivery), by: .host)
    #expect(stage.endedPromises == [])
    stage.call(.release(other.delivery), by: .host)
    #expect(stage.endedPromises == [["/a"]])
  }

  @Test func `promises that a sandbox may not hand over end`() throws {
    let stage = Stage(cats())
    stage.drop(.promise("/undeclared"), by: .sandbox("org.example.Mail"))
    #expect(stage.answer?.delivered != nil)
    #expect(stage.endedPromises == [["/undeclared"]])
  }

  @Test func `what its host has released cannot be redirected`() throws {
    let stage = Stage(hosting: cats())
    let first = try stage.handled(.text(), key: "1")
    let second = try stage.handled(.text(), key: "2")
    stage.call(.release(first.delivery), by: .host)
    #expect(stage.call(.redirect(first.delivery, to: second.session))?.refusal?.name == .requestDenied)
    #expect(stage.call(.redirect(second.delivery, to: first.session)) == .outcome("activated"))
  }

  @Test func `a delivery that is redirected makes no space while it is on its way`() throws {
    let stage = small(4)
    let first = try stage.handled(.text(), key: "1")
    let second = try stage.handled(.text(), key: "2")
    stage.call(.redirect(first.delivery, to: second.session))
    stage.drop(.text(), key: "3")
    #expect(stage.shelf.baggage[first.delivery] != nil && stage.shelf.baggage[second.delivery] == nil)
  }
}
