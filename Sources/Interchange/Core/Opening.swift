package import SceneModel

// What a delivery carries, from its acceptance on until its host releases it, it fails, its session goes, or nobody has opened it for long.
//
//   packed ──► kept ──► released
//               │ ▲
//               ▼ │  opening: a transfer, which is done, fails, or is called off
//             opened

/// What the core knows of a delivery's baggage. What is in it the store has.
struct KeptBaggage: Sendable {
  /// The session of its delivery.
  var session: UniqueIdentifier?
  let order: Int64
  /// The connection that handed it in, which may see what is for its own process.
  var confidant: Text?
  /// The service has begun anew since: descriptors and promises are gone.
  var isFromBefore = false
  /// The room has some of it.
  var isInRoom = true
  /// What its sender promised, and may forget when nobody opens it any more.
  var promises: [Promise] = []
  /// Its host has taken the delivery: when it goes at the latest, and among whose it makes room.
  var until: Int64?
  var handledFor: Principal?
  var holding: Holding?
}

/// A host opens one representation. It ends when that is handed over, fails, or is called off.
struct Transfer: Hashable, Sendable {
  let delivery: UniqueIdentifier
  let application: Text
}

/// What came of opening: how long it is, where that is known.
package enum OpeningAnswer: Hashable, Sendable {
  case opened(size: Int64?)
  case failed(InterchangeError)
}

extension PromptBook {
  /// How long a source is waited for that is to hand out what it promised, in microseconds.
  static let loadingPatience: Int64 = 60_000_000

  // MARK: Keeping

  /// A delivery carries something from now on.
  mutating func keep(_ baggage: Baggage, of caller: Caller) throws(Halt) {
    let size = max(Allowance.smallestBaggage, baggage.keptBytes)
    let holding = try chargeBaggage(size, to: caller.principal)
    note(.baggage(baggage))
    memory.baggage[baggage.delivery]?.holding = holding
    memory.baggage[baggage.delivery]?.confidant = caller.connection
  }

  /// What was handled already makes room, the oldest first: its hosts had time to open it.
  mutating func chargeBaggage(_ size: Int, to principal: Principal) throws(Halt) -> Holding {
    while true {
      do throws(InterchangeError) {
        return try ledger.charge(size, of: .baggage, to: principal, after: memory.relief)
      } catch {
        guard let oldest = memory.handledBaggage.first(of: principal) else { throw .refused(error) }
        release(oldest.identifier)
      }
    }
  }

  /// Bytes that a call may have packed: what was handled makes room for it.
  func room(for principal: Principal) -> Int {
    let handled = memory.handledBaggage[principal].reduce(0) {
      $0 + (memory.baggage[$1.identifier]?.holding?.charge.amount ?? 0)
    }
    return ledger.room(for: principal, after: memory.relief, givingUp: handled)
  }

  /// What a delivery carried goes.
  ///
  /// - Parameter isDone: whether its host says so. Else nobody knows whether the host has opened what it wanted.
  mutating func release(_ delivery: UniqueIdentifier, isDone: Bool = false) {
    guard let kept = memory.baggage[delivery] else { return }
    note(.baggageReleased(delivery))
    if kept.isInRoom { step.errands.append(.free([delivery])) }
    endPromises(kept.promises)
    callOff { $0.delivery == delivery }
    dragEnds(with: delivery, isDone ? .done : .kept)
  }

  /// Nobody asks for it any more: each object that promised something is told once.
  mutating func endPromises(_ promises: [Promise]) {
    var told: Set<Text> = []
    let first = promises.filter { told.insert($0.path).inserted }
    if !first.isEmpty { step.errands.append(.endPromises(first)) }
  }

  /// Its host has taken a delivery: it has some time to open what came along.
  mutating func keepForAWhile(_ delivery: UniqueIdentifier) {
    guard memory.baggage[delivery] != nil else { return dragEnds(with: delivery, .done) }
    memory.baggageIsHandled(of: delivery, until: now.uptime + ledger.allowance.baggageTime)
    if memory.drags[delivery]?.operation != .move { dragEnds(with: delivery, .done) }
  }

  mutating func baggageTimeIsOver(_ delivery: UniqueIdentifier) {
    // It may be under way again, or have been so, and have more time.
    if let until = memory.baggage[delivery]?.until, until <= now.uptime { release(delivery) }
  }

  mutating func releaseBaggage(of session: UniqueIdentifier) {
    for entry in memory.baggageOfSession[session] { release(entry.identifier) }
  }

  mutating func releaseDelivery(
    _ identifier: UniqueIdentifier, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    _ = try deliveryToOpen(identifier, caller)
    release(identifier, isDone: true)
    answer(number, .done)
  }

  // MARK: Opening

  mutating func openItem(
    _ identifier: UniqueIdentifier, _ item: Int, _ type: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let delivery = try deliveryToOpen(identifier, caller)
    guard let kept = memory.baggage[identifier] else {
      throw refused(.noSuchItem, "the delivery \(identifier) carries no data, or it was released")
    }
    let baggage = try baggage(of: identifier)
    guard baggage.items.indices.contains(item) else {
      throw refused(
        .noSuchItem,
        "there is no item \(item): the delivery \(identifier) has \(baggage.items.count), counted from 0")
    }
    var visible: Set<Visibility> = [.all]
    if delivery.sourceApplication == delivery.application { visible.insert(.application) }
    if kept.confidant != nil, kept.confidant == caller.connection { visible.insert(.ownProcess) }
    let entries = baggage.items[item].filter { visible.contains($0.visibility) }
    let entry = try entry(of: entries, type, item)
    if kept.isFromBefore, case .promise = entry.parcel.content {
      throw refused(.sourceGone, "the service began anew, and what was promised before is gone")
    }
    memory.transfers[number] = Transfer(delivery: identifier, application: delivery.application)
    step.errands.append(.open(number, identifier, entry.parcel, within: PromptBook.loadingPatience))
  }

  private func entry(
    of entries: [Baggage.Entry], _ type: Text, _ item: Int
  ) throws(Halt) -> Baggage.Entry {
    if type.isEmpty {
      if let first = entries.first { return first }
      throw refused(.noSuchItem, "item \(item) has no data")
    }
    guard let wanted = ContentType(type, as: .asked) else {
      throw refused(
        .invalidArgs,
        "type: expected a content type such as image/png, public.image or image/*, got \(quoted(type.string))"
      )
    }
    // text/html is plain text too, but who wants plain text wants that where it is there.
    if let found = entries.first(where: { $0.type == wanted }) { return found }
    if let found = entries.first(where: { types.conforms($0.type, to: wanted) }) { return found }
    let has = entries.map(\.type.spelling.string).joined(separator: ", ")
    throw refused(
      .noSuchItem, "item \(item) has nothing of \(quoted(type.string)): it has \(has.isEmpty ? "no data" : has)")
  }

  /// The delivery, where its host asks.
  private func deliveryToOpen(_ identifier: UniqueIdentifier, _ caller: Caller) throws(Halt) -> StoredDelivery {
    if let drag = memory.drags[identifier], drag.state == .dragging, drag.mayLook(caller) {
      throw refused(.notDropped, "the drag \(identifier) has not been dropped: until then only its types can be read")
    }
    guard let delivery = try delivery(identifier) else { throw noDelivery(Text("\(identifier)")) }
    try refuseOthersThanHost(of: delivery.application, caller)
    return delivery
  }

  private func baggage(of delivery: UniqueIdentifier) throws(Halt) -> Baggage {
    if let baggage = memory.packed[delivery] ?? known.baggage[delivery] { return baggage }
    if known.missing.contains(delivery) {
      throw refused(.noSuchItem, "what the delivery \(delivery) carried is no longer stored")
    }
    throw .lacks(.baggage(delivery))
  }

  /// The room has opened a representation, or could not.
  mutating func opened(_ number: CallNumber, _ answer: OpeningAnswer) throws(Halt) {
    guard memory.transfers[number] != nil else { return }
    memory.transfers[number] = nil
    switch answer {
    case .opened(let size): self.answer(number, .opened(size: size ?? -1))
    case .failed(let error): throw .refused(error)
    }
  }

  /// Nobody waits for these transfers any more: whoever was asked for the data is told.
  mutating func callOff(where isOver: (Transfer) -> Bool) {
    for (number, transfer) in memory.transfers.values.sorted(by: { $0.key < $1.key }) where isOver(transfer) {
      memory.transfers[number] = nil
      step.errands.append(.callOff(number))
      answer(
        number,
        .refused(InterchangeError(.cancelled, "the delivery \(transfer.delivery) was released, or its host left")))
    }
  }
}
