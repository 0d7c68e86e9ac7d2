import InterchangeCore
import InterchangeTurns
import SceneModel
import SessionStore

/// The calls and the announcements of a play without faults, as lines, so that the real program can perform the same.
///
/// Each line is an array of texts that begins with its kind:
///
/// ```
/// act       what begins here
/// program   connection, application: a program is on the bus
/// own       connection, application: it takes the name
/// release   connection, application: it gives the name back
/// leave     connection
/// call      number, connection, path, interface, member, arguments; each argument after its type and a colon
/// reply     number, values, or "error", name, message
/// asked     connection, member, session or "", values
/// answers   connection, member, "done", or "configuration" and its name, or "refused", name, message
/// signal    path, member, values
/// event     name, arguments: what EventsSince has of it
/// ```
///
/// One caller at a time calls, and all effects are over before the next call: then every listener hears the same order on the bus.
package struct Transcript: Sendable {
  package private(set) var lines: [[String]] = []

  mutating func add(_ kind: String, _ parts: [String]) { lines.append([kind] + parts) }

  /// Plays a seed without faults and without waiting.
  package init(seed: UInt64, length: Int) throws(TheatreFailure) {
    let world = try World(Setting(faultless: seed))
    world.transcript = self
    world.open()
    var chance = Chance(seed, 6)
    let acts = (0..<length).map { _ in Act(chance.one(of: Transcript.wheel), chance.next()) }
    for (place, stage) in world.setting.applications.enumerated() {
      world.transcript?.add("act", ["\(place) is registered"])
      world.chance = Chance(seed, UInt64(100 + place))
      let manifest = world.manifest(of: stage)
      world.call(world.join(), .register(manifest, size: manifest.json.count))
      world.comeToPause()
    }
    for act in acts {
      world.transcript?.add("act", ["\(act)"])
      world.uptime += 10_000
      world.perform(act)
      world.comeToPause()
      if let breach = world.broken { throw TheatreFailure("\(breach)") }
    }
    if let transcript = world.transcript { self = transcript }
  }

  private static let wheel: [Act.Kind] = {
    let weights: [(Act.Kind, Int)] = [
      (.deliver, 30), (.deliverEach, 5), (.newSession, 6), (.activate, 8), (.cancel, 6), (.redirect, 8), (.register, 1),
      (.unregister, 1), (.prefer, 3), (.refresh, 6), (.destroy, 6), (.post, 2), (.callerLeaves, 2), (.programComes, 12),
      (.programAttaches, 6), (.programWrites, 10), (.programSetsState, 8), (.programDisconnects, 3),
      (.programLosesName, 1), (.programLeaves, 2),
    ]
    return weights.flatMap { Array(repeating: $0.0, count: $0.1) }
  }()
}

extension World {
  /// Continues the work in progress until nothing is left at this moment. A program answers at once.
  func comeToPause() {
    while broken == nil {
      endTurn()
      if !news.isEmpty {
        busSpeaks()
      } else if let alarm = prompter.alarm, alarm <= uptime {
        alarmWent()
      } else if prompter.isReading != nil {
        readOn()
      } else if let question = questions.first, let program = program(of: question.owner) {
        reads(program, obeys: false)
        answers(program, first: true)
      } else {
        return
      }
    }
  }

  // MARK: Announcements

  /// Records the sayings of a step, in the order in which the bus carries them. Signals come after earlier removals, additions and changes of
  /// objects.
  func transcribe(_ step: Step) {
    guard transcript != nil else { return }
    typealias Fact = (path: String, went: Bool, came: Bool, changed: Set<String>)
    var facts: [Fact] = []
    var signals: [[String]] = []
    func note(_ path: String, _ change: (inout Fact) -> Void) {
      let place = facts.firstIndex { $0.path == path } ?? facts.count
      if place == facts.count { facts.append((path, false, false, [])) }
      change(&facts[place])
    }
    func appear(_ path: String) { note(path) { ($0.came, $0.changed) = (true, []) } }
    func go(_ path: String) { note(path) { ($0.went, $0.came, $0.changed) = ($0.went || !$0.came, false, []) } }
    func change(_ path: String, _ names: [String]) { note(path) { if !$0.came { $0.changed.formUnion(names) } } }
    func signal(_ line: [String]) {
      if facts.isEmpty { transcript?.add("signal", line) } else { signals.append(line) }
    }
    for saying in step.sayings {
      switch saying {
      case .sessionAppeared(let session): appear(session.path)
      case .sessionWent(let session): go(session.path)
      case .sessionChanged(let session, let fields, let withheld): change(session.path, (fields + withheld).map(\.name))
      case .applicationAppeared(let application): appear(application.path)
      case .applicationWent(let application): go(application.path)
      case .applicationChanged(let application, let properties):
        // An application without a manifest has no object.
        if prompter.book.manifest(of: application) != nil { change(application.path, properties.map(\.rawValue)) }
      case .notification(let application, let name, let userInfo):
        signal([application.path, "NotificationPosted", name.string, userInfo.string])
      case .event(let event):
        signal([Text.root, event.name.string] + event.values)
        transcript?.add("event", [event.name.string, event.arguments.string])
      case .answer(let number, let answer): transcribe(answer, to: number)
      case .drag, .log: break
      }
    }
    for fact in facts where fact.went { transcript?.add("signal", [fact.path, "InterfacesRemoved"]) }
    for fact in facts where fact.came { transcript?.add("signal", [fact.path, "InterfacesAdded"]) }
    for fact in facts where !fact.changed.isEmpty {
      transcript?.add("signal", [fact.path, "PropertiesChanged"] + fact.changed.sorted())
    }
    for signal in signals { transcript?.add("signal", signal) }
  }

  private func transcribe(_ answer: CallAnswer, to number: CallNumber) {
    guard let sent = calls[number], connections[sent.isThere].isThere else { return }
    transcript?.add("reply", ["\(number)"] + values(of: answer, to: sent.ask))
  }

  private func values(of answer: CallAnswer, to ask: Ask) -> [String] {
    switch answer {
    case .done: []
    case .delivered(let delivered):
      if case .activate = ask { Array(delivered.values.dropFirst()) } else { delivered.values }
    case .deliveredEach(let items):
      items.flatMap { item in
        switch item {
        case .delivered(let delivered): delivered.values
        case .refused(let error): ["/", error.errorName.string, error.message]
        }
      }
    case .outcome(let outcome): [outcome.string]
    case .application(let application): [application.path]
    case .attached(let application, let discarded): [application.path] + discarded.map(\.string)
    case .refused(let error): ["error", error.errorName.string, error.message]
    // Plays without faults neither adopt, drag nor open anything.
    case .adopted, .opened, .dragBegun, .dragOpened, .operation: []
    }
  }

  // MARK: Calls

  /// Whether the shell passes a request to the core. Requests to missing objects are refused on the bus.
  func reachesCore(_ ask: Ask) -> Bool {
    switch ask {
    case .post(let application, _, _): prompter.book.manifest(of: application) != nil
    // These wait for a host for an unknown time, and would be over before a slow machine has performed the rest.
    case .newSession(let application, _):
      prompter.book.manifest(of: application) != nil && prompter.book.isHostAttached(to: application)
    case .activate(let session, _, _):
      visible.contains(session) && prompter.book.application(of: session).map(prompter.book.isHostAttached) ?? false
    case .refresh(let session), .destroy(let session, _), .setState(let session, _),
      .disconnect(let session), .write(let session, _):
      visible.contains(session)
    default: true
    }
  }

  func transcribe(_ ask: Ask, _ number: CallNumber, from place: Int) {
    guard transcript != nil else { return }
    let (root, session, application) = (
      "org.stagedoor.Interchange1", "org.stagedoor.SceneSession1", "org.stagedoor.Application1"
    )
    let call: [String]
    switch ask {
    case .deliver(let payload, _, _): call = [Text.root, root, "Deliver", "s:\(payload.json)"]
    case .deliverEach(let payload, _, _): call = [Text.root, root, "DeliverEach", "s:\(payload.json)"]
    case .activate(let target, _, _): call = [target.path, session, "Activate", "s:"]
    case .newSession(let name, let configuration):
      call = [name.path, application, "NewSession", "s:\(configuration)"]
    case .cancel(let delivery): call = [Text.root, root, "CancelDelivery", "s:\(delivery)"]
    case .redirect(let delivery, let target):
      call = [Text.root, root, "RedirectDelivery", "s:\(delivery)", "o:\(target.path)"]
    case .register(let manifest, _): call = [Text.root, root, "RegisterApplication", "s:\(manifest.json)"]
    case .unregister(let name): call = [Text.root, root, "UnregisterApplication", "s:\(name)"]
    case .prefer(let name, let type):
      call = [Text.root, root, "SetPreferredApplication", "s:\(type)", "s:\(name ?? .empty)"]
    case .attach(let name, let shown, let unknown, let options):
      let paths = (shown.map(\.path) + unknown.map(\.string)).joined(separator: " ")
      call =
        [Text.root, root, options.choosesConfiguration ? "AttachHostWith" : "AttachHost", "s:\(name)", "ao:\(paths)"]
        + (options.choosesConfiguration ? ["b:choosesConfiguration"] : [])
    case .refresh(let target): call = [target.path, session, "Refresh"]
    case .destroy(let target, let animation): call = [target.path, session, "Destroy", "s:\(animation)"]
    case .setState(let target, let state): call = [target.path, session, "SetState", "s:\(state.rawValue)"]
    case .disconnect(let target): call = [target.path, session, "Disconnect"]
    case .write(let target, let writing):
      call = [
        target.path, "org.freedesktop.DBus.Properties", "Set", "s:\(session)", "s:\(writing.property.rawValue)",
        "v:\(writing.text)",
      ]
    case .post(let name, let title, let userInfo):
      call = [name.path, application, "PostNotification", "s:\(title)", "s:\(userInfo)"]
    case .adopt, .putOff, .finish, .openItem, .release, .renewPromises, .beginDrag, .openDrag, .addItems, .cancelDrag,
      .propose, .drop:
      return
    }
    transcript?.add("call", ["\(number)", connections[place].name.string] + call)
  }

  func transcribe(_ question: HostQuestion, to owner: Text) {
    let values: [String] =
      switch question {
      case .configuration(_, let role, let options): [role.string, options.string]
      case .connect(_, let configuration, let options): [configuration.string, options.string]
      case .continue(_, let options): [options.string]
      case .activate(_, let token): token.map { ["activation-token=\($0)", "desktop-startup-id=\($0)"] } ?? []
      case .destroy(_, let animation): [animation.string]
      case .discarded(let sessions): sessions.map { "\($0)" }
      case .refresh, .propose: []
      }
    transcript?.add("asked", [owner.string, question.member, question.session?.path ?? ""] + values)
  }

  func transcribe(_ answer: HostAnswer, to question: Question) {
    let how: [String] =
      switch answer {
      case .configuration(let name): ["configuration", name.string]
      case .refused(let why): ["refused"] + why.string.split(separator: ":", maxSplits: 1).map { String($0.trimmed) }
      case .operation(let operation): ["operation", operation.string]
      case .done, .timedOut, .failed, .gone: ["done"]
      }
    transcript?.add("answers", [question.owner.string, question.question.member] + how)
  }
}

extension Setting {
  /// A setting with generous limits, in which programs start by themselves.
  init(faultless seed: UInt64) {
    self.init(seed: seed)
    (isFaultless, durability, allowance, page, turns, obedience) = (true, .memory, Allowance(), 256, 1, 12)
    applications = applications.map {
      Stage(
        identifier: $0.identifier, isSandboxed: false, startsByBus: false, startsByCommand: false, isInstalled: false)
    }
  }
}

extension Delivered {
  fileprivate var values: [String] { [session.path, outcome.string, "\(delivery)"] }
}

extension Event {
  /// The arguments of the signal, in order.
  fileprivate var values: [String] {
    let rest: [String] =
      switch kind {
      case .routed(let outcome, let configuration, let type, let key, let delivery):
        [outcome.string, configuration.string, type.string, key.string, "\(delivery)"]
      case .handled(let delivery), .forwarded(let delivery), .unclaimed(let delivery): ["\(delivery)"]
      case .deliveryFailed(let delivery, let error, let message): ["\(delivery)", error.string, message.string]
      case .sessionConnected(let configuration): [configuration.string]
      case .sessionStateChanged(let state): [state.rawValue]
      case .sessionDisconnected, .sessionRefreshRequested: []
      case .sessionDiscarded(let animation): ["\(session)", animation.string]
      }
    return [application.string, session.path] + rest + ["\(sequence)"]
  }
}

extension SessionWriting {
  /// The value in the property.
  fileprivate var text: Text {
    switch self {
    case .title(let text), .canActivatePredicate(let text), .prefersToActivatePredicate(let text): text
    case .userActivity(let activity), .stateRestorationActivity(let activity): activity?.json ?? .empty
    case .userInfo(let userInfo): JSON.text(of: .dictionary(userInfo))
    }
  }
}

extension UniqueIdentifier {
  fileprivate var path: String { SessionReference.path(of: self).string }
}

extension Text {
  fileprivate static let root = "/org/stagedoor/Interchange1"

  /// The object of an application with this name.
  fileprivate var path: String {
    "\(Text.root)/application/"
      + string.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "_2e")
  }
}

extension Substring {
  fileprivate var trimmed: Substring { first == " " ? dropFirst() : self }
}

extension Transcript {
  package var text: String {
    lines.map { line in JSON.text(of: .array(line.map { .string(Text($0)) })).string + "\n" }.joined()
  }
}
