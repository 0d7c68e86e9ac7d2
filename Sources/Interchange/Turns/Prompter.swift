package import InterchangeCore
package import SceneModel
package import SceneRouting
package import SessionStore
package import TextRules

/// The prompter gives the core its cues, reads the data that the core lacks, and stores the records of a turn in one transaction.
///
/// Nobody may hear of a turn before its records are stored. So the prompter returns the turn only then, and the shell carries out its steps:
///
/// ```
/// take ──► take ──► take ──► endTurn ──► stored: say the turn, then do it
///                                  └───► refused: nothing has happened, and each caller is told
/// ```
///
/// The prompter knows neither the bus nor a clock, and has no tasks. The service and the theatre share it, so they have the same turns.
package struct Prompter: ~Copyable {
  package private(set) var book: PromptBook
  package let store: SessionStore
  /// The number of sessions that are read at once.
  let page: Int

  /// The steps that are not stored yet.
  private var turn = Turn()
  /// Cues of a turn that the store has refused: each gets a turn of its own.
  private var alone: ArraySlice<Waiting> = []
  /// How often the present turn, of one cue, was refused before.
  private var triesOfTurn = 0
  /// The log lines about cues that the store has refused.
  private var complaints: [Saying] = []
  /// Events of the outside world that the store has refused.
  private var backlog: [Waiting] = []
  package var hasBacklog: Bool { !backlog.isEmpty }
  /// Whether the store has accepted a turn since the backlog was last tried.
  private var isWell = false

  /// An event that is tried again.
  private struct Waiting {
    var cue: Cue
    /// How often the store has refused the event by itself, though the disk works.
    var tries = 0
    /// The earliest time, in microseconds of uptime.
    var notBefore = Int64.min
  }
  /// The time at which the core wants to be called, in microseconds of uptime.
  package private(set) var alarm: Int64?
  /// The applications whose sessions are read while nobody waits, and the place that was reached.
  private var readings: [Text: Reading] = [:]
  /// The last search for sessions that lack their configuration: before this place there are none.
  private var orphanSearch: Reading?

  /// A new manifest may have the configuration of sessions that the one before left out: then all sessions are read anew.
  private struct Reading {
    let place: SessionAge
    let manifest: Manifest?
  }
  /// How often the last cue began again because the core lacked something. Each time it does all of its work once more.
  package private(set) var restarts = 0

  /// - Parameters:
  ///   - seed: The seed of the identifiers.
  ///   - page: The number of sessions that are read at once. 256 of them take a millisecond or two.
  package init(
    _ store: SessionStore, types: TypeCatalog, allowance: Allowance, seed: (UInt64, UInt64), page: Int = 256,
    at moment: Moment
  ) throws(StoreError) {
    (self.store, self.page) = (store, page)
    book = PromptBook(types: types, allowance: allowance, seed: seed)
    book.recall(try store.remembered(), at: moment)
  }

  // MARK: Cues in

  /// Whether there is something to store, to say or to do.
  package var hasTurn: Bool {
    !turn.steps.isEmpty || !alone.isEmpty || !complaints.isEmpty || isWell && !backlog.isEmpty
  }

  /// Whether the turn must end before it takes another cue.
  package var isFull: Bool {
    turn.recordCount >= Turn.maximumRecords || turn.steps.count >= Turn.maximumSteps
      || turn.listenerCount >= Turn.maximumListeners
  }

  /// Whether the turn may wait for other cues, to share a transaction with them. A turn that stores nothing need not wait.
  package var mayWait: Bool { turn.recordCount > 0 && alone.isEmpty }

  // To ask the book itself would copy it.
  package func awaits(_ errand: ErrandNumber) -> Bool { book.awaits(errand) }
  package func matters(_ connection: Text) -> Bool { book.matters(connection) }
  package func isAsked(_ connection: Text) -> Bool { book.isAsked(connection) }

  /// Handles a cue.
  ///
  /// If this throws, the store could not be read and nothing has changed. The caller is answered at the end of the turn; an event of the outside
  /// world is repeated later.
  @discardableResult
  package mutating func take(_ cue: Cue, at moment: Moment) throws(StoreError) -> Step {
    if !backlog.isEmpty { backlog.removeAll { cue.replaces($0.cue) } }
    do throws(StoreError) {
      let step = try handle(cue, at: moment)
      turn.add(cue, step)
      return step
    } catch {
      let message = "the store cannot be read: \(error.message)"
      if !cue.isCall { complaints.append(.log(.error, Text(message))) }
      refuse(cue, message, at: moment)
      throw error
    }
  }

  private mutating func handle(_ cue: Cue, at moment: Moment) throws(StoreError) -> Step {
    restarts = 0
    defer { book.forgetWhatWasRead() }
    while true {
      do throws(Lack) { return try book.handle(cue, at: moment) } catch { try find(error) }
      restarts += 1
    }
  }

  /// The alarm went off: repeats the events of the outside world, and gives the core the moment that it wanted.
  package mutating func alarmWent(at moment: Moment) {
    alarm = nil
    tellAgain(at: moment)
    _ = try? take(.moment, at: moment)
  }

  private mutating func setAlarm(_ uptime: Int64) { alarm = min(alarm ?? uptime, uptime) }

  // MARK: Store, then say, then do

  package struct Ending {
    /// If the store accepted the turn: the steps whose sayings and then errands are to be carried out.
    package let turn: Turn
    /// The reason why the store refused the turn: nothing of the turn has happened.
    package let error: StoreError?
    /// The log lines about refused cues, which are written in either case.
    package let complaints: [Saying]
  }

  /// Stores the records of the turn.
  ///
  /// While ``hasTurn`` is true there is more to end, after this turn's sayings. While ``mayWait`` is true as well, that may be later.
  package mutating func endTurn(at moment: Moment) -> Ending {
    if turn.steps.isEmpty { takeNext(at: moment) }
    let ended = turn
    turn = Turn()
    defer { triesOfTurn = 0 }
    var failure: StoreError?
    do throws(StoreError) {
      let records = ended.records
      if !records.isEmpty {
        try store.commit(records, at: moment.time)
        isWell = true
      }
      book.commitTurn()
      if let uptime = ended.steps.last?.step.callAgain { setAlarm(uptime) }
    } catch {
      failure = error
      rollBack(ended, error, at: moment)
    }
    defer { complaints = [] }
    return Ending(turn: ended, error: failure, complaints: complaints)
  }

  /// Takes cues that had to wait because the store refused a turn.
  private mutating func takeNext(at moment: Moment) {
    if let next = alone.popFirst() {
      triesOfTurn = next.tries
      _ = try? take(next.cue, at: moment)
    } else if isWell {
      tellAgain(at: moment)
    }
  }

  /// The store refused the turn: returns everything to the stored state, answers each caller, and keeps the events of the outside world for later.
  private mutating func rollBack(_ refused: Turn, _ error: StoreError, at moment: Moment) {
    book.rollBackTurn()
    isWell = false
    // If the disk works, one record may be the reason. Then each cue gets a turn of its own, and the store accepts the others.
    if error.kind == .other, refused.steps.count > 1 {
      alone = ArraySlice(refused.steps.map { Waiting(cue: $0.cue) } + alone)
      return
    }
    if error.kind == .other { triesOfTurn += 1 }
    complaints.append(.log(.error, Text("nothing was stored: \(error.message)")))
    let message = "it could not be stored, so it did not happen: \(error.message)"
    for (cue, _) in refused.steps { refuse(cue, message, at: moment) }
  }

  /// Answers a caller; keeps an event of the outside world for later.
  private mutating func refuse(_ cue: Cue, _ message: String, at moment: Moment) {
    switch cue {
    case .packed(_, .failed(let error)):
      _ = try? take(.refused(cue, error), at: moment)
      return
    case _ where book.answersCall(cue):
      _ = try? take(.refused(cue, InterchangeError(.storageFailed, message)), at: moment)
      return
    // These take nothing from the store and store nothing: another step of their turn was refused.
    case .refused, .opened:
      _ = try? take(cue, at: moment)
      return
    // The alarm brings another moment; if moments were kept, each pause of a full disk would add one.
    case .moment: break
    default:
      // If the event itself is the reason, each try waits longer, up to five minutes: the log has one line for each.
      let pause = PromptBook.pause << min(triesOfTurn, 6)
      backlog.append(
        Waiting(cue: cue, tries: triesOfTurn, notBefore: triesOfTurn > 0 ? moment.uptime + pause : .min))
      isWell = false
      return setAlarm(moment.uptime + pause)
    }
    setAlarm(moment.uptime + PromptBook.pause)
  }

  private mutating func tellAgain(at moment: Moment) {
    let due = backlog.filter { $0.notBefore <= moment.uptime }
    backlog.removeAll { $0.notBefore <= moment.uptime }
    isWell = false
    alone += due.filter { $0.tries > 0 }
    for event in due where event.tries == 0 { _ = try? take(event.cue, at: moment) }
    if let next = backlog.map(\.notBefore).min() { setAlarm(next) }
  }
}

// MARK: - While nobody waits

extension Prompter {
  /// Forgets what the core remembers for speed, and puts the store in order.
  ///
  /// - Returns: Whether nothing is left to do. If there was much, another call does the next part.
  package mutating func rest(at now: Instant) throws(StoreError) -> Bool {
    if turn.steps.isEmpty { book.rest() }
    return try store.rest(at: now)
  }

  /// The time after which there is something for the next rest: the deadline of a delivery that was handled, whose documents go then.
  package func nextRest() -> Instant? { (try? store.nextSpent()).flatMap(\.self) }
}

// MARK: - Data that the core lacks

extension Prompter {
  private mutating func find(_ lack: Lack) throws(StoreError) {
    switch lack {
    case .routing(let needs): for need in needs { try find(need) }
    case .sessions(let identifiers):
      var found: [Session] = []
      for identifier in identifiers {
        if let session = try store.session(identifier) { found.append(session) }
      }
      book.learn(.sessions(identifiers, found: found))
    case .deliveries(let identifiers):
      var found: [StoredDelivery] = []
      for identifier in identifiers {
        if let delivery = try store.delivery(identifier) { found.append(delivery) }
      }
      book.learn(.deliveries(identifiers, found: found))
    case .baggage(let delivery): book.learn(.baggage(delivery, try store.baggage(delivery)))
    case .token(let token, let owner):
      var found: [StoredDelivery] = []
      for identifier in try store.deliveries(token: token, sender: owner) {
        if let delivery = try store.delivery(identifier) { found.append(delivery) }
      }
      book.learn(.token(token, owner: owner, found))
    case .orphans(let manifest): try findOrphans(of: manifest)
    }
  }

  private mutating func find(_ need: Need) throws(StoreError) {
    switch need {
    case .session(let identifier):
      let found = try store.session(identifier)
      book.learn(.routing(found.map { [$0] } ?? [], answering: need))
    case .sessions(let application, let key):
      let concerned = try store.sessions(of: application, concernedWith: key, limit: page)
      // Otherwise the same number would be read again for each cue that comes before all sessions are read.
      guard let concerned else { return try findAll(of: application) }
      book.learn(.routing(concerned, answering: need))
      // The other sessions follow while nobody waits.
      if readings[application] == nil { readings[application] = Reading(place: .first, manifest: nil) }
    case .allSessions(let application): try findAll(of: application)
    }
  }

  private mutating func findOrphans(of manifest: Manifest) throws(StoreError) {
    let application = manifest.identifier
    let reached = orphanSearch.flatMap { $0.manifest == manifest ? $0.place : nil } ?? .first
    var (orphans, firstOrphan, place) = ([] as [Session], reached, Optional(reached))
    while orphans.count < PromptBook.orphansAtOnce, let from = place {
      let found = try store.sessions(of: application, from: from, limit: page)
      for session in found.sessions {
        if !manifest.has(configurationOf: session) {
          orphans.append(session)
        } else if orphans.isEmpty {
          firstOrphan = SessionAge(session)
        }
      }
      place = found.next
      // These are long.
      if place != nil, found.sessions.count < page, !orphans.isEmpty { break }
    }
    orphanSearch = place == nil ? nil : Reading(place: firstOrphan, manifest: manifest)
    let isLast = place == nil && orphans.count <= PromptBook.orphansAtOnce
    let some = OrphanPage(sessions: Array(orphans.prefix(PromptBook.orphansAtOnce)), isLast: isLast)
    book.learn(.orphans(of: application, some))
  }

  private mutating func findAll(of application: Text) throws(StoreError) {
    while try findMore(of: application) {}
  }

  /// Returns whether there may be more.
  private mutating func findMore(of application: Text) throws(StoreError) -> Bool {
    if book.knowsAll(of: application) {
      readings[application] = nil
      return false
    }
    let (reading, manifest) = (readings[application], book.manifest(of: application))
    let place = reading.flatMap { $0.manifest == manifest ? $0.place : nil } ?? .first
    let found = try store.sessions(of: application, from: place, limit: page)
    book.learn(.page(found.sessions))
    if let next = found.next {
      readings[application] = Reading(place: next, manifest: manifest)
      return true
    }
    book.noteComplete(application)
    readings[application] = nil
    return false
  }

  /// An application of which some sessions were read, and the others follow while nobody waits.
  package var isReading: Text? { readings.keys.min() }

  /// Reads some more sessions of an application. If this fails, the code that needs the sessions tries again.
  package mutating func readOn(_ application: Text, at moment: Moment) throws(StoreError) {
    do throws(StoreError) {
      _ = try findMore(of: application)
      // A cue that would discard sessions without a configuration may not come for a long time.
      if book.hasOrphans { setAlarm(moment.uptime) }
    } catch {
      readings[application] = nil
      throw error
    }
  }

  /// A delivery for a host. Usually it was made a moment ago.
  package func delivery(_ identifier: UniqueIdentifier) throws(StoreError) -> StoredDelivery? {
    if let recent = book.recentDelivery(identifier) { return recent }
    return try store.delivery(identifier)
  }

  // MARK: Questions

  /// Decides where a payload would go now, and why.
  package mutating func explain(
    _ payload: Payload, consultation: Consultation? = nil, from caller: Caller, at moment: Moment
  ) throws(StoreError) -> Result<Decision, InterchangeError> {
    try answer { book throws(Halt) in
      try book.explain(payload, consultation: consultation, from: caller, at: moment)
    }
  }

  package mutating func setRules(_ rules: RuleSet, home: Text) { book.setRules(rules, home: home) }

  /// Whether a call is answered like an earlier one under its token.
  package mutating func isRepeated(
    _ options: PayloadOptions, _ digest: Text, _ caller: Caller
  ) throws(StoreError) -> Result<Bool, InterchangeError> {
    try answer { book throws(Halt) in try book.isRepeated(options, digest, caller) }
  }

  /// The applications that take a type.
  package mutating func handlers(of type: Text) throws(StoreError) -> Result<[Text], InterchangeError> {
    try answer { book throws(Halt) in try book.handlers(of: type) }
  }

  /// Asks the core, and asks again when it has the data that it lacked.
  private mutating func answer<Answer>(
    _ question: (inout PromptBook) throws(Halt) -> Answer
  ) throws(StoreError) -> Result<Answer, InterchangeError> {
    while true {
      do throws(Halt) {
        return .success(try question(&book))
      } catch {
        switch error {
        case .lacks(let lack): try find(lack)
        case .refused(let refusal): return .failure(refusal)
        case .beginsAgain: break
        }
      }
    }
  }
}

// MARK: - A turn

/// The steps that are stored together.
package struct Turn {
  package private(set) var steps: [(cue: Cue, step: Step)] = []
  package private(set) var recordCount = 0
  /// The number of connections that are told of drags.
  private(set) var listenerCount = 0

  /// The first caller waits for the last.
  package static let maximumRecords = 4_096
  static let maximumSteps = 256
  static let maximumListeners = 1_000

  mutating func add(_ cue: Cue, _ step: Step) {
    steps.append((cue, step))
    recordCount += step.records.count
    listenerCount += step.listeners
  }

  var records: [Record] { steps.count == 1 ? steps[0].step.records : steps.flatMap(\.step.records) }
}

extension Cue {
  fileprivate var isCall: Bool { if case .call = self { true } else { false } }

  /// Whether this event tells everything that an earlier one told.
  fileprivate func replaces(_ earlier: Cue) -> Bool {
    switch (self, earlier) {
    case (.installed, .installed): true
    case (.declared(let manifest), .declared(let other)): manifest.identifier == other.identifier
    default: false
    }
  }
}

extension SessionStore {
  /// The data that the core needs before its first cue.
  package func remembered() throws(StoreError) -> Remembered {
    var remembered = Remembered()
    remembered.preferences = try preferences()
    remembered.sessionCounts = try sessionCounts()
    remembered.sessionBytes = try sessionBytes()
    for application in try owedCounts().keys { remembered.owed[application] = try owedDiscards(of: application) }
    remembered.open = try openDeliveries()
    remembered.baggage = try baggageSummaries()
    remembered.connected = try connectedSessions()
    remembered.lastEvent = lastEventSequence
    return remembered
  }
}
