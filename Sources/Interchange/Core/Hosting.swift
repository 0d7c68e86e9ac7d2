import SceneModel
import SceneRouting

// How hosts come and go.
//
// The owner of an application's name on the bus may host its scenes, for as long as it owns the name. A host that attaches gets the reply, then hears
// which sessions are gone, and then gets the held deliveries.
extension PromptBook {
  // MARK: Attaching

  mutating func beginAttach(
    to application: Text, shown: [UniqueIdentifier], unknown: [Text], _ options: HostOptions, _ caller: Caller,
    _ number: CallNumber
  ) throws(Halt) {
    try refuseForeign(application, caller, "host its own scenes")
    try requireManifest(of: application)
    let count = shown.count + unknown.count
    if count > ledger.allowance.scenes {
      throw refused(
        .limitsExceeded, "connected: expected at most \(ledger.allowance.scenes) sessions, got \(count)")
    }
    guard let connection = caller.connection else { throw notHost(application, options) }
    let name = try nameOfHost(application, options, caller, connection)
    var attaching = Attaching(
      call: number, caller: caller, connection: connection, application: application, name: name, shown: shown,
      unknown: unknown, options: options)
    // A host that attaches again is answered in the order of its messages. But it may have given the name back and taken it again before this call, and
    // the news of that may still come: only the bus knows whether it is the owner now.
    if let host = memory.hosts[application], host.connection == connection,
      host.options.isUnderstudy == options.isUnderstudy, host.options.path == options.path
    {
      try attach(attaching)
      attaching.call = nil
    }
    findOwner(for: attaching)
  }

  private mutating func findOwner(for attaching: Attaching) {
    let question = newNumber()
    memory.attaching[question] = attaching
    if attaching.call == nil, memory.hosts[attaching.application]?.connection == attaching.connection {
      memory.hosts[attaching.application]?.question = question
    }
    step.errands.append(
      .findOwner(
        question, name: attaching.name, application: attaching.application, connection: attaching.connection,
        path: attaching.options.path))
  }

  /// The connection has lost the name, or has left the bus, since this question was answered.
  mutating func hostLeft(_ application: Text, since question: ErrandNumber) throws(Halt) {
    let attaching = memory.attaching.removeValue(for: question)
    if memory.hosts[application]?.question == question { try detach(application) }
    // The answer could not be stored, and comes again: it is old now.
    if let attaching { findOwner(for: attaching) }
  }

  private func notHost(_ application: Text, _ options: HostOptions) -> Halt {
    if options.isUnderstudy {
      return refused(
        .notHost,
        "an understudy of \(application) is the connection that registered it with StagedoorUnderstudy, or, where it is installed, the owner "
          + "of the name that StagedoorUnderstudy states; this caller is neither")
    }
    return refused(
      .notHost,
      "who hosts \(application) owns that name on the bus, and this caller does not: request the bus name \(application) on this connection first"
    )
  }

  // MARK: Understudies

  /// The name on the bus that the host must own: the application's; for an understudy the name that an installed manifest states, or its own, if it
  /// registered the application.
  private func nameOfHost(
    _ application: Text, _ options: HostOptions, _ caller: Caller, _ connection: Text
  ) throws(Halt) -> Text {
    guard options.isUnderstudy else { return application }
    try refuseSandbox(caller, "stand in for an application")
    try refuseSecondUnderstudy(of: application, connection)
    guard let understudy = memory.routing.manifest(of: application)?.understudy,
      let source = memory.manifests[application]
    else { throw notHost(application, options) }
    if source.file.isEmpty, source.registrar == connection { return connection }
    guard !source.file.isEmpty, case .owner(let name) = understudy else {
      throw notHost(application, options)
    }
    return name
  }

  private func refuseSecondUnderstudy(of application: Text, _ connection: Text) throws(Halt) {
    guard let host = memory.hosts[application] else { return }
    if !host.options.isUnderstudy { throw refused(.requestDenied, "\(application) has a host of its own") }
    if host.connection != connection { throw refused(.requestDenied, "\(application) has another understudy") }
  }

  // MARK: Attaching, after the name's owner is known

  /// The bus has answered a question. A connection that has attached since may have taken the name since: then the bus is asked again.
  mutating func ownerWasFound(_ question: ErrandNumber, isOwner: Bool, lack: Text?) throws(Halt) {
    guard let attaching = memory.attaching.removeValue(for: question) else { return }
    let (application, connection) = (attaching.application, attaching.connection)
    let host = memory.hosts[application]
    if attaching.call == nil, !isOwner || host?.connection == connection {
      if !isOwner, host?.question == question { try detach(application) }
      return
    }
    if !isOwner { throw notHost(application, attaching.options) }
    // Others may have come meanwhile.
    if attaching.options.isUnderstudy {
      _ = try nameOfHost(application, attaching.options, attaching.caller, connection)
    }
    if let host, host.connection != connection, question < host.since { return findOwner(for: attaching) }
    if let lack { throw refused(.notHost, "\(lack): export the host's object first, and then attach") }
    try requireManifest(of: application)
    try attach(attaching)
    memory.hosts[application]?.question = question
  }

  /// The host's scenes are those that it names, and no others.
  private mutating func attach(_ attaching: Attaching) throws(Halt) {
    let (application, connection) = (attaching.application, attaching.connection)
    if let other = memory.hosts[application], other.connection != connection { try detach(application) }
    // Not before: the departure of the other host has changed its sessions.
    let shown = try sessions(Set(attaching.shown).sorted())
    if let foreign = shown.first(where: { $0.application != application }) {
      throw refused(
        .invalidArgs, "connected: \(SessionReference.path(of: foreign.identifier)) is no session of \(application)")
    }
    if memory.rounds[application]?.isFailing ?? false { memory.rounds[application] = nil }
    try replaceScenes(of: application, by: shown)
    var host =
      memory.hosts[application]
      ?? Host(
        application: application, connection: connection, isSandboxed: attaching.caller.isSandboxed,
        options: attaching.options)
    host.options = attaching.options
    host.stage = .welcome
    host.since = newNumber()
    memory.hosts[application] = host
    // Who stands in for an application is not that application.
    if !host.options.isUnderstudy { memory.hosted.insert(application, for: connection) }
    forgetStart(of: application)
    say(.applicationChanged(application, [.hostAttached]))
    log("\(application): \(connection) hosts it")
    let found = Set(shown.map(\.identifier))
    let gone = attaching.shown.filter { !found.contains($0) }.map { SessionReference.path(of: $0) } + attaching.unknown
    if let call = attaching.call {
      answer(call, .attached(application: application, discarded: Set(gone).sorted()))
    }
    tellDiscards(to: application)
  }

  private mutating func replaceScenes(of application: Text, by shown: [Session]) throws(Halt) {
    let kept = Set(shown.map(\.identifier))
    memory.disconnecting[application] = nil
    try disconnect(memory.scenes[application].filter { !kept.contains($0) }, of: application)
    for session in shown where !session.isConnected { connect(session) }
    // Not before all shown scenes are connected, because a session without a scene may be given up.
    try giveUpOldSessions(of: application)
  }

  // MARK: Leaving

  /// The connection has left the bus, and hosts nothing more.
  mutating func detachAll(of connection: Text) throws(Halt) {
    for application in memory.hosts.values.values.filter({ $0.connection == connection }).map(\.application).sorted() {
      try detach(application)
    }
    memory.unread.removeAll(of: connection)
  }

  /// The host has left, and its scenes with it. Its sessions stay, and the deliveries that it has not acknowledged are held again.
  mutating func detach(_ application: Text) throws(Halt) {
    guard let host = memory.hosts[application] else { return }
    let inHand = forgetLanes(of: application)
    callOff { $0.application == application }
    memory.hosts[application] = nil
    memory.hosted.remove(application, for: host.connection)
    memory.opened.removeAll(of: application)
    memory.told.removeAll(of: application)
    say(.applicationChanged(application, [.hostAttached]))
    log("\(application): \(host.connection) has left")
    try disconnectNext(of: application)
    try holdAgain(application, host, inHand)
    try giveUpOldSessions(of: application)
    if memory.deliveriesToApplication.count(of: application) > 0 { try start(application) }
  }

  /// If a host leaves three times while it is working on one delivery, the delivery fails. A host that leaves before it has received any delivery
  /// counts as working on the first: otherwise the service would start it again and again.
  private mutating func holdAgain(_ application: Text, _ host: Host, _ inHand: Set<UniqueIdentifier>) throws(Halt) {
    let first = memory.deliveriesToApplication.first(of: application).map { [$0.identifier] } ?? []
    let departed = host.stage == .welcome ? Set(first) : inHand
    // What the host has deferred is not given again.
    let concerned = departed.union(inHand).compactMap { memory.deliveries[$0] }
      .filter { $0.progress.state != .forwarded }.sorted { $0.order < $1.order }
    func isRefused(_ delivery: OpenDelivery) -> Bool {
      departed.contains(delivery.identifier) && delivery.progress.departures >= 2
    }
    try askForWholeOnes(failing: concerned.filter(isRefused))
    for delivery in concerned {
      guard let delivery = memory.deliveries[delivery.identifier] else { continue }
      if isRefused(delivery) {
        try fail(
          delivery,
          InterchangeError(.hostRefused, "the host of \(application) left three times while it had the delivery"))
      } else {
        let wasInHand = inHand.contains(delivery.identifier)
        hold(delivery, delivery.heldAgain(wasInHand: wasInHand, isDeparture: departed.contains(delivery.identifier)))
      }
    }
    try begin(.holding(.all(through: memory.order)), of: application)
  }

  /// Ends the host's lanes, and returns the deliveries that the host was working on.
  private mutating func forgetLanes(of application: Text) -> Set<UniqueIdentifier> {
    var inHand: Set<UniqueIdentifier> = []
    for (key, lane) in memory.lanes.values where key.application == application {
      if !lane.neverReached, let delivery = lane.act.inHand?.identifier {
        inHand.insert(delivery)
        if lane.isSecret, let host = memory.hosts[application] {
          memory.unread.insert(key.session, for: host.connection)
        }
      }
      if let errand = lane.errand { memory.errands[errand] = nil }
      memory.lanes[key] = nil
    }
    for (errand, purpose) in memory.errands.values.sorted(by: { $0.key < $1.key }) {
      switch purpose {
      case .discards(application): memory.errands[errand] = nil
      // Its answer is of no use to another host, even of the same connection.
      case .proposal(let key) where key.application == application:
        memory.errands[errand] = nil
        guard let proposal = memory.proposals[key] else { continue }
        memory.proposals[key] = nil
        for number in proposal.calls + proposal.waiting { answer(number, .operation("forbidden")) }
      case .lane, .discards, .proposal: break
      }
    }
    memory.queue.removeAll(of: application)
    for session in memory.closing[application] { memory.closings[session] = nil }
    memory.closing.removeAll(of: application)
    return inHand
  }

  // MARK: Scenes

  /// The session has a scene.
  mutating func connect(_ before: Session) {
    let session = before.connected()
    note(.session(session))
    announce([.state, .connected], of: session)
    announce(.sessionConnected(configuration: session.configuration), session.application, session.identifier)
    announce(.sessionStateChanged(session.state), session.application, session.identifier)
  }

  /// The session's scene is gone, and the session stays. The caller gives up old sessions afterwards.
  mutating func disconnect(_ before: Session) {
    let session = before.disconnected()
    note(.session(session))
    memory.refreshes[session.identifier] = nil
    memory.opened.remove(session.identifier, for: session.application)
    announce([.state, .connected], of: session)
    announce(.sessionDisconnected, session.application, session.identifier)
  }

  /// Gives up sessions of these applications: once for all deliveries that end in one cue.
  mutating func giveUpOldSessions() throws(Halt) {
    for application in overfull.sorted() { try giveUpOldSessions(of: application) }
    overfull = []
  }

  /// An application keeps as many sessions without a scene as its manifest says (`StagedoorKeepSessions`). Beyond that number the session that was
  /// activated longest ago is discarded, as by `Destroy`. A session with a delivery on its way, or whose scene is being opened, stays and does not count.
  mutating func giveUpOldSessions(of application: Text) throws(Halt) {
    guard let manifest = memory.routing.manifest(of: application) else { return }
    // All sessions are read only if there may be too many.
    if (memory.sessionCounts[application] ?? 0) <= manifest.keptSessions { return }
    let need = Need.allSessions(of: application)
    if !memory.routing.knows(need) { throw .lacks(.routing([need])) }
    let old = memory.routing.sessionsToGiveUp(of: application, atMost: PromptBook.givenUpAtOnce) {
      sessionsOnTheirWay(of: application)
    }
    for session in try sessions(old) { try discard(session, animation: "standard") }
  }

  /// The sessions without a scene to which a delivery is on its way, or whose scene the host is opening.
  private func sessionsOnTheirWay(of application: Text) -> Set<UniqueIdentifier> {
    var found = Set(memory.opened[application])
    for entry in memory.deliveriesToApplication[application] {
      if let session = memory.deliveries[entry.identifier]?.session { found.insert(session) }
    }
    for session in memory.forwarded.keys where memory.routing.application(of: session) == application {
      found.insert(session)
    }
    return found.filter { !memory.scenes.contains($0, of: application) && memory.routing.contains($0) }
  }

  // MARK: Discarded sessions

  /// Tells the host which of its sessions are gone, each once, when it has closed the last of their scenes. A host that has just attached need not
  /// close its scenes first; it is ready after it was told.
  mutating func tellDiscards(to application: Text) {
    guard var host = memory.hosts[application], host.hearing.isEmpty else { return }
    guard memory.closing.count(of: application) == 0 || host.stage == .welcome else { return }
    host.hearing = notTold(application)
    if host.hearing.isEmpty {
      if host.stage == .welcome { becomeReady(application) }
      return
    }
    memory.hosts[application] = host
    ask(host, .discarded(host.hearing), .discards(application: application), within: PromptBook.patience)
  }

  /// The discarded sessions of which the host is told next.
  private func notTold(_ application: Text) -> [UniqueIdentifier] {
    let owed = memory.owed[application].lazy.map(\.session).filter {
      !memory.told.contains($0, of: application) && !memory.closing.contains($0, of: application)
    }
    return Array(owed.prefix(PromptBook.toldAtOnce))
  }

  mutating func discardsWereTold(_ errand: ErrandNumber, _ application: Text, _ answer: HostAnswer) throws(Halt) {
    guard let host = memory.hosts[application] else { return }
    memory.hosts[application]?.hearing = []
    switch answer {
    case .gone: return try detach(application)
    // Nobody knows whether a silent host heard. The next host will be told.
    case .timedOut:
      log(.warning, "\(application): DidDiscardSceneSessions: no answer came in time")
      for session in host.hearing { memory.told.insert(session, for: application) }
      if host.stage == .welcome { becomeReady(application) }
    // It has heard nothing, and is told again.
    case .failed(let why):
      log(.warning, "\(application): DidDiscardSceneSessions: \(why)")
      memory.add(.discards(application), at: now.uptime + PromptBook.pause)
      if host.stage == .welcome { becomeReady(application) }
      return
    // A run of the host that has ended lets its calls go: this one is told again.
    case .refused where errand < host.since: break
    case .refused, .done, .configuration, .operation:
      // The host's words may be about a session that was private.
      if case .refused = answer {
        log(.warning, "\(application): DidDiscardSceneSessions: the host answered with an error")
      }
      for session in host.hearing { note(.discardTold(application: application, session: session)) }
    }
    tellDiscards(to: application)
  }

  /// Gives the held deliveries in the order in which they came.
  private mutating func becomeReady(_ application: Text) {
    memory.hosts[application]?.stage = .ready
    handOverNext(of: application, .all(through: memory.order))
  }

  // MARK: Asking

  /// The microseconds that a host has for everything but deliveries: the default time of a call.
  static let patience: Int64 = 25_000_000

  @discardableResult
  mutating func ask(_ host: Host, _ question: HostQuestion, _ purpose: ErrandPurpose, within: Int64) -> ErrandNumber {
    let number = newErrand(purpose)
    step.errands.append(
      .ask(
        number, application: host.application, owner: host.connection, at: host.options.path, question,
        within: max(1, within)))
    return number
  }

  mutating func hostAnswered(_ errand: ErrandNumber, _ answer: HostAnswer) throws(Halt) {
    guard let purpose = memory.errands[errand] else { return }
    memory.errands[errand] = nil
    switch purpose {
    case .discards(let application): try discardsWereTold(errand, application, answer)
    case .lane(let key): try laneAnswered(errand, key, answer)
    case .proposal(let key): proposed(key, answer)
    }
  }
}
