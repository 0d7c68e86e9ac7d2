package import SceneModel

// The contents of a delivery, from its acceptance until its host releases them, the delivery fails, its session is discarded, or their time is over.
//
//   packed ──► kept ──► released
//               │ ▲
//               ▼ │  a transfer, which is done, fails, or is called off
//             opened ◄──► waiting
//                    the source of a promise has left, until it takes up its promises

/// The core's data about a delivery's contents. The store has the list of the parcels.
struct KeptBaggage: Sendable {
  /// The session of its delivery.
  var session: UniqueIdentifier?
  let order: Int64
  /// The connection that handed in the delivery, which may see representations for its own process.
  var confidant: Text?
  /// Whether the service has restarted since: descriptors are gone.
  var isFromBefore = false
  /// Whether the baggage store has some of the contents.
  var isInBaggageStore = true
  /// The promises of the sender, which it may forget when nobody opens them any more. After a restart of the service there are none until the sender
  /// takes them up: until then nobody is asked for them.
  var promises: [Promise] = []
  /// Set once the host has taken the delivery: when the contents expire, and whose new contents may replace them earlier.
  var until: Int64?
  var handledFor: Principal?
  var holding: Holding?
  var descriptors: Holding?
}

/// A host's call to open one representation. It ends when the descriptor is handed over, or when it fails or is cancelled.
struct Transfer: Hashable, Sendable {
  let delivery: UniqueIdentifier
  let application: Text
  let sandbox: Text?
  /// The promise that is opened, if its sender may leave and take it up again.
  var renewable: Promise?
  /// The moment until which it waits for that; `nil` while it is under way.
  var waitsUntil: Int64?
}

/// The result of opening a parcel, with its size if that is known.
package enum OpeningAnswer: Hashable, Sendable {
  case opened(size: Int64?)
  /// The source of a promise has left the bus.
  case sourceLeft(InterchangeError)
  case failed(InterchangeError)
}

extension PromptBook {
  /// The time in which a source must hand out promised data, in microseconds.
  package static let loadingPatience: Int64 = 60_000_000
  /// The time in which the sender of a promise that has left must take up the promise. It is independent of the delivery's deadline, which may be
  /// over, or an hour away: a load counts as a call of the host meanwhile.
  static let renewalPatience: Int64 = 60_000_000

  // MARK: Keeping

  /// A delivery has contents from now on.
  mutating func addBaggage(_ baggage: Baggage, of caller: Caller) throws(Halt) {
    let size = max(Allowance.smallestBaggage, baggage.keptBytes)
    let holding = try chargeBaggage(size, .baggage, to: caller.principal)
    let held = baggage.heldDescriptors
    let descriptors = held > 0 ? try chargeBaggage(held, .descriptors, to: caller.principal) : nil
    note(.baggage(baggage))
    memory.baggage[baggage.delivery]?.holding = holding
    memory.baggage[baggage.delivery]?.descriptors = descriptors
    memory.baggage[baggage.delivery]?.confidant = caller.connection
  }

  /// Charges contents. The contents of handled deliveries make space, the oldest first: their hosts had time to open them.
  mutating func chargeBaggage(_ amount: Int, _ resource: Resource, to principal: Principal) throws(Halt) -> Holding {
    while true {
      do throws(Halt) {
        return try ledger.charge(amount, of: resource, to: principal, after: memory.relief)
      } catch {
        guard let oldest = memory.handledBaggage.first(of: principal) else { throw error }
        release(oldest.identifier)
      }
    }
  }

  /// The bytes that a call may pack, including the space that the contents of handled deliveries make.
  func space(for principal: Principal) -> Int {
    let handled = memory.handledBaggage[principal].reduce(0) {
      $0 + (memory.baggage[$1.identifier]?.holding?.charge.amount ?? 0)
    }
    return ledger.space(for: principal, after: memory.relief, givingUp: handled)
  }

  /// Frees the contents of a delivery.
  ///
  /// - Parameter isDone: Whether the host asks for it. Otherwise nobody knows whether the host has opened everything that it wanted.
  mutating func release(_ delivery: UniqueIdentifier, isDone: Bool = false) {
    guard let kept = memory.baggage[delivery] else { return }
    if isDone { memory.drags[delivery]?.isTaken = true }
    note(.baggageReleased(delivery))
    if kept.isInBaggageStore { step.errands.append(.free([delivery])) }
    endPromises(kept.promises)
    callOff { $0.delivery == delivery }
    dragEnds(with: delivery, isDone ? .done : .kept)
  }

  /// Nobody will ask for the promises again: tells each object that made some of them, once, unless another delivery, drag or call has a promise of the
  /// object.
  mutating func endPromises(_ promises: [Promise]) {
    if promises.isEmpty { return }
    var told = Set(memory.packings.values.values.flatMap(\.promises).map(PromiseObject.init))
    let first = promises.filter { promise in
      let object = PromiseObject(promise)
      return memory.promised.first(of: object) == nil && told.insert(object).inserted
    }
    if !first.isEmpty { step.errands.append(.endPromises(first)) }
  }

  /// The host has taken a delivery: it has some time to open the contents.
  mutating func startBaggageTime(of delivery: UniqueIdentifier) {
    guard memory.baggage[delivery] != nil else {
      let drag = memory.drags[delivery]
      let hasEverything = drag.map { $0.isTaken || !$0.payload.hasContents } ?? true
      return dragEnds(with: delivery, hasEverything ? .done : .kept)
    }
    memory.baggageIsHandled(of: delivery, until: now.uptime + ledger.allowance.baggageTime)
    if memory.drags[delivery]?.operation != .move { dragEnds(with: delivery, .done) }
  }

  mutating func baggageTimeIsOver(_ delivery: UniqueIdentifier) {
    // The delivery may be open again, or may have been open and have more time.
    if let until = memory.baggage[delivery]?.until, until <= now.uptime { release(delivery) }
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
    let isOwnProcess = kept.confidant != nil && kept.confidant == caller.connection
    let visible = delivery.visible(isOwnProcess: isOwnProcess)
    let entries = baggage.items[item].filter { visible.contains($0.visibility) }
    let entry = try entry(of: entries, type, item)
    var transfer = Transfer(
      delivery: identifier, application: delivery.application, sandbox: caller.isSandboxed ? caller.application : nil)
    switch entry.parcel.content {
    case .promise(let promise):
      if baggage.renewer != nil { transfer.renewable = promise }
      if kept.promises.isEmpty {
        return try awaitRenewal(
          of: transfer, number,
          InterchangeError(.sourceGone, "the service has restarted, and earlier promises are lost"))
      }
    case .held where kept.isFromBefore:
      throw refused(.sourceGone, "the service has restarted, and earlier descriptors are lost")
    default: break
    }
    open(entry.parcel, transfer, number)
  }

  private mutating func open(_ parcel: Parcel, _ transfer: Transfer, _ number: CallNumber) {
    memory.transfers[number] = transfer
    step.errands.append(
      .open(number, transfer.delivery, parcel, sandbox: transfer.sandbox, within: PromptBook.loadingPatience))
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
    // text/html conforms to plain text, but a host that wants plain text should get it if there is some.
    if let found = entries.first(where: { types.isSame($0.type, as: wanted) }) { return found }
    if let found = entries.first(where: { types.conforms($0.type, to: wanted) }) { return found }
    let has = entries.map(\.type.spelling.string).joined(separator: ", ")
    throw refused(
      .noSuchItem,
      "item \(item) has no representation of the type \(quoted(type.string)); it has \(has.isEmpty ? "none" : has)")
  }

  /// The delivery, if the caller is its host.
  private func deliveryToOpen(_ identifier: UniqueIdentifier, _ caller: Caller) throws(Halt) -> StoredDelivery {
    if let drag = memory.drags[identifier], drag.state == .dragging, drag.mayLook(caller) {
      throw refused(.notDropped, "the drag \(identifier) has not been dropped: until then only its types can be read")
    }
    guard let delivery = try delivery(identifier) else { throw noDelivery(identifier) }
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

  /// The baggage store has opened a representation, or has failed.
  mutating func opened(_ number: CallNumber, _ answer: OpeningAnswer) throws(Halt) {
    guard let transfer = memory.transfers[number] else { return }
    memory.transfers[number] = nil
    switch answer {
    case .opened(let size): self.answer(number, .opened(size: size ?? -1))
    case .failed(let error): throw .refused(error)
    case .sourceLeft(let error):
      // Its sender may have taken up the promise before anyone knew that the source has left.
      if let promise = transfer.renewable, let present = presentForm(of: promise, transfer), present != promise {
        return open(present, transfer, number)
      }
      try awaitRenewal(of: transfer, number, error)
    }
  }

  // MARK: Promises of a sender that was restarted

  /// The promise with the connection that keeps it now.
  private func presentForm(of promise: Promise, _ transfer: Transfer) -> Promise? {
    memory.baggage[transfer.delivery]?.promises.first { $0 == promise.renewed(by: $0.source) }
  }

  private mutating func open(_ promise: Promise, _ transfer: Transfer, _ number: CallNumber) {
    var transfer = transfer
    (transfer.renewable, transfer.waitsUntil) = (promise, nil)
    open(Parcel(.promise(promise), size: nil), transfer, number)
  }

  /// - Parameter loss: The error where nobody may take up the promise.
  private mutating func awaitRenewal(
    of transfer: Transfer, _ number: CallNumber, _ loss: InterchangeError
  ) throws(Halt) {
    if transfer.renewable == nil { throw .refused(loss) }
    let moment = now.uptime + PromptBook.renewalPatience
    memory.transfers[number] = transfer
    memory.transfers[number]?.waitsUntil = moment
    memory.add(.renewal(number), at: moment)
  }

  mutating func renewalTimeIsOver(_ number: CallNumber) {
    // It may have been opened since, and wait again.
    guard let transfer = memory.transfers[number], let moment = transfer.waitsUntil, moment <= now.uptime else {
      return
    }
    memory.transfers[number] = nil
    let sentence = "the sender of the delivery \(transfer.delivery) did not take up its promises in time"
    answer(number, .refused(InterchangeError(.sourceGone, sentence)))
  }

  /// Whether the connection is the application's own host, and no understudy.
  private func hostsItself(_ application: Text, _ connection: Text) -> Bool {
    memory.hosts[application].map { $0.connection == connection && !$0.options.isUnderstudy } ?? false
  }

  /// The application whose later runs may take up what a caller promises; `nil` if nobody may.
  func renewer(of caller: Caller) -> Text? {
    caller.isSandboxed ? (caller.application.isEmpty ? nil : caller.application) : ownApplication(of: caller)
  }

  private func mayRenew(_ renewer: Text, _ caller: Caller) -> Bool {
    guard let source = caller.connection else { return false }
    return caller.isSandboxed ? caller.application == renewer : hostsItself(renewer, source)
  }

  /// From now on the caller is asked for the promises of the delivery with a token: its own, from an earlier run.
  mutating func renewPromises(_ token: Text, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    let key = TokenKey(token: token, owner: caller.tokenOwner)
    guard let stored = known.tokens[key] else { throw .lacks(.token(token, owner: key.owner)) }
    let deliveries = stored + (memory.tokens[key] ?? [])
    if deliveries.isEmpty {
      throw refused(.noSuchDelivery, "no delivery was sent under the token \(quoted(token.string))")
    }
    guard let delivery = deliveries.last(where: { memory.baggage[$0] != nil }) else {
      throw refused(
        .noSuchItem, "the delivery of the token \(quoted(token.string)) carries no data, or it was released")
    }
    let baggage = try baggage(of: delivery)
    if baggage.promises.isEmpty { throw refused(.noSuchItem, "the delivery \(delivery) has no promises") }
    guard let renewer = baggage.renewer else {
      throw refused(
        .noSuchItem,
        "the promises of the delivery \(delivery) end with the connection that sent them, which hosted no application")
    }
    guard mayRenew(renewer, caller) else {
      throw refused(
        .accessDenied, "the promises of the delivery \(delivery) belong to the host of \(renewer): attach first")
    }
    renew(baggage, by: caller)
    answer(number, .done)
  }

  /// A call with the token of an earlier delivery hands in the promises of that delivery again, and so renews them. Returns those that may end: the
  /// caller is not asked for them, or is asked by deliveries that the core knows of.
  mutating func promisesGivenUp(
    of promises: [Promise], for delivery: UniqueIdentifier, _ caller: Caller
  ) throws(Halt) -> [Promise] {
    if promises.isEmpty || memory.baggage[delivery] == nil { return promises }
    let baggage = try baggage(of: delivery)
    guard let renewer = baggage.renewer else { return promises }
    if mayRenew(renewer, caller) {
      renew(baggage, by: caller)
      return promises
    }
    // The sender of the delivery has not attached again yet, and may renew them when it has.
    let renewable = Set(baggage.promises.map(PromiseObject.init))
    return promises.filter { !renewable.contains(PromiseObject($0)) }
  }

  /// The promises are the caller's from now on. The loads that wait for them begin anew.
  private mutating func renew(_ baggage: Baggage, by caller: Caller) {
    guard let source = caller.connection, let kept = memory.baggage[baggage.delivery] else { return }
    // The list of all contents is stored anew, so only where that changes something.
    if kept.promises.isEmpty || kept.promises.contains(where: { $0.source != source }) {
      note(.baggage(baggage.renewed(by: source)))
    }
    for (number, transfer) in memory.transfers.values.sorted(by: { $0.key < $1.key })
    where transfer.delivery == baggage.delivery && transfer.waitsUntil != nil {
      if let promise = transfer.renewable { open(promise.renewed(by: source), transfer, number) }
    }
  }

  /// Ends transfers that nobody waits for any more, and tells the sources that were asked for the data.
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
