import InterchangeTurns
import SceneModel
import SceneRouting
import Testing
import TextRules
import Theatre

@testable import InterchangeCore
@testable import SessionStore

/// The core and its turns, with everything around them played: a store in memory, hosts whose answers a test gives, and a clock that a test moves.
///
///     let stage = Stage(cats)
///     let answer = stage.drop("view", key: "1")
///     stage.attach("org.example.Cats")
///     stage.hostAnswers(.done)
///
/// Each cue is a turn of its own, unless ``turn(refused:_:)`` puts several into one.
final class Stage {
  private(set) var prompter: Prompter
  let store: SessionStore
  var now = Stage.start
  /// The sayings of every stored turn, and the complaints about every refused one, in order.
  private(set) var sayings: [Saying] = []
  /// The errands of every stored turn, except for reading.
  private(set) var errands: [Errand] = []
  private(set) var answers: [CallNumber: CallAnswer] = [:]
  /// The questions that hosts have not answered yet.
  private(set) var asked: [Asked] = []
  var lastCall: CallNumber = 0
  /// The last question to the bus who owns a name, and the last that it has answered with yes about each connection.
  var lastQuestion: ErrandNumber { questionsToBus.last?.number ?? 0 }
  private var questionsToBus: [(number: ErrandNumber, about: Watched)] = []
  private var watches: [Watched: ErrandNumber] = [:]
  /// The result of the last cue.
  private(set) var lastStep = Step()
  /// What the baggage store must pack and open, and what it keeps.
  var baggage = PlayedBaggage()
  private var isHeld = false
  private var otherCalls: CallNumber = 0
  private var turnsSinceCheck = 0

  private struct Watched: Hashable {
    let application: Text
    let connection: Text?
  }

  struct Asked: Hashable {
    let errand: ErrandNumber
    let owner: Text
    let question: HostQuestion
    let within: Int64
  }

  static let types = TypeCatalog()
  static let start = Moment(time: Instant(microseconds: 1_800_000_000_000_000), uptime: 1_000_000)

  /// - Parameters:
  ///   - directory: The place of the store, for a test that looks at its file.
  ///   - allowing: A change of the limits.
  init(_ manifests: Manifest..., directory: String? = nil, allowing: (inout Allowance) -> Void = { _ in }) {
    var allowance = Allowance()
    allowing(&allowance)
    let now = now
    let store = Stage.expect(
      try SessionStore(
        directory: directory ?? "", durability: directory == nil ? .memory : .full,
        rules: ReadingRules(types: Stage.types), at: now.time))
    self.store = store
    prompter = Stage.expect(try Prompter(store, types: Stage.types, allowance: allowance, seed: (1, 2), at: now))
    for manifest in manifests { play(.declared(manifest)) }
  }

  /// A host of the first application has attached.
  convenience init(hosting manifest: Manifest, _ others: Manifest..., allowing: (inout Allowance) -> Void = { _ in }) {
    self.init(manifest, allowing: allowing)
    for other in others { play(.declared(other)) }
    attach(manifest.identifier)
  }

  /// The store fails only where a test says so.
  private static func expect<Value: ~Copyable>(_ value: @autoclosure () throws -> Value) -> Value {
    do { return try value() } catch { preconditionFailure("the store fails: \(error)") }
  }

  // MARK: Cues and turns

  @discardableResult
  func play(_ cue: Cue) -> Step {
    if case .ownership(let number, isOwner: true, _) = cue,
      let question = questionsToBus.last(where: { $0.number == number })
    {
      watches[question.about] = number
    }
    lastStep = (try? prompter.take(cue, at: now)) ?? Step()
    precondition(lastStep.records.count <= Turn.maximumRecords, "the step stores more than a turn holds")
    precondition(prompter.restarts <= 12, "the cue begins again and again")
    if !isHeld { endTurn() }
    return lastStep
  }

  /// Everything that `body` plays is stored together, or refused together by a full disk.
  ///
  /// - Returns: The steps of the turn, if it was stored.
  @discardableResult
  func turn(refused: Bool = false, _ body: (Stage) throws -> Void) rethrows -> [Step] {
    precondition(!isHeld, "a turn within a turn")
    isHeld = true
    defer { isHeld = false }
    if refused { storeSomething() }
    try body(self)
    store.damage = refused ? StoreError(.full, "the disk is full") : nil
    defer { store.damage = nil }
    let steps = endTurn()
    precondition(!refused || steps.isEmpty, "the store did not refuse the turn")
    return steps
  }

  /// A turn that stores nothing is never refused, so another caller's call stores something.
  private func storeSomething() {
    guard let manifest = memory.manifests.values.keys.first.flatMap(book.manifest) else { return }
    otherCalls += 1
    play(.call(.max - otherCalls, .other, .prefer(manifest.identifier, type: manifest.activityTypes[0])))
  }

  /// Ends the turn, and those that follow from it.
  @discardableResult
  private func endTurn() -> [Step] {
    var first: [Step]?
    let wasHeld = isHeld
    isHeld = true
    while prompter.hasTurn {
      let ending = prompter.endTurn(at: now)
      ending.complaints.forEach(heard)
      let steps = ending.error == nil ? ending.turn.steps.map(\.step) : []
      first = first ?? steps
      for step in steps { step.sayings.forEach(heard) }
      for step in steps { step.errands.forEach(run) }
    }
    while let application = prompter.isReading, (try? prompter.readOn(application, at: now)) != nil {}
    isHeld = wasHeld
    checkNowAndThen()
    return first ?? []
  }

  private func heard(_ saying: Saying) {
    sayings.append(saying)
    guard case .answer(let number, let answer) = saying else { return }
    precondition(answers.updateValue(answer, forKey: number) == nil, "a call is answered twice")
  }

  private func run(_ errand: Errand) {
    if case .read(let number, let delivery) = errand {
      return _ = play(.delivery(number, Stage.expect(try prompter.delivery(delivery))))
    }
    errands.append(errand)
    baggage.run(errand)
    if case .findOwner(let number, _, let application, let connection, _) = errand {
      questionsToBus.append((number, Watched(application: application, connection: connection)))
    }
    if case .ask(let number, _, let owner, _, let question, let within) = errand {
      asked.append(Asked(errand: number, owner: owner, question: question, within: within))
    }
  }

  /// A check of a large stage, or of an old one, costs as much as many turns, so it happens only after as many turns.
  private func checkNowAndThen() {
    turnsSinceCheck += 1
    guard 16 * turnsSinceCheck > book.openCount + memory.places + errands.count / 4 else { return }
    turnsSinceCheck = 0
    checkItself()
  }

  // MARK: Calls

  @discardableResult
  func call(_ ask: Ask, by caller: Caller = .shell) -> CallAnswer? {
    lastCall += 1
    play(.call(lastCall, caller, ask))
    return answer
  }

  var answer: CallAnswer? { answers[lastCall] }

  /// - Parameter session: The session that the payload names.
  @discardableResult
  func drop(
    _ type: Text = "view", key: Text? = nil, to session: UniqueIdentifier? = nil, by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> CallAnswer? {
    var payload = activity(type, key, change)
    if let session { payload.options.session = Text("\(session)") }
    return call(.deliver(payload, digest: Text("digest of \(type) \(key ?? .empty)"), size: 100), by: caller)
  }

  @discardableResult
  func activate(_ session: UniqueIdentifier) -> CallAnswer? { call(.activate(session, named(session), size: 0)) }

  func activity(_ type: Text, _ key: Text?, _ change: (inout PayloadOptions) -> Void = { _ in }) -> Payload {
    var payload = Payload(UserActivity(activityType: type, targetContentIdentifier: key))
    change(&payload.options)
    return payload
  }

  // MARK: Hosts

  /// A host attaches, and acknowledges the sessions that are gone.
  func attach(
    _ application: Text = "org.example.Cats", as caller: Caller = .host, showing: [UniqueIdentifier] = [],
    _ options: HostOptions = HostOptions(), hearsDiscards: Bool = true
  ) {
    call(.attach(application: application, shown: showing, unknown: [], options), by: caller)
    play(.ownership(lastQuestion, isOwner: true))
    if hearsDiscards, case .discarded? = asked.last?.question { hostAnswers(.done) }
  }

  func hostAnswers(_ answer: HostAnswer) {
    precondition(!asked.isEmpty, "no host was asked anything")
    play(.hostAnswered(asked.removeFirst().errand, answer))
  }

  /// The host answers everything, until no question is left.
  func hostAnswersAll(_ answer: HostAnswer = .done) { while !asked.isEmpty { hostAnswers(answer) } }

  /// A session whose window the host shows.
  func window(_ key: Text = "1", _ change: (inout PayloadOptions) -> Void = { _ in }) throws -> UniqueIdentifier {
    let session = try #require(drop(key: key, change)?.delivered?.session)
    hostAnswersAll()
    return session
  }

  /// Makes a session and destroys it while its application has no host, which is told later.
  @discardableResult
  func destroyOne() throws -> UniqueIdentifier {
    let made = call(.newSession(application: "org.example.Cats", configuration: .empty))
    let session = try #require(made?.delivered?.session)
    call(.destroy(session, animation: "standard"))
    return session
  }

  func hostLeaves(_ application: Text = "org.example.Cats", _ caller: Caller = .host) {
    asked.removeAll { $0.owner == caller.connection }
    play(
      .hostLeft(
        application: application, since: watches[Watched(application: application, connection: caller.connection)] ?? 0)
    )
  }

  // MARK: Time

  func pass(seconds: Double) {
    now.time = now.time.adding(seconds: seconds)
    now.uptime += Int64(seconds * 1_000_000)
  }

  /// Calls the core as long as it wants to be called.
  func passUntilQuiet(seconds: Double) {
    pass(seconds: seconds)
    repeat {
      prompter.alarmWent(at: now)
      endTurn()
    } while prompter.alarm.map { $0 <= now.uptime } ?? false
  }

  /// The service ends in some way, and another one starts with what is stored.
  ///
  /// - Parameter begins: Whether it has begun when its manifests are there.
  func restart(_ manifests: Manifest..., begins: Bool = true, allowing: (inout Allowance) -> Void = { _ in }) {
    var allowance = book.ledger.allowance
    allowing(&allowance)
    prompter = Stage.expect(
      try Prompter(store, types: Stage.types, allowance: allowance, seed: (3, store.lastEventSequence), at: now))
    asked = []
    baggage.die()
    baggage.sweep(keeping: book.carrying)
    for manifest in manifests { play(.declared(manifest)) }
    if begins { play(.began) }
  }

  /// The core forgets what it remembers for speed.
  func rest() { _ = Stage.expect(try prompter.rest(at: now.time)) }

  /// The store changes without the core, as by damage.
  func alterStore(_ record: Record) { Stage.expect(try store.commit([record], at: now.time)) }

  func setRules(_ rules: RuleSet, home: Text = .empty) { prompter.setRules(rules, home: home) }

  func explain(_ payload: Payload, consultation: Consultation? = nil, by caller: Caller) -> Explanation? {
    decision(on: payload, consultation: consultation, by: caller)?.explanation
  }

  /// The whole answer of `Explain`.
  func decision(on payload: Payload, consultation: Consultation? = nil, by caller: Caller) -> Decision? {
    try? prompter.explain(payload, consultation: consultation, from: caller, at: now).get()
  }

  // MARK: Reading

  var book: PromptBook { prompter.book }
  var hasBacklog: Bool { prompter.hasBacklog }
  /// How often the last cue began again because the core lacked something.
  var restarts: Int { prompter.restarts }
  var memory: Memory { prompter.book.memory }
  var shelf: Shelf { Stage.expect(try Shelf(store)) }

  /// The sayings since then, except for the log.
  func said(since count: Int) -> [Saying] {
    sayings.dropFirst(count).filter { if case .log = $0 { false } else { true } }
  }

  /// The sessions that are there, in the order in which they came.
  func sessions(of application: Text = "org.example.Cats") -> [Session] {
    sayings.compactMap { saying in
      if case .sessionAppeared(let session) = saying { (try? store.session(session)) ?? nil } else { nil }
    }.filter { $0.application == application }
  }

  /// The members of all questions to hosts, answered or not.
  var questions: [String] {
    errands.compactMap { if case .ask(_, _, _, _, let question, _) = $0 { question.member } else { nil } }
  }

  func progress(of delivery: UniqueIdentifier?) -> DeliveryProgress? {
    delivery.flatMap { (try? store.delivery($0)) ?? nil }?.progress
  }
}

/// A payload of nothing but the session that it names.
func named(_ session: UniqueIdentifier) -> Payload {
  var payload = Payload()
  payload.options.session = Text("\(session)")
  return payload
}

/// What is stored, to look at and to compare.
struct Shelf: Hashable {
  private(set) var sessions: [UniqueIdentifier: Session] = [:]
  private(set) var deliveries: [UniqueIdentifier: StoredDelivery] = [:]
  /// The deliveries, oldest first.
  let deliveryOrder: [UniqueIdentifier]
  let events: [StoredEvent]
  let preferences: [Text: Text]
  private(set) var owed: [Text: [UniqueIdentifier]] = [:]
  private(set) var baggage: [UniqueIdentifier: Baggage] = [:]

  init(_ store: SessionStore) throws(StoreError) {
    events = try store.events(after: 0, limit: .max)
    preferences = try store.preferences()
    deliveryOrder = (try store.deliveries(limit: .max) ?? []).reversed().map(\.identifier)
    for delivery in deliveryOrder { deliveries[delivery] = try store.delivery(delivery) }
    try store.forEachSession { sessions[$0.identifier] = $0 }
    for application in try store.owedCounts().keys { owed[application] = try store.owedDiscards(of: application) }
    for summary in try store.baggageSummaries() { baggage[summary.delivery] = try store.baggage(summary.delivery) }
  }
}

extension Caller {
  static let shell = Caller(connection: ":1.1", isSandboxed: false, application: .empty)
  static let other = Caller(connection: ":1.2", isSandboxed: false, application: .empty)
  static let host = Caller(connection: ":1.10", isSandboxed: false, application: .empty)
  static let stranger = Caller(connection: ":1.20", isSandboxed: true, application: .empty, isStranger: true)

  static func shell(_ number: Int) -> Caller {
    Caller(connection: Text(":2.\(number)"), isSandboxed: false, application: .empty)
  }

  static func sandbox(_ application: Text, _ number: Int = 0) -> Caller {
    Caller(connection: Text(":3.\(number)"), isSandboxed: true, application: application)
  }
}

extension CallAnswer {
  var delivered: Delivered? { if case .delivered(let delivered) = self { delivered } else { nil } }
  var adopted: UniqueIdentifier? { if case .adopted(let session) = self { session } else { nil } }
  var items: [DeliveredItem]? { if case .deliveredEach(let items) = self { items } else { nil } }
  var refusal: InterchangeError? { if case .refused(let error) = self { error } else { nil } }
}

extension DeliveredItem {
  var delivered: Delivered? { if case .delivered(let delivered) = self { delivered } else { nil } }
  var refusal: InterchangeError? { if case .refused(let error) = self { error } else { nil } }
}

extension Saying {
  /// In a word: the name of the signal, and the properties.
  var word: String {
    switch self {
    case .answer(_, .refused(let error)): "refused \(error.name)"
    case .answer: "answer"
    case .event(let event): event.name.string
    case .applicationAppeared: "application appeared"
    case .applicationChanged(_, let properties):
      "application changed \(properties.map(\.rawValue).joined(separator: " "))"
    case .applicationWent: "application went"
    case .sessionAppeared: "session appeared"
    case .sessionChanged(_, let fields, _): "session changed \(fields.map(\.name).joined(separator: " "))"
    case .sessionWent: "session went"
    case .notification: "notification"
    case .drag(_, let news, _):
      switch news {
      case .stateChanged: "drag State"
      case .itemsChanged: "drag Items"
      case .ended(let operation, _): "Ended \(operation)"
      }
    case .log: "log"
    }
  }
}

extension HostQuestion {
  /// What a host that is to open a window is told.
  var connect: (session: UniqueIdentifier, configuration: Text, options: Text)? {
    guard case .connect(let session, let configuration, let options) = self else { return nil }
    return (session, configuration, options)
  }
}

/// An application with windows for cats, and a limit that allows more.
func cats(
  _ identifier: Text = "org.example.Cats", configurations: [Text] = ["Default"], atMost limit: Int? = nil,
  isDynamic: Bool = false, hasOneScene: Bool = false, exec: Text? = nil, _ change: (inout Manifest) -> Void = { _ in }
) -> Manifest {
  var manifest = Manifest(
    identifier: identifier, activityTypes: ["view"], supportsMultipleScenes: !hasOneScene,
    configurations: configurations.map { SceneConfiguration(name: $0, maximumSessions: limit) }, isDynamic: isDynamic,
    exec: exec)
  change(&manifest)
  return manifest
}
