import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// The core, with everything around it played: a store in memory that answers what the core lacks, hosts whose answers a test gives, and a clock that
/// a test moves.
///
///     var stage = Stage(cats)
///     let answer = stage.drop("view", key: "1")
///     stage.attach("org.example.Cats")
///     stage.hostAnswers(.done)
///
/// Each cue is a turn of its own, unless ``turn(refused:_:)`` puts several into one.
struct Stage {
  var book: PromptBook
  var shelf = Shelf()
  var now = Moment(time: Instant(microseconds: 1_800_000_000_000_000), uptime: 1_000_000)
  /// The sayings of every stored turn, in order.
  private(set) var sayings: [Saying] = []
  /// The errands of every stored turn, except for reading.
  private(set) var errands: [Errand] = []
  private(set) var answers: [CallNumber: CallAnswer] = [:]
  /// The questions that hosts have not answered yet.
  private(set) var asked: [Asked] = []
  /// What the core lacked for the last cue.
  private(set) var lacks: [Lack] = []
  private(set) var lastCall: CallNumber = 0
  private(set) var lastEffort = 0
  /// The steps of the present turn.
  private(set) var steps: [Step] = []
  private var isHeld = false
  /// The time at which the core wants to be called again.
  private(set) var callAgain: Int64?

  /// What the baggage store must pack and open, and its parcels of each delivery.
  var packing: [PackingTask] = []
  var opening: [OpeningTask] = []
  var baggageStore = PlayedBaggageStore()
  /// Two stages that are copies share one ledger, which then agrees with neither of them.
  var isCopy = false
  private var turnsSinceCheck = 0

  struct Asked: Hashable {
    let errand: ErrandNumber
    let owner: Text
    let question: HostQuestion
    let within: Int64
  }

  static let types = TypeCatalog()

  init(_ manifests: Manifest..., allowance: Allowance = Allowance()) {
    book = PromptBook(types: Stage.types, allowance: allowance, seed: (1, 2))
    for manifest in manifests { play(.declared(manifest)) }
  }

  /// A host of the first application has attached.
  init(hosting manifest: Manifest, _ others: Manifest..., allowance: Allowance = Allowance()) {
    self.init(manifest, allowance: allowance)
    for other in others { play(.declared(other)) }
    attach(manifest.identifier)
  }

  // MARK: Cues and turns

  /// Gives the core a cue, and repeats it while the core lacks something.
  @discardableResult
  mutating func play(_ cue: Cue) -> Step {
    lacks = []
    while true {
      do throws(Lack) {
        let step = try book.handle(cue, at: now)
        precondition(step.records.count <= 4_096, "the step stores more than a turn holds: \(step.records.count)")
        steps.append(step)
        lastEffort = step.effort
        if !isHeld { endTurn() }
        return step
      } catch {
        lacks.append(error)
        precondition(lacks.count <= 12, "the cue begins again and again: \(lacks)")
        find(error)
      }
    }
  }

  /// Everything that `body` plays is stored together, or refused together.
  mutating func turn(refused: Bool = false, _ body: (inout Stage) throws -> Void) rethrows {
    precondition(!isHeld, "a turn within a turn")
    isHeld = true
    defer { isHeld = false }
    let firstCall = lastCall
    try body(&self)
    if !refused { return endTurn() }
    // Nobody heard of these calls, so their numbers are used again.
    (steps, lastCall) = ([], firstCall)
    book.rollBackTurn()
    checkNowAndThen()
  }

  private mutating func endTurn() {
    while !steps.isEmpty {
      let steps = steps
      self.steps = []
      shelf.commit(steps.flatMap(\.records))
      book.commitTurn()
      for saying in steps.flatMap(\.sayings) {
        sayings.append(saying)
        if case .answer(let number, let answer) = saying {
          precondition(answers[number] == nil, "a call is answered twice")
          answers[number] = answer
        }
      }
      callAgain = steps.last?.callAgain ?? callAgain
      let wasHeld = isHeld
      isHeld = true
      for errand in steps.flatMap(\.errands) { run(errand) }
      isHeld = wasHeld
    }
    checkNowAndThen()
  }

  /// A check of a large stage costs as much as many turns, so it happens only after as many turns.
  private mutating func checkNowAndThen() {
    turnsSinceCheck += 1
    guard 16 * turnsSinceCheck > book.openCount + shelf.sessions.count else { return }
    turnsSinceCheck = 0
    checkItself()
  }

  private mutating func run(_ errand: Errand) {
    if case .read(let number, let delivery) = errand {
      let found = book.recentDelivery(delivery) ?? shelf.deliveries[delivery]
      play(.delivery(number, found))
      return
    }
    errands.append(errand)
    switch errand {
    case .ask(let number, _, let owner, _, let question, let within):
      asked.append(Asked(errand: number, owner: owner, question: question, within: within))
    case .pack(let number, let orders, let limit, _):
      packing.append(PackingTask(number: number, orders: orders, atMost: limit))
    case .open(let number, let delivery, let parcel, _, _):
      opening.append(OpeningTask(number: number, delivery: delivery, parcel: parcel))
    case .callOff(let number): opening.removeAll { $0.number == number }
    case .free(let deliveries): for delivery in deliveries { baggageStore.free(delivery) }
    case .freeParcels(let delivery, let numbers): for number in numbers { baggageStore.free(number, of: delivery) }
    default: break
    }
  }

  // MARK: What the core lacks

  private mutating func find(_ lack: Lack) {
    switch lack {
    case .routing(let needs): for need in needs { find(need) }
    case .sessions(let identifiers):
      book.learn(.sessions(identifiers, found: identifiers.compactMap { shelf.sessions[$0] }))
    case .deliveries(let identifiers):
      book.learn(.deliveries(identifiers, found: identifiers.compactMap { shelf.deliveries[$0] }))
    case .baggage(let delivery): book.learn(.baggage(delivery, shelf.baggage[delivery]))
    case .token(let token, let owner):
      book.learn(.token(token, owner: owner, shelf.deliveries(token: token, sender: owner)))
    case .orphans(let manifest):
      let orphans = shelf.sessions(of: manifest.identifier).filter { !manifest.has(configurationOf: $0) }
      book.learn(.orphans(of: manifest.identifier, Array(orphans.prefix(PromptBook.orphansAtOnce))))
    }
  }

  private mutating func find(_ need: Need) {
    switch need {
    case .session(let identifier):
      book.learn(.routing(shelf.sessions[identifier].map { [$0] } ?? [], answering: need))
    case .sessions(of: let application, concernedWith: _), .allSessions(of: let application):
      book.learn(.page(shelf.sessions(of: application)))
      book.noteComplete(application)
    }
  }

  // MARK: Calls

  @discardableResult
  mutating func call(_ ask: Ask, by caller: Caller = .shell) -> CallAnswer? {
    lastCall += 1
    play(.call(lastCall, caller, ask))
    return answer
  }

  /// The answer to the last call.
  var answer: CallAnswer? { answers[lastCall] }

  /// - Parameter session: The session that the payload names.
  @discardableResult
  mutating func drop(
    _ type: Text = "view", key: Text? = nil, to session: UniqueIdentifier? = nil, by caller: Caller = .shell,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> CallAnswer? {
    var payload = activity(type, key, change)
    if let session { payload.options.session = Text("\(session)") }
    return call(.deliver(payload, digest: Text("digest of \(type) \(key ?? .empty)"), size: 100), by: caller)
  }

  func activity(_ type: Text, _ key: Text?, _ change: (inout PayloadOptions) -> Void = { _ in }) -> Payload {
    var payload = Payload(UserActivity(activityType: type, targetContentIdentifier: key))
    change(&payload.options)
    return payload
  }

  // MARK: Hosts

  /// A host attaches, and acknowledges the sessions that are gone.
  mutating func attach(
    _ application: Text = "org.example.Cats", as caller: Caller = .host, showing: [UniqueIdentifier] = [],
    _ options: HostOptions = HostOptions(), hearsDiscards: Bool = true
  ) {
    call(.attach(application: application, shown: showing, unknown: [], options), by: caller)
    play(.ownership(lastCall, isOwner: true))
    if hearsDiscards, case .discarded? = asked.last?.question { hostAnswers(.done) }
  }

  /// The host answers the oldest question.
  mutating func hostAnswers(_ answer: HostAnswer) {
    precondition(!asked.isEmpty, "no host was asked anything")
    play(.hostAnswered(asked.removeFirst().errand, answer))
  }

  /// The host answers everything, until no question is left.
  mutating func hostAnswersAll(_ answer: HostAnswer = .done) { while !asked.isEmpty { hostAnswers(answer) } }

  /// A session whose window the host shows.
  mutating func window(
    _ key: Text = "1", _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> UniqueIdentifier {
    let session = try #require(drop(key: key, change)?.delivered?.session)
    hostAnswersAll()
    return session
  }

  /// Makes a session and destroys it while its application has no host, which is told later.
  @discardableResult
  mutating func destroyOne() throws -> UniqueIdentifier {
    let made = call(.newSession(application: "org.example.Cats", configuration: .empty))
    let session = try #require(made?.delivered?.session)
    call(.destroy(session, animation: "standard"))
    return session
  }

  mutating func hostLeaves(_ application: Text = "org.example.Cats", _ caller: Caller = .host) {
    asked.removeAll { $0.owner == caller.connection }
    play(.hostLeft(application: application, connection: caller.connection ?? .empty))
  }

  // MARK: Time

  mutating func pass(seconds: Double) {
    now.time = now.time.adding(seconds: seconds)
    now.uptime += Int64(seconds * 1_000_000)
  }

  /// Calls the core as long as it wants to be called.
  mutating func passUntilQuiet(seconds: Double) {
    pass(seconds: seconds)
    while let moment = play(.moment).callAgain, moment <= now.uptime {}
  }

  /// The service ends in some way, and another one starts with what is stored.
  mutating func restart(_ manifests: Manifest...) {
    let allowance = book.ledger.allowance
    book = PromptBook(types: Stage.types, allowance: allowance, seed: (3, UInt64(shelf.events.count)))
    book.recall(shelf.remembered, at: now)
    (asked, packing, opening) = ([], [], [])
    baggageStore.sweep(keeping: Set(shelf.baggage.keys))
    for manifest in manifests { play(.declared(manifest)) }
    play(.began)
  }

  // MARK: Reading

  var memory: Memory { book.memory }

  /// The sayings since then, except for the log.
  func said(since count: Int) -> [Saying] {
    sayings.dropFirst(count).filter { if case .log = $0 { false } else { true } }
  }

  func sessions(of application: Text = "org.example.Cats") -> [Session] { shelf.sessions(of: application) }

  /// The members of all questions to hosts, answered or not.
  var questions: [String] {
    errands.compactMap { if case .ask(_, _, _, _, let question, _) = $0 { question.member } else { nil } }
  }

  func progress(of delivery: UniqueIdentifier?) -> DeliveryProgress? {
    delivery.flatMap { shelf.deliveries[$0]?.progress }
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
  isDynamic: Bool = false, hasOneScene: Bool = false, exec: Text? = nil
) -> Manifest {
  Manifest(
    identifier: identifier, activityTypes: ["view"], supportsMultipleScenes: !hasOneScene,
    configurations: configurations.map { SceneConfiguration(name: $0, maximumSessions: limit) }, isDynamic: isDynamic,
    exec: exec)
}
