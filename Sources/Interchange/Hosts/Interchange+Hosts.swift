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
  package func attachHost(
    of identifier: Text, connected: [ObjectPath], _ reply: Reply<ObjectPath, [ObjectPath]>
  ) throws {
    let caller = callers.caller(of: reply.call)
    if caller.isSandboxed, caller.application != identifier {
      throw InterchangeError(.accessDenied, "a sandboxed application may host its own scenes only")
    }
    guard state.manifest(of: identifier) != nil else {
      throw InterchangeError(
        .noSuchApplication,
        "there is no application \(quoted(identifier.string)): install a manifest of that name, or register it")
    }
    guard let owner = caller.name, let name = try? BusName(identifier.string) else { throw notHost(identifier) }
    if let host = hosts[identifier], host.owner == owner {
      try attach(host, connected, reply)
      return
    }
    connection.loop.task {
      await attach(identifier, name, Host(caller, owner, identifier, on: connection), connected, reply)
    }
  }

  private func notHost(_ identifier: Text) -> InterchangeError {
    InterchangeError(
      .notHost, "who hosts \(identifier) owns that name on the bus, and this caller does not: ask for the name first")
  }

  /// Stays until the host has lost the name.
  private func attach(
    _ identifier: Text, _ name: BusName, _ host: Host, _ connected: [ObjectPath],
    _ reply: Reply<ObjectPath, [ObjectPath]>
  ) async {
    do {
      var owners = try await connection.owners(of: name).makeAsyncIterator()
      guard let owner = await owners.next(isolation: self), owner == host.owner else { throw notHost(identifier) }
      if let other = hosts[identifier], other.owner == host.owner {
        try attach(other, connected, reply)
        return
      }
      if let other = hosts[identifier] { detach(other) }
      hosts[identifier] = host
      hosted[host.owner] = identifier
      starts[identifier]?.end()
      starts[identifier] = nil
      do {
        try attach(host, connected, reply)
      } catch {
        forget(host)
        throw error
      }
      _ = await owners.next(isolation: self)
      // It lost the name or left the bus, or the bus has gone.
      if hosts[identifier] === host { detach(host) }
    } catch {
      reply.fail(error)
    }
  }

  private func forget(_ host: Host) {
    hosts[host.application] = nil
    if hosted[host.owner] == host.application { hosted[host.owner] = nil }
  }

  /// Its scenes are those that it says, and no others.
  private func attach(_ host: Host, _ paths: [ObjectPath], _ reply: Reply<ObjectPath, [ObjectPath]>) throws {
    endTurn()
    var (shown, gone): ([UniqueIdentifier: Session], [ObjectPath]) = ([:], [])
    for path in paths {
      guard let identifier = InterchangeNames.session(at: path),
        let session = try stored({ () throws(StoreError) in try store.session(identifier) })
      else {
        gone.append(path)
        continue
      }
      guard session.application == host.application else {
        throw InterchangeError(.invalidArgs, "connected: \(path) is a session of \(session.application)")
      }
      shown[identifier] = session
    }
    let before = try connectedSessions(of: host.application)
    let discarded = gone
    try collect(refuse: { reply.fail($0) }) { share in
      for session in before where shown[session.identifier] == nil { disconnect(session, &share) }
      for (_, session) in shown.sorted(by: { $0.key < $1.key }) where !session.isConnected { connect(session, &share) }
      let path = InterchangeNames.path(ofApplication: host.application)
      share.speak.append { me in
        me.connection.propertyChanged("HostAttached", of: InterchangeNames.application, at: path)
        reply.send(path, discarded)
        me.log.info("\(host.application): \(host.owner) hosts it")
      }
      share.afterwards.append { me in
        host.isReady = false
        me.connection.loop.task { await me.welcome(host) }
      }
    }
  }

  private func welcome(_ host: Host) async {
    await tellDiscards(to: host)
    guard hosts[host.application] === host else { return }
    host.isReady = true
    handOverHeld(to: host)
  }

  /// It has left. Its scenes with it; its sessions stay, and what it had not acknowledged is held again.
  func detach(_ host: Host) {
    forget(host)
    connection.propertyChanged(
      "HostAttached", of: InterchangeNames.application, at: InterchangeNames.path(ofApplication: host.application))
    log.info("\(host.application): \(host.owner) has left")
    takeBack(from: host, inHand: Set(host.inHand.values))
  }

  private func takeBack(from host: Host, inHand: Set<UniqueIdentifier>) {
    endTurn()
    do {
      // Where the disk takes nothing for the moment, it is tried again.
      let sessions = try connectedSessions(of: host.application)
      let open = try stored { () throws(StoreError) in try store.openDeliveries(of: host.application) }
      try collect(refuse: { _ in self.assumeIsolated { $0.takeBackLater(from: host, inHand: inHand) } }) { share in
        for session in sessions { disconnect(session, &share) }
        var isWaitedFor = false
        for delivery in open {
          let wasInHand = inHand.contains(delivery.identifier)
          if try hold(delivery, wasInHand: wasInHand, &share) { isWaitedFor = true }
        }
        if isWaitedFor { share.afterwards.append { me in me.start(host.application) } }
      }
    } catch {
      takeBackLater(from: host, inHand: inHand)
    }
  }

  private func takeBackLater(from host: Host, inHand: Set<UniqueIdentifier>) {
    connection.loop.task {
      await connection.loop.sleep(for: .seconds(5))
      if hosts[host.application] == nil { takeBack(from: host, inHand: inHand) }
    }
  }

  /// One that goes three times while it has the same delivery has refused it. Answers whether it is held.
  private func hold(
    _ delivery: DeliverySummary, wasInHand: Bool, _ share: inout Turn.Share
  ) throws -> Bool {
    var progress = delivery.progress
    progress.state = .held
    if wasInHand {
      progress.departures += 1
      progress.attempt += 1
    }
    if wasInHand, progress.departures == 3,
      let whole = try stored({ () throws(StoreError) in try store.delivery(delivery.identifier) })
    {
      let error = InterchangeError(
        .hostRefused, "the host of \(delivery.application) left three times while it had the delivery")
      try end(whole, .failed, error, &share, settings.now())
      return false
    }
    if progress != delivery.progress { share.records.append(.deliveryProgress(delivery.identifier, progress)) }
    return true
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
    share.speak.append { me in me.refreshes.remove(identifier) }
    announce(
      .sessionDisconnected, application: session.application, session: identifier, in: &share, at: settings.now())
  }

  private func set(_ session: Session, _ share: inout Turn.Share) {
    share.onRefusal(revert: state.update(session))
    share.set(session)
    let path = InterchangeNames.path(ofSession: session.identifier)
    share.speak.append { me in
      for property: MemberName in ["State", "Connected"] {
        me.connection.propertyChanged(property, of: InterchangeNames.session, at: path)
      }
    }
  }

  // MARK: What is gone for good

  /// Tells the host once, as one set, of all its sessions that are gone and whose scenes it has closed.
  func tellDiscards(to host: Host) async {
    if host.isBeingTold { return }
    host.isBeingTold = true
    defer { host.isBeingTold = false }
    endTurn()
    while hosts[host.application] === host, let owed = try? store.owedDiscards(of: host.application) {
      let gone = owed.filter { !host.closing.contains($0) }
      if gone.isEmpty { return }
      do {
        try await host.calls.didDiscardSceneSessions(gone)
      } catch {
        if await hasLeft(host, error) { return }
        log.warning("\(host.application): DidDiscardSceneSessions: \(error)")
      }
      endTurn()
      let records = gone.map { Record.discardTold(application: host.application, session: $0) }
      // Where that cannot be stored it is told again to the next host, which does no harm.
      do throws(StoreError) { try store.commit(records, at: settings.now()) } catch { return }
    }
  }

  /// Of a call that came to nothing: whether that is because the host has gone, so that nothing is known of what it did.
  func hasLeft(_ host: Host, _ error: CallError) async -> Bool {
    switch error {
    case .disconnected, .cancelled: return true
    case .replied(let reply) where [.noReply, .serviceUnknown, .nameHasNoOwner].contains(reply.name):
      return (try? await connection.owner(of: host.owner)) == nil
    default: return hosts[host.application] !== host
    }
  }
}

extension Host {
  fileprivate convenience init(_ caller: Caller, _ owner: BusName, _ application: Text, on connection: Connection) {
    self.init(of: application, owner: owner, isSandboxed: caller.isSandboxed, on: connection)
  }
}
