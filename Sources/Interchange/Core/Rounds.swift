import SceneModel

// Work on all open deliveries of an application, of which there may be fifty thousand. Each step does a piece of it: other callers get a turn before
// the next piece, and no step stores more records than a turn may hold.

/// The work on the open deliveries of an application that is under way. Newer work takes the place of older work, which it includes.
enum Round: Hashable, Sendable {
  /// Nobody has the deliveries any more: they are held again.
  case holding(Stretch)
  /// The host is ready, and gets the deliveries in the order in which they came.
  case handingOver(Stretch)
  /// A start of the application has failed: the deliveries up to this order fail, the last first, so that a session is discarded with the delivery that made it.
  case failing(why: Text, through: Int64)

  var isFailing: Bool { if case .failing = self { true } else { false } }
}

/// The places in the order of deliveries that a round has still to reach.
struct Stretch: Hashable, Sendable {
  let after: Int64
  let through: Int64

  static func all(through order: Int64) -> Stretch { Stretch(after: .min, through: order) }
}

extension PromptBook {
  // MARK: How much one step does

  /// The deliveries that end or change their state.
  package static let deliveriesAtOnce = 100
  /// The applications whose rounds go on.
  private static let roundsAtOnce = 10
  /// The sessions that are discarded because their configuration is gone.
  package static let orphansAtOnce = 256
  /// The records after which no further orphan is discarded: its deliveries fail with it.
  static let recordsOfOrphans = 2_000
  /// The sessions that are given up. If a new manifest keeps fewer sessions, the others go as sessions come and go from then on.
  static let givenUpAtOnce = 256
  /// The discarded sessions that a host is told of in one call.
  package static let toldAtOnce = 1_000

  // MARK: Rounds

  /// Begins a round with its first piece.
  mutating func begin(_ round: Round, of application: Text) throws(Halt) {
    memory.rounds[application] = round
    try goOn([application])
  }

  /// Does the next piece of each round.
  mutating func goOnWithRounds() throws(Halt) {
    if memory.rounds.isEmpty { return }
    try goOn(memory.rounds.values.keys.sorted().prefix(PromptBook.roundsAtOnce))
  }

  private mutating func goOn(_ applications: some Collection<Text>) throws(Halt) {
    let size = PromptBook.deliveriesAtOnce / applications.count
    try askForWholeOnes(failing: applications.flatMap { nextToFail(of: $0, atMost: size) })
    for application in applications {
      switch memory.rounds[application] {
      case .holding(let stretch): holdNext(of: application, stretch, atMost: size)
      case .handingOver(let stretch): handOverNext(of: application, stretch, atMost: size)
      case .failing(let why, let through): try failNext(of: application, why, through: through, atMost: size)
      case nil: break
      }
    }
  }

  private func open(_ application: Text, after: Int64, through: Int64) -> ArraySlice<Ordered> {
    memory.deliveriesToApplication.elements(of: application, after: Ordered(at: after), through: Ordered(at: through))
  }

  /// The next deliveries of a stretch, and what is left of the stretch then.
  private func next(of application: Text, _ stretch: Stretch, _ limit: Int) -> ([OpenDelivery], rest: Stretch?) {
    let all = open(application, after: stretch.after, through: stretch.through)
    let piece = all.prefix(limit)
    let rest = piece.count == all.count ? nil : piece.last.map { Stretch(after: $0.order, through: stretch.through) }
    return (piece.compactMap { memory.deliveries[$0.identifier] }, rest)
  }

  private mutating func holdNext(of application: Text, _ stretch: Stretch, atMost limit: Int) {
    let (deliveries, rest) = next(of: application, stretch, limit)
    memory.rounds[application] = rest.map { .holding($0) }
    for delivery in deliveries { hold(delivery, delivery.heldAgain()) }
  }

  mutating func hold(_ delivery: OpenDelivery, _ progress: DeliveryProgress) {
    if progress != delivery.progress { note(.deliveryProgress(delivery.identifier, progress)) }
    // The next host has only what is still there.
    if memory.drags[delivery.identifier] != nil { memory.drags[delivery.identifier]?.isTaken = false }
  }

  mutating func handOverNext(
    of application: Text, _ stretch: Stretch, atMost limit: Int = PromptBook.deliveriesAtOnce
  ) {
    let (deliveries, rest) = next(of: application, stretch, limit)
    memory.rounds[application] = rest.map { .handingOver($0) }
    for delivery in deliveries { route(delivery) }
    for delivery in deliveries { if let session = delivery.session { work(on: session, of: application) } }
  }

  /// The host is ready, and gets the delivery.
  mutating func route(_ delivery: OpenDelivery) {
    let progress = delivery.routed()
    if progress != delivery.progress { note(.deliveryProgress(delivery.identifier, progress)) }
  }

  private func nextToFail(of application: Text, atMost limit: Int) -> [OpenDelivery] {
    guard case .failing(_, let through)? = memory.rounds[application] else { return [] }
    let last = open(application, after: .min, through: through).suffix(limit).reversed()
    return last.compactMap { memory.deliveries[$0.identifier] }
  }

  private mutating func failNext(
    of application: Text, _ why: Text, through: Int64, atMost limit: Int
  ) throws(Halt) {
    let error = InterchangeError(.launchFailed, why.string)
    for delivery in nextToFail(of: application, atMost: limit) {
      // An earlier one may have taken its session with it.
      guard let delivery = memory.deliveries[delivery.identifier] else { continue }
      try fail(delivery, error)
    }
    if !open(application, after: .min, through: through).isEmpty { return }
    memory.rounds[application] = nil
    // Those that came since then wait for a start of their own.
    if memory.deliveriesToApplication.count(of: application) > 0 { try start(application) }
  }

  /// Asks for the sessions and the whole deliveries that are needed when these deliveries fail, all at once: a cue that lacks them one after the other
  /// begins again for each.
  func askForWholeOnes(failing deliveries: [OpenDelivery]) throws(Halt) {
    if deliveries.isEmpty { return }
    _ = try sessions(Set(deliveries.compactMap(\.session)).sorted())
    try askFor(
      deliveries: deliveries.filter { delivery in
        guard let identifier = delivery.session, let session = memory.sessions[identifier] else { return false }
        return !takesSession(delivery, session) && givesWay(delivery.identifier, session)
      }.map(\.identifier))
  }

  // MARK: Discarded sessions

  /// Goes on with the deliveries to a session that was discarded.
  mutating func letGoNext() throws(Halt) {
    if let session = memory.discarded.values.keys.min() { try letGo(of: session) }
  }

  /// The service ended before all deliveries to a discarded session had failed.
  mutating func letGoOfOwed() {
    for application in memory.owed.keys {
      for session in memory.owed[application].map(\.session)
      where memory.isAwaited(session) || memory.baggageOfSession.count(of: session) > 0 {
        memory.discarded[session] = true
      }
    }
  }

  // MARK: Scenes whose host has gone

  /// The bytes of the sessions that one step disconnects: each is read, and stored with everything that it keeps.
  private static let bytesOfScenes = 4 << 20

  /// The sessions of an application that one step disconnects.
  func scenesAtOnce(of application: Text) -> Int {
    let (bytes, count) = (memory.sessionBytes[application] ?? 0, memory.sessionCounts[application] ?? 0)
    return min(max(1, PromptBook.bytesOfScenes / max(1, bytes / max(1, count))), PromptBook.deliveriesAtOnce)
  }

  /// Disconnects sessions whose scenes were connected when their host left, or when the service ended: then the hosts may have gone meanwhile, and say so
  /// when they attach.
  mutating func disconnectNext() throws(Halt) {
    guard let application = memory.disconnecting.values.keys.min() else { return }
    try disconnectNext(of: application)
    try giveUpOldSessions(of: application)
  }

  mutating func disconnectNext(of application: Text) throws(Halt) {
    let scenes = memory.scenes[application]
    let piece = scenes.prefix(scenesAtOnce(of: application))
    memory.disconnecting[application] = piece.count < scenes.count ? true : nil
    try disconnect(Array(piece), of: application)
  }

  mutating func disconnect(_ scenes: [UniqueIdentifier], of application: Text) throws(Halt) {
    for session in try sessions(scenes) { disconnect(session) }
    // A row that does not parse any more is no session.
    for session in scenes { memory.scenes.remove(session, for: application) }
  }
}
