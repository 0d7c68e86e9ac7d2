import DBus
import InterchangeCore
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

// A turn: cues are handled as they come, and at the end of the loop's turn all their records are stored together; only then anyone hears of them.

/// The steps of one turn.
struct Turn {
  private(set) var steps: [(cue: Cue, step: Step)] = []
  private(set) var recordCount = 0
  var isEnding = false

  var isEmpty: Bool { steps.isEmpty }

  /// Records that are stored together at most: the first caller waits for the last.
  private static let maximumRecords = 4_096
  private static let maximumSteps = 256

  var isFull: Bool { recordCount >= Turn.maximumRecords || steps.count >= Turn.maximumSteps }

  mutating func add(_ cue: Cue, _ step: Step) {
    steps.append((cue, step))
    recordCount += step.records.count
  }
}

extension Interchange {
  // MARK: Cues in

  /// A call that changes something: it is answered through `reply` once that is stored.
  ///
  /// - Parameter descriptors: what came with it. They are the call's until it is answered, or until the baggage room takes them.
  func call(
    _ call: Call, _ ask: Ask, bringing descriptors: [OwnedFileDescriptor] = [], as number: CallNumber? = nil,
    _ reply: @escaping (CallAnswer) -> Void
  ) {
    let number = number ?? newCallNumber()
    replies[number] = reply
    if !descriptors.isEmpty { luggage[number] = descriptors }
    let effort = feed(.call(number, callers.caller(of: call), ask))
    // A document of a megabyte, or a decision of a million steps, are some milliseconds: before its sender goes on, others do.
    if effort > 1 << 20 { call.tookLong() }
  }

  /// Handles a cue. Answers how much work the decision was.
  @discardableResult
  func feed(_ cue: Cue) -> Int {
    if isClosed { return 0 }
    if turn.isFull { endTurn() }
    do throws(StoreError) {
      let step = try handle(cue)
      turn.add(cue, step)
      endTurnLater()
      return step.effort
    } catch {
      // Nothing has changed, since the core did not know enough.
      refuse(cue, InterchangeError(.storageFailed, "the store cannot be read: \(error.message)"))
      if !cue.isCall { log.error("the store cannot be read: \(error.message)") }
      return 0
    }
  }

  private func handle(_ cue: Cue) throws(StoreError) -> Step {
    let moment = moment
    while true {
      do throws(Lack) { return try book.handle(cue, at: moment) } catch { try find(error) }
    }
  }

  /// A caller hears of it; what the world said is told again later.
  private func refuse(_ cue: Cue, _ error: InterchangeError) {
    switch cue {
    case .call(let number, _, _): return answer(number, .refused(error))
    // What was taken into the room is let go, which needs no store.
    case .packed(let number, .packed): return _ = feed(.packed(number, .failed(error)))
    // The alarm brings another one; kept here, each pause of a full disk would add one.
    case .moment: break
    default: backlog.append(cue)
    }
    setAlarm(Interchange.uptime() + PromptBook.pause)
  }

  private func endTurnLater() {
    guard !turn.isEnding else { return }
    turn.isEnding = true
    let loop = connection.loop
    loop.atEndOfTurn {
      loop.enter(self) { $0.endTurn() }
    }
  }

  // MARK: Store, then say, then do

  /// A question does it before it looks, so that it sees what came before it.
  func endTurn() {
    while !turn.isEmpty {
      let steps = turn.steps
      turn = Turn()
      do throws(StoreError) {
        let records = steps.flatMap(\.step.records)
        if !records.isEmpty {
          try store.commit(records, at: settings.now())
          settleWhenQuiet()
        }
      } catch {
        drop(steps, error)
        return
      }
      book.keep()
      for (_, step) in steps {
        for saying in step.sayings { say(saying) }
        // What one step announces comes before its answer, and before what the next one announces.
        connection.loop.enter(connection) { $0.flushAnnouncements() }
      }
      for (_, step) in steps {
        for errand in step.errands { run(errand) }
      }
      if let alarm = steps.last?.step.callAgain { setAlarm(alarm) }
      // What an errand brought at once, and has nothing to store, need not wait for the next turn.
      if turn.recordCount > 0 {
        turn.isEnding = false
        return endTurnLater()
      }
    }
    turn.isEnding = false
    if !backlog.isEmpty { tellAgain() }
  }

  /// Everything is as it is stored, each caller is told, and what the world said is told again.
  private func drop(_ steps: [(cue: Cue, step: Step)], _ error: StoreError) {
    book.drop()
    turn.isEnding = false
    // Where the disk is well, one record may be what the store cannot take: then each cue has a turn of its own, and the others are taken.
    if error.kind == .other, steps.count > 1 {
      for (cue, _) in steps {
        feed(cue)
        endTurn()
      }
      return
    }
    log.error("nothing was stored: \(error.message)")
    let refusal = InterchangeError(.storageFailed, "it could not be stored, so it did not happen: \(error.message)")
    for (cue, _) in steps { refuse(cue, refusal) }
  }

  private func tellAgain() {
    let cues = backlog
    backlog = []
    for cue in cues { feed(cue) }
  }

  // MARK: Alarms

  private func setAlarm(_ moment: Int64) {
    if let alarm, alarm.at <= moment { return }
    alarm?.timer.cancel()
    let loop = connection.loop
    alarm = (
      moment,
      loop.task { [weak self] in
        let wait = max(0, moment - Interchange.uptime())
        if wait > 0 { await loop.sleep(for: .microseconds(wait + 1_000)) }
        if !Task.isCancelled { await self?.alarmWent() }
      }
    )
  }

  private func alarmWent() {
    alarm = nil
    if isClosed { return }
    if !backlog.isEmpty { tellAgain() }
    feed(.moment)
  }

  // MARK: What the core lacks

  private func find(_ lack: Lack) throws(StoreError) {
    switch lack {
    case .routing(let needs): for need in needs { try find(need) }
    case .sessions(let identifiers):
      var found: [Session] = []
      for identifier in identifiers {
        if let session = try store.session(identifier) { found.append(session) }
      }
      book.learn(.sessions(identifiers, found: found))
    case .delivery(let identifier): book.learn(.delivery(identifier, try store.delivery(identifier)))
    case .baggage(let delivery): book.learn(.baggage(delivery, try store.baggage(delivery)))
    case .token(let token, let owner):
      var found: [StoredDelivery] = []
      for identifier in try store.deliveries(token: token, sender: owner) {
        if let delivery = try store.delivery(identifier) { found.append(delivery) }
      }
      book.learn(.token(token, owner: owner, found))
    case .orphans(let manifest): book.learn(.orphans(of: manifest.identifier, try orphans(of: manifest)))
    }
  }

  func find(_ need: Need) throws(StoreError) {
    switch need {
    case .session(let identifier):
      let found = try store.session(identifier)
      book.learn(.routing(found.map { [$0] } ?? [], answering: need))
    case .sessions(let application, let key):
      let concerned = try store.sessions(of: application, concernedWith: key, limit: Self.sessionsAtOnce)
      // As many would be read again for each that comes before all are there.
      guard let concerned else { return try findAll(of: application) }
      book.learn(.routing(concerned, answering: need))
      findRestLater(of: application)
    case .allSessions(let application): try findAll(of: application)
    }
  }

  private func orphans(of manifest: Manifest) throws(StoreError) -> [Session] {
    var orphans: [Session] = []
    try store.forEachSession(of: manifest.identifier) { session in
      if orphans.count < PromptBook.orphansAtOnce, !manifest.has(configurationOf: session) { orphans.append(session) }
    }
    return orphans
  }

  // MARK: The sessions of an application, in pages

  /// Sessions that are read in one turn of the loop: these take a millisecond or two.
  private static let sessionsAtOnce = 256

  private func findAll(of application: Text) throws(StoreError) { while try findMore(of: application) {} }

  /// Answers whether there may be more.
  private func findMore(of application: Text) throws(StoreError) -> Bool {
    if book.knowsAll(of: application) { return false }
    let place = readings[application] ?? .first
    let page = try store.sessions(of: application, from: place, limit: Self.sessionsAtOnce)
    book.learn(.page(page))
    if let last = page.last, page.count == Self.sessionsAtOnce {
      readings[application] = SessionAge(last)
      return true
    }
    book.noteComplete(application)
    readings[application] = nil
    return false
  }

  private func findRestLater(of application: Text) {
    if readings[application] != nil { return }
    readings[application] = .first
    connection.loop.task { await findRest(of: application) }
  }

  private func findRest(of application: Text) async {
    do throws(StoreError) {
      // Whoever asked is answered first, and whoever calls meanwhile has his turn.
      repeat {
        await connection.loop.sleep(for: .milliseconds(1))
        if isClosed { return }
      } while try findMore(of: application)
    } catch {
      // Whoever needs them tries again.
      readings[application] = nil
      log.warning("\(application): its sessions cannot be read for the moment: \(error.message)")
    }
  }

  // MARK: Order in the store

  /// Writes to rows what only the log has, and forgets what is too old, once nothing has been stored for a while. Nobody wakes up for it
  /// where nothing happens.
  private func settleWhenQuiet() {
    lastStored = ContinuousClock.now
    guard settling == nil else { return }
    settling = connection.loop.task { [weak self] in await self?.settleAfterQuiet() }
  }

  private func settleAfterQuiet() async {
    while case let rest = lastStored.duration(to: .now), rest < settings.quiet {
      await connection.loop.sleep(for: settings.quiet - rest)
      if Task.isCancelled { return }
    }
    settling = nil
    do throws(StoreError) {
      // What is left is put in order with the next moment of quiet.
      if !(try store.rest(at: settings.now())) { settleWhenQuiet() }
    } catch {
      // What is in the log is safe there, and is tried again after what is stored next.
      log.warning("what is stored could not be put in order: \(store.damage?.message ?? error.message)")
    }
  }
}

extension Cue {
  var isCall: Bool { if case .call = self { true } else { false } }
}
