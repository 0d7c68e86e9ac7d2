import DBus
import InterchangeWire
import SceneModel

/// The connection that hosts an application's scenes.
///
/// What it is to do with one session it is asked in order, each once the one before has ended; different sessions do not wait for each
/// other.
// It never leaves the interchange, whose loop is the only one to touch it.
final class Host: @unchecked Sendable {
  enum Errand {
    case deliver(UniqueIdentifier)
    case refresh
    case destroy(animation: Text)
  }

  let application: Text
  let owner: BusName
  let isSandboxed: Bool
  let calls: SceneHost
  /// It has been told what is gone, and is given what is there.
  var isReady = false
  /// The delivery that it has at this moment, by session.
  var inHand: [UniqueIdentifier: UniqueIdentifier] = [:]
  /// Sessions that it was asked to connect and did not refuse: it may show them.
  var opened: Set<UniqueIdentifier> = []
  /// Sessions that are gone, and whose scenes it is still to close: it hears last that they are gone.
  var closing: Set<UniqueIdentifier> = []
  /// Those that it is about to be asked to draw again.
  var refreshing: Set<UniqueIdentifier> = []
  /// It is being told what is gone.
  var telling: Task<Void, Never>?
  private var errands: [UniqueIdentifier: [Errand]] = [:]

  init(of application: Text, owner: BusName, isSandboxed: Bool, on connection: Connection) {
    self.application = application
    self.owner = owner
    self.isSandboxed = isSandboxed
    calls = SceneHost(of: application, owner: owner, on: connection)
  }

  /// Whether it is busy with a session, or has something to do with it.
  func isBusy(with session: UniqueIdentifier) -> Bool { errands[session] != nil }

  /// Answers whether nobody works on what there is to do with this session.
  func add(_ errand: Errand, _ session: UniqueIdentifier) -> Bool {
    let isIdle = errands[session] == nil
    errands[session, default: []].append(errand)
    return isIdle
  }

  /// What is to be done next; `nil` where that is nothing, and nobody is busy with the session any more.
  func next(_ session: UniqueIdentifier) -> Errand? {
    guard let first = errands[session]?.first else {
      errands[session] = nil
      return nil
    }
    errands[session]?.removeFirst()
    return first
  }
}
