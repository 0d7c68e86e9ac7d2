import SceneModel

// The life of a delivery. `docs/lives.md` shows the same states as a table.
//
//   (decided) ──► held ◄──────► routed ──► handled
//                  │               │
//                  ├───────────────┴─────► failed
//                  ├─► cancelled
//                  └─► unclaimed: "routed", and over

/// A delivery that somebody still waits for. One that is over is a record and nothing more: it has no transitions, but that one which was
/// handled can be redirected, which opens it again.
struct OpenDelivery: Hashable, Sendable {
  let identifier: UniqueIdentifier
  let application: Text
  /// Whose tokens it is under.
  let sender: Text
  /// Where it stands among those that wait.
  var order: Int64
  /// When it has waited long enough, on the clock that nobody sets.
  let due: Int64
  var progress: DeliveryProgress
  let isPrivate: Bool
  /// The delivery that gave its session what it showed before.
  var previousBy: UniqueIdentifier?
  /// Who may see what others may not, as long as somebody waits for it: the connection that sent something private, or something for its
  /// own process.
  var confidant: Text?
  var holding: Holding?

  init(_ summary: DeliverySummary, order: Int64, due: Int64) {
    identifier = summary.identifier
    application = summary.application
    sender = summary.sender
    self.order = order
    self.due = due
    progress = summary.progress
    isPrivate = summary.isPrivate
    previousBy = summary.previousBy
  }

  var session: UniqueIdentifier? { progress.session }

  // A holding is the same as another where the deliveries are.
  static func == (one: OpenDelivery, other: OpenDelivery) -> Bool {
    one.identifier == other.identifier && one.progress == other.progress && one.order == other.order
  }

  func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

/// Each transition of an open delivery answers how it stands from then on. None begins at one that is over.
extension OpenDelivery {
  /// Its host is there and is given it.
  func routed() -> DeliveryProgress { with { $0.state = .routed } }

  /// Its host has gone. Where that had it in hand, the host may have seen it; a departure counts against it.
  func heldAgain(wasInHand: Bool, isDeparture: Bool) -> DeliveryProgress {
    with { progress in
      progress.state = .held
      if wasInHand { progress.attempt += 1 }
      if isDeparture { progress.departures += 1 }
    }
  }

  /// The service has begun again. What a host had when it ended that host may have seen.
  func resumed() -> DeliveryProgress {
    with { progress in
      guard progress.state == .routed else { return }
      progress.state = .held
      progress.attempt += 1
    }
  }

  func handled(at now: Instant) -> DeliveryProgress { over(.handled, now) }

  func failed(_ error: InterchangeError, at now: Instant) -> DeliveryProgress { over(.failed, now, error) }

  func cancelled(_ error: InterchangeError, at now: Instant) -> DeliveryProgress { over(.cancelled, now, error) }

  /// Nobody hosts the application and nothing can start it: the delivery is over, and its session stays.
  func unclaimed(at now: Instant) -> DeliveryProgress { over(.routed, now) }

  private func over(_ state: DeliveryState, _ now: Instant, _ error: InterchangeError? = nil) -> DeliveryProgress {
    with { progress in
      (progress.state, progress.isOpen) = (state, false)
      progress.ended = now
      progress.error = error.map { DeliveryError(name: $0.errorName, message: Text($0.message)) }
    }
  }

  private func with(_ change: (inout DeliveryProgress) -> Void) -> DeliveryProgress {
    var progress = progress
    change(&progress)
    return progress
  }
}

extension DeliveryProgress {
  /// It goes to another session: open again where it was handled, with the next attempt.
  func redirected(to session: UniqueIdentifier, outcome: Text, isHosted: Bool) -> DeliveryProgress {
    var progress = self
    (progress.state, progress.isOpen) = (isHosted ? .routed : .held, true)
    (progress.session, progress.outcome) = (session, outcome)
    progress.attempt += 1
    (progress.error, progress.ended) = (nil, nil)
    return progress
  }
}
