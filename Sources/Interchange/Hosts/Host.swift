import DBus
import InterchangeWire
import SceneModel

/// The connection that hosts an application's scenes.
///
/// What it is to do with one session it is asked in order, each once the one before has ended; different sessions do not wait for each
/// other, as long as there are not hundreds of them.
// It never leaves the interchange, whose loop is the only one to touch it.
final class Host: @unchecked Sendable {
  enum Errand: Hashable {
    case deliver(UniqueIdentifier)
    case refresh
    case destroy(animation: Text)
  }

  /// What there is to do with one session.
  struct Lane {
    private var waiting: [Errand] = []
    private var first = 0
    private var expected: Set<Errand> = []
    fileprivate(set) var current: Errand?
    /// What is being done has been answered, and only goes on: the same may be asked for anew.
    fileprivate var isAnswered = false

    fileprivate mutating func add(_ errand: Errand) {
      // A scene that is drawing itself may have begun before what it is to draw was there.
      if current == errand, errand != .refresh, !isAnswered { return }
      if expected.insert(errand).inserted { waiting.append(errand) }
    }

    fileprivate mutating func next() -> Errand? {
      guard first < waiting.count else { return nil }
      let next = waiting[first]
      first += 1
      // What was done need not be kept; there may be thousands.
      if first > waiting.count / 2 {
        waiting.removeFirst(first)
        first = 0
      }
      expected.remove(next)
      (current, isAnswered) = (next, false)
      return next
    }
  }

  let application: Text
  let owner: BusName
  let isSandboxed: Bool
  let calls: SceneHost
  /// It has been told what is gone, and is given what is there.
  var isReady = false
  /// Sessions whose scenes it was asked to open, and did not refuse: it may show them.
  var opened: Set<UniqueIdentifier> = []
  /// Sessions that are gone, and whose scenes it is still to close: it hears last that they are gone.
  var closing: Set<UniqueIdentifier> = []
  /// What it was told is gone, and nobody knows whether it heard.
  var told: Set<UniqueIdentifier> = []
  var telling: Task<Void, Never>?
  private(set) var lanes: [UniqueIdentifier: Lane] = [:]
  private var running = 0
  private var idle: [UniqueIdentifier] = []
  /// As many calls to a host may be under way: the bus sets bounds to them, and is everyone's.
  private static let maximumRunning = 256

  init(of application: Text, owner: BusName, isSandboxed: Bool, on connection: Connection) {
    self.application = application
    self.owner = owner
    self.isSandboxed = isSandboxed
    calls = SceneHost(of: application, owner: owner, on: connection)
  }

  /// The deliveries that it has at this moment.
  var inHand: Set<UniqueIdentifier> {
    Set(lanes.values.compactMap { if case .deliver(let delivery)? = $0.current { delivery } else { nil } })
  }

  /// Adds what is not there yet. Answers the sessions that somebody is to begin to work on.
  func add(_ errand: Errand, _ session: UniqueIdentifier) -> [UniqueIdentifier] {
    if lanes[session] != nil {
      lanes[session]?.add(errand)
      return []
    }
    lanes[session] = Lane()
    lanes[session]?.add(errand)
    idle.append(session)
    return begin()
  }

  private func begin() -> [UniqueIdentifier] {
    let next = Array(idle.prefix(Self.maximumRunning - running))
    idle.removeFirst(next.count)
    running += next.count
    return next
  }

  /// What is to be done next; `nil` where that is nothing, and nobody is busy with the session any more.
  func next(_ session: UniqueIdentifier) -> Errand? {
    if let next = lanes[session]?.next() { return next }
    lanes[session] = nil
    return nil
  }

  /// It has answered what it was asked to do with a session first, and may be asked for more of that.
  func answered(_ session: UniqueIdentifier) { lanes[session]?.isAnswered = true }

  /// What it was to do with a session did not reach it.
  func neverHad(_ session: UniqueIdentifier) { lanes[session]?.current = nil }

  /// Nothing is left to do with a session. Answers the sessions that somebody is to begin to work on.
  func end() -> [UniqueIdentifier] {
    running -= 1
    return begin()
  }
}
