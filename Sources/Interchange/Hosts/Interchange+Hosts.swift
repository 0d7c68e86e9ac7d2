package import DBus
import InterchangeWire
package import SceneModel
import SceneRouting
import SessionStore

// How hosts come and go.
//
// Whoever owns an application's name on the bus may host its scenes, for as long as it owns it. It is answered, then hears what is gone,
// and then is given what is held for it.
extension Interchange {
  /// Scenes that a host may show when it attaches: each is looked up.
  private static let maximumConnected = 10_000

  package func attachHost(
    of identifier: Text, connected: [ObjectPath], _ reply: Reply<ObjectPath, [ObjectPath]>
  ) throws {
    try begin(reply.call)
    let caller = callers.caller(of: reply.call)
    try Callers.refuseForeign(identifier, caller, "host its own scenes")
    guard state.manifest(of: identifier) != nil else {
      throw InterchangeError(
        .noSuchApplication,
        "there is no application \(quoted(identifier.string)): install a manifest of that name, or register it")
    }
    if connected.count > Self.maximumConnected {
      throw InterchangeError(
        .limitsExceeded, "connected: expected at most \(Self.maximumConnected) sessions, got \(connected.count)")
    }
    guard let owner = caller.name, let name = try? BusName(identifier.string) else { throw notHost(identifier) }
    if let host = hosts[identifier], host.owner == owner {
      try attach(host, connected, reply)
      return
    }
    let host = Host(of: identifier, owner: owner, isSandboxed: caller.isSandboxed, on: connection)
    connection.loop.task { await attach(host, name, connected, reply) }
  }

  private func notHost(_ identifier: Text) -> InterchangeError {
    InterchangeError(
      .notHost, "who hosts \(identifier) owns that name on the bus, and this caller does not: ask for the name first")
  }

  /// Stays until the host has lost the name.
  private func attach(
    _ host: Host, _ name: BusName, _ connected: [ObjectPath], _ reply: Reply<ObjectPath, [ObjectPath]>
  ) async {
    do {
      var owners = try await connection.owners(of: name).makeAsyncIterator()
      guard let owner = await owners.next(isolation: self), owner == host.owner else {
        throw notHost(host.application)
      }
      if let other = hosts[host.application] {
        if other.owner == host.owner { return try attach(other, connected, reply) }
        detach(other)
      }
      try attach(host, connected, reply)
      // It loses the name or leaves the bus. Where the bus goes, that is no news of the host.
      guard case .some = await owners.next(isolation: self) else { return }
      if hosts[host.application] === host { detach(host) }
    } catch {
      reply.fail(error)
    }
  }

  private func adopt(_ host: Host) {
    hosts[host.application] = host
    hosted[host.owner, default: []].insert(host.application)
  }

  private func forget(_ host: Host) {
    if hosts[host.application] === host { hosts[host.application] = nil }
    hosted[host.owner]?.remove(host.application)
    if hosted[host.owner]?.isEmpty ?? false { hosted[host.owner] = nil }
  }

  /// Its scenes are those that it says, and no others.
  private func attach(_ host: Host, _ paths: [ObjectPath], _ reply: Reply<ObjectPath, [ObjectPath]>) throws {
    try bringIn(host.application)
    endTurn()
    let (shown, gone) = try lookUp(paths, host)
    let before = try connectedSessions(of: host.application)
    try collect(refuse: { reply.fail($0) }) { share in
      for session in before where shown[session.identifier] == nil { disconnect(session, &share) }
      for (_, session) in shown.sorted(by: { $0.key < $1.key }) where !session.isConnected { connect(session, &share) }
      if hosts[host.application] == nil {
        adopt(host)
        share.onRefusal { me in me.forget(host) }
      }
      let path = InterchangeNames.path(ofApplication: host.application)
      share.onceStored { me in
        me.connection.propertyChanged("HostAttached", of: InterchangeNames.application, at: path)
        reply.send(path, gone)
        me.starts.removeValue(forKey: host.application)?.end()
        me.log.info("\(host.application): \(host.owner) hosts it")
      }
      share.onceTold { me in
        host.isReady = false
        me.connection.loop.task { await me.welcome(host) }
      }
    }
  }

  private func lookUp(
    _ paths: [ObjectPath], _ host: Host
  ) throws(InterchangeError) -> (shown: [UniqueIdentifier: Session], gone: [ObjectPath]) {
    var (shown, gone): ([UniqueIdentifier: Session], [ObjectPath]) = ([:], [])
    for path in Set(paths) {
      guard let identifier = InterchangeNames.session(at: path),
        let session = try storedSession(identifier)
      else {
        gone.append(path)
        continue
      }
      guard session.application == host.application else {
        throw InterchangeError(.invalidArgs, "connected: \(path) is no session of \(host.application)")
      }
      shown[identifier] = session
    }
    return (shown, gone.sorted { $0.rawValue < $1.rawValue })
  }

  private func welcome(_ host: Host) async {
    await tellDiscards(to: host)
    guard hosts[host.application] === host else { return }
    // What came while it was told stands behind what is held.
    endTurn()
    host.isReady = true
    handOverHeld(to: host)
  }

  /// It has left, and its scenes with it. Its sessions stay, and what it had not acknowledged is held again.
  func detach(_ host: Host) {
    forget(host)
    connection.propertyChanged(
      "HostAttached", of: InterchangeNames.application, at: InterchangeNames.path(ofApplication: host.application))
    log.info("\(host.application): \(host.owner) has left")
    takeBack(from: host, inHand: host.inHand)
  }

  private func takeBack(from host: Host, inHand: Set<UniqueIdentifier>) {
    do {
      try refuseWhatWasLeft(by: host, inHand)
      let sessions = try connectedSessions(of: host.application)
      let open = try openDeliveries(of: host.application)
      try collect(refuse: { _ in self.assumeIsolated { $0.takeBackLater(from: host, inHand: inHand) } }) { share in
        for session in sessions { disconnect(session, &share) }
        for delivery in open {
          var progress = delivery.progress
          progress.state = .held
          if inHand.contains(delivery.identifier) { progress.attempt += 1 }
          // One that leaves before it was given anything would be started again and again.
          if inHand.contains(delivery.identifier) || !host.isReady { progress.departures += 1 }
          if progress != delivery.progress { share.records.append(.deliveryProgress(delivery.identifier, progress)) }
        }
        if !open.isEmpty { share.onceTold { me in me.start(host.application) } }
      }
    } catch {
      takeBackLater(from: host, inHand: inHand)
    }
  }

  private func takeBackLater(from host: Host, inHand: Set<UniqueIdentifier>) {
    later { me in if me.hosts[host.application] == nil { me.takeBack(from: host, inHand: inHand) } }
  }

  /// One that leaves three times while it has the same delivery has refused it.
  private func refuseWhatWasLeft(by host: Host, _ inHand: Set<UniqueIdentifier>) throws {
    endTurn()
    for open in try openDeliveries(of: host.application)
    where open.progress.departures >= 2 && (inHand.contains(open.identifier) || !host.isReady) {
      try fail(
        open.identifier,
        InterchangeError(
          .hostRefused, "the host of \(host.application) left three times while it had the delivery"))
      endTurn()
    }
  }

  // MARK: Scenes

  private func connectedSessions(of application: Text) throws(InterchangeError) -> [Session] {
    try stored { () throws(StoreError) in try store.connectedSessions().filter { $0.application == application } }
  }

  /// Its scene is there.
  func connect(_ session: Session, _ share: inout Turn.Share) {
    var session = session
    session.isConnected = true
    session.hasBeenConnected = true
    session.state = .foregroundInactive
    let now = settings.now()
    set(session, &share)
    let (application, identifier) = (session.application, session.identifier)
    announce(
      .sessionConnected(configuration: session.configuration), application: application, session: identifier,
      in: &share, at: now)
    announce(
      .sessionStateChanged(session.state), application: application, session: identifier, in: &share, at: now)
  }

  /// Its scene is gone, and the session stays.
  func disconnect(_ session: Session, _ share: inout Turn.Share) {
    var session = session
    session.isConnected = false
    session.state = .unattached
    let identifier = session.identifier
    set(session, &share)
    let application = session.application
    share.onceStored { me in
      me.refreshes.remove(identifier)
      me.hosts[application]?.opened.remove(identifier)
    }
    announce(
      .sessionDisconnected, application: session.application, session: identifier, in: &share, at: settings.now())
  }

  private func set(_ session: Session, _ share: inout Turn.Share) {
    share.onRefusal(revert: state.update(session))
    share.set(session)
    let path = InterchangeNames.path(ofSession: session.identifier)
    share.onceStored { me in
      for property: MemberName in ["State", "Connected"] {
        me.connection.propertyChanged(property, of: InterchangeNames.session, at: path)
      }
    }
  }

  // MARK: What is gone for good

  /// Tells the host of all its sessions that are gone, once and as one set: when it has closed the last of their scenes.
  func tellDiscards(to host: Host) async {
    let before = host.telling
    let telling = connection.loop.task {
      await before?.value
      await tellDiscardsNow(to: host)
    }
    host.telling = telling
    await telling.value
  }

  private func tellDiscardsNow(to host: Host) async {
    endTurn()
    // Only one that has just attached is not kept waiting for the scenes that it is to close.
    guard hosts[host.application] === host, host.closing.isEmpty || !host.isReady,
      let owed = try? store.owedDiscards(of: host.application)
        .filter({ !host.told.contains($0) && !host.closing.contains($0) }),
      !owed.isEmpty
    else { return }
    host.told.formUnion(owed)
    do {
      try await host.calls.didDiscardSceneSessions(owed)
    } catch {
      if await hasLeft(host, error) { return }
      log.warning("\(host.application): DidDiscardSceneSessions: \(error.short)")
      // Nobody knows whether it heard. The next host does.
      if error == .timedOut { return }
    }
    noteTold(owed, host)
  }

  private func noteTold(_ sessions: [UniqueIdentifier], _ host: Host) {
    endTurn()
    let records = sessions.map { Record.discardTold(application: host.application, session: $0) }
    do throws(StoreError) {
      try store.commit(records, at: settings.now())
      host.told.subtract(sessions)
    } catch {
      later { me in me.noteTold(sessions, host) }
    }
  }

  /// Of a call that came to nothing: whether that is because the host has gone, so that nothing is known of what it did. An error is an
  /// answer, also from one that leaves right after; but not where another has its place.
  func hasLeft(_ host: Host, _ error: CallError) async -> Bool {
    switch error {
    case .disconnected, .cancelled: return true
    case .replied(let reply) where [.noReply, .serviceUnknown, .nameHasNoOwner].contains(reply.name):
      let isThere = (try? await connection.owner(of: host.owner)) != nil
      return !isThere || hosts[host.application] !== host
    case .replied: return hosts[host.application].map { $0 !== host } ?? false
    default: return hosts[host.application] !== host
    }
  }

  /// Tries again what the disk did not take for the moment.
  func later(_ body: @escaping @Sendable (isolated Interchange) -> Void) {
    connection.loop.task {
      await connection.loop.sleep(for: .seconds(5))
      if !isClosed { body(self) }
    }
  }
}

extension CallError {
  /// What a host says of itself is as long as it likes, and goes into logs and signals.
  var short: String {
    let text = "\(self)"
    return text.utf8.count > 1_000 ? String(decoding: text.utf8.prefix(1_000), as: UTF8.self) + "…" : text
  }
}
