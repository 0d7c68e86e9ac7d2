import SceneModel
import SceneRouting

// Deliveries whose host has taken them and tells their end later, as a host that passes them on to another place.
//
//   routed ──DeferDelivery──► forwarded ──FinishDelivery──► handled, failed
extension PromptBook {
  /// The longest time until the end of a deferred delivery, in seconds: a week, for a device that was left at home over a holiday.
  package static let longestDeferral: UInt32 = 604_800

  mutating func putOff(
    _ identifier: UniqueIdentifier, _ seconds: UInt32, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let delivery = try deliveryOfHost(identifier, caller)
    guard seconds >= 1, seconds <= PromptBook.longestDeferral else {
      throw refused(.invalidArgs, "seconds: expected 1 to \(PromptBook.longestDeferral), got \(seconds)")
    }
    guard delivery.progress.state != .forwarded, let session = delivery.session, isInHand(delivery, session) else {
      throw refused(
        .noSuchDelivery,
        "the host does not have the delivery \(identifier) in hand: defer the delivery before you return")
    }
    let principal = Principal.host(delivery.application)
    // The sender no longer pays for it.
    memory.relief.add(delivery.holding)
    let size = delivery.holding?.charge.amount ?? Allowance.smallestDelivery
    let holding = try ledger.charge(size, of: .waiting, to: principal, after: memory.relief)
    let deferral = try ledger.charge(1, of: .forwarded, to: principal)
    memory.deliveries[identifier]?.holding = holding
    memory.deliveries[identifier]?.deferral = deferral
    try moveBaggage(of: identifier, to: principal)
    let until = now.time.adding(seconds: Double(seconds))
    note(.deliveryProgress(identifier, delivery.forwarded(until: until)))
    memory.provisional[session] = nil
    announce(.forwarded(delivery: identifier), delivery.application, session)
    log("\(identifier): forwarded")
    answer(number, .done)
  }

  private mutating func moveBaggage(of delivery: UniqueIdentifier, to principal: Principal) throws(Halt) {
    guard let kept = memory.baggage[delivery] else { return }
    for (path, resource) in [(\KeptBaggage.holding, Resource.baggage), (\.descriptors, .descriptors)] {
      guard let holding = kept[keyPath: path] else { continue }
      memory.relief.add(holding)
      let moved = try chargeBaggage(holding.charge.amount, resource, to: principal)
      memory.baggage[delivery]?[keyPath: path] = moved
    }
  }

  private func deliveryOfHost(_ identifier: UniqueIdentifier, _ caller: Caller) throws(Halt) -> OpenDelivery {
    guard let delivery = memory.deliveries[identifier] else {
      throw refused(.noSuchDelivery, "the delivery \(identifier) is over, or there is none")
    }
    try refuseOthersThanHost(of: delivery.application, caller)
    return delivery
  }

  /// Whether the host has the delivery and has not answered yet.
  private func isInHand(_ delivery: OpenDelivery, _ session: UniqueIdentifier) -> Bool {
    switch memory.lanes[Lane.Key(application: delivery.application, session: session)]?.act {
    case .connecting(let inHand, again: _), .continuing(let inHand), .activating(let inHand, acknowledges: true):
      inHand.identifier == delivery.identifier && inHand.attempt == delivery.progress.attempt
    default: false
    }
  }

  /// - Parameter error: The name of the error; "" if the delivery has been handled.
  mutating func finish(
    _ identifier: UniqueIdentifier, _ error: Text, _ message: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let delivery = try deliveryOfHost(identifier, caller)
    guard delivery.progress.state == .forwarded, let session = delivery.session else {
      throw refused(.noSuchDelivery, "the delivery \(identifier) is not forwarded")
    }
    if error.isEmpty {
      if !delivery.isPrivate { try makePublic(delivery, session) }
      if isInHand(delivery, session) {
        memory.lanes[Lane.Key(application: delivery.application, session: session)]?.isFinished = true
      }
      wasTaken(delivery, by: session)
    } else {
      let told = InterchangeError(.routing(error), message.string)
      let hidden = InterchangeError(.hostRefused, "the host of \(delivery.application) refused it")
      // The words may be about what the window shows. They are known to the sender of a private delivery only.
      _ = try self.session(session)
      let lane = memory.lanes[Lane.Key(application: delivery.application, session: session)]
      let isSecret = delivery.isPrivate || showsSecret(session) || lane?.isSecret ?? false
      let everyone = isSecret ? hidden : told
      try end(
        delivery, delivery.failed(everyone, at: now.time), everyone, tellingSender: delivery.isPrivate ? told : everyone
      )
    }
    try giveUpOldSessions()
    answer(number, .done)
  }
}

extension OpenDelivery {
  /// Who is charged for a delivery from before a restart.
  var payerOfOld: Principal { self.progress.state == .forwarded ? .host(self.application) : .departed }
}
