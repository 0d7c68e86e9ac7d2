import InterchangeCore
import InterchangeTurns
import SceneModel
import SceneRouting
import SessionStore

// The service's shell in a play: the turns of the real prompter, on a disk that fails when the seed says so.
extension World {
  // MARK: Beginning and ending

  /// Starts the service again. If the disk cannot be read the service ends at once, and is started again later.
  private func begin() {
    life += 1
    for attempt in 1... {
      let isWell = disk.isWell
      do throws(StoreError) {
        prompter = try World.begin(setting, life, disk, types, at: moment)
        return open()
      } catch {
        tell("   the service cannot begin: \(error)")
        if isWell || error.kind == .corrupt { return breaks(.acknowledged, "the store cannot be opened: \(error)") }
        if attempt == 20 { disk.heal() }
      }
    }
  }

  /// Compares the data that the service has found with the announcements so far.
  func open() {
    if let aside = store.setAside { return breaks(.acknowledged, "the store was set aside: \(aside.reason)") }
    for problem in store.problems { return breaks(.acknowledged, problem) }
    do throws(StoreError) {
      visible = Set(try disk.undisturbed(allSessions).map(\.identifier))
    } catch {
      return breaks(.acknowledged, "the store cannot be read: \(error)")
    }
    if store.lastEventSequence < lastSaid {
      breaks(.acknowledged, "event \(lastSaid) was told, and the last that is stored is \(store.lastEventSequence)")
    }
    // The service ended after storing and before announcing: the last announcement about a delivery may be out of date.
    if store.lastEventSequence > lastSaid { known = known.mapValues { Known(heardOf: $0.heardOf) } }
    lastSaid = store.lastEventSequence
    baggage.sweep(keeping: prompter.book.carrying)
    checkEverything()
    feed(.installed(installed, keeping: []))
    readRules()
    feed(.began)
    endTurn()
  }

  static func begin(
    _ setting: Setting, _ life: Int, _ disk: Disk, _ types: TypeCatalog, at moment: Moment
  ) throws(StoreError) -> Prompter {
    let store = try SessionStore(
      directory: disk.directory, durability: setting.durability, history: setting.history,
      rules: ReadingRules(types: types), at: moment.time)
    var seeds = Chance(setting.seed, UInt64(life) &+ 1_000)
    return try Prompter(
      store, types: types, allowance: setting.allowance, seed: (seeds.next(), seeds.next()), page: setting.page,
      at: moment)
  }

  func allSessions() throws(StoreError) -> [Session] {
    var sessions: [Session] = []
    try store.forEachSession { sessions.append($0) }
    return sessions
  }

  /// The service ends in the middle of its work. Everybody who waits for it hears from the bus that it has gone.
  func die(isPowerCut: Bool) {
    tell("   the service is \(isPowerCut ? "cut off" : "killed")")
    forgetLife()
    disk.heal()
    let fate = chance.next()
    disk.restart(isPowerCut: isPowerCut, Chance(fate))
    if chance.once(in: 3) { readsFail() }
    whileAway(Chance(fate, 1))
    begin()
  }

  /// The service sees changes of its absence when it starts again.
  private func whileAway(_ chances: Chance) {
    let before = chance
    chance = chances
    if chance.once(in: 4) { _ = changeInstalled() }
    chance = before
  }

  /// The service ends in the orderly way.
  func stop() {
    tell("   the service stops")
    endTurn()
    if broken != nil || disk.hasCrashed { return }
    store.close()
    die(isPowerCut: disk.hasCrashed && isPowerCutComing)
  }

  private func forgetLife() {
    pausedUntil = 0
    rereadings = []
    watched = []
    launches = [:]
    news = []
    questions = []
    calls = [:]
    baggage.die()
    dragged = [:]
    for program in programs.indices { programs[program].forgetsService() }
  }

  // MARK: Turns

  func feed(_ cue: Cue) {
    if broken != nil { return }
    if prompter.isFull { endTurn() }
    latest = max(latest, moment.time)
    tell("   > \(cue)")
    do throws(StoreError) { checkEffort(try prompter.take(cue, at: moment)) } catch { failed(error) }
  }

  func endTurn() {
    while broken == nil, prompter.hasTurn {
      let ending = prompter.endTurn(at: moment)
      if let step = ending.turn.steps.max(by: { $0.step.records.count < $1.step.records.count })?.step {
        checkEffort(step)
      }
      if disk.hasCrashed { return die(isPowerCut: isPowerCutComing) }
      steps += ending.turn.steps.count
      for complaint in ending.complaints { say(complaint) }
      if let error = ending.error {
        failed(error)
        wasRefused()
      } else {
        perform(ending.turn)
      }
      if prompter.mayWait { return }
    }
    checkDeadlines()
  }

  private func perform(_ turn: Turn) {
    for (cue, step) in turn.steps {
      checkStep(cue, step)
      transcribe(step)
      for saying in step.sayings { say(saying) }
      noteHosts(step)
    }
    checkGone(turn)
    for (_, step) in turn.steps {
      for errand in step.errands { run(errand) }
    }
    checkOften()
  }

  private func failed(_ error: StoreError) {
    tell("   the store fails: \(error.message)")
    if error.kind == .corrupt { breaks(.acknowledged, error.message) }
    pausedUntil = uptime + PromptBook.pause
  }

  private func wasRefused() {
    late = nil
    for program in programs.indices { programs[program].toldAndAnswered = [] }
    checkDisagreements()
  }

  func alarmWent() {
    prompter.alarmWent(at: moment)
    checkEffort(nil)
    endTurn()
  }

  // MARK: While nobody waits

  func readOn() {
    guard let application = prompter.isReading else { return }
    do throws(StoreError) { try prompter.readOn(application, at: moment) } catch { failed(error) }
  }

  func rest() {
    do throws(StoreError) { _ = try prompter.rest(at: moment.time) } catch { failed(error) }
    if disk.hasCrashed { die(isPowerCut: isPowerCutComing) }
  }
}
