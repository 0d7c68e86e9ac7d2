package import SceneModel

// How the items of a payload find a session each, where `DeliverEach` hands in several at once: ten photographs that are dropped
// together, and are ten windows.
//
// Each item is routed as if it had come alone, in payload order, with the options of the payload. It sees what those before it
// did, so the second of two that are alike finds the session that was made for the first. Time stands still meanwhile: they came
// at one moment. All of them share the steps that conditions may take.
//
// A batch is one wish unless its sender says otherwise. One item that is refused then refuses all of them; nothing has happened,
// and the state is what it was. With `"batch": "bestEffort"` that item alone is refused, and the others stand.
//
// Unlike `decide` this changes the state as it goes, since there is no other way to see what was done. What is changed is not
// stored yet: a store that refuses undoes it with `State.revert`.

/// Decides where each item of a payload goes, and makes it so in `state`.
///
/// - Parameter newSession: what a session is called that has to be made. It is asked once for each item that is decided.
/// - Throws: what does not belong into a payload whose items are routed each on its own.
package func decideEach(
  _ state: inout State, _ payload: Payload, from sender: Sender = Sender(), at now: Instant,
  newSession: () -> UniqueIdentifier
) throws(Fault) -> BatchDecision {
  try payload.refuseWhatIsNotForEach()
  var batch = BatchDecision()
  var steps = Limits.conditionSteps
  for (place, single) in payload.split.enumerated() {
    let request = Request(single, from: sender, newSession: newSession())
    let decision = decide(state, request, at: now, within: &steps)
    batch.decisions.append(decision)
    batch.steps = Limits.conditionSteps - steps
    if let fact = decision.fact { batch.undos.append(state.apply(fact)) }
    guard case .refused(let refusal) = decision.outcome, payload.options.batch == .allOrNothing else { continue }
    state.revert(batch)
    var refused = BatchDecision(refusing: payload, since: refusal, at: place, decision.explanation)
    refused.steps = batch.steps
    return refused
  }
  return batch
}

/// Where the items of a payload go.
package struct BatchDecision: Sendable {
  /// One for each item, in payload order.
  package fileprivate(set) var decisions: [Decision] = []
  /// Why nothing comes of any of it. Where the batch is `bestEffort` this is `nil`, whatever was refused.
  package private(set) var refusal: Refusal?
  /// What each fact replaced, in the order in which they were made true.
  package fileprivate(set) var undos: [State.Undo] = []
  /// How many steps the conditions took that were asked.
  package fileprivate(set) var steps = 0

  fileprivate init() {}

  /// Each item still has an outcome, and none says that something happened. Only the one that was refused says why in detail.
  fileprivate init(refusing payload: Payload, since refusal: Refusal, at place: Int, _ explanation: Explanation) {
    let ofBatch = Refusal(refusal.reason, "items[\(place)]: \(refusal.message)")
    self.refusal = ofBatch
    decisions = payload.items.indices.map { index in
      let isCause = index == place
      return Decision(refusing: isCause ? refusal : ofBatch, isCause ? explanation : Explanation())
    }
  }
}

extension State {
  /// Puts back what was before a batch, if nothing else was changed since.
  package mutating func revert(_ batch: BatchDecision) {
    for undo in batch.undos.reversed() { revert(undo) }
  }
}

extension Payload {
  /// Each item as a payload of its own, with the options of all of them.
  package var split: [Payload] { items.map { Payload(items: [$0], options: options) } }

  fileprivate func refuseWhatIsNotForEach() throws(Fault) {
    let options = Place.document.key("options")
    if items.isEmpty {
      throw .expected("items, each of which is routed on its own", got: "none", at: Place.document.key("items"))
    }
    if self.options.session != nil {
      throw .expected("no session, as each item finds its own", got: "one", at: options.key("session"))
    }
    if self.options.wait == .handled {
      throw .expected("\"routed\", as each item has a host of its own", got: "\"handled\"", at: options.key("wait"))
    }
  }
}
