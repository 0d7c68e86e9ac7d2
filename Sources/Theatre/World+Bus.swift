package import InterchangeCore
import InterchangeTurns
package import SceneModel
import SessionStore

// The bus, which keeps D-Bus's promises and no more: the messages of one peer come in their order, those of two peers in any order.
extension World {
  func isThere(_ name: Text) -> Bool { connections.contains { $0.name == name && $0.isThere } }

  func program(of connection: Text?) -> Int? { programs.firstIndex { connections[$0.connection].name == connection } }

  // MARK: The service's messages

  func say(_ saying: Saying) {
    switch saying {
    case .answer(let number, let answer): answered(number, answer)
    case .event(let event): heard(event)
    case .sessionAppeared(let session):
      tell("     + session \(session)")
      if !visible.insert(session).inserted { breaks(.objects, "the session \(session) appeared twice") }
      seen.append(session)
      if seen.count > 48 { seen.removeFirst() }
    case .sessionWent(let session):
      tell("     - session \(session)")
      if visible.remove(session) == nil { breaks(.objects, "the session \(session) went, and was not there") }
    case .sessionChanged(let session, let fields, let withheld):
      tell("     ~ session \(session): \((fields + withheld).map(\.name).joined(separator: " "))")
      if !visible.contains(session) { breaks(.objects, "the session \(session) changed, and was not there") }
    case .log(_, let line):
      if line.holdsSecret { breaks(.secrets, "the log has \(line)") }
    case .drag(let drag, let news, let listeners): told(of: drag, news, listeners)
    case .notification, .applicationAppeared, .applicationChanged, .applicationWent: break
    }
  }

  func answered(_ number: CallNumber, _ answer: CallAnswer) {
    guard let sent = calls.removeValue(forKey: number) else {
      return breaks(.answers, "call \(number) was answered twice: \(answer)")
    }
    tell("     = call \(number): \(answer)")
    checkRefusal(of: sent.ask, answer)
    if sent.options?.isPrivate != true, holdsSecret(answer) {
      breaks(.secrets, "the answer to \(sent.ask) is \(answer)")
    }
    switch answer {
    case .delivered(let delivered):
      acknowledge(delivered, sent)
      if case .drop(let drag, _, let operation) = sent.ask { dragged[drag]?.operation = operation }
      if let text = sent.text { checkRule(delivered, of: text) }
    case .deliveredEach(let items):
      for case .delivered(let delivered) in items { acknowledge(delivered, sent) }
    case .attached(let application, let discarded):
      guard let program = program(of: sent.caller.connection) else { return }
      programs[program].isAttached = sent.owns != nil && owners[application]?.since == sent.owns
      // The windows of the host before are gone. Only what it reads from now on can still appear in one.
      for other in programs.indices where other != program && programs[other].application == application {
        programs[other].secret = []
      }
      for path in discarded {
        if let session = SessionReference.identifier(path) { programs[program].windows.remove(session) }
      }
    case .adopted(let session):
      if let program = program(of: sent.caller.connection) {
        programs[program].windows.insert(session)
        programs[program].secret.remove(session)
      }
    case .opened, .done:
      switch sent.ask {
      case .putOff(let delivery, _): deferred.append(delivery)
      case .finish(let delivery, let error, _) where !error.isEmpty:
        // Who says so has put the earlier content back.
        if let program = program(of: sent.caller.connection), let session = known[delivery]?.event?.session {
          programs[program].secret.remove(session)
        }
      case .openItem, .release, .renewPromises:
        if !sent.mayOpen { breaks(.secrets, "\(sent.caller) is no host, and may \(sent.ask)") }
      default: break
      }
    case .dragBegun(let drag, let ticket):
      guard case .beginDrag(_, _, let outlivesSource, _) = sent.ask else { return }
      dragged[drag] = Dragged(
        ticket: ticket, source: sent.isThere, outlivesSource: outlivesSource, parties: [connections[sent.isThere].name])
    case .dragOpened(let drag): dragged[drag]?.parties.insert(connections[sent.isThere].name)
    case .refused(let error) where error.name != .unknownObject:
      // What was refused did not happen: for the service the program still shows the window, so the program opens the window again.
      if case .disconnect(let window) = sent.ask, let program = program(of: sent.caller.connection) {
        programs[program].windows.insert(window)
      }
    default: break
    }
  }

  private func acknowledge(_ delivered: Delivered, _ sent: Sent) {
    learn(delivered.delivery)
    checkPassing(delivered, sent)
    if let token = sent.options?.token { tokensUsed.insert(use(of: token, by: sent.caller)) }
  }

  private func learn(_ delivery: UniqueIdentifier) {
    // An answer under a token comes again, and says nothing of the delivery's age.
    guard known[delivery] == nil, !learnt.contains(delivery) else { return }
    known[delivery] = Known(heardOf: moment.time)
    knownOrder.append(delivery)
    if knownOrder.count <= 600 { return }
    // Older deliveries are no longer looked at.
    for old in knownOrder.prefix(200) { known[old] = nil }
    learnt.formUnion(knownOrder.prefix(200))
    knownOrder.removeFirst(200)
  }

  private func heard(_ event: Event) {
    tell("     ! \(event.sequence) \(event.name) \(event.session)")
    if event.sequence != lastSaid + 1 { breaks(.sequence, "after \(lastSaid) came \(event.sequence), \(event.name)") }
    lastSaid = event.sequence
    let arguments = event.arguments
    if arguments.holdsSecret { breaks(.secrets, "\(event.name) says \(arguments)") }
    // A public delivery is on its way to the window, and made it public.
    if case .routed(_, _, _, _, let delivery) = event.kind, !isPrivate(delivery: delivery), !isPrivate(event.session) {
      for program in programs.indices { programs[program].secret.remove(event.session) }
    }
    said[event.sequence] = StoredEvent(
      sequence: event.sequence, name: event.name, application: event.application, arguments: event.stored,
      at: moment.time)
    said[event.sequence &- 400] = nil
    switch event.kind {
    case .routed(_, _, _, _, let delivery), .handled(let delivery), .forwarded(let delivery),
      .deliveryFailed(let delivery, _, _), .unclaimed(let delivery):
      learn(delivery)
      known[delivery]?.event = event
      known[delivery]?.heardOf = moment.time
    default: break
    }
  }

  // MARK: The service's errands

  func run(_ errand: Errand) {
    tell("   < \(errand)")
    switch errand {
    case .ask(let number, _, let owner, _, let question, let within):
      if !prompter.awaits(number) { return }
      let asked = Question(errand: number, life: life, owner: owner, question: question, due: uptime + within)
      if let problem = overhears(question, owner) { breaks(.secrets, problem) }
      if let options = question.options { checkTold(options) }
      guard let program = program(of: owner), connections[programs[program].connection].isThere else {
        return news.append(.noReply(asked, neverReached: true))
      }
      questions.append(asked)
      programs[program].inbox.append(asked)
      transcribe(question, to: owner)
      checkAttempt(question)
      if case .connect(let session, _, _) = question { programs[program].opening.insert(session) }
      if case .discarded(let sessions) = question, disk.isWell,
        let again = sessions.first(where: programs[program].toldAndAnswered.contains)
      {
        breaks(.windows, "\(owner) is told for the second time that \(again) is gone")
      }
    case .read(let number, let delivery): read(delivery, for: number)
    case .findOwner(let number, let name, let application, let connection, _):
      // A connection owns its unique name as long as it is connected.
      let isOwner = name == connection ? isThere(name) : owners[name]?.connection == connection
      let watch = Watched(question: number, name: name, application: application, connection: connection)
      news.append(.ownership(watch, isOwner: isOwner, asked: changesOfOwners))
    case .launch(let application, let number, let name): launch(application, number, name)
    case .run(let application, let number, _, _):
      launches[application] = Launch(number: number, way: .command)
    case .forgetLaunch(let application, let number):
      if launches[application]?.number == number { launches[application] = nil }
    case .consult(let number, let consulting): news.append(.consult(number, consulting))
    case .open(let number, _, let parcel, _, _):
      checkOpening(number, parcel)
      baggage.run(errand)
    case .pack, .callOff, .free, .freeParcels: baggage.run(errand)
    case .endPromises, .forgetPicture: break
    }
  }

  func read(_ delivery: UniqueIdentifier, for number: ErrandNumber) {
    do throws(StoreError) {
      feed(.delivery(number, try prompter.delivery(delivery)))
    } catch {
      if error.kind == .corrupt { breaks(.acknowledged, error.message) }
      rereadings.append((uptime + 1_000_000, number, delivery))
    }
  }

  private func launch(_ application: Text, _ number: Int, _ name: Text) {
    let isKnown = setting.applications.contains { $0.identifier == application && $0.startsByBus }
    let what: LaunchNews = owners[name] != nil ? .started : isKnown ? .isKnown : .unknown
    launches[application] = Launch(number: number, way: .bus, isWaiting: what == .isKnown, wasStarted: what != .started)
    news.append(.launch(application, number, what))
  }

  /// The part of a question that its sender meant for itself alone.
  private func overhears(_ question: HostQuestion, _ owner: Text) -> String? {
    guard let options = question.options, options.holds("0wn") else { return nil }
    return options.holds("0wn\(owner)*") ? nil : "\(owner) is given \(options)"
  }

  // MARK: The bus's news

  /// Delivers the next news of the bus itself.
  func busSpeaks() {
    if news.isEmpty { return }
    switch news.removeFirst() {
    case .ownership(let watch, let isOwner, let asked):
      feed(.ownership(watch.question, isOwner: isOwner))
      guard isOwner else { return }
      // The new watch takes the place of the old one.
      watched = watched.filter {
        ($0.name, $0.application, $0.connection) != (watch.name, watch.application, watch.connection)
      }
      watched.insert(watch)
      // Later changes of the name's owner come after the answer, and before the answers to later questions.
      let isLost =
        watch.name == watch.connection
        ? !isThere(watch.name)
        : owners[watch.name]?.connection != watch.connection || owners[watch.name]?.since ?? 0 > asked
      if isLost { news.insert(.ownerWent(watch), at: 0) }
    case .ownerWent(let watch):
      guard watched.remove(watch) != nil else { return }
      feed(.hostLeft(application: watch.application, since: watch.question))
    case .noReply(let question, let neverReached):
      // The service asks the bus whether the host is still connected.
      let answer = isThere(question.owner) ? HostAnswer.refused("NoReply") : .gone(neverReached: neverReached)
      news.append(.answer(question.errand, answer))
    case .consult(let number, let consulting): feed(.consulted(number, answers(consulting)))
    case .answer(let errand, let answer): feed(.hostAnswered(errand, answer))
    case .callerWent(let name):
      if prompter.book.matters(name) { feed(.callerLeft(connection: name)) }
      if let place = connections.firstIndex(where: { $0.name == name }) { connections[place].hasLeft = true }
    case .launch(let application, let number, let what):
      if launches[application]?.number == number { feed(.launch(application: application, number: number, what)) }
    }
  }

  func take(_ name: Text, by connection: Text) {
    lose(name, isTaken: true)
    changesOfOwners += 1
    owners[name] = (connection, changesOfOwners)
    transcript?.add("own", [connection.string, name.string])
  }

  /// - Parameter isTaken: Whether the name passes from one owner to the next, and is never free.
  func lose(_ name: Text, isTaken: Bool = false) {
    guard let owner = owners.removeValue(forKey: name) else { return }
    changesOfOwners += 1
    for place in programs.indices where programs[place].application == name { programs[place].isAttached = false }
    tellLoss(of: name, by: owner.connection)
    let application = setting.applications.first {
      [$0.identifier, World.understudyName(of: $0.identifier)].contains(name)
    }
    if !isTaken, let application = application?.identifier, let launch = launches[application],
      launch.way == .command || !launch.isWaiting
    {
      news.append(.launch(application, launch.number, .left(wasStarted: launch.wasStarted)))
    }
  }

  private func tellLoss(of name: Text, by connection: Text) {
    let lost = watched.filter { $0.name == name && $0.connection == connection }
    for watch in lost.sorted(by: { $0.question < $1.question }) { news.append(.ownerWent(watch)) }
  }

  func leave(_ place: Int) {
    guard connections[place].isThere else { return }
    connections[place].isThere = false
    let name = connections[place].name
    tell("   \(name) leaves")
    transcript?.add("leave", [name.string])
    for (owned, owner) in owners.sorted(by: { $0.key < $1.key }) where owner.connection == name { lose(owned) }
    tellLoss(of: name, by: name)
    for question in questions where question.owner == name { news.append(.noReply(question, neverReached: false)) }
    questions.removeAll { $0.owner == name }
    programs.removeAll { $0.connection == place }
    news.append(.callerWent(name))
  }

  func join(isSandboxed: Bool = false, application: Text = .empty, isStranger: Bool = false) -> Int {
    connections.append(
      Connection(
        name: Text(":1.\(connections.count)"), isSandboxed: isSandboxed, application: application,
        isStranger: isStranger))
    return connections.count - 1
  }

  func call(_ place: Int, _ ask: Ask, mayOpen: Bool = false, text: DroppedText? = nil) {
    if setting.isFaultless, !reachesCore(ask) { return }
    callNumber += 1
    transcribe(ask, callNumber, from: place)
    let caller = connections[place].caller
    var sent = Sent(caller: caller, isThere: place, ask: ask, mayOpen: mayOpen, text: text)
    if case .attach(let application, _, _, let options) = ask, !options.isUnderstudy,
      owners[application]?.connection == connections[place].name
    {
      sent.owns = owners[application]?.since
    }
    calls[callNumber] = sent
    tell(
      "   \(caller.connection ?? "?")\(caller.isSandboxed ? " in the sandbox \(caller.application)" : "") calls, number \(callNumber)"
    )
    feed(.call(callNumber, caller, ask))
  }

  // MARK: Programs

  func comes(_ application: Setting.Stage) -> Int {
    let connection = join(
      isSandboxed: application.isSandboxed, application: application.isSandboxed ? application.identifier : .empty)
    tell("   \(connections[connection].name) is a program of \(application.identifier)")
    programs.append(Program(connection: connection, application: application.identifier))
    programNames[connections[connection].name] = application.identifier
    transcript?.add("program", [connections[connection].name.string, application.identifier.string])
    return programs.count - 1
  }

  func attach(_ program: Int, _ options: HostOptions? = nil) {
    // The program first carries out the earlier questions, which came from an earlier service or before it lost its name.
    let isHost = prompter.book.isHost(
      connections[programs[program].connection].caller, of: programs[program].application)
    while programs[program].inbox.first.map({ !isHost || $0.life < life }) ?? false { reads(program, obeys: false) }
    let windows = programs[program].windows.sorted()
    // A window that its program has forgotten, or a path that names nothing, serves as well.
    let unknown: [Text] = chance.once(in: 12) ? ["/nowhere"] : []
    call(
      programs[program].connection,
      .attach(
        application: programs[program].application, shown: windows, unknown: unknown,
        options
          ?? HostOptions(
            choosesConfiguration: chance.once(in: 4),
            acceptsSandboxed: forwarder(programs[program].application)?.acceptsSandboxed ?? false)))
  }

  /// Whether a program shows something private with these options. It shows the delivery, and of a private activity that it restores something only
  /// where nothing was delivered and the window is private.
  private static func showsSecret(_ options: Text, in isPrivate: Bool) -> Bool {
    guard var fields = try? JSON.dictionary(options) else { return false }
    let isDelivered = (["items", "userActivities"] as [Text]).contains {
      if case .array(let all)? = fields[$0] { !all.isEmpty } else { false }
    }
    if isDelivered { fields["stateRestorationActivity"] = nil }
    return (isPrivate || fields["private"] != nil) && JSON.text(of: .dictionary(fields)).holds("s3cr3t")
  }

  /// The program reads its next question, carries it out, and has an answer.
  func reads(_ program: Int, obeys: Bool) {
    if programs[program].inbox.isEmpty { return }
    let question = programs[program].inbox.removeFirst()
    let way = obeys || !chance.once(in: setting.obedience) ? 0 : setting.isFaultless ? 1 : 1 + chance.below(4)
    var answer = HostAnswer.done
    let isOfPrivate = isPrivate(question.question.session)
    let isSecret = question.question.options.map { World.showsSecret($0, in: isOfPrivate) } ?? isOfPrivate
    let refusal = HostAnswer.refused(isSecret ? "org.theatre.Error: s3cr3t\u{1b}" : "org.theatre.Error: no")
    switch question.question {
    case .connect(let session, _, _):
      // The program refuses, and a window that it shows already stays; or it shows the window and is silent.
      if way == 1 { answer = refusal } else { programs[program].windows.insert(session) }
    case .configuration:
      answer = .configuration(chance.one(of: ["", "Main", "Other", "Nothing"]))
      if way == 1 { answer = refusal }
    case .continue, .activate, .refresh: if way == 1 { answer = refusal }
    case .destroy(let session, _):
      programs[program].windows.remove(session)
      if way == 1 { answer = refusal }
    case .discarded(let sessions):
      programs[program].windows.subtract(sessions)
      programs[program].forgotten.formUnion(sessions)
      if way == 1 { answer = refusal }
    case .propose: answer = way == 1 ? refusal : .operation(chance.one(of: ["copy", "move", "forbidden", "cancel"]))
    }
    tell(
      "   \(question.owner) reads \(question.question)\(way == 0 ? "" : way == 1 ? ", and refuses" : ", and is silent")"
    )
    if way != 1, question.question.options != nil, let session = question.question.session {
      // A service does not know of what an earlier one asked and nobody has read.
      if isSecret, question.life == life {
        programs[program].secret.insert(session)
      } else {
        programs[program].secret.remove(session)
      }
    }
    if way <= 1 { programs[program].answers.append((question, answer)) }
  }

  func answers(_ program: Int, first: Bool = false) {
    if programs[program].answers.isEmpty { return }
    let place = first ? 0 : chance.below(programs[program].answers.count)
    let (question, answer) = programs[program].answers.remove(at: place)
    guard let place = questions.firstIndex(of: question) else { return }
    questions.remove(at: place)
    transcribe(answer, to: question)
    if case .connect(let session, _, _) = question.question, case .refused = answer {
      programs[program].opening.remove(session)
    }
    // A host that has attached again since is asked anew if its earlier run answered with an error.
    if case .discarded(let sessions) = question.question, prompter.book.awaits(question.errand) {
      if case .refused = answer { return feed(.hostAnswered(question.errand, answer)) }
      programs[program].toldAndAnswered.formUnion(sessions)
    }
    feed(.hostAnswered(question.errand, answer))
  }

  private func isPrivate(delivery: UniqueIdentifier) -> Bool {
    disk.undisturbed { (try? store.delivery(delivery))??.isPrivate ?? false }
  }

  private func isPrivate(_ session: UniqueIdentifier?) -> Bool {
    guard let session else { return false }
    return shown(session)?.isPrivate ?? false
  }

  // MARK: Time

  /// Everything until that time happens, each event at its time or a little later.
  func goOn(to target: Int64) {
    for round in 0..<2_000 {
      if broken != nil { return }
      // Each try on a disk that fails takes a while, and the core tries again every few seconds of an hour.
      if round == 40, !disk.isWell { disk.heal() }
      let next = [prompter.alarm, questions.map(\.due).min(), rereadings.map(\.at).min()].compactMap(\.self).min()
      guard let next, next <= target else { break }
      // The bus needs moments, and not hours.
      if !chance.once(in: 3) { busSpeaks() }
      uptime = max(uptime, next)
      if let place = questions.firstIndex(where: { $0.due <= uptime }) {
        let question = questions.remove(at: place)
        tell("   \(question.owner) was silent")
        feed(.hostAnswered(question.errand, .timedOut))
      } else if let place = rereadings.firstIndex(where: { $0.at <= uptime }) {
        let (_, errand, delivery) = rereadings.remove(at: place)
        read(delivery, for: errand)
      } else {
        alarmWent()
      }
      if !chance.once(in: 3) { endTurn() }
    }
    uptime = max(uptime, target)
  }
}

extension HostQuestion {
  /// The connection options of a session.
  package var options: Text? {
    switch self {
    case .configuration(_, _, let options), .connect(_, _, let options), .continue(_, let options): options
    case .activate, .refresh, .destroy, .discarded, .propose: nil
    }
  }

  var session: UniqueIdentifier? {
    switch self {
    case .configuration(let session, _, _), .connect(let session, _, _), .continue(let session, _),
      .activate(let session, _), .refresh(let session), .destroy(let session, _), .propose(let session, _, _):
      session
    case .discarded: nil
    }
  }
}
