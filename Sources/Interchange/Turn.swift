import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

/// What was decided in one turn of the loop, and is not stored yet.
struct Turn {
  /// One call's share of it.
  struct Share {
    var records: [Record] = []
    /// What becomes of sessions once this is stored: who looks at one in the same turn looks here first.
    private(set) var sessions: [UniqueIdentifier: Session] = [:]
    /// Puts back what the call has changed already, the last change first. Whatever is changed before it is stored is put back here.
    private(set) var takeBack: [(isolated Interchange) -> Void] = []
    /// Said once it is stored, in this order; the reply is the last.
    private(set) var speak: [(isolated Interchange) -> Void] = []
    /// Done once everyone was told.
    private(set) var afterwards: [(isolated Interchange) -> Void] = []
    /// Said where it cannot be stored.
    let refuse: (InterchangeError) -> Void

    init(refuse: @escaping (InterchangeError) -> Void) { self.refuse = refuse }

    mutating func onRefusal(_ takeBack: @escaping (isolated Interchange) -> Void) { self.takeBack.append(takeBack) }

    mutating func onceStored(_ speak: @escaping (isolated Interchange) -> Void) { self.speak.append(speak) }

    mutating func onceTold(_ act: @escaping (isolated Interchange) -> Void) { afterwards.append(act) }

    mutating func onRefusal(revert undo: State.Undo) { onRefusal { $0.state.revert(undo) } }

    /// The session is so from now on.
    mutating func set(_ session: Session) {
      records.append(.session(session))
      sessions[session.identifier] = session
    }

    /// What the whole call is answered, with the first delivery that it makes.
    mutating func keepAnswer(_ answer: Text) {
      for place in records.indices {
        guard case .delivery(var delivery) = records[place] else { continue }
        delivery.answer = answer
        records[place] = .delivery(delivery)
        return
      }
    }

    /// The session was chosen, which makes it what `session` is.
    mutating func set(_ session: Session?, by activation: SessionActivation) {
      records.append(.sessionActivated(activation))
      if let session { sessions[session.identifier] = session }
    }
  }

  private(set) var shares: [Share] = []
  private(set) var sessions: [UniqueIdentifier: Session] = [:]
  /// How many calls of each sender it has.
  var calls: [BusName?: Int] = [:]
  var isEnding = false

  mutating func add(_ share: Share) {
    if sessions.isEmpty { sessions = share.sessions } else { sessions.merge(share.sessions) { $1 } }
    shares.append(share)
  }
}

extension Interchange {
  /// Collects what one call changes, and adds it to the turn. What is thrown takes back all that it has changed so far.
  func collect<Result>(
    refuse: @escaping (InterchangeError) -> Void, _ body: (inout Turn.Share) throws -> Result
  ) throws -> Result {
    var share = Turn.Share(refuse: refuse)
    do {
      let result = try body(&share)
      add(share)
      return result
    } catch {
      takeBack(share)
      // Its events were the last, and their numbers are given again.
      for case .event in share.records { sequence -= 1 }
      throw error
    }
  }

  /// Adds what one call changes, to be stored and said at the end of the turn.
  func add(_ share: Turn.Share) {
    turn.add(share)
    endTurnLater()
  }

  /// Counts a call until it is answered: when its turn is stored, or when a host has taken what it sent. One too many is refused before
  /// anything happens. Those that end the turn first are not counted; there is one of them at a time.
  func begin(_ call: Call) throws(InterchangeError) {
    let sender = call.sender
    guard turn.calls[sender, default: 0] + waiting.count(of: sender) < settings.maximumCalls else {
      throw InterchangeError(
        .limitsExceeded, "\(settings.maximumCalls) calls of this sender are not answered yet: wait for the answers")
    }
    turn.calls[sender, default: 0] += 1
    endTurnLater()
  }

  private func endTurnLater() {
    guard !turn.isEnding else { return }
    turn.isEnding = true
    let loop = connection.loop
    loop.atEndOfTurn {
      loop.enter(self) { me in
        me.endTurn()
        // What was added by what was just done has a turn of its own.
        if me.turn.shares.isEmpty { me.turn = Turn() }
      }
    }
  }

  /// Commit, then speak. A read does it before it looks, so that it sees what came before it.
  func endTurn() {
    // Calls that have nothing to store yet are still counted.
    if turn.shares.isEmpty { return }
    let shares = turn.shares
    turn = Turn()
    do throws(StoreError) {
      try store.commit(shares.flatMap(\.records), at: settings.now())
    } catch {
      refuse(shares, error)
      return
    }
    settleWhenQuiet()
    for share in shares {
      for speak in share.speak { speak(self) }
      // What one call announces comes before its reply, and before what the next one announces.
      connection.loop.enter(connection) { $0.flushAnnouncements() }
    }
    for share in shares { for act in share.afterwards { act(self) } }
  }

  /// Everything goes back to what is stored, the last change first, and each caller is told.
  private func refuse(_ shares: [Turn.Share], _ error: StoreError) {
    log.error("nothing was stored: \(error.message)")
    sequence = store.lastEventSequence
    for share in shares.reversed() { takeBack(share) }
    let refusal = InterchangeError(.storageFailed, "it could not be stored, so it did not happen: \(error.message)")
    for share in shares { share.refuse(refusal) }
  }

  private func takeBack(_ share: Turn.Share) { for takeBack in share.takeBack.reversed() { takeBack(self) } }

  /// The session as it is once this turn is stored.
  func session(_ identifier: UniqueIdentifier, in share: Turn.Share) throws(InterchangeError) -> Session? {
    if let session = share.sessions[identifier] ?? turn.sessions[identifier] { return session }
    return try storedSession(identifier)
  }

  /// Something that everyone will be told of, and that is kept for those who ask later.
  func announce(
    _ kind: Event.Kind, application: Text, session: UniqueIdentifier, in share: inout Turn.Share, at now: Instant
  ) {
    sequence += 1
    let event = Event(kind, application: application, session: session, sequence: sequence)
    share.records.append(
      .event(
        StoredEvent(
          sequence: sequence, name: event.name, application: application, arguments: event.arguments,
          at: now)))
    share.onceStored { me in
      me.observer?(event)
      guard let signals = me.signals else { return }
      do throws(CodingError) {
        try me.connection.emit(event, signals)
      } catch {
        me.log.error("the signal \(event.name) could not be sent: \(error)")
      }
    }
  }
}

extension Interchange {
  /// Writes to rows what only the log has, and forgets what is too old, once nothing has been stored for a while. Nobody wakes up for it
  /// where nothing happens.
  func settleWhenQuiet() {
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
      try store.rest(at: settings.now())
    } catch {
      // What is in the log is safe there, and is tried again after what is stored next.
      log.warning("what is stored could not be put in order: \(store.damage?.message ?? error.message)")
    }
  }
}
