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
    var undos: [State.Undo] = []
    /// Said once it is stored, in this order; the reply is the last.
    var speak: [(isolated Interchange) -> Void] = []
    /// Said where it cannot be stored.
    var refuse: (InterchangeError) -> Void
  }

  var shares: [Share] = []
  /// How many calls of each sender it has.
  var calls: [BusName?: Int] = [:]
  var isEnding = false
  /// The number of the newest event before this turn.
  var sequenceBefore: UInt64 = 0
}

extension Interchange {
  /// Adds what one call changes, to be stored and said at the end of the turn.
  func add(_ share: Turn.Share) {
    turn.shares.append(share)
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
    connection.loop.atEndOfTurn { self.assumeIsolated { $0.endTurn() } }
  }

  /// Commit, then speak. A read does it before it looks, so that it sees what came before it.
  func endTurn() {
    let shares = turn.shares
    turn = Turn(sequenceBefore: sequence)
    if shares.isEmpty { return }
    do throws(StoreError) {
      try store.commit(shares.flatMap(\.records), at: settings.now())
    } catch {
      takeBack(shares, error)
      return
    }
    for share in shares { for speak in share.speak { speak(self) } }
  }

  /// The state goes back to what is stored, the last change first, and each caller is told.
  private func takeBack(_ shares: [Turn.Share], _ error: StoreError) {
    log.error("nothing was stored: \(error.message)")
    sequence = store.lastEventSequence
    turn.sequenceBefore = sequence
    for undo in shares.reversed().flatMap({ $0.undos.reversed() }) { state.revert(undo) }
    let refusal = InterchangeError(.storageFailed, "it could not be stored, so it did not happen: \(error.message)")
    for share in shares { share.refuse(refusal) }
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
          sequence: sequence, name: event.name, application: application, arguments: JSON.text(of: event.arguments),
          at: now)))
    share.speak.append { me in
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
