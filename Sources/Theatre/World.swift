import InterchangeCore
import InterchangeTurns
import SceneModel
import SceneRouting
import SessionStore

/// The world of one play: the real core and the real store, with callers, programs, a bus, clocks and a disk around them. The seed decides all of
/// these.
///
/// The world has a shell of its own (`World+Shell.swift`) in the place of the service's: the same prompter, with nothing beneath it that takes time.
final class World {
  let setting: Setting
  let types = TypeCatalog()
  var chance = Chance(0)
  /// Decides when laws are checked: nothing else in a play depends on it.
  var audit: Chance

  // MARK: Clocks

  /// Microseconds, on the clock that nobody can set.
  var uptime = World.firstUptime
  private static let firstUptime: Int64 = 3_600_000_000
  /// The difference between this clock and the time of day.
  var clock = World.firstClock
  private static let firstClock: Int64 = 1_767_225_600_000_000
  var moment: Moment { Moment(time: Instant(microseconds: uptime + clock), uptime: uptime) }
  /// The latest time of day so far.
  var latest = Instant(microseconds: 0)
  var played: Int64 { uptime - World.firstUptime }

  // MARK: The service

  let disk: Disk
  /// The core and its store; after a crash, those of the next life.
  var prompter: Prompter
  var store: SessionStore { prompter.store }
  /// The number of starts of the service: messages to an earlier life reach nobody.
  var life = 1
  /// The store has failed, and is not tried again before this time.
  var pausedUntil: Int64 = 0
  var rereadings: [(at: Int64, errand: ErrandNumber, delivery: UniqueIdentifier)] = []
  var watched: Set<Watched> = []
  var launches: [Text: Launch] = [:]
  /// Whether the next crash loses the unsynced writes.
  var isPowerCutComing = false

  // MARK: The bus

  /// The news of the bus itself for the service, in order.
  var news: [News] = []
  var connections: [Connection] = []
  var programs: [Program] = []
  /// The application of each connection that was ever a program.
  var programNames: [Text: Text] = [:]
  var owners: [Text: (connection: Text, since: Int)] = [:]
  var changesOfOwners = 0
  var questions: [Question] = []
  var calls: [CallNumber: Sent] = [:]
  var callNumber: CallNumber = 0

  // MARK: Contents

  var baggage = PlayedBaggage()
  var dragged: [UniqueIdentifier: Dragged] = [:]

  // MARK: Known facts

  /// The deliveries that were acknowledged or announced, with their last announced states.
  var known: [UniqueIdentifier: Known] = [:]
  var knownOrder: [UniqueIdentifier] = []
  /// Those that are no longer looked at.
  var learnt: Set<UniqueIdentifier> = []
  /// The last attempt at which a host was given a delivery.
  var attempts: [UniqueIdentifier: Int64] = [:]
  var said: [UInt64: StoredEvent] = [:]
  var lastSaid: UInt64 = 0
  /// The sessions on the bus.
  var visible: Set<UniqueIdentifier> = []
  /// Some of the sessions that exist or existed, from which acts choose.
  var seen: [UniqueIdentifier] = []
  var tokensUsed: Set<TokenUse> = []
  /// The applications of those who promised something under a token: their later runs may take the promises up.
  var promisers: [TokenUse: Set<Text>] = [:]
  /// Deliveries that their hosts have deferred, in this order.
  var deferred: [UniqueIdentifier] = []
  /// Since the last check of deadlines: whether the time came for which the core had asked, and, below, the deliveries that were opened.
  var momentCame = false
  /// The deliveries that were stored since they were last compared with the store.
  var recent: Set<UniqueIdentifier> = []
  var opened: [UniqueIdentifier] = []
  /// The time at which the first delivery was due, and the time when this was first seen.
  var late: (due: Int64, seen: Int64)?
  var installed: [Text: InstalledManifest] = [:]
  var rules: [PlayedRule] = []

  var steps = 0
  var broken: Breach?
  /// The calls and announcements, for a performance by the real program.
  var transcript: Transcript?
  /// Takes a line of the story; `nil` if nobody listens.
  var teller: ((String) -> Void)?

  init(_ setting: Setting) throws(TheatreFailure) {
    self.setting = setting
    audit = Chance(setting.seed, 5)
    disk = Disk()
    disk.remembersUnsynced = setting.durability == .full
    do throws(StoreError) {
      let moment = Moment(time: Instant(microseconds: World.firstUptime + World.firstClock), uptime: World.firstUptime)
      prompter = try World.begin(setting, life, disk, types, at: moment)
    } catch {
      throw TheatreFailure("the store cannot be made: \(error)")
    }
  }

  /// Tells a line of the story: its beginning, with types without their modules, and with the first digits of identifiers.
  func tell(_ line: @autoclosure () -> String) {
    guard let teller else { return }
    let line = String(line().prefix(800)).replacing(/[A-Z][A-Za-z]*\.(?=[A-Z])/, with: "")
    teller(line.replacing(/([0-9a-f]{8})-[0-9a-f-]{27}/) { $0.1 })
  }

  /// Records a broken law. Only the first counts.
  func breaks(_ law: Law, _ how: @autoclosure () -> String) {
    if broken != nil { return }
    let breach = Breach(law: law, how: how())
    broken = breach
    tell("!! \(breach)")
  }
}

/// The setting of a play, which the seed decides before the first act.
struct Setting {
  let seed: UInt64
  /// Whether nothing fails, nobody is silent, and nobody is in a sandbox.
  var isFaultless = false
  var durability: Durability
  var allowance: Allowance
  var applications: [Stage]
  /// The number of sessions that are read at once.
  var page: Int
  /// A turn ends by itself after one of this many acts.
  var turns: Int
  /// How often programs obey; in some plays they often do not.
  var obedience: Int
  let history = HistoryLimits()

  /// The state of an application at the beginning.
  struct Stage {
    let identifier: Text
    let isSandboxed: Bool
    let startsByBus: Bool
    let startsByCommand: Bool
    let isInstalled: Bool
    /// Whether programs may stand in for it.
    var isUnderstudied = false
    /// Whether its sessions stand for other places, and whether its host then takes things from sandboxes.
    var forwards = false
    var acceptsSandboxed = false
  }

  init(seed: UInt64) {
    var chance = Chance(seed, 2)
    self.seed = seed
    durability = [.full, .full, .normal, .normal, .memory, .memory][chance.below(6)]
    var allowance = Allowance()
    // The limits are usually generous; in some plays they are soon reached.
    if chance.once(in: 3) { allowance.waiting = (4 + chance.below(60)) * Allowance.smallestDelivery }
    if chance.once(in: 3) { allowance.sessions = 4 + chance.below(60) }
    if chance.once(in: 4) { allowance.calls = 2 + chance.below(10) }
    if chance.once(in: 4) { allowance.callBytes = 500 + chance.below(5_000) }
    if chance.once(in: 4) { allowance.preferences = 1 + chance.below(3) }
    if chance.once(in: 4) { allowance.manifests = 4096 * (1 + chance.below(3)) }
    self.allowance = allowance
    applications = (0..<(1 + chance.below(4))).map { number in
      Stage(
        identifier: Text("org.theatre.App\(number)"), isSandboxed: chance.once(in: 4), startsByBus: chance.once(in: 3),
        startsByCommand: chance.once(in: 3), isInstalled: !chance.once(in: 4))
    }
    page = [1, 2, 3, 256][chance.below(4)]
    turns = 1 + chance.below(4)
    obedience = 1 + chance.below(8)
    if chance.once(in: 3) { self.allowance.baggage = (2 + chance.below(40)) * Allowance.smallestBaggage }
    if chance.once(in: 3) { self.allowance.drags = 1 + chance.below(4) }
    if chance.once(in: 3) { self.allowance.sessionBytes = 300 + chance.below(5_000) }
    for place in applications.indices { applications[place].isUnderstudied = chance.once(in: 3) }
    for place in applications.indices where chance.once(in: 4) {
      (applications[place].forwards, applications[place].acceptsSandboxed) = (true, chance.once(in: 2))
    }
  }
}

// MARK: - Small values

/// A peer on the bus.
struct Connection {
  let name: Text
  let isSandboxed: Bool
  let application: Text
  var isStranger = false
  var isThere = true
  /// Whether the service knows that it has left.
  var hasLeft = false

  var caller: Caller {
    let caller = Caller(connection: name, isSandboxed: isSandboxed, application: application, isStranger: isStranger)
    return hasLeft ? caller.left : caller
  }
}

/// A program that shows an application's windows.
struct Program {
  let connection: Int
  let application: Text
  var windows: Set<UniqueIdentifier> = []
  /// The sessions of which it heard that they are gone for good.
  var forgotten: Set<UniqueIdentifier> = []
  /// Those of which the present service knows that the program has heard.
  var toldAndAnswered: Set<UniqueIdentifier> = []
  /// The sessions that it was asked to open since it attached, and did not refuse to open.
  var opening: Set<UniqueIdentifier> = []
  /// The windows that show private content, as far as the program has read.
  var secret: Set<UniqueIdentifier> = []
  var inbox: [Question] = []
  /// The questions that it has read, with its future answers.
  var answers: [(question: Question, answer: HostAnswer)] = []

  /// Whether it was answered that it is the host, and has owned the name since it asked.
  var isAttached = false

  mutating func forgetsService() { (toldAndAnswered, opening, isAttached) = ([], [], false) }
}

struct Question: Equatable {
  let errand: ErrandNumber
  let life: Int
  let owner: Text
  let question: HostQuestion
  let due: Int64
}

struct Watched: Hashable {
  let question: ErrandNumber
  let name: Text
  let application: Text
  let connection: Text
}

struct Launch {
  enum Way { case bus, command }
  let number: Int
  var way: Way
  var isWaiting = true
  var wasStarted = true
}

enum News {
  case ownership(Watched, isOwner: Bool, asked: Int)
  case ownerWent(Watched)
  case noReply(Question, neverReached: Bool)
  case answer(ErrandNumber, HostAnswer)
  case consult(CallNumber, Consulting)
  case callerWent(Text)
  case launch(Text, Int, LaunchNews)
}

/// A call without an answer yet.
struct Sent {
  let caller: Caller
  let isThere: Int
  let ask: Ask
  /// Whether the caller is the host of the contents that it asks for.
  let mayOpen: Bool
  /// When the present owner of the application that the call names became its owner.
  var owns: Int?
  /// A text that is put to the rules.
  var text: DroppedText?

  /// Those of a payload that was handed in.
  var options: PayloadOptions? {
    switch ask {
    case .deliver(let payload, _, _), .deliverEach(let payload, _, _): payload.options
    default: nil
    }
  }
}

struct TokenUse: Hashable {
  let token: Text
  let owner: Text
}

struct Known {
  /// The time at which the delivery was made, or last announced: history is kept from its end.
  var heardOf: Instant
  /// The last announced event about the delivery.
  var event: Event?
}

package struct Breach: Error, Hashable, CustomStringConvertible, Sendable {
  package let law: Law
  package let how: String

  package var description: String { "\(law.rawValue): \(how)" }
}

// The story of a play has documents as their senders wrote them.
extension Payload: CustomStringConvertible { package var description: String { json.string } }
extension Manifest: CustomStringConvertible { package var description: String { json.string } }
