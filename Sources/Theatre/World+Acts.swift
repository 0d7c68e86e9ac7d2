import Glibc
import InterchangeCore
import InterchangeTurns
import SceneModel
import SceneRouting
import SessionStore
import StoreTestSupport

// The effects of the acts. An act chooses its subject among those that exist, so an act without a subject does nothing.
extension World {
  func perform(_ act: Act) {
    chance = Chance(act.bits)
    switch act.kind {
    case .deliver, .deliverEach, .newSession, .activate, .cancel, .redirect, .register, .unregister, .prefer, .refresh,
      .destroy, .post, .callerComes, .callerLeaves:
      performOfCaller(act.kind)
    case .programComes, .programAttaches, .programReads, .programAnswers, .programWorks, .programWrites,
      .programSetsState, .programDisconnects, .programLosesName, .programLeaves, .programAdopts, .programDefers,
      .programFinishes:
      performOfProgram(act.kind)
    case .carries, .carriesUnderToken, .promises, .renews, .baggageWorks, .opens, .releases, .dragBegins, .dragGoesOn:
      performOfItems(act.kind)
    case .dropsText: dropText()
    case .rulesChange: changeRules()
    default: performOfWorld(act.kind)
    }
    if broken == nil, chance.once(in: setting.turns) { endTurn() }
  }

  // MARK: Callers

  private func performOfCaller(_ kind: Act.Kind) {
    let caller = callerThatLeft() ?? caller()
    let application = chance.one(of: setting.applications).identifier
    switch kind {
    case .deliver:
      let drop = drop(from: caller)
      call(caller, .deliver(drop.payload, digest: drop.digest, size: drop.size))
    case .deliverEach:
      var drop = drop(from: caller)
      drop.payload.items += (0..<chance.below(3)).map { _ in item(isPrivate: drop.payload.options.isPrivate, caller) }
      if drop.payload.options.isFromStranger { showToAll(&drop.payload.items) }
      drop.payload.options.wait = .routed
      drop.payload.options.batch = chance.once(in: 2) ? .bestEffort : .allOrNothing
      // This is another call, and so another document.
      drop.payload.options.token = drop.payload.options.token.map { Text("each-\($0)") }
      if setting.isFaultless { (drop.digest, drop.size) = document(of: drop.payload, before: "each ") }
      call(caller, .deliverEach(drop.payload, digest: drop.digest, size: drop.size))
    case .newSession:
      call(caller, .newSession(application: application, configuration: chance.one(of: ["", "Main", "Other"])))
    case .activate:
      guard let session = session() else { return }
      var payload = Payload()
      payload.options.session = Text("\(session)")
      if chance.once(in: 3), !setting.isFaultless { payload.options.wait = .handled }
      call(caller, .activate(session, payload, size: 0))
    case .cancel: if let delivery = delivery() { call(caller, .cancel(delivery)) }
    case .redirect:
      guard let delivery = delivery(), let session = session() else { return }
      call(caller, .redirect(delivery, to: session))
    case .register:
      guard let stage = setting.applications.first(where: { $0.identifier == application && !$0.isInstalled }) else {
        return
      }
      call(caller, .register(manifest(of: stage), size: 100 + chance.below(9_000)))
    case .unregister: call(caller, .unregister(application))
    case .prefer: call(caller, .prefer(chance.once(in: 3) ? nil : application, type: activityType(isPrivate: false)))
    case .refresh: if let session = session() { call(caller, .refresh(session)) }
    case .destroy:
      guard let session = session() else { return }
      call(caller, .destroy(session, animation: chance.one(of: ["standard", "commit", "decline", "slowly"])))
    case .post: call(caller, .post(application: application, name: "Changed", userInfo: "{}"))
    case .callerComes: _ = caller
    default: leave(caller)
    }
  }

  /// Now and then a caller whose call is carried out after it has left.
  private func callerThatLeft() -> Int? {
    if setting.isFaultless || !chance.once(in: 30) { return nil }
    return chance.any(of: connections.indices.suffix(24).filter { connections[$0].hasLeft })
  }

  func caller() -> Int {
    let there = connections.indices.suffix(24).filter { connections[$0].isThere }
    if there.count > 3, !chance.once(in: 20) { return chance.one(of: there) }
    switch setting.isFaultless ? 6 : chance.below(6) {
    case 0: return join(isSandboxed: true, application: chance.one(of: setting.applications).identifier)
    case 1: return join(isSandboxed: true, isStranger: chance.once(in: 2))
    default: return join()
    }
  }

  /// Existing sessions, and now and then one that is gone or never existed.
  private func session() -> UniqueIdentifier? {
    chance.once(in: 30) ? UniqueIdentifier(high: 0x4000, low: 1 << 63) : chance.any(of: seen)
  }

  func delivery() -> UniqueIdentifier? { chance.any(of: Array(knownOrder.suffix(chance.once(in: 2) ? 6 : 60))) }

  // MARK: Payloads

  private struct Drop {
    var payload: Payload
    var digest: Text = .empty
    var size = 0
  }

  private func drop(from caller: Int) -> Drop {
    let usesToken = chance.once(in: 5)
    let (number, variant) = (chance.below(6), chance.once(in: 6) ? 1 : 0)
    var rest = chance
    // The same token comes with the same document, and now and then with another.
    if usesToken { chance = Chance(setting.seed, UInt64(5_000 + 2 * number + variant)) }
    defer { chance = rest }
    var drop = Drop(payload: payload(caller, isPlain: usesToken))
    drop.size = 60 + chance.below(chance.once(in: 10) ? 20_000 : 600)
    if usesToken {
      drop.payload.options.token = Text("token-\(number)")
      // A document that names nobody is the same from every sender.
      drop.digest = Text("document-\(number)-\(variant)")
    }
    if rest.once(in: 4) { drop.payload.options.wait = .handled }
    if !usesToken { passOn(&drop.payload, from: caller) }
    if setting.isFaultless {
      drop.payload.options.statedDeadline = 3600
      (drop.digest, drop.size) = document(of: drop.payload)
    }
    return drop
  }

  /// The digest and the size of a payload, as the shell computes them from the document.
  private func document(of payload: Payload, before: String = "") -> (digest: Text, size: Int) {
    let document = payload.json
    return (payload.options.token == nil ? .empty : Digest(of: Text("\(before)\(document)")).hex, document.count)
  }

  func payload(_ caller: Int, isPlain: Bool) -> Payload {
    var payload = Payload()
    payload.options.isPrivate = !isPlain && chance.once(in: 5)
    let isPrivate = payload.options.isPrivate
    if !chance.once(in: 10) {
      payload.items = (0..<(chance.once(in: 6) ? 2 : 1)).map { _ in item(isPrivate: isPrivate, isPlain ? nil : caller) }
    }
    if payload.items.isEmpty || chance.once(in: 4) {
      if !isPlain, chance.once(in: 2), let session = session() {
        payload.options.session = Text("\(session)")
      } else {
        payload.options.application = chance.one(of: setting.applications).identifier
        payload.options.disposition = chance.one(of: [.auto, .new, .existing, .existingOnly])
        if chance.once(in: 5) { payload.options.configuration = chance.one(of: ["Main", "Other"]) }
      }
    } else {
      payload.options.disposition = chance.one(of: [.auto, .auto, .auto, .new, .existing, .existingOnly])
    }
    payload.options.statedDeadline = chance.one(of: [0.5, 5, 20, 20, 60, 3600])
    if chance.once(in: 8) { payload.options.activationToken = "activation" }
    return payload
  }

  private func item(isPrivate: Bool, _ caller: Int?) -> Item {
    var item = Item()
    let mark = isPrivate ? "s3cr3t-" : ""
    if !chance.once(in: 6) {
      var activity = UserActivity(activityType: activityType(isPrivate: isPrivate))
      if !chance.once(in: 5) { activity.targetContentIdentifier = Text("\(mark)key-\(chance.below(5))") }
      if chance.once(in: 3) { activity.title = Text("\(mark)title") }
      if chance.once(in: 9) { activity.visibility = .application }
      var own = chance.aside
      activity.isEligibleForHandoff = own.one(of: [nil, true, false])
      activity.persistentIdentifier = activity.isEligibleForHandoff.map { Text("\($0)") }
      item.activities.append(activity)
      if let caller, chance.once(in: 6) {
        var own = UserActivity(activityType: activityType(isPrivate: false))
        own.title = Text("0wn\(connections[caller].name)*")
        own.visibility = .ownProcess
        item.activities.append(own)
      }
    }
    if item.activities.isEmpty || chance.once(in: 5), let type = ContentType("text/plain") {
      item.representations.append(Representation(type: type, .text(Text("\(mark)text"))))
    } else if chance.once(in: 12), !setting.isFaultless, let type = ContentType("image/png") {
      item.representations.append(Representation(type: type, .file(Text("file:///\(mark)\(chance.below(3)).png"))))
    }
    return item
  }

  private func activityType(isPrivate: Bool) -> Text {
    if isPrivate { return "org.theatre.s3cr3t" }
    return chance.one(of: [
      "org.theatre.open", "org.theatre.open", "org.theatre.edit", "org.theatre.shared.one", "org.theatre.unknown",
    ])
  }

  // MARK: Manifests

  func manifest(of stage: Setting.Stage) -> Manifest {
    var main = SceneConfiguration(name: "Main")
    var other = SceneConfiguration(name: "Other")
    main.launch = chance.one(of: [.automatic, .automatic, .new, .single])
    if chance.once(in: 3) { other.activityTypes = ["org.theatre.edit", "org.theatre.shared.*"] }
    if chance.once(in: 4) { main.maximumSessions = 1 + chance.below(3) }
    if chance.once(in: 3), let can = try? Predicate("SELF BEGINSWITH \"key\"") { main.conditions.can = can }
    var manifest = Manifest(
      identifier: stage.identifier,
      activityTypes: ["org.theatre.open", "org.theatre.edit", "org.theatre.s3cr3t", "org.theatre.shared.one"],
      contentTypes: chance.once(in: 2) ? [ContentType("text/plain")].compactMap(\.self) : [],
      supportsMultipleScenes: !chance.once(in: 4),
      configurations: [[main, other], [main], [main, other], [other]][chance.below(4)])
    manifest.isDynamic = chance.once(in: 4)
    manifest.forwards = stage.forwards
    manifest.routing = chance.once(in: 4) ? .uikit : .seated
    if chance.once(in: 4) { manifest.keptSessions = 1 + chance.below(4) }
    if stage.startsByCommand { manifest.exec = "program" }
    if stage.isUnderstudied {
      manifest.understudy = stage.isInstalled ? .owner(World.understudyName(of: stage.identifier)) : .registrar
    }
    return manifest
  }

  static func understudyName(of application: Text) -> Text { Text("\(application).Understudy") }

  /// Installs the manifests before the first service starts.
  func install() { for stage in setting.applications where stage.isInstalled { install(stage) } }

  private func install(_ stage: Setting.Stage) {
    installed[stage.identifier] = InstalledManifest(
      manifest: manifest(of: stage), file: Text("/apps/\(stage.identifier).plist"))
  }

  /// Somebody installs, removes or breaks some manifests. Returns the broken ones.
  func changeInstalled() -> Set<Text> {
    var keeping: Set<Text> = []
    for stage in setting.applications where stage.isInstalled {
      if !chance.once(in: 2) { continue }
      if chance.once(in: 4) {
        installed[stage.identifier] = nil
        if chance.once(in: 3) { keeping.insert(stage.identifier) }
        continue
      }
      install(stage)
    }
    return keeping
  }

  // MARK: Programs

  private func performOfProgram(_ kind: Act.Kind) {
    if kind == .programComes {
      let stage = chance.one(of: setting.applications)
      if programs.count < 12 { begin(stage) }
      return
    }
    guard let program = programs.indices.isEmpty ? nil : chance.below(programs.count) else { return }
    let connection = programs[program].connection
    let window = chance.any(of: programs[program].windows.sorted())
    switch kind {
    case .programAttaches:
      if chance.once(in: 3), owners[programs[program].application] == nil {
        take(programs[program].application, by: connections[connection].name)
      }
      attach(program)
      standIn(program)
    case .programReads: reads(program, obeys: false)
    case .programAnswers: answers(program)
    case .programWorks:
      for _ in 0..<(1 + chance.below(3)) {
        reads(program, obeys: false)
        answers(program)
      }
    case .programWrites:
      // What the window becomes is known when its program writes.
      while prompter.hasTurn, broken == nil { endTurn() }
      if let window, programs.indices.contains(program), broken == nil {
        call(connection, .write(window, writing(of: window, program)))
      }
    case .programSetsState:
      guard let window else { return }
      call(connection, .setState(window, chance.one(of: [.foregroundActive, .foregroundInactive, .background])))
    case .programDisconnects:
      // A program first reports that a window exists, and then that it does not.
      guard let window, !programs[program].answers.contains(where: { $0.question.question.session == window }) else {
        return
      }
      programs[program].windows.remove(window)
      call(connection, .disconnect(window))
    case .programAdopts:
      var activity = UserActivity(activityType: activityType(isPrivate: false))
      if !chance.once(in: 6) { activity.targetContentIdentifier = Text("key-\(chance.below(5))") }
      call(
        connection,
        .adopt(
          application: programs[program].application, configuration: chance.one(of: ["", "", "Main", "Other"]),
          chance.once(in: 6) ? nil : activity, title: chance.one(of: ["", "title"])))
    case .programDefers:
      // Before it answers, or too late.
      let questions = programs[program].inbox + programs[program].answers.map(\.question)
      let inHand = questions.compactMap { $0.question.options.flatMap(World.delivery) }
      if let delivery = chance.once(in: 6) ? delivery() : chance.any(of: inHand) {
        call(connection, .putOff(delivery, seconds: UInt32([0, 1, 5, 60, 600][chance.below(5)])))
      }
    case .programFinishes:
      if let delivery = chance.once(in: 6) ? delivery() : chance.any(of: Array(deferred.suffix(8))) {
        let isDone = chance.once(in: 2)
        let isSecret = disk.undisturbed { (try? store.delivery(delivery)) ?? nil }?.isPrivate ?? false
        call(
          connection,
          .finish(
            delivery, error: isDone ? "" : isSecret ? "org.theatre.s3cr3t" : "org.theatre.Away",
            message: isDone ? "" : isSecret ? "s3cr3t" : "it is away"))
      }
    case .programLosesName:
      if owners[programs[program].application]?.connection == connections[connection].name {
        lose(programs[program].application)
        transcript?.add("release", [connections[connection].name.string, programs[program].application.string])
      }
    default: leave(connection)
    }
  }

  /// A program that has started takes the name, if it is free or is given to any asker, and attaches.
  private func begin(_ stage: Setting.Stage) {
    let program = comes(stage)
    if owners[stage.identifier] == nil || chance.once(in: 6) {
      take(stage.identifier, by: connections[programs[program].connection].name)
    }
    if !chance.once(in: 8) { attach(program) }
  }

  private static func delivery(_ options: Text) -> UniqueIdentifier? {
    guard case .string(let text)? = (try? JSON.dictionary(options))?["delivery"] else { return nil }
    return UniqueIdentifier(text)
  }

  /// The program stands in for its application, with or without the right to do so.
  private func standIn(_ program: Int) {
    let application = programs[program].application
    guard let stage = setting.applications.first(where: { $0.identifier == application }), stage.isUnderstudied,
      chance.once(in: 2), !setting.isFaultless
    else { return }
    let connection = programs[program].connection
    if stage.isInstalled {
      let name = World.understudyName(of: application)
      if owners[name] == nil, !chance.once(in: 6) { take(name, by: connections[connection].name) }
    } else if !chance.once(in: 3) {
      call(connection, .register(manifest(of: stage), size: 100))
    }
    attach(program, HostOptions(isUnderstudy: true))
  }

  /// Whether the program knows private content that its window shows. A public delivery on its way to the window may have made it public.
  private func showsSecret(_ window: UniqueIdentifier, _ program: Int) -> Bool {
    if !programs[program].secret.contains(window) || forwarder(programs[program].application) != nil { return false }
    return shown(window)?.isPrivate ?? true
      || !prompter.book.remains.open.values.contains { $0.progress.session == window && !$0.isPrivate }
  }

  /// The program's knowledge of a window, whatever the disk does.
  func shown(_ session: UniqueIdentifier) -> Session? { disk.undisturbed { (try? store.session(session)) ?? nil } }

  private func writing(of window: UniqueIdentifier, _ program: Int) -> SessionWriting {
    let isPrivate = showsSecret(window, program)
    let mark = isPrivate ? "s3cr3t-" : ""
    switch chance.below(7) {
    case 0: return .title(Text("\(mark)title \(chance.below(3))"))
    case 1:
      // The host continues from the window's content, if that is what it shows, or shows something else.
      if isPrivate, chance.once(in: 2), let activity = shown(window)?.userActivity, activity.json.holdsSecret {
        return .userActivity(activity)
      }
      programs[program].secret.remove(window)
      if isPrivate, chance.once(in: 2) { return .userActivity(nil) }
      var activity = UserActivity(activityType: "org.theatre.open")
      activity.targetContentIdentifier = Text("key-\(chance.below(5))")
      return .userActivity(activity)
    case 2:
      return .stateRestorationActivity(
        chance.once(in: 3)
          ? nil
          : UserActivity(
            activityType: Text("org.theatre.\(mark)open"),
            targetContentIdentifier: Text("\(mark)key-\(chance.below(5))")))
    case 3: return .userInfo(["note": .string(Text("\(mark)note"))])
    case 4: return .canActivatePredicate(chance.one(of: ["", Text("SELF == \"\(mark)key-1\""), "TRUEPREDICATE"]))
    case 5: return .prefersToActivatePredicate(chance.one(of: ["", Text("SELF == \"\(mark)key-2\"")]))
    default: return .title("")
    }
  }

  // MARK: The rest of the world

  private func performOfWorld(_ kind: Act.Kind) {
    switch kind {
    case .busSpeaks: for _ in 0..<(1 + chance.below(3)) { busSpeaks() }
    case .startGoesOn: startGoesOn()
    case .manifestsChange:
      let keeping = changeInstalled()
      feed(.installed(installed, keeping: keeping))
      endTurn()
    case .timeGoesOn:
      let far: [Int64] = [1_000, 50_000, 1_000_000, 5_000_000, 21_000_000, 130_000_000, 3_700_000_000]
      goOn(to: uptime + Int64(chance.below(Int(chance.one(of: far)))) + 1)
    case .clockJumps:
      let hours: Int64 = 3_600_000_000
      clock += Int64(chance.below(48)) * hours - 24 * hours
    case .turnEnds: endTurn()
    case .readsOn: readOn()
    case .rests: rest()
    case .diskFails: diskFails()
    case .readsFail: readsFail()
    case .readsStop:
      tell("   nothing can be read until the disk heals")
      disk.injectFault(.read, error: EIO, times: .max)
    case .diskHeals: disk.heal()
    case .killed: if setting.durability != .memory { die(isPowerCut: false) }
    case .crashes:
      guard setting.durability != .memory else { return }
      isPowerCutComing = setting.durability == .full && chance.once(in: 2)
      disk.crash(after: chance.below(12), isPowerCut: isPowerCutComing, Chance(chance.next()))
    case .stops: if setting.durability != .memory { stop() }
    default: break
    }
  }

  private func diskFails() {
    let call = chance.one(of: [Disk.Call.write, .sync])
    let error = call == .write && chance.once(in: 2) ? ENOSPC : EIO
    tell("   the disk fails: \(call) \(error)")
    disk.injectFault(call, error: error, times: chance.one(of: [1, 1, 2, 5, 50]))
  }

  /// Some of the next reads fail, and then the disk works again.
  func readsFail() {
    let (first, times) = (chance.one(of: [0, 0, 1, 3, 10, 40]), chance.one(of: [1, 1, 2, 5, 50]))
    tell("   \(times) reads fail, after \(first) others")
    disk.injectFault(.read, error: EIO, times: times, after: first)
  }

  private func startGoesOn() {
    guard let application = chance.any(of: launches.keys.sorted()), let launch = launches[application],
      launch.isWaiting, let stage = setting.applications.first(where: { $0.identifier == application })
    else { return }
    launches[application]?.isWaiting = false
    switch (launch.way, chance.below(5)) {
    case (.bus, 0): news.append(.launch(application, launch.number, .failed("it cannot be started")))
    case (.bus, 1): break
    case (.bus, _):
      let program = comes(stage)
      take(application, by: connections[programs[program].connection].name)
      news.append(.launch(application, launch.number, .started))
      if chance.once(in: 5) { leave(programs[program].connection) } else { attach(program) }
    case (.command, 0):
      feed(.launch(application: application, number: launch.number, .commandEnded(failure: "status 1")))
    case (.command, 1): feed(.launch(application: application, number: launch.number, .commandEnded(failure: nil)))
    case (.command, 2): break
    case (.command, _): begin(stage)
    }
  }
}
