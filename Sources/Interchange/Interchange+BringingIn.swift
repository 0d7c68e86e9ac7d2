import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

// How sessions come from the disk into the state: when somebody asks for one of them, and first those that he asks for. The others of their
// application follow while nobody waits.
//
// What is in the state is never read over: it is what is stored, or newer. What is being discarded is not read again.

/// How far the reading of an application's sessions has got.
struct Reading {
  /// All that are listed up to here are in the state.
  var place = SessionAge.first
  /// It goes on by itself.
  var goesOn = false
}

extension Interchange {
  /// Decides, and reads the sessions that the decision asks for.
  func decision(for request: Request, at now: Instant) throws -> Decision {
    var steps = Limits.conditionSteps
    return try decision(for: request, at: now, within: &steps)
  }

  func decision(for request: Request, at now: Instant, within steps: inout Int) throws -> Decision {
    while true {
      switch SceneRouting.decide(state, request, at: now, within: &steps) {
      case .decided(let decision): return decision
      case .needs(let need): try bringIn(need)
      }
    }
  }

  func bringIn(_ need: Need) throws {
    switch need {
    case .session(let session): try bringIn(session)
    case .sessions(of: let application, concernedWith: let key): try bringIn(application, concernedWith: key)
    case .allSessions(of: let application): try bringIn(application)
    }
    state.learn([], answering: need)
  }

  func bringIn(_ session: UniqueIdentifier) throws {
    if state.contains(session) { return }
    if let found = try storedSession(session) { try takeIn([found], of: found.application) }
  }

  private func bringIn(_ application: Text, concernedWith key: Text) throws {
    if loaded.contains(application) { return }
    let concerned = try stored { () throws(StoreError) in
      try store.sessions(of: application, concernedWith: key, limit: Self.maximumRead)
    }
    // As many would be read again for each that comes before all are there.
    guard let concerned else { return try bringIn(application) }
    try takeIn(concerned, of: application)
    bringInLater(application)
  }

  /// All of them.
  func bringIn(_ application: Text) throws { while try bringInMore(of: application) {} }

  // MARK: The others

  private func bringInLater(_ application: Text) {
    if partly[application, default: Reading()].goesOn { return }
    partly[application, default: Reading()].goesOn = true
    connection.loop.task { await bringInRest(of: application) }
  }

  private func bringInRest(of application: Text) async {
    do {
      // Whoever asked is answered first, and whoever calls meanwhile has his turn.
      repeat {
        await connection.loop.sleep(for: .milliseconds(1))
        if isClosed { return }
      } while try bringInMore(of: application)
    } catch {
      // Whoever needs them tries again.
      partly[application]?.goesOn = false
      let reason = (error as? InterchangeError)?.message ?? "\(error)"
      log.warning("\(application): its sessions cannot be read for the moment: \(reason)")
    }
  }

  /// Sessions that are read in one turn of the loop: these take a millisecond or two.
  private static let maximumRead = 256

  /// Answers whether there may be more.
  private func bringInMore(of application: Text) throws -> Bool {
    if loaded.contains(application) { return false }
    // What is refused later is taken out of the state again where it was not there before, and would be passed by.
    endTurn()
    let place = partly[application]?.place ?? .first
    let page = try stored { () throws(StoreError) in
      try store.sessions(of: application, from: place, limit: Self.maximumRead)
    }
    try takeIn(page, of: application)
    if let last = page.last, page.count == Self.maximumRead {
      partly[application, default: Reading()].place = SessionAge(last)
      return true
    }
    loaded.insert(application)
    state.noteComplete(application)
    partly[application] = nil
    return false
  }

  /// Puts sessions that were just read into the state. Those of a configuration that the manifest has lost while nobody looked are discarded.
  private func takeIn(_ sessions: [Session], of application: Text) throws {
    let manifest = state.manifest(of: application)
    var orphans: [Session] = []
    var undos: [State.Undo] = []
    for stored in sessions where !leaving.contains(stored.identifier) {
      let session = turn.sessions[stored.identifier] ?? stored
      let undo = state.contains(session.identifier) ? nil : state.update(session)
      // One that was there already may have come when there was no manifest.
      guard let manifest, !manifest.has(configurationOf: session) else { continue }
      orphans.append(session)
      if let undo { undos.append(undo) }
    }
    if orphans.isEmpty { return }
    do {
      try collect(refuse: { [log] in log.error("\(application): \($0.message)") }) { share in
        let now = settings.now()
        for session in orphans { try discard(session, animation: "standard", &share, now) }
      }
    } catch {
      // They are read again, and found to be what they are.
      for undo in undos.reversed() { state.revert(undo) }
      throw error
    }
    endTurn()
  }
}
