import InterchangeCore
import SceneModel
import SceneRouting
import SessionStore

// The service's shell, as a play has it: turns as in `Sources/Interchange/Shell/Turns.swift`, on a disk that fails when the seed says so.
extension World {
  // MARK: Beginning and ending

  func open() throws(TheatreFailure) {
    disk.heal()
    life += 1
    do throws(StoreError) {
      openStore = try SessionStore(
        directory: disk.directory, durability: setting.durability, history: setting.history,
        rules: ReadingRules(types: types), at: moment.time)
    } catch {
      return breaks(.acknowledged, "the store cannot be opened: \(error)")
    }
    if let aside = store.setAside { return breaks(.acknowledged, "the store was set aside: \(aside.reason)") }
    for problem in store.problems { return breaks(.acknowledged, problem) }
    var seeds = Chance(setting.seed, UInt64(life) &+ 1_000)
    book = PromptBook(types: types, allowance: setting.allowance, seed: (seeds.next(), seeds.next()))
    do throws(StoreError) {
      book.recall(try remembered(), at: moment)
      visible = Set(try allSessions().map(\.identifier))
    } catch {
      return breaks(.acknowledged, "the store cannot be read: \(error)")
    }
    if store.lastEventSequence < lastSaid {
      breaks(.acknowledged, "event \(lastSaid) was told, and the last that is stored is \(store.lastEventSequence)")
    }
    // It ended between storing and saying: what was told last of a delivery may not be the last any more.
    if store.lastEventSequence > lastSaid {
      known = known.mapValues { Known(created: $0.created, isAnswered: $0.isAnswered) }
    }
    lastSaid = store.lastEventSequence
    checkEverything()
    feed(.installed(installed, keeping: []))
    feed(.began)
    endTurn()
  }

  func remembered() throws(StoreError) -> Remembered {
    var remembered = Remembered()
    remembered.preferences = try store.preferences()
    remembered.sessionCounts = try store.sessionCounts()
    for application in try store.owedCounts().keys {
      remembered.owed[application] = try store.owedDiscards(of: application)
    }
    remembered.open = try store.openDeliveries()
    remembered.connected = try store.connectedSessions()
    remembered.lastEvent = store.lastEventSequence
    return remembered
  }

  func allSessions() throws(StoreError) -> [Session] {
    var sessions: [Session] = []
    try store.forEachSession { sessions.append($0) }
    return sessions
  }

  /// The service ends in the middle of whatever it does. Everybody who waits for it hears from the bus that it is gone.
  func die(isPowerCut: Bool) {
    tell("   the service is \(isPowerCut ? "cut off" : "killed")")
    forgetLife()
    openStore = nil
    book = PromptBook(types: types, seed: (0, 0))
    do throws(TheatreFailure) {
      try disk.restart(isPowerCut: isPowerCut, Chance(chance.next()))
      if setting.durability == .memory {
        known = [:]
        knownOrder = []
        (said, lastSaid) = ([:], 0)
      }
      try open()
    } catch {
      breaks(.theatre, error.description)
    }
  }

  /// It ends as it should.
  func stop() {
    tell("   the service stops")
    endTurn()
    if broken != nil || disk.hasCrashed { return }
    store.close()
    if disk.hasCrashed { return die(isPowerCut: isPowerCutComing) }
    die(isPowerCut: false)
  }

  private func forgetLife() {
    turn = []
    backlog = []
    alarm = nil
    readings = [:]
    rereadings = []
    watched = []
    launches = [:]
    news = []
    questions = []
    calls = [:]
    for program in programs.indices { programs[program].toldAndAnswered = [] }
  }

  // MARK: Cues in

  func feed(_ cue: Cue) {
    if broken != nil { return }
    if turn.count >= 64 { endTurn() }
    steps += 1
    tell("   > \(brief(cue))")
    do throws(StoreError) {
      let step = try handle(cue)
      checkStep(cue, step)
      turn.append((cue, step))
    } catch {
      tell("     the store cannot be read: \(error.message)")
      if error.kind == .corrupt { breaks(.acknowledged, error.message) }
      refuse(cue, InterchangeError(.storageFailed, "the store cannot be read: \(error.message)"))
    }
  }

  private func handle(_ cue: Cue) throws(StoreError) -> Step {
    let moment = moment
    latest = max(latest, moment.time)
    for _ in 0..<1_000 {
      do throws(Lack) { return try book.handle(cue, at: moment) } catch { try find(error) }
    }
    breaks(.answers, "a cue lacks something for ever: \(brief(cue))")
    return Step()
  }

  private func refuse(_ cue: Cue, _ error: InterchangeError) {
    switch cue {
    case .call(let number, _, _): return answered(number, .refused(error))
    // There is another one when the alarm goes.
    case .moment: break
    default: backlog.append(cue)
    }
    setAlarm(uptime + PromptBook.pause)
  }

  // MARK: Store, then say, then do

  func endTurn() {
    while !turn.isEmpty, broken == nil {
      let steps = turn
      turn = []
      let records = steps.flatMap(\.step.records)
      do throws(StoreError) {
        if !records.isEmpty { try store.commit(records, at: moment.time) }
      } catch {
        if disk.hasCrashed { return die(isPowerCut: isPowerCutComing) }
        return drop(steps, error)
      }
      if disk.hasCrashed { return die(isPowerCut: isPowerCutComing) }
      book.keep()
      for (_, step) in steps {
        for saying in step.sayings { say(saying) }
      }
      for (_, step) in steps {
        for errand in step.errands { run(errand) }
      }
      if let alarm = steps.last?.step.callAgain { setAlarm(alarm) }
      checkOften()
      if turn.contains(where: { !$0.step.records.isEmpty }) { return }
    }
    if broken == nil, !backlog.isEmpty { tellAgain() }
  }

  private func drop(_ steps: [(cue: Cue, step: Step)], _ error: StoreError) {
    tell("   nothing was stored: \(error.message)")
    if error.kind == .corrupt { breaks(.acknowledged, error.message) }
    book.drop()
    late = nil
    for program in programs.indices { programs[program].toldAndAnswered = [] }
    let refusal = InterchangeError(.storageFailed, "it could not be stored, so it did not happen: \(error.message)")
    for (cue, _) in steps { refuse(cue, refusal) }
    checkDisagreements()
  }

  private func tellAgain() {
    let cues = backlog
    backlog = []
    for cue in cues { feed(cue) }
  }

  func setAlarm(_ moment: Int64) {
    if let alarm, alarm <= moment { return }
    alarm = moment
  }

  func alarmWent() {
    alarm = nil
    if !backlog.isEmpty { tellAgain() }
    feed(.moment)
    endTurn()
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
    case .token(let token, let owner):
      var found: [StoredDelivery] = []
      for identifier in try store.deliveries(token: token, sender: owner) {
        if let delivery = try store.delivery(identifier) { found.append(delivery) }
      }
      book.learn(.token(token, owner: owner, found))
    case .orphans(let manifest):
      var orphans: [Session] = []
      try store.forEachSession(of: manifest.identifier) { session in
        if orphans.count < PromptBook.orphansAtOnce, !manifest.has(configurationOf: session) { orphans.append(session) }
      }
      book.learn(.orphans(of: manifest.identifier, orphans))
    }
  }

  func find(_ need: Need) throws(StoreError) {
    switch need {
    case .session(let identifier):
      let found = try store.session(identifier)
      book.learn(.routing(found.map { [$0] } ?? [], answering: need))
    case .sessions(let application, let key):
      guard let concerned = try store.sessions(of: application, concernedWith: key, limit: setting.page) else {
        return try findAll(of: application)
      }
      book.learn(.routing(concerned, answering: need))
      if readings[application] == nil { readings[application] = .first }
    case .allSessions(let application): try findAll(of: application)
    }
  }

  private func findAll(of application: Text) throws(StoreError) { while try findMore(of: application) {} }

  func findMore(of application: Text) throws(StoreError) -> Bool {
    if book.knowsAll(of: application) { return false }
    let place = readings[application] ?? .first
    let page = try store.sessions(of: application, from: place, limit: setting.page)
    book.learn(.page(page))
    if let last = page.last, page.count == setting.page {
      readings[application] = SessionAge(last)
      return true
    }
    book.noteComplete(application)
    readings[application] = nil
    return false
  }
}
