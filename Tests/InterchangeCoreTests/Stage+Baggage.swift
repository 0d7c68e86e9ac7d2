import SceneModel
import Testing

@testable import InterchangeCore

// The baggage store as a stage plays it: it packs and opens for the core when a test tells it to, and knows its parcels.

/// The contents that the core asks the baggage store to pack for a call.
struct PackingTask: Hashable {
  let number: CallNumber
  let orders: [PackingOrder]
  let atMost: Int
}

/// The parcel that the core asks the baggage store to open for a call.
struct OpeningTask: Hashable {
  let number: CallNumber
  let delivery: UniqueIdentifier
  let parcel: Parcel
}

/// The parcels of the baggage store. It takes each number of a delivery once: another parcel under the same number would replace the first.
struct PlayedBaggageStore: Hashable {
  private(set) var parcels: [UniqueIdentifier: Set<Int>] = [:]

  var isEmpty: Bool { parcels.isEmpty }

  mutating func keep(_ order: PackingOrder) {
    if case .file(_, inPlace: true) = order.source { return }
    let isNew = parcels[order.delivery, default: []].insert(order.number).inserted
    #expect(isNew, "the parcel \(order.number) of \(order.delivery) takes the place of another")
  }

  mutating func free(_ delivery: UniqueIdentifier) { parcels[delivery] = nil }

  mutating func free(_ number: Int, of delivery: UniqueIdentifier) {
    parcels[delivery]?.remove(number)
    if parcels[delivery]?.isEmpty ?? false { parcels[delivery] = nil }
  }

  mutating func sweep(keeping deliveries: Set<UniqueIdentifier>) {
    parcels = parcels.filter { deliveries.contains($0.key) }
  }
}

extension Stage {
  // MARK: Packing and opening

  /// The baggage store has taken the contents of the oldest packing call.
  ///
  /// - Parameter sizes: The sizes of the contents, in order. A missing one is the size that the core knows, or 100.
  mutating func baggagePacks(_ sizes: [Int64?] = []) {
    let (task, answer) = pack(sizes)
    play(.packed(task.number, answer))
  }

  /// The baggage store has taken all contents of the oldest packing call, but the store refuses the turn. The shell tells the core in the same way.
  mutating func baggagePacksAndStoreRefuses() {
    let (task, answer) = pack([])
    turn(refused: true) { $0.play(.packed(task.number, answer)) }
    play(.refused(.packed(task.number, answer), InterchangeError(.storageFailed, "the disk is full")))
  }

  /// The baggage store has taken all but the last of the contents.
  mutating func baggageFails(_ error: InterchangeError = InterchangeError(.invalidPayload, "there is no such file")) {
    let task = packing.removeFirst()
    for order in task.orders.dropLast() { baggageStore.keep(order) }
    play(.packed(task.number, .failed(error)))
  }

  private mutating func pack(_ sizes: [Int64?]) -> (PackingTask, PackingAnswer) {
    precondition(!packing.isEmpty, "nothing is to be packed")
    let task = packing.removeFirst()
    for order in task.orders { baggageStore.keep(order) }
    let known = task.orders.enumerated().map { place, order -> Int64? in
      if place < sizes.count { return sizes[place] }
      if case .bytes(let bytes) = order.source { return Int64(bytes.count) }
      return 100
    }
    return (task, .packed(known))
  }

  mutating func baggageOpens(size: Int64? = 100) {
    precondition(!opening.isEmpty, "nothing is to be opened")
    play(.opened(opening.removeFirst().number, .opened(size: size)))
  }

  mutating func baggageCannotOpen() {
    play(.opened(opening.removeFirst().number, .failed(InterchangeError(.sourceGone, "it has left"))))
  }

  /// The source of the promise that is being opened has left the bus.
  mutating func sourceLeaves() {
    play(.opened(opening.removeFirst().number, .sourceLeft(InterchangeError(.sourceGone, "it has left"))))
  }

  /// The paths of the promises that ended, for each time that some did.
  var endedPromises: [[Text]] {
    errands.compactMap { if case .endPromises(let promises) = $0 { promises.map(\.path) } else { nil } }
  }

  // MARK: Callers

  /// Like the shell, it reports only connections that matter to the core.
  mutating func callerLeaves(_ caller: Caller) {
    guard let connection = caller.connection, book.matters(connection) else { return }
    play(.callerLeft(connection: connection))
  }

  // MARK: Laws

  /// The core's tables agree, and the baggage store keeps nothing that nobody will ever free.
  func checkItself(sourceLocation: SourceLocation = #_sourceLocation) {
    if isCopy { return }
    #expect(book.disagreements == [], sourceLocation: sourceLocation)
    for (delivery, numbers) in baggageStore.parcels {
      var known: Set<Int> = []
      for underWay in memory.packings.values.values {
        known.formUnion(underWay.orders.filter { $0.delivery == delivery }.map(\.number))
      }
      var parcels = shelf.baggage[delivery]?.items.joined().map(\.parcel) ?? []
      if let drag = memory.drags[delivery] { parcels += drag.parcels.joined().compactMap { $0 } }
      known.formUnion(parcels.compactMap(\.baggageNumber))
      #expect(
        numbers.subtracting(known).isEmpty, "parcels of \(delivery) that nobody knows lie in the baggage store",
        sourceLocation: sourceLocation)
    }
    for delivery in shelf.baggage.keys where memory.baggage[delivery] == nil {
      Issue.record("what \(delivery) carries is stored, and the core does not know it")
    }
  }

  // MARK: Contents

  /// Drops an activity with representations.
  @discardableResult
  mutating func drop(
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
  mutating func packed(
    _ representations: Representation..., key: Text = "1", by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> Delivered {
    try packed(payload(representations, key, change), by: caller)
  }

  private mutating func packed(_ payload: Payload, by caller: Caller) throws -> Delivered {
    let call = lastCall + 1
    self.call(.deliver(payload, digest: "digest", size: 100), by: caller)
    while !packing.isEmpty { baggagePacks() }
    return try #require(answers[call]?.delivered)
  }

  /// Drops an activity, and has a host take the delivery.
  mutating func handled(
    _ representations: Representation..., key: Text = "1", by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> Delivered {
    let delivered = try packed(payload(representations, key, change), by: caller)
    hostAnswersAll()
    return delivered
  }

  @discardableResult
  mutating func open(
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
