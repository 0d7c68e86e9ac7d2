import DBus
import InterchangeCore
import InterchangeTurns
import SceneModel
import SessionStore

// The prompter's turns on the loop: a turn ends with the loop's turn, and nobody hears of it before.
extension Interchange {
  // MARK: Store, then say, then do

  func endTurnLater() {
    guard !isEnding else { return }
    isEnding = true
    let loop = connection.loop
    loop.atEndOfTurn {
      loop.enter(self) { $0.endTurn() }
    }
  }

  /// Ends the turn. What follows from it may share a transaction with the cues to come.
  func endTurn() { endTurns { $0.mayWait } }

  /// Ends the turn, and all that follow from it: everything that was decided is stored. The properties in the signals of a turn are read while it is
  /// being announced, when it is stored already.
  func storeEverything() { if prompter.hasTurn { endTurns { _ in false } } }

  private func endTurns(until isEnough: (borrowing Prompter) -> Bool) {
    if isSpeaking { return }
    isEnding = true
    while prompter.hasTurn {
      let ending = prompter.endTurn(at: moment)
      speak(ending)
      if ending.error == nil { act(ending.turn) }
      if isEnough(prompter) { break }
    }
    isEnding = false
    if prompter.hasTurn { endTurnLater() }
    setTimer()
    readOnLater()
  }

  private func speak(_ ending: Prompter.Ending) {
    isSpeaking = true
    defer { isSpeaking = false }
    for complaint in ending.complaints { say(complaint) }
    if ending.error != nil { return }
    for (_, step) in ending.turn.steps {
      for saying in step.sayings { say(saying) }
      // The announcements of a step come before its reply, and before the announcements of the next step.
      connection.loop.enter(connection) { $0.flushAnnouncements() }
    }
  }

  private func act(_ turn: Turn) {
    if turn.recordCount > 0 { restWhenQuiet() }
    for (_, step) in turn.steps {
      for errand in step.errands { run(errand) }
    }
  }

  // MARK: Timers

  private func setTimer() {
    guard let moment = prompter.alarm, timer.map({ moment < $0.at }) ?? true else { return }
    timer?.task.cancel()
    let loop = connection.loop
    timer = (
      moment,
      loop.task { [weak self] in
        // Also where there is more to do at once: waiting callers are answered first, and new callers get a turn.
        let wait = max(0, moment - Interchange.uptime())
        await loop.sleep(for: .microseconds(wait + 1_000))
        // Their answers would stand behind the signals of each piece.
        await self?.connection.flush(timeout: .seconds(1))
        if !Task.isCancelled { await self?.alarmWent() }
      }
    )
  }

  private func alarmWent() {
    timer = nil
    if isClosed { return }
    prompter.alarmWent(at: moment)
    endTurnLater()
  }

  // MARK: While nobody waits

  /// Reads the other sessions of applications of which some were read, a page in each turn of the loop.
  func readOnLater() {
    if reading != nil || prompter.isReading == nil { return }
    reading = connection.loop.task { [weak self] in await self?.readOn() }
  }

  private func readOn() async {
    defer { reading = nil }
    // Waiting callers are answered first, and new callers get a turn.
    while let application = prompter.isReading {
      await connection.loop.sleep(for: .milliseconds(1))
      if isClosed { return }
      do throws(StoreError) {
        try prompter.readOn(application, at: moment)
        setTimer()
      } catch {
        log.warning("\(application): its sessions cannot be read for the moment: \(error.message)")
      }
    }
  }

  /// Once nothing has been stored for a while, writes the entries that only the log has to rows, and forgets old history. This wakes nobody while
  /// nothing happens, except at the deadlines of handled deliveries, when their documents go.
  private func restWhenQuiet() {
    lastStored = ContinuousClock.now
    laterRest?.cancel()
    laterRest = nil
    guard resting == nil else { return }
    resting = connection.loop.task { [weak self] in await self?.restAfterQuiet() }
  }

  private func restAfterQuiet() async {
    while case let rest = lastStored.duration(to: .now), rest < settings.quiet {
      await connection.loop.sleep(for: settings.quiet - rest)
      if Task.isCancelled { return }
    }
    resting = nil
    do throws(StoreError) {
      // The rest follows at the next quiet moment.
      if !(try prompter.rest(at: settings.now())) { restWhenQuiet() } else { restAtNextDeadline() }
    } catch {
      // The entries are safe in the log, and are tried again after the next store.
      log.warning("what is stored could not be put in order: \(prompter.store.damage?.message ?? error.message)")
    }
  }

  private func restAtNextDeadline() {
    guard let next = prompter.nextRest() else { return }
    let wait = Duration.microseconds(max(0, next.microseconds &- settings.now().microseconds))
    laterRest = connection.loop.task { [weak self, loop = connection.loop] in
      await loop.sleep(for: wait)
      if !Task.isCancelled { await self?.restWhenQuiet() }
    }
  }
}
