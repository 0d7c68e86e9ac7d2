import InterchangeTurns
import SceneModel
import SessionStore
import Testing
import Theatre

@testable import InterchangeCore

extension Stage {
  // MARK: Packing and opening

  /// The baggage store has taken the contents of the oldest packing call.
  ///
  /// - Parameter sizes: The sizes of the contents, in order. A missing one is the size that the core knows, or 100.
  func baggagePacks(_ sizes: [Int64?] = []) {
    precondition(!baggage.packings.isEmpty, "nothing is to be packed")
    let task = baggage.packings.removeFirst()
    for order in task.orders { keep(order) }
    let known = task.orders.map { if case .bytes(let bytes) = $0.source { Int64(bytes.count) } else { 100 as Int64? } }
    play(.packed(task.number, .packed(sizes + known.dropFirst(sizes.count))))
  }

  /// The baggage store has taken all but the last of the contents.
  func baggageFails(_ error: InterchangeError = InterchangeError(.invalidPayload, "there is no such file")) {
    let task = baggage.packings.removeFirst()
    for order in task.orders.dropLast() { keep(order) }
    play(.packed(task.number, .failed(error)))
  }

  func keep(_ order: PackingOrder) {
    let isAlone = baggage.keep(order)
    #expect(isAlone, "the parcel \(order.number) of \(order.delivery) takes the place of another")
  }

  func baggageOpens(size: Int64? = 100) { opens(.opened(size: size)) }

  func baggageCannotOpen() { opens(.failed(InterchangeError(.sourceGone, "it has left"))) }

  func sourceLeaves() { opens(.sourceLeft(InterchangeError(.sourceGone, "it has left"))) }

  private func opens(_ answer: OpeningAnswer) {
    precondition(!baggage.openings.isEmpty, "nothing is to be opened")
    play(.opened(baggage.openings.removeFirst().number, answer))
  }

  /// The numbers of the parcels that the baggage store keeps.
  var parcels: [UniqueIdentifier: Set<Int>] { baggage.kept.mapValues { Set($0.keys) } }

  /// How often the baggage store was told that nobody opens a delivery's contents any more.
  func freed(_ delivery: UniqueIdentifier) -> Int { errands.count { $0 == .free([delivery]) } }

  /// The paths of the promises that ended, for each time that some did.
  var endedPromises: [[Text]] {
    errands.compactMap { if case .endPromises(let promises) = $0 { promises.map(\.path) } else { nil } }
  }

  // MARK: Callers

  /// Like the shell, it reports only connections that matter to the core.
  func callerLeaves(_ caller: Caller) {
    guard let connection = caller.connection, book.matters(connection) else { return }
    play(.callerLeft(connection: connection))
  }

  // MARK: Laws

  /// The core's tables agree with each other and with what is stored, and the baggage store keeps nothing that nobody will ever free.
  func checkItself(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(book.disagreements == [], sourceLocation: sourceLocation)
    // Reading a large store takes long.
    if book.openCount < 500, let remembered = try? store.remembered() {
      var fresh = PromptBook(types: Stage.types, seed: (1, 1))
      fresh.recall(remembered, at: now)
      #expect(book.remains == fresh.remains, sourceLocation: sourceLocation)
    }
    for (delivery, numbers) in parcels {
      var known: Set<Int> = []
      for underWay in memory.packings.values.values {
        known.formUnion(underWay.orders.filter { $0.delivery == delivery }.map(\.number))
      }
      var parcels = ((try? store.baggage(delivery)) ?? nil)?.items.joined().map(\.parcel) ?? []
      if let drag = memory.drags[delivery] { parcels += drag.parcels.joined().compactMap { $0 } }
      known.formUnion(parcels.compactMap(\.baggageNumber))
      #expect(
        numbers.subtracting(known).isEmpty, "parcels of \(delivery) that nobody knows lie in the baggage store",
        sourceLocation: sourceLocation)
    }
    for carried in (try? store.baggageSummaries()) ?? [] where memory.baggage[carried.delivery] == nil {
      Issue.record("what \(carried.delivery) carries is stored, and the core does not know it")
    }
  }

  // MARK: Contents

  /// Drops an activity with representations.
  @discardableResult
  func drop(
    _ representations: Representation..., key: Text = "1", by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> CallAnswer? {
    call(.deliver(payload(representations, key, change), digest: "digest", size: 100), by: caller)
  }

  func payload(
    _ representations: [Representation], _ key: Text? = "1", _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> Payload {
    var payload = activity("view", key, change)
    payload.items[0].representations = representations
    return payload
  }

  /// Drops an activity, and the baggage store takes its contents.
  func packed(
    _ representations: Representation..., key: Text = "1", by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> Delivered {
    try packed(payload(representations, key, change), by: caller)
  }

  private func packed(_ payload: Payload, by caller: Caller) throws -> Delivered {
    let call = lastCall + 1
    self.call(.deliver(payload, digest: "digest", size: 100), by: caller)
    while !baggage.packings.isEmpty { baggagePacks() }
    return try #require(answers[call]?.delivered)
  }

  /// Drops an activity, and has a host take the delivery.
  func handled(
    _ representations: Representation..., key: Text = "1", by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> Delivered {
    let delivered = try packed(payload(representations, key, change), by: caller)
    hostAnswersAll()
    return delivered
  }

  @discardableResult
  func open(
    _ delivered: Delivered, _ item: Int = 0, _ type: Text = .empty, by caller: Caller = .host
  ) -> CallAnswer? {
    call(.openItem(delivered.delivery, item: item, type: type), by: caller)
  }
}

func contentType(_ name: Text) -> ContentType { ContentType(name)! }

extension Representation {
  static func text(_ text: Text = "a cat", type: Text = "text/plain", _ visibility: Visibility = .all) -> Self {
    Representation(type: contentType(type), .text(text), visibility: visibility)
  }

  static func data(_ count: Int, type: Text = "image/png", _ visibility: Visibility = .all) -> Self {
    Representation(type: contentType(type), .data([UInt8](repeating: 7, count: count)), visibility: visibility)
  }

  static func file(_ name: Text = "a.png", type: Text = "image/png", inPlace: Bool = false) -> Self {
    Representation(type: contentType(type), .file(Text("file:///home/user/\(name)")), openInPlace: inPlace)
  }

  static func descriptor(_ number: Int = 0, type: Text = "image/gif") -> Self {
    Representation(type: contentType(type), .descriptor(number))
  }

  static func promise(_ path: Text = "/cat", type: Text = "image/jpeg") -> Self {
    Representation(type: contentType(type), .promise(path))
  }
}

extension CallAnswer {
  var size: Int64? { if case .opened(let size) = self { size } else { nil } }
  var operation: Text? { if case .operation(let operation) = self { operation } else { nil } }
  var begun: (drag: UniqueIdentifier, ticket: Text)? {
    if case .dragBegun(let drag, let ticket) = self { (drag, ticket) } else { nil }
  }
}
