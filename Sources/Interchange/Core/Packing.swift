package import SceneModel
import SceneRouting
import TextRules

// The contents of a drop, beside its activities, are packed before the drop is decided.
//
// Small contents are stored beside the delivery. Everything else goes into the baggage store, which works on a loop of its own: it opens and
// copies files, takes descriptors, and fetches what was promised. The call waits meanwhile, and is decided when all of its contents have come.

/// A content that the baggage store should take.
package struct PackingOrder: Hashable, Sendable {
  package enum Source: Hashable, Sendable {
    case bytes([UInt8])
    /// A file URL. A file that is opened in its place is checked, and not copied.
    case file(Text, inPlace: Bool)
    /// A descriptor that came with the call, by its number there.
    case descriptor(Int)
    /// Promised data that its sender wants the service to fetch at once.
    case promise(Promise)

    /// Whether nobody knows how much it is until it has been copied.
    var isCopied: Bool {
      switch self {
      case .file(_, inPlace: false), .promise: true
      case .bytes, .file, .descriptor: false
      }
    }
  }

  package let delivery: UniqueIdentifier
  /// The number of the parcel in its delivery.
  package let number: Int
  /// The place in the payload.
  package let item: Int
  package let representation: Int
  /// The place for errors.
  package let place: Text
  package let source: Source
  /// The bytes that the sender has announced of a promise.
  package let announced: Int64?
}

/// The result of packing.
package enum PackingAnswer: Hashable, Sendable {
  /// The sizes, in the order of the orders; the errors of items that could not be taken, by their places; and the URLs without symbolic links of files
  /// that are opened in their places, by the places of their orders.
  case packed([Int64?], failures: [Int: InterchangeError] = [:], canonical: [Int: Text] = [:])
  case failed(InterchangeError)
}

/// A call whose contents are being packed.
struct Packing: Sendable {
  enum Purpose: Sendable {
    case delivery(digest: Text)
    case eachItem(digest: Text)
    /// Drops a drag, by this caller.
    case drop(drag: UniqueIdentifier, by: Caller)
    case drag(Drag)
    case moreItems(drag: UniqueIdentifier)
  }

  private(set) var caller: Caller
  private(set) var purpose: Purpose
  /// A payload that is decided by itself.
  struct Part {
    var payload: Payload
    /// The rule that made it, if one did.
    var rule: RulesAnswer?
    /// Whether the rule put an item before the others.
    var isLonger = false
    /// Why the rules refuse this part alone.
    var failure: InterchangeError?
  }

  /// The parts that rules have made; `nil` if they have made none, as for most calls.
  private var made: MadeParts?
  /// Its packed contents are marked as stored.
  var payload: Payload
  /// The parcels of the representations, for each item.
  var parcels: [[Parcel?]]
  /// The contents that the baggage store is taking.
  private(set) var orders: [PackingOrder] = []
  /// The delivery of each item, or one delivery for all if they go together.
  let deliveries: [UniqueIdentifier]
  /// The errors of items whose contents could not be taken, by their places.
  private(set) var failures: [Int: InterchangeError] = [:]
  /// Everything that was promised, also what the baggage store fetches.
  private(set) var promises: [Promise] = []
  /// The next number. A delivery never uses a number twice, even if calls add items to a drag at the same time.
  private(set) var nextNumber: Int
}

/// The parts of a call, some of which rules have made. A call that waits is copied often: so they are a box.
private final class MadeParts: Sendable {
  let parts: [(rule: RulesAnswer?, items: Range<Int>, options: PayloadOptions, failure: InterchangeError?)]
  let partOfItem: [Int]
  /// The place of each item in the payload that was handed in; of an item that a rule made, that of the next.
  let placeOfItem: [Int]

  init(_ parts: [Packing.Part]) {
    var (partOfItem, placeOfItem, next): ([Int], [Int], Int) = ([], [], 0)
    self.parts = parts.enumerated().map { place, part in
      let first = partOfItem.count
      for item in part.payload.items.indices {
        partOfItem.append(place)
        placeOfItem.append(next)
        if item > 0 || !part.isLonger { next += 1 }
      }
      // Nothing of a refused part is packed.
      if part.failure != nil { next += 1 }
      return (part.rule, first..<partOfItem.count, part.payload.options, part.failure)
    }
    (self.partOfItem, self.placeOfItem) = (partOfItem, placeOfItem)
  }
}

extension Packing {
  init(
    _ payload: Payload, parcels: [[Parcel?]] = [], _ caller: Caller, _ purpose: Purpose, deliveries: [UniqueIdentifier],
    firstNumber: Int = 0
  ) {
    (self.payload, self.caller, self.purpose, self.deliveries) = (payload, caller, purpose, deliveries)
    nextNumber = firstNumber
    self.parcels = payload.hasContents ? Packing.rows(payload.items, parcels) : []
    promises = parcels.promises
  }

  /// The same call with the parts that rules have made of its own.
  init(_ parts: [Part], _ other: Packing) {
    if !parts.contains(where: { $0.rule != nil || $0.failure != nil }) {
      self = other
      promises = []
      return
    }
    // A call for each item has its own options, and otherwise the rule has made them.
    let options = parts.count == 1 ? parts[0].payload.options : other.payload.options
    self.init(
      Payload(items: parts.flatMap(\.payload.items), options: options), other.caller, other.purpose,
      deliveries: other.deliveries)
    made = MadeParts(parts)
  }

  /// What is decided by itself: each item, or the whole.
  var parts: [Part] {
    if let made {
      return made.parts.map { part in
        Part(
          payload: Payload(items: Array(payload.items[part.items]), options: part.options), rule: part.rule,
          failure: part.failure)
      }
    }
    if case .eachItem = purpose { return payload.split.map { Part(payload: $0) } }
    return [Part(payload: payload)]
  }

  /// The rule that made the whole payload, if one did.
  var rule: RulesAnswer? { made?.parts[0].rule }
  /// The place of the first item of a part.
  func firstItem(ofPart part: Int) -> Int { made?.parts[part].items.lowerBound ?? part }
  /// The error of the first item of a part whose contents could not be taken.
  func failure(ofPart part: Int) -> InterchangeError? {
    if let failure = made?.parts[part].failure { return failure }
    if failures.isEmpty { return nil }
    return made.map { $0.parts[part].items.lazy.compactMap { failures[$0] }.first } ?? failures[part]
  }

  /// The promises have to be ended if the rules refuse the payload, which is not packed before that.
  mutating func waitForRules() { promises = payload.items.promises(of: caller) }

  /// The place of an item in the payload that was handed in.
  private func place(of item: Int) -> Int { made?.placeOfItem[item] ?? item }

  func delivery(of item: Int) -> UniqueIdentifier {
    deliveries.count == 1 ? deliveries[0] : deliveries[made?.partOfItem[item] ?? item]
  }

  /// The parcel of each representation that has one.
  static func rows(_ items: [Item], _ parcels: [[Parcel?]]) -> [[Parcel?]] {
    items.indices.map { item in
      item < parcels.count ? parcels[item] : [Parcel?](repeating: nil, count: items[item].representations.count)
    }
  }

  /// Packs the contents that stay beside the delivery, and orders the others from the baggage store.
  ///
  /// - Parameter whole: Whether to pack files and promises too; a drag leaves these for the drop.
  mutating func pack(whole: Bool) {
    for item in payload.items.indices {
      for representation in payload.items[item].representations.indices {
        guard let (source, key) = source(of: item, representation, whole) else { continue }
        let place = Place.document.key("items").index(self.place(of: item)).key("representations").index(representation)
          .key(key)
        let announced = payload.items[item].representations[representation].promisedSize
        orders.append(
          PackingOrder(
            delivery: delivery(of: item), number: nextNumber, item: item, representation: representation,
            place: Text(place.description), source: source, announced: announced ?? parcels[item][representation]?.size)
        )
        nextNumber += 1
      }
    }
  }

  /// The content that the baggage store should take for a representation; `nil` if it is packed now, or should not be packed yet.
  private mutating func source(
    of item: Int, _ representation: Int, _ whole: Bool
  ) -> (PackingOrder.Source, key: Text)? {
    if let parcel = parcels[item][representation] {
      guard whole, payload.options.keepPromises, case .promise(let promise) = parcel.content else { return nil }
      return (.promise(promise), "provider")
    }
    switch payload.items[item].representations[representation].content {
    case .data(let bytes):
      if bytes.count > Allowance.smallParcel { return (.bytes(bytes), "data") }
      store(Parcel(.data(bytes), size: Int64(bytes.count)), item, representation)
    case .text(let text):
      let bytes = text.withBytes { [UInt8]($0) }
      if bytes.count > Allowance.smallParcel { return (.bytes(bytes), "text") }
      store(Parcel(.data(bytes), size: Int64(bytes.count)), item, representation)
    case .file(let url):
      guard whole else { return nil }
      return (.file(url, inPlace: payload.items[item].representations[representation].openInPlace), "file")
    case .descriptor(let number): return (.descriptor(number), "fd")
    case .promise(let path):
      guard let source = caller.connection else { return nil }
      let type = payload.items[item].representations[representation].type.spelling
      let promise = Promise(source: source, path: path, item: place(of: item), type: type)
      promises.append(promise)
      if whole, payload.options.keepPromises { return (.promise(promise), "provider") }
      let size = payload.items[item].representations[representation].promisedSize
      store(Parcel(.promise(promise), size: size), item, representation)
    case .stored: break
    }
    return nil
  }

  private mutating func store(_ parcel: Parcel, _ item: Int, _ representation: Int) {
    parcels[item][representation] = parcel
    let url = payload.items[item].representations[representation].url
    payload.items[item].representations[representation].content = .stored(size: parcel.size, url: url)
    payload.items[item].representations[representation].promisedSize = nil
  }

  /// The baggage store has taken the ordered contents.
  mutating func finish(_ sizes: [Int64?], _ failures: [Int: InterchangeError], _ canonical: [Int: Text]) {
    self.failures = failures
    for (place, (order, size)) in zip(orders, sizes).enumerated() where failures[order.item] == nil {
      let content: Parcel.Content =
        switch order.source {
        case .file(let url, inPlace: true): .file(canonical[place] ?? url)
        case .descriptor: .held(order.number)
        case .bytes, .file, .promise: .kept(order.number)
        }
      store(Parcel(content, size: size), order.item, order.representation)
    }
    orders = []
  }

  /// Whether the baggage store copies or fetches some of the contents.
  var isCopied: Bool { orders.contains { $0.source.isCopied } }

  /// Whether an item whose contents cannot be taken leaves the others.
  var isBestEffort: Bool {
    if case .eachItem = purpose { payload.options.batch == .bestEffort } else { false }
  }

  /// The reason why the packing fails without this connection; `nil` if it does not need the connection.
  func failure(without connection: Text) -> InterchangeError? {
    // Only the answer has the ticket of a drag.
    if case .drag = purpose, caller.connection == connection { return .callerLeft }
    let promise = orders.first { order in
      if case .promise(let promise) = order.source { promise.source == connection } else { false }
    }
    return promise.map { order in
      InterchangeError(.sourceGone, "\(order.place): the source left before its promise was kept")
    }
  }

  /// Whether it must hear that a connection has left.
  func concerns(_ connection: Text) -> Bool {
    if caller.connection == connection || failure(without: connection) != nil { return true }
    if case .drop(_, let dropper) = purpose { return dropper.connection == connection }
    return false
  }

  /// Its caller, or the one who drops, has left, and waits for nothing more.
  mutating func left(_ connection: Text) {
    if caller.connection == connection { caller = caller.left }
    if case .drop(let drag, let dropper) = purpose, dropper.connection == connection {
      purpose = .drop(drag: drag, by: dropper.left)
    }
  }

  /// The contents of one delivery; `nil` if there are none. A sandbox may not be allowed to hand over all of them.
  func baggage(of payload: Payload, firstItem: Int, _ delivery: UniqueIdentifier) -> Baggage? {
    guard payload.hasContents else { return nil }
    let items = payload.items.indices.map { item in
      payload.items[item].representations.compactMap { representation -> Baggage.Entry? in
        let all = self.payload.items[firstItem + item].representations
        guard let place = all.firstIndex(where: { $0.type == representation.type }),
          let parcel = parcels[firstItem + item][place]
        else { return nil }
        return Baggage.Entry(type: representation.type, visibility: representation.visibility, parcel)
      }
    }
    if items.allSatisfy(\.isEmpty) { return nil }
    return Baggage(delivery: delivery, items: items, isPrivate: payload.options.isPrivate)
  }

  /// Whether the baggage store has some of the contents.
  var hasKept: Bool { parcels.joined().contains { $0?.baggageNumber != nil } }

  /// The numbers of the parcels that the baggage store has for some items.
  func kept(firstItem: Int, count: Int) -> [Int] {
    parcels.dropFirst(firstItem).prefix(count).joined().compactMap(\.?.baggageNumber)
  }
}

extension PromptBook {
  /// Packs the contents of a call, and then continues with the call: at once if the baggage store need not take any.
  mutating func pack(
    _ packing: consuming Packing, whole: Bool = true, _ number: CallNumber
  ) throws(Halt) {
    var packing = packing
    try refuseTooMany(packing.payload)
    if packing.caller.connection == nil, packing.payload.hasPromises {
      throw refused(.invalidPayload, "items: expected no promises from a caller without a name on the bus")
    }
    packing.pack(whole: whole)
    if packing.orders.isEmpty { return try goOn(packing, number) }
    // The baggage store takes nothing for a call that was carried out before, or that would be refused.
    if try answeredBefore(packing, number) { return }
    switch packing.purpose {
    case .delivery, .drop: try refuseWhatIsRefused(packing)
    case .eachItem, .drag, .moreItems: break
    }
    let share = try shareOfCopies(packing)
    var space = space(for: packing.caller.principal)
    switch packing.purpose {
    case .moreItems(let drag), .drop(let drag, _):
      memory.drags[drag]?.nextNumber = packing.nextNumber
      // The contents of the drag are charged anew, together with these.
      space += memory.drags[drag]?.bytes?.charge.amount ?? 0
    case .delivery, .eachItem, .drag: break
    }
    memory.packings[number] = packing
    step.errands.append(.pack(number, packing.orders, atMost: space / share, eachItem: packing.isBestEffort))
  }

  /// The part of its sender's space that a call may fill: one in so many. Contents are charged when they are packed, so calls that pack at the same
  /// time share the space: the second gets a quarter, the third a ninth, and all together less than twice the space.
  private func shareOfCopies(_ packing: Packing) throws(Halt) -> Int {
    guard packing.isCopied else { return 1 }
    let principal = packing.caller.principal
    let copying = memory.packings.values.values.filter(\.isCopied)
    let (limit, own) = (Allowance.copyingCalls, copying.count { $0.caller.principal == principal })
    if own + 1 > limit - copying.count - 1 {
      throw refused(
        .limitsExceeded,
        "contents of at most \(limit) calls are copied or fetched at the same time; these are \(copying.count), \(own) of them of this sender, who may "
          + "have as many as are left for others: wait for the answers")
    }
    return (own + 1) * (own + 1)
  }

  func refuseTooMany(_ payload: Payload) throws(Halt) {
    let count = payload.items.reduce(0) { $0 + $1.representations.count }
    if count > Limits.representations {
      throw refused(.limitsExceeded, "items: expected at most \(Limits.representations) representations, got \(count)")
    }
  }

  /// The baggage store has taken the contents of a call, or has failed.
  mutating func packed(_ number: CallNumber, _ answer: PackingAnswer) throws(Halt) {
    guard var packing = memory.packings[number] else { return }
    memory.packings[number] = nil
    switch answer {
    case .failed(let error):
      // Another call with the same token may have come meanwhile, and its answer is for both.
      guard try answeredBefore(packing, number) else { throw .refused(error) }
      free(packing)
    case .packed(let sizes, let failures, let canonical):
      packing.finish(sizes, failures, canonical)
      try goOn(packing, number)
    }
  }

  /// A call whose contents were packed has failed: the baggage store should forget them.
  mutating func unpack(_ number: CallNumber) {
    guard let packing = memory.packings[number] else { return }
    memory.packings[number] = nil
    free(packing)
    switch packing.purpose {
    case .delivery, .eachItem, .drag, .moreItems: endPromises(packing.promises)
    case .drop(let drag, _): dragGoesOn(drag)
    }
  }

  /// A call was refused at once.
  mutating func endPromises(of ask: Ask, _ caller: Caller) {
    switch ask {
    case .deliver(let payload, _, _), .deliverEach(let payload, _, _), .beginDrag(let payload, _, _, _):
      endPromises(payload.items.promises(of: caller))
    case .addItems(let items, _, _): endPromises(items.promises(of: caller))
    default: break
    }
  }

  private mutating func free(_ packing: Packing) {
    switch packing.purpose {
    case .delivery, .eachItem, .drag: step.errands.append(.free(Set(packing.deliveries).sorted()))
    // The earlier contents of the drag stay until the drag ends.
    case .moreItems(let drag), .drop(let drag, _):
      step.errands.append(.freeParcels(drag, packing.orders.map(\.number)))
    }
  }

  /// Frees contents that a sandbox may not hand over to this application. They were packed before anyone knew their application.
  mutating func freeWhatStays(
    _ packing: Packing, firstItem: Int, count: Int, _ baggage: Baggage?, _ delivery: UniqueIdentifier
  ) {
    let kept = packing.kept(firstItem: firstItem, count: count)
    if kept.isEmpty { return }
    let handedOver = Set(baggage?.items.joined().compactMap(\.parcel.baggageNumber) ?? [])
    if handedOver.isEmpty { return step.errands.append(.free([delivery])) }
    let rest = kept.filter { !handedOver.contains($0) }
    if !rest.isEmpty { step.errands.append(.freeParcels(delivery, rest)) }
  }

  /// A connection has left: its drags do not begin, and calls that wait for its promises fail. A pipe whose writer has left ends as if it were whole,
  /// so these calls fail however much has come. Its other calls go on, and nobody waits for them.
  mutating func goOnWithPackings(without connection: Text) {
    for (number, packing) in memory.packings.values.sorted(by: { $0.key < $1.key }) {
      if let failure = packing.failure(without: connection) {
        unpack(number)
        answer(number, .refused(failure))
      } else {
        memory.packings[number]?.left(connection)
      }
    }
  }

  private mutating func goOn(_ packing: Packing, _ number: CallNumber) throws(Halt) {
    if try answeredBefore(packing, number) { return }
    switch packing.purpose {
    case .delivery(let digest): try conclude(packing, digest, number)
    case .eachItem(let digest): try concludeEach(packing, digest, number)
    case .drop(let drag, let caller): try concludeDrop(packing, of: drag, by: caller, number)
    case .drag(let drag): return try begin(drag, packing, number)
    case .moreItems(let drag): return try add(packing, to: drag, number)
    }
    // Those that no delivery carries: the service has fetched them, their items were refused, or the call was carried out before.
    endPromises(packing.promises)
  }
}

extension Payload {
  /// Whether it has contents beside activities.
  var hasContents: Bool { items.contains { !$0.representations.isEmpty } }

  fileprivate var hasPromises: Bool {
    items.contains { item in item.representations.contains { if case .promise = $0.content { true } else { false } } }
  }
}

extension [Item] {
  func promises(of caller: Caller) -> [Promise] {
    guard let source = caller.connection else { return [] }
    return enumerated().flatMap { place, item in
      item.representations.compactMap { representation in
        guard case .promise(let path) = representation.content else { return nil }
        return Promise(source: source, path: path, item: place, type: representation.type.spelling)
      }
    }
  }
}

extension [[Parcel?]] {
  var promises: [Promise] {
    joined().compactMap { if case .promise(let promise)? = $0?.content { promise } else { nil } }
  }

  /// The parcels of items that come behind so many others.
  func behind(_ count: Int) -> [[Parcel?]] {
    map { row in
      row.map { parcel in
        guard let parcel, case .promise(let promise) = parcel.content else { return parcel }
        let moved = Promise(source: promise.source, path: promise.path, item: promise.item + count, type: promise.type)
        return Parcel(.promise(moved), size: parcel.size)
      }
    }
  }
}
