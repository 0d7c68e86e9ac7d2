import SceneModel

// The life of a delivery. `docs/lives.md` shows the same states as a table.
//
//                                  ┌─────► forwarded ──► handled, failed, cancelled
//   (decided) ──► held ◄──────► routed ──► handled
//                  │               │
//                  ├───────────────┴─────► failed
//                  ├─► cancelled
//                  └─► unclaimed: "routed", and over

/// A delivery for whose end somebody waits. A delivery that is over is only a record, without transitions; but a redirect of a handled delivery opens
/// it again.
///
/// The fields are in a box: a dictionary keeps up to half of its slots empty, and each slot has the size of a value.
struct OpenDelivery: Boxed, Hashable, Sendable {
  let identifier: UniqueIdentifier
  var fields: Shared<Fields>

  struct Fields: Sendable {
    let application: Text
    /// Its place among the waiting deliveries.
    var order: Int64
    /// The time at which it has waited long enough, on the clock that nobody can set.
    var due: Int64
    var progress: DeliveryProgress
    let isPrivate: Bool
    /// The delivery that gave its session the previous content.
    var previousBy: UniqueIdentifier?
    /// The connection that may see what others may not while the delivery is open: the sender of a private delivery, or of a part for its own process.
    var confidant: Text?
    /// Whether an earlier run of the service accepted it for the session that it has now, or it was redirected to this session after a host was given
    /// it there.
    var isFromBefore = false
    /// Whether that run gave it to a host. The host may have seen it: the next host gets it as another attempt.
    var needsAttempt = false
    var holding: Holding?
    /// While it is forwarded.
    var deferral: Holding?
  }

  init(_ summary: DeliverySummary, order: Int64, due: Int64, _ holding: Holding? = nil) {
    identifier = summary.identifier
    fields = Shared(
      Fields(
        application: summary.application, order: order, due: due, progress: summary.progress,
        isPrivate: summary.isPrivate, previousBy: summary.previousBy, holding: holding))
  }

  var session: UniqueIdentifier? { self.progress.session }

  // Two holdings are equal if their deliveries are.
  static func == (one: OpenDelivery, other: OpenDelivery) -> Bool {
    one.identifier == other.identifier && one.progress == other.progress && one.order == other.order
  }

  func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

/// Each transition of an open delivery returns its new progress. A delivery that is over has none.
extension OpenDelivery {
  /// The host is ready and gets the delivery.
  func routed() -> DeliveryProgress {
    with { progress in
      progress.state = .routed
      if self.needsAttempt { progress.attempt += 1 }
    }
  }

  /// The host has gone, or the service has restarted. A host that was working on the delivery may have seen it; a departure counts against the host.
  func heldAgain(wasInHand: Bool = false, isDeparture: Bool = false) -> DeliveryProgress {
    with { progress in
      progress.state = .held
      if wasInHand || self.needsAttempt { progress.attempt += 1 }
      if isDeparture { progress.departures += 1 }
    }
  }

  /// The host has taken it, and tells its end until then.
  func forwarded(until deadline: Instant) -> DeliveryProgress {
    with { ($0.state, $0.deadline) = (.forwarded, deadline) }
  }

  func handled(at now: Instant) -> DeliveryProgress { over(.handled, now) }

  func failed(_ error: InterchangeError, at now: Instant) -> DeliveryProgress { over(.failed, now, error) }

  func cancelled(_ error: InterchangeError, at now: Instant) -> DeliveryProgress { over(.cancelled, now, error) }

  /// Whether a host was given the delivery, and it came back: the host left, the service ended, or somebody redirected it.
  var cameBack: Bool { self.needsAttempt || self.progress.attempt > 1 }

  /// Whether it came back from the host for the session that it has now.
  var wasGivenBefore: Bool { self.progress.departures > 0 || self.isFromBefore && self.progress.attempt > 1 }

  /// No host serves the application and nothing can start it: the delivery is over, and its session stays.
  func unclaimed(at now: Instant) -> DeliveryProgress { over(.routed, now) }

  private func over(_ state: DeliveryState, _ now: Instant, _ error: InterchangeError? = nil) -> DeliveryProgress {
    with { progress in
      (progress.state, progress.isOpen) = (state, false)
      progress.ended = now
      progress.error = error.map { DeliveryError(name: $0.errorName, message: Text($0.message)) }
    }
  }

  private func with(_ change: (inout DeliveryProgress) -> Void) -> DeliveryProgress {
    var progress = self.progress
    change(&progress)
    return progress
  }
}

extension DeliveryProgress {
  /// The delivery goes to another session, or behind the others to its own. A handled delivery is open again. If a host was given it, it gets another
  /// attempt.
  func redirected(to session: UniqueIdentifier, outcome: Text, isHosted: Bool, wasGiven: Bool) -> DeliveryProgress {
    var progress = self
    (progress.state, progress.isOpen) = (isHosted ? .routed : .held, true)
    if wasGiven || session == self.session { progress.attempt += 1 }
    (progress.session, progress.outcome) = (session, outcome)
    (progress.error, progress.ended) = (nil, nil)
    return progress
  }
}
