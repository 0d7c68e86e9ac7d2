import Glibc
import InterchangeCore
import InterchangeTurns
import SceneModel
import SceneRouting
import SessionStore

/// The laws that must hold after each step. Each is a sentence of the documentation.
package enum Law: String, CaseIterable, Sendable {
  /// `bus.md`: "The service has stored everything that it answered."
  case acknowledged = "what was answered is stored"
  /// `documents.md`, of tokens: the same token and document again get the first answer.
  case once = "what comes again under a token is carried out once"
  /// `architecture.md`: "exactly one reply, whatever the handler does".
  case answers = "each call is answered once"
  /// `hosts.md`: "DestroyScene: the session is gone, and had a window or was about to get one".
  case windows = "no window without a session, and none is gone that its host was not told of"
  /// `bus.md`: "`InterfacesAdded`, then `PropertiesChanged`, then Stagedoor's own signals, then the reply".
  case order = "what a call announces comes before its reply, and what changed before the signals"
  /// `bus.md`: EventSequence and EventsSince.
  case sequence = "no number of an event is left out, and none is given twice"
  /// `callers.md`: "Mark a delivery as private if others must not read it in a signal."
  case secrets = "nothing private is said to anyone else"
  /// `limits.md`.
  case charges = "charges add up to what is held"
  /// `architecture.md`: the memory is a fold of the records.
  case fold = "memory is the fold of what is stored"
  /// `hosts.md`: "No answer until the delivery's deadline is `HostTimeout`."
  case deadlines = "no delivery outlives its deadline"
  /// `architecture.md`: "its memory is as new as the disk, or newer".
  case routing = "routing has each session as the store has it"
  /// `bus.md`: the objects are those of the sessions.
  case objects = "the objects on the bus are the sessions in the store"
  /// `items.md`: the contents of a delivery stay until they are released, and no longer.
  case baggage = "what a delivery carries is there as long as its host may open it, and no longer"
  /// `items.md`: a drag ends once, and everyone who took part in it hears so.
  case drags = "a drag ends once, and is nobody's business who takes no part in it"
  /// `limits.md`: "others come before the next".
  case pieces = "no cue begins again more than a dozen times, and none stores more than a turn holds"
  /// `rules.md`: the first rule whose conditions all hold is the one, `Explain` says which, and the stored decision names it.
  case rules = "the first rule that takes a text is the one that the decision names"
  /// `manifest.md`, "An application that forwards".
  case forwarding = "a session that stands for another place is named, and keeps what its host says of the place"
  /// `callers.md`: what came from elsewhere has the rights of a sandbox without an application.
  case strangers = "what a stranger sent opens nothing by itself, names no file, and comes from no application"
  /// `hosts.md`, the connection options.
  case handing = "a host is told what the sender said"
  /// Everything comes to an end when nothing happens any more.
  case quiet = "where nothing happens, all is over soon"
  /// The theatre itself failed.
  case theatre = "the theatre can go on"
}

extension World {
  // MARK: After each step

  func checkEffort(_ step: Step?) {
    if prompter.restarts > 12 { breaks(.pieces, "a cue began again \(prompter.restarts) times") }
    if let count = step?.records.count, count > Turn.maximumRecords { breaks(.pieces, "a cue stores \(count) records") }
  }

  func checkStep(_ cue: Cue, _ step: Step) {
    var changed: Set<UniqueIdentifier> = []
    var told: Set<UniqueIdentifier> = []
    var answeredCall = false
    for saying in step.sayings {
      switch saying {
      case .sessionAppeared(let session):
        if told.contains(session) { breaks(.order, "the session \(session) appears behind a signal about it") }
        changed.insert(session)
      case .sessionChanged(let session, let fields, let withheld):
        changed.insert(session)
        checkPlace(session, fields + withheld, cue)
      case .event(let event):
        switch event.kind {
        case .sessionConnected, .sessionStateChanged, .sessionDisconnected:
          if !changed.contains(event.session) {
            breaks(.order, "\(event.name) comes, and nothing has changed before it")
          }
        default: told.insert(event.session)
        }
      case .answer(let number, _): if case .call(number, _, _) = cue { answeredCall = true }
      default: break
      }
      if answeredCall {
        switch saying {
        case .answer, .log: break
        default: breaks(.order, "behind the reply comes \(saying)")
        }
      }
    }
    noteDeliveries(cue, step)
  }

  /// While the shell finds out whether anything can start an application, its deliveries are looked at this often.
  private static let asked: Int64 = 1_000_000

  private func checkLate() {
    // One step ends at most a hundred deliveries.
    guard let due = prompter.book.firstDue, due <= uptime, prompter.book.openCount < 90 else { return late = nil }
    if late?.due != due { late = (due, uptime) }
    if let late, uptime > late.seen + World.asked {
      breaks(.deadlines, "a delivery was due at \(due), and at \(uptime) it is open")
    }
  }

  /// Checks that the core is called when the first delivery is due, or when a store that failed is tried again. Without other events this time only
  /// comes nearer, so after most turns it is enough to look at the deliveries that they opened.
  func checkDeadlines() {
    guard broken == nil, !prompter.hasTurn else { return }
    let due = momentCame ? prompter.book.firstDue : opened.compactMap { prompter.book.due($0) }.min()
    (momentCame, opened) = (false, [])
    guard let due else { return }
    guard let next = prompter.alarm else { return breaks(.deadlines, "a delivery is due, and nobody will look at it") }
    if next > max(due, uptime + World.asked, pausedUntil) {
      breaks(.deadlines, "a delivery is due at \(due), and it is looked at at \(next)")
    }
  }

  private func noteDeliveries(_ cue: Cue, _ step: Step) {
    if case .moment = cue {
      momentCame = true
      checkLate()
    }
    for record in step.records {
      switch record {
      case .delivery(let delivery):
        recent.insert(delivery.identifier)
        opened.append(delivery.identifier)
      case .deliveryProgress(let delivery, let progress), .deliveryRedirected(let delivery, let progress, _):
        recent.insert(delivery)
        if progress.isOpen { opened.append(delivery) }
      default: break
      }
    }
  }

  // MARK: Hosts and windows

  /// A host that left or attached again has not been asked to open anything.
  func noteHosts(_ step: Step) {
    for case .applicationChanged(let application, [.hostAttached]) in step.sayings {
      let isAttached = step.sayings.contains { if case .answer(_, .attached) = $0 { true } else { false } }
      for place in programs.indices where programs[place].application == application {
        let caller = connections[programs[place].connection].caller
        if !isAttached || !prompter.book.isHost(caller, of: application) { programs[place].opening = [] }
      }
    }
  }

  /// A host that may have opened a window for a session must hear that the session is gone.
  func checkGone(_ turn: Turn) {
    for (_, step) in turn.steps {
      for case .sessionWent(let session) in step.sayings {
        for place in programs.indices where programs[place].opening.remove(session) != nil {
          let (program, application) = (connections[programs[place].connection], programs[place].application)
          guard prompter.book.isHost(program.caller, of: application) else { continue }
          if !prompter.book.owes(session, to: application) {
            breaks(.windows, "\(program.name) was asked to open \(session), which is gone, and will not be told")
          }
        }
      }
    }
  }

  // MARK: Answers

  /// A session that cannot be read must not be reported as gone.
  func checkRefusal(of ask: Ask, _ answer: CallAnswer) {
    guard case .refused(let error) = answer else { return }
    switch (error.name, ask) {
    case (.unknownObject, .refresh(let session)), (.unknownObject, .destroy(let session, _)),
      (.unknownObject, .setState(let session, _)), (.unknownObject, .disconnect(let session)),
      (.unknownObject, .write(let session, _)), (.noSuchSession, .redirect(_, let session)):
      if visible.contains(session) { breaks(.acknowledged, "the session \(session) is there, and: \(error.message)") }
    case (.noSuchDelivery, .cancel(let delivery)), (.noSuchDelivery, .redirect(let delivery, _)):
      if let known = known[delivery], isKept(known) {
        breaks(.acknowledged, "the delivery \(delivery) is kept, and: \(error.message)")
      }
    default: break
    }
  }

  private func isKept(_ known: Known) -> Bool {
    latest.microseconds - known.heardOf.microseconds < setting.history.age / 2
  }

  // MARK: After each turn

  func checkOften() {
    guard broken == nil else { return }
    if audit.once(in: 4) { checkDisagreements() }
    if audit.once(in: 150) { checkEverything(isRecent: true) }
  }

  func checkDisagreements() {
    // The replaced values of a turn are held until the turn is stored.
    guard broken == nil, !prompter.hasTurn else { return }
    if let number = prompter.book.callsUnderWay.first(where: { calls[$0] == nil }) {
      breaks(.charges, "call \(number) was answered, and is charged for")
    }
    let remains = prompter.book.remains
    let places = remains.sessionCounts.values.reduce(0, +) + remains.owed.values.reduce(0) { $0 + $1.count }
    if places > setting.allowance.sessions {
      breaks(.charges, "there are \(places) sessions, and at most \(setting.allowance.sessions) may be")
    }
    let bytes = remains.sessionBytes.values.reduce(0, +)
    if bytes > setting.allowance.sessionBytes {
      breaks(.charges, "sessions keep \(bytes) bytes, and at most \(setting.allowance.sessionBytes) may be")
    }
    // The news that a connection has left may have to be told again.
    let departed = prompter.hasBacklog ? [] : Set(connections.lazy.filter(\.hasLeft).map(\.name))
    if let payer = prompter.book.ledger.connections.first(where: departed.contains) {
      breaks(.charges, "\(payer) has left, and is charged")
    }
    guard let disagreement = prompter.book.disagreements.first else { return }
    breaks(disagreement.contains("charge") || disagreement.contains("account") ? .charges : .fold, disagreement)
  }

  // MARK: Now and then

  /// Compares everything with the store, between two turns, when the disk can be read.
  ///
  /// - Parameter isRecent: Of the known deliveries, looks only at those that were stored or announced since the last time.
  func checkEverything(isRecent: Bool = false) {
    guard broken == nil, !prompter.hasTurn, !disk.hasCrashed else { return }
    checkDisagreements()
    if let value = prompter.book.unsettled.first { breaks(.fold, "\(value) would undo changes of a turn that is over") }
    do throws(StoreError) {
      try disk.undisturbed { () throws(StoreError) in
        let sessions = try allSessions()
        try checkFold(sessions)
        try checkKnown(isRecent ? recent : Set(known.keys))
        recent = []
        try checkEvents()
        try checkTokens()
        try checkRouting(sessions)
        checkSecrets(sessions)
        checkBaggage()
      }
    } catch {
      if disk.isWell { breaks(.acknowledged, "the store cannot be read: \(error)") }
    }
  }

  private func checkFold(_ sessions: [Session]) throws(StoreError) {
    var fresh = PromptBook(types: types, allowance: setting.allowance, seed: (1, 1))
    fresh.recall(try store.remembered(), at: moment)
    let (live, stored) = (prompter.book.remains, fresh.remains)
    if live != stored { breaks(.fold, "in memory is \(live), and stored is \(stored)") }
    var (counts, bytes): ([Text: Int], [Text: Int]) = ([:], [:])
    for session in sessions {
      counts[session.application, default: 0] += 1
      bytes[session.application, default: 0] += session.keptBytes
    }
    if counts != stored.sessionCounts { breaks(.fold, "\(counts) sessions are counted as \(stored.sessionCounts)") }
    bytes = bytes.filter { $0.value > 0 }
    if bytes != stored.sessionBytes {
      breaks(.fold, "\(bytes) bytes of sessions are counted as \(stored.sessionBytes)")
    }
    let identifiers = Set(sessions.map(\.identifier))
    if identifiers != visible {
      breaks(.objects, "\(visible.symmetricDifference(identifiers)) are there or on the bus, and not both")
    }
    for (identifier, delivery) in stored.open where delivery.progress.session.map({ !identifiers.contains($0) }) ?? true
    {
      breaks(.fold, "the open delivery \(identifier) is for a session that is gone")
    }
    let remembered = prompter.book.rememberedSessions
    for session in sessions {
      guard let held = remembered[session.identifier], held != session else { continue }
      breaks(.fold, "in memory is \(held), and stored is \(session)")
    }
    for session in sessions where !session.isConnected && prompter.book.isShown(session.identifier) {
      breaks(.windows, "the host shows \(session.identifier), which is not connected")
    }
    for (identifier, held) in prompter.book.rememberedDeliveries {
      guard let stored = try store.delivery(identifier) else { continue }
      // The store has no documents of a delivery that is over for good, and the core may have them. After the clock was set back, it may be the other
      // way.
      let isSpent = stored.payload.isEmpty || held.payload.isEmpty
      if held.progress != stored.progress || !isSpent && held.previous != stored.previous
        || held.answer != stored.answer
      {
        breaks(
          .fold, "in memory is \(held.progress) \(held.previous), and stored is \(stored.progress) \(stored.previous)")
      }
    }
  }

  /// The announced state of a delivery must be its stored state, as long as history keeps it.
  private func checkKnown(_ deliveries: Set<UniqueIdentifier>) throws(StoreError) {
    for identifier in deliveries {
      guard let known = known[identifier], isKept(known) else { continue }
      guard let stored = try store.delivery(identifier) else {
        breaks(.acknowledged, "the delivery \(identifier) is not stored")
        continue
      }
      guard let event = known.event else { continue }
      let (isOpen, states): (Bool?, [DeliveryState]) =
        switch event.kind {
        case .handled: (false, [.handled])
        case .deliveryFailed: (false, [.failed, .cancelled])
        case .unclaimed: (false, [.routed])
        case .forwarded: (true, [.forwarded])
        default: (true, [.held, .routed])
        }
      if stored.progress.isOpen != isOpen || !states.contains(stored.progress.state) {
        breaks(
          .acknowledged, "of the delivery \(identifier) the last signal is \(event.name), and it is \(stored.progress)")
      }
    }
  }

  private func checkEvents() throws(StoreError) {
    let first = lastSaid > 60 ? lastSaid - 60 : 0
    let stored = try store.events(after: first, limit: 10_000)
    var next = max(first + 1, store.firstEventSequence)
    for event in stored {
      if event.sequence != next { breaks(.sequence, "behind event \(next - 1) stands \(event.sequence)") }
      next = event.sequence + 1
      guard let told = said[event.sequence] else { continue }
      if (told.name, told.application, told.arguments) != (event.name, event.application, event.arguments) {
        breaks(.sequence, "event \(event.sequence) was told as \(told), and is stored as \(event)")
      }
    }
    if next <= lastSaid {
      breaks(.acknowledged, "the events from \(next) to \(lastSaid) were told, and are not stored")
    }
  }

  private func checkTokens() throws(StoreError) {
    for use in tokensUsed {
      var carriedOut = 0
      for identifier in try store.deliveries(token: use.token, sender: use.owner) {
        guard let delivery = try store.delivery(identifier) else { continue }
        if ![.failed, .cancelled].contains(delivery.progress.state) { carriedOut += 1 }
      }
      if carriedOut > 1 {
        breaks(.once, "under the token \(use.token) of \"\(use.owner)\" there are \(carriedOut) deliveries")
      }
    }
  }

  // MARK: Routing

  /// Routing must have the sessions as the store has them: each by itself, and as a whole, so that a router that knows all of them decides the same.
  private func checkRouting(_ sessions: [Session]) throws(StoreError) {
    for session in sessions {
      let isToBeKnown =
        prompter.book.knowsAll(of: session.application)
        && prompter.book.manifest(of: session.application)?.has(configurationOf: session) ?? false
      if prompter.book.knows(session.identifier) || isToBeKnown, prompter.book.misroutes(session) {
        breaks(.routing, "routing has \(session.identifier) otherwise than it is stored, or not at all")
      }
    }
    var complete = State(types: types, isComplete: true)
    for application in prompter.book.applications {
      if let manifest = prompter.book.manifest(of: application) { complete.register(manifest) }
    }
    for (type, application) in prompter.book.preferredApplications {
      complete.setPreferredApplication(application, for: type)
    }
    for session in sessions {
      // A session whose configuration is gone takes no part in routing, and is soon discarded.
      if let manifest = prompter.book.manifest(of: session.application), !manifest.has(configurationOf: session) {
        continue
      }
      complete.update(session)
    }
    for _ in 0..<3 {
      let payload = probe()
      guard case .success(let explained) = try prompter.explain(payload, from: World.prober, at: moment) else {
        continue
      }
      let outcome = explained.outcome
      let request = Request(payload, newSession: UniqueIdentifier(high: 0x4000, low: 1 << 63))
      guard case .decided(let decision) = SceneRouting.decide(complete, request, at: moment.time) else { continue }
      let isSame =
        switch (outcome, decision.outcome) {
        case (.created, .created): true
        default: outcome == decision.outcome
        }
      if !isSame { breaks(.routing, "\(payload.json) comes to \(outcome) here, and should to \(decision.outcome)") }
    }
  }

  private static let prober = Caller(connection: ":1.probe", isSandboxed: false, application: .empty)

  private func probe() -> Payload {
    var activity = UserActivity(
      activityType: audit.one(of: ["org.theatre.open", "org.theatre.edit", "org.theatre.shared.one"]))
    if !audit.once(in: 4) { activity.targetContentIdentifier = Text("key-\(audit.below(5))") }
    var payload = Payload(activity)
    payload.options.application = audit.one(of: setting.applications).identifier
    payload.options.disposition = audit.one(of: [.auto, .existing, .existingOnly])
    return payload
  }

  // MARK: Secrets

  private func checkSecrets(_ sessions: [Session]) {
    for session in sessions {
      let seen = session.asSeen
      if seen.json.holdsSecret { breaks(.secrets, "everybody sees \(seen.json)") }
    }
  }

  func holdsSecret(_ answer: CallAnswer) -> Bool {
    switch answer {
    case .refused(let error): Text(error.message).holdsSecret
    case .deliveredEach(let items):
      items.contains { if case .refused(let error) = $0 { Text(error.message).holdsSecret } else { false } }
    case .outcome(let text), .application(let text), .operation(let text): text.holdsSecret
    case .attached(_, let discarded): discarded.contains { $0.holdsSecret }
    case .done, .delivered, .adopted, .opened, .dragBegun, .dragOpened: false
    }
  }

  // MARK: In the end

  /// The disk works, programs obey, and nobody makes new requests: soon everything must be over.
  func comeToRest() {
    disk.heal()
    for round in 0..<600 {
      if broken != nil { return }
      endTurn()
      while !news.isEmpty, broken == nil {
        busSpeaks()
        endTurn()
      }
      for program in programs.indices {
        // Questions that were asked before the service knew the program are read all the same.
        for _ in 0..<64 where programs.indices.contains(program) {
          reads(program, obeys: true)
          answers(program, first: true)
          endTurn()
        }
      }
      while !baggage.packings.isEmpty || !baggage.openings.isEmpty, broken == nil {
        baggageWorks(obeys: true)
        endTurn()
      }
      for application in launches.keys { launches[application]?.isWaiting = false }
      if broken != nil { return }
      // A service that was killed a moment ago has the rest of its beginning still to do.
      let isDue = prompter.alarm.map { $0 <= uptime } ?? false
      if isDue { goOn(to: uptime) }
      let isOver =
        !isDue && !prompter.hasTurn && news.isEmpty && questions.isEmpty && !prompter.hasBacklog && calls.isEmpty
        && rereadings.isEmpty && prompter.book.openCount == 0 && prompter.book.dragging.isEmpty
        && programs.allSatisfy { $0.inbox.isEmpty && $0.answers.isEmpty }
      if isOver { return checkRest() }
      if round > 10, programs.allSatisfy({ $0.inbox.isEmpty && $0.answers.isEmpty }) || round > 40 {
        // A forwarded delivery may last a week, if the clock was set back while the service was away.
        goOn(to: uptime + (round > 300 ? 3_600_000_000 : 30_000_000))
      }
    }
    breaks(
      .quiet,
      "\(calls.count) calls wait, \(prompter.book.openCount) deliveries are open, \(questions.count) questions are not answered"
    )
  }

  private func checkRest() {
    checkEverything()
    if let drag = dragged.first(where: { !$0.value.isOver })?.key {
      breaks(.drags, "the drag \(drag) is over, and nobody was told")
    }
    guard broken == nil, let sessions = try? allSessions() else { return }
    let identifiers = Set(sessions.map(\.identifier))
    for program in programs {
      let name = connections[program.connection].name
      guard prompter.book.isHost(connections[program.connection].caller, of: program.application) else {
        if program.isAttached { breaks(.windows, "\(name) has attached, and the service does not know it any more") }
        continue
      }
      for window in program.windows.sorted() where !identifiers.contains(window) {
        breaks(.windows, "\(name) shows the window \(window), whose session is gone")
      }
      for session in sessions where session.application == program.application {
        if session.isConnected, !program.windows.contains(session.identifier) {
          breaks(.windows, "\(name) is said to show \(session.identifier), and does not")
        }
      }
      // A host that was told and did not answer may have heard; the next host is told again.
      if let owed = prompter.book.remains.owed[program.application]?.subtracting(program.forgotten), !owed.isEmpty {
        breaks(.windows, "\(name) was not told that \(owed) are gone")
      }
    }
    for session in sessions where session.isConnected && !prompter.book.isHostAttached(to: session.application) {
      breaks(.windows, "\(session.identifier) is connected, and \(session.application) has no host")
    }
  }
}

extension Text {
  func holds(_ needle: String) -> Bool {
    let needle = Array(needle.utf8)
    return withBytes { bytes in
      guard let start = bytes.baseAddress, var next = UnsafeRawPointer?(start) else { return false }
      let end = start + bytes.count
      while end - next >= needle.count, let found = memchr(next, Int32(needle[0]), end - next - needle.count + 1) {
        if memcmp(found, needle, needle.count) == 0 { return true }
        next = UnsafeRawPointer(found) + 1
      }
      return false
    }
  }

  /// All private texts in a play contain this word.
  var holdsSecret: Bool { holds("s3cr3t") }
}
