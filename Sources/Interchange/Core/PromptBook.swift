package import SceneModel
package import SceneRouting
package import TextRules

/// The core of the service: a cue goes in with its moment, a step comes out as plain data.
///
/// The core asks nobody, waits for nothing and reads no clock. The same cues at the same moments give the same steps, on any machine. So the theatre
/// can play years in a minute, with every accident that a seed can produce, and a play that failed once fails again.
///
/// ```
/// message ──► Cue ──► handle ──► Step ──► records   stored, all of a turn together
///                                    ├──► sayings   then said: signals, the answer last
///                                    └──► errands   then done: ask a host, start a program, read a delivery
/// ```
///
/// When a cue is refused or lacks data, its changes are undone; when the store refuses a turn, the turn's changes are. So no answer comes from
/// data that is not stored, and nothing is undone by hand.
package struct PromptBook: Sendable {
  var memory: Memory
  package let ledger: Ledger
  /// The result of the present cue.
  var step = Step()
  var now = Moment(time: Instant(microseconds: 0), uptime: 0)
  /// The data that was read for the present cue.
  var known = Knowledge()
  /// Applications that may have more sessions without a scene than they keep, since the present cue has ended a delivery.
  var overfull: Set<Text> = []
  private var identifiers: Identifiers
  private var errandNumber: ErrandNumber = 0
  private var startNumber = 0
  let types: TypeCatalog
  /// The rules of the person. They are no part of a turn: they came from files, and come again.
  package internal(set) var rules = RuleSet()
  var home = Text.empty

  /// - Parameter seed: The seed of the identifiers, which are no secrets.
  package init(types: TypeCatalog, allowance: Allowance = Allowance(), seed: (UInt64, UInt64)) {
    self.types = types
    memory = Memory(routing: State(types: types))
    ledger = Ledger(allowance)
    identifiers = Identifiers(seed: seed)
  }

  /// Takes in the data of the store, before the first cue.
  package mutating func recall(_ remembered: Remembered, at moment: Moment) {
    memory.recall(remembered, at: moment)
    for (identifier, delivery) in memory.deliveries.values {
      let payer = delivery.payerOfOld
      memory.deliveries[identifier]?.holding = ledger.take(Allowance.smallestDelivery, of: .waiting, for: payer)
      if delivery.progress.state == .forwarded {
        memory.deliveries[identifier]?.deferral = ledger.take(1, of: .forwarded, for: payer)
      }
    }
    for baggage in remembered.baggage {
      memory.baggage[baggage.delivery]?.holding = ledger.take(
        max(Allowance.smallestBaggage, baggage.bytes), of: .baggage,
        for: memory.deliveries[baggage.delivery]?.payerOfOld ?? .departed)
      if !baggage.isOpen {
        memory.baggageIsHandled(of: baggage.delivery, until: moment.uptime + ledger.allowance.baggageTime)
      }
    }
    memory.commitTurn()
  }

  // MARK: A cue

  /// Handles a cue. If the core lacks data, nothing has changed: read the data, call ``learn(_:)``, and give the cue again. Afterwards, also where the
  /// data could not be read, call ``forgetWhatWasRead()``.
  package mutating func handle(_ cue: Cue, at moment: Moment) throws(Lack) -> Step {
    (now, step) = (moment, Step())
    let identifiersBefore = identifiers
    memory.settle(.beginCue)
    do throws(Halt) {
      try respond(to: cue)
      if !overfull.isEmpty { try giveUpOldSessions() }
    } catch {
      memory.settle(.rollBackCue)
      overfull = []
      switch error {
      case .lacks(let lack):
        identifiers = identifiersBefore
        throw lack
      case .beginsAgain:
        identifiers = identifiersBefore
        return try handle(cue, at: moment)
      case .refused(let refusal):
        step = Step()
        refuse(cue, refusal)
      }
    }
    step.callAgain = memory.hasMoreToDo ? moment.uptime : memory.earliestDeadline
    defer { step = Step() }
    return step
  }

  /// Another cue reads what it needs anew: it may come after a change.
  package mutating func forgetWhatWasRead() { known = Knowledge() }

  private mutating func refuse(_ cue: Cue, _ refusal: InterchangeError) {
    switch cue {
    case .call(let number, let caller, let ask):
      endPromises(of: ask, caller)
      say(.answer(number, .refused(refusal)))
    case .ownership(let question, _, _):
      guard let attaching = memory.attaching.removeValue(for: question) else { return }
      if let call = attaching.call { return answer(call, .refused(refusal)) }
      log(.warning, "\(attaching.application): its host is not attached any more: \(refusal.message)")
    case .packed(let number, _), .consulted(let number, _), .opened(let number, _):
      memory.transfers[number] = nil
      unpack(number)
      // Its caller may have left meanwhile, and was answered then.
      guard memory.calls[number] != nil else { return }
      answer(number, .refused(refusal))
    default: say(.log(.error, Text(refusal.message)))
    }
  }

  /// Whether a call is answered with what comes of a cue.
  package func answersCall(_ cue: Cue) -> Bool {
    switch cue {
    case .call, .packed, .consulted: true
    case .ownership(let question, _, _): memory.attaching[question]?.call != nil
    default: false
    }
  }

  /// The microseconds after which the core tries a failed action again.
  package static let pause: Int64 = 5_000_000

  private mutating func respond(to cue: Cue) throws(Halt) {
    switch cue {
    case .began: try begin()
    case .call(let number, let caller, let ask): try respond(to: ask, of: caller, number)
    case .ownership(let question, let isOwner, let lack):
      try ownerWasFound(question, isOwner: isOwner, lack: lack)
    case .hostAnswered(let errand, let answer): try hostAnswered(errand, answer)
    case .hostLeft(let application, let question): try hostLeft(application, since: question)
    case .callerLeft(let connection):
      try detachAll(of: connection)
      forgetCalls(of: connection)
      goOnWithPackings(without: connection)
      cancelDrags(of: connection)
      ledger.leave(connection)
    case .delivery(let errand, let delivery): try deliveryWasRead(errand, delivery)
    case .launch(let application, let number, let news): try launched(application, number, news)
    case .installed(let installed, let broken): try install(installed, keeping: broken)
    case .declared(let manifest): try setManifest(manifest, ManifestSource(file: .empty, holding: nil))
    case .packed(let number, let answer): try packed(number, answer)
    case .consulted(let number, let answer): try consulted(number, answer)
    case .opened(let number, let answer): try opened(number, answer)
    case .moment: try momentCame()
    case .refused(let cue, let error): refuse(cue, error)
    }
  }

  private mutating func respond(to ask: Ask, of caller: Caller, _ number: CallNumber) throws(Halt) {
    try charge(number, caller, ask)
    switch ask {
    case .deliver(let payload, let digest, _): try deliver(payload, digest, caller, number)
    case .deliverEach(let payload, let digest, _): try deliverEach(payload, digest, caller, number)
    case .activate(let session, let payload, _): try activate(session, payload, caller, number)
    case .newSession(let application, let configuration): try makeSession(application, configuration, caller, number)
    case .adopt(let application, let configuration, let activity, let title):
      try adopt(application, configuration, activity, title, caller, number)
    case .cancel(let delivery): try cancel(delivery, caller, number)
    case .redirect(let delivery, let session): try redirect(delivery, to: session, caller, number)
    case .register(let manifest, let size): try register(manifest, size, caller, number)
    case .unregister(let application): try unregister(application, caller, number)
    case .prefer(let application, let type): try prefer(application, for: type, caller, number)
    case .attach(let application, let shown, let unknown, let options):
      try beginAttach(to: application, shown: shown, unknown: unknown, options, caller, number)
    case .putOff(let delivery, let seconds): try putOff(delivery, seconds, caller, number)
    case .finish(let delivery, let error, let message): try finish(delivery, error, message, caller, number)
    case .refresh(let session): try refresh(session, caller, number)
    case .destroy(let session, let animation): try destroy(session, animation: animation, caller, number)
    case .setState(let session, let state): try setState(session, state, caller, number)
    case .disconnect(let session): try disconnect(session, caller, number)
    case .write(let session, let writing): try write(session, writing, caller, number)
    case .post(let application, let name, let userInfo): try post(application, name, userInfo, caller, number)
    case .openItem(let delivery, let item, let type): try openItem(delivery, item, type, caller, number)
    case .release(let delivery): try releaseDelivery(delivery, caller, number)
    case .renewPromises(let token): try renewPromises(token, caller, number)
    case .beginDrag(let payload, let ticket, let outlives, _):
      try beginDrag(payload, ticket: ticket, outlivesSource: outlives, caller, number)
    case .openDrag(let ticket): try openDrag(ticket, caller, number)
    case .addItems(let items, let drag, _): try addItems(items, to: drag, caller, number)
    case .cancelDrag(let drag): try cancelDrag(drag, caller, number)
    case .propose(let drag, let session): try propose(drag, on: session, caller, number)
    case .drop(let drag, let session, let operation): try drop(drag, on: session, operation, caller, number)
    }
  }

  // MARK: A turn

  /// The store has taken the records of the turn.
  package mutating func commitTurn() {
    memory.commitTurn()
  }

  /// The store has refused the records: everything returns to the state before the turn.
  package mutating func rollBackTurn() {
    memory.settle(.rollBackTurn)
    memory.commitTurn()
  }

  /// Nothing has happened for a while: forgets what is remembered for speed. No turn may be under way.
  package mutating func rest() { memory.forgetRemembered() }

  // MARK: Reading

  package enum Learnt: Sendable {
    case routing([Session], answering: Need)
    /// Some more sessions of an application, in the order in which they were made.
    case page([Session])
    case sessions([UniqueIdentifier], found: [Session])
    case deliveries([UniqueIdentifier], found: [StoredDelivery])
    case baggage(UniqueIdentifier, Baggage?)
    case token(Text, owner: Text, [StoredDelivery])
    case orphans(of: Text, OrphanPage)
  }

  /// Takes in the data that the core lacked for a cue.
  package mutating func learn(_ learnt: Learnt) {
    switch learnt {
    case .routing(let sessions, let need): learn(sessions, answering: need)
    case .page(let sessions):
      for session in sessions { learn([session], answering: .session(session.identifier)) }
    case .sessions(let asked, let found):
      memory.learn(found)
      known.missing.formUnion(asked.filter { memory.sessions[$0] == nil })
    case .deliveries(let asked, let found):
      for delivery in found { memory.learn(delivery) }
      known.missing.formUnion(asked.filter { memory.recent[$0] == nil })
    case .baggage(let identifier, let baggage):
      if let baggage { known.baggage[identifier] = baggage } else { known.missing.insert(identifier) }
    case .token(let token, let owner, let deliveries):
      for delivery in deliveries { memory.learn(delivery) }
      known.tokens[TokenKey(token: token, owner: owner)] = deliveries.map(\.identifier)
    case .orphans(let application, var page):
      memory.learn(page.sessions)
      // Discarded in this turn already.
      page.sessions.removeAll { memory.leaving[$0.identifier] != nil }
      known.orphans[application] = page
    }
  }

  /// Takes in the sessions that routing asked for. Sessions whose configuration the manifest has lost stay out of routing until they are discarded.
  private mutating func learn(_ sessions: [Session], answering need: Need) {
    let rest = sessions.filter { session in
      if memory.leaving[session.identifier] != nil { return false }
      guard let manifest = memory.routing.manifest(of: session.application), !manifest.has(configurationOf: session)
      else {
        return true
      }
      noteOrphans(of: session.application)
      return false
    }
    memory.routing.learn(rest.map { memory.sessions[$0.identifier] ?? $0 }, answering: need)
  }

  /// The application has sessions whose configuration its manifest has lost. They may be on their way to another configuration already.
  mutating func noteOrphans(of application: Text) {
    if memory.orphaned[application] == nil { memory.orphaned.remember(.discarded, for: application) }
  }

  /// All pages of an application's sessions are read: routing knows all of its sessions.
  package mutating func noteComplete(_ application: Text) { memory.routing.noteComplete(application) }

  // MARK: Small pieces

  func session(_ identifier: UniqueIdentifier) throws(Halt) -> Session? {
    if let session = memory.sessions[identifier] { return session }
    if memory.leaving[identifier] != nil || known.missing.contains(identifier) { return nil }
    throw .lacks(.sessions([identifier]))
  }

  /// Returns the sessions at once, without those that are gone.
  func sessions(_ identifiers: [UniqueIdentifier]) throws(Halt) -> [Session] {
    let missing = identifiers.filter {
      memory.sessions[$0] == nil && memory.leaving[$0] == nil && !known.missing.contains($0)
    }
    if !missing.isEmpty { throw .lacks(.sessions(missing)) }
    return identifiers.compactMap { memory.sessions[$0] }
  }

  func delivery(_ identifier: UniqueIdentifier) throws(Halt) -> StoredDelivery? {
    if let delivery = memory.recent[identifier] { return delivery }
    if known.missing.contains(identifier) { return nil }
    throw .lacks(.deliveries([identifier]))
  }

  /// Asks for whole deliveries at once, so that the cue does not begin again for each.
  func askFor(deliveries identifiers: [UniqueIdentifier]) throws(Halt) {
    let missing = identifiers.filter { memory.recent[$0] == nil && !known.missing.contains($0) }
    if !missing.isEmpty { throw .lacks(.deliveries(missing)) }
  }

  /// Records a change: it will be stored, and is applied here.
  ///
  /// - Parameter holding: The space that an open delivery takes.
  mutating func note(_ record: Record, _ holding: Holding? = nil) {
    memory.fold(record, at: now, holding)
    // A drop has three records and four sayings. Arrays that grow from nothing move their elements twice on the way.
    if step.records.isEmpty { step.records.reserveCapacity(3) }
    step.records.append(record)
  }

  mutating func say(_ saying: Saying) {
    if step.sayings.isEmpty { step.sayings.reserveCapacity(4) }
    step.sayings.append(saying)
  }

  mutating func log(_ line: String) { log(.info, line) }
  mutating func log(_ level: LogLevel, _ line: String) { say(.log(level, Text(line))) }

  /// Announces an event to everyone, and keeps it for callers that ask later.
  mutating func announce(_ kind: Event.Kind, _ application: Text, _ session: UniqueIdentifier) {
    let event = Event(kind, application: application, session: session, sequence: memory.sequence + 1)
    note(
      .event(
        StoredEvent(
          sequence: event.sequence, name: event.name, application: application, arguments: event.stored, at: now.time
        )))
    say(.event(event))
  }

  mutating func answer(_ number: CallNumber, _ reply: CallAnswer) {
    memory.calls[number] = nil
    say(.answer(number, reply))
  }

  private mutating func charge(_ number: CallNumber, _ caller: Caller, _ ask: Ask) throws(Halt) {
    guard ask.mayWait else { return }
    let calls = try ledger.charge(1, of: .calls, to: caller.principal)
    let bytes = ask.size > 0 ? try ledger.charge(ask.size, of: .callBytes, to: caller.principal) : nil
    memory.calls[number] = CallCharge(connection: caller.connection, number: calls, bytes: bytes)
  }

  /// A caller that has left waits for no answer: releases its charges, and the shell's data for it.
  private mutating func forgetCalls(of connection: Text) {
    for waiting in memory.waitingFor[connection] {
      let rest = (memory.waiters[waiting.delivery] ?? []).filter { $0 != waiting.call }
      memory.waiters[waiting.delivery] = rest.isEmpty ? nil : rest
      memory.waitingFor.remove(waiting, for: connection)
      answer(waiting.call, .refused(.callerLeft))
    }
  }

  mutating func newIdentifier() -> UniqueIdentifier { UniqueIdentifier(using: &identifiers) }

  mutating func newErrand(_ purpose: ErrandPurpose) -> ErrandNumber {
    let number = newNumber()
    memory.errands[number] = purpose
    return number
  }

  mutating func newNumber() -> ErrandNumber {
    errandNumber += 1
    return errandNumber
  }

  mutating func newStart() -> Int {
    startNumber += 1
    return startNumber
  }

  /// Charges for a call that has not reached the core, until the result is destroyed.
  package func hold(
    _ amount: Int, of resource: Resource, for principal: Principal
  ) throws(InterchangeError) -> Holding {
    do throws(Halt) { return try ledger.charge(amount, of: resource, to: principal) } catch {
      guard case .refused(let refusal) = error else { preconditionFailure("a charge asks the store") }
      throw refusal
    }
  }

  func refused(_ name: InterchangeError.Name, _ message: String) -> Halt { .refused(InterchangeError(name, message)) }
}

/// The reason why a cue goes no further.
package enum Halt: Error {
  case lacks(Lack)
  case refused(InterchangeError)
  /// The core has learnt something for the cue from the cue itself.
  case beginsAgain
}

/// The data that was read for one cue.
struct Knowledge: Sendable {
  /// Sessions and deliveries that do not exist.
  var missing: Set<UniqueIdentifier> = []
  var tokens: [TokenKey: [UniqueIdentifier]] = [:]
  var orphans: [Text: OrphanPage] = [:]
  var baggage: [UniqueIdentifier: Baggage] = [:]
  /// The decision of the cue, if the cue begins again after it.
  var decided: Decision?
  /// The first item of a batch for which the sender has no space, and the error that it and the items behind it get.
  var full: (item: Int, error: InterchangeError)?

  var isEmpty: Bool {
    missing.isEmpty && tokens.isEmpty && orphans.isEmpty && baggage.isEmpty && decided == nil && full == nil
  }
}

package struct OrphanPage: Sendable {
  var sessions: [Session]
  /// Whether the store has no more.
  let isLast: Bool

  package init(sessions: [Session], isLast: Bool) { (self.sessions, self.isLast) = (sessions, isLast) }
}

/// Random numbers from a seed, by xoshiro256**: fast, and the same for the same seed.
struct Identifiers: RandomNumberGenerator, Sendable {
  private var state: (UInt64, UInt64, UInt64, UInt64)

  init(seed: (UInt64, UInt64)) {
    var mix = seed.0
    func next(_ mix: inout UInt64) -> UInt64 {
      mix &+= 0x9E37_79B9_7F4A_7C15
      var bits = mix
      bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
      return bits ^ bits >> 31
    }
    let first = (next(&mix), next(&mix))
    mix ^= seed.1
    state = (first.0, first.1, next(&mix), next(&mix))
  }

  mutating func next() -> UInt64 {
    let product = state.1 &* 5
    let result = (product << 7 | product >> 57) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = state.3 << 45 | state.3 >> 19
    return result
  }
}

extension Ask {
  /// Whether the call may be answered after its turn. A call that is answered in its turn is not charged.
  fileprivate var mayWait: Bool {
    switch self {
    case .deliver, .deliverEach, .activate, .newSession, .attach, .openItem, .beginDrag, .addItems, .propose, .drop:
      true
    default: false
    }
  }

  /// The bytes of the document in the call.
  fileprivate var size: Int {
    switch self {
    case .deliver(_, _, let size), .deliverEach(_, _, let size), .activate(_, _, let size), .register(_, let size),
      .beginDrag(_, _, _, let size), .addItems(_, _, let size):
      size
    case .post(_, _, let userInfo): userInfo.count
    default: 0
    }
  }
}

extension Manifest {
  package func has(configurationOf session: Session) -> Bool { has(session.configuration, in: session.role) }

  func has(_ configuration: Text, in role: Text) -> Bool {
    configurations.contains { $0.role == role && $0.name == configuration }
  }
}
