import SceneModel

// The life of a host. `docs/lives.md` shows the same states as a table.
//
//   (attached) ──► welcome: it hears which sessions are gone ──► ready: it gets the held deliveries ──► (gone)
//                     ▲                                                 │
//                     └──────────────── attaches again ─────────────────┘

/// The connection that hosts an application's scenes.
struct Host: Hashable, Sendable {
  enum Stage: Hashable, Sendable {
    /// The host hears which sessions are gone before it gets anything.
    case welcome
    case ready
  }

  let application: Text
  let connection: Text
  let isSandboxed: Bool
  var options: HostOptions
  /// The question to the bus, of its last call of AttachHost, whose answer says that it owns the name. The loss of the name is told of this question.
  var question: ErrandNumber = 0
  /// The number of that call among the questions. A smaller one was asked in an earlier run of the host, whose errors refuse nothing.
  var since: ErrandNumber = 0
  var stage = Stage.welcome
  /// Discarded sessions that the host is being told of.
  var hearing: [UniqueIdentifier] = []
  /// The number of sessions about which the host is being asked.
  var running = 0

  /// The most unanswered calls to a host about its sessions: the bus limits unanswered calls, and all callers share the bus.
  static let maximumRunning = 256
  /// The most unanswered proposals: many drags may pass over a window, and each call for one is answered.
  static let maximumProposing = 256
  /// The bytes of the items in these proposals, which the host gets anew with each. A sender may have as many as it leaves for others.
  static let maximumProposedBytes = 2 << 20
}

/// The question to a host about a drag over one of its windows. A host is asked one question about a drag at a time: only the newest place counts.
struct Proposal: Sendable {
  struct Key: Hashable, Sendable {
    let drag: UniqueIdentifier
    let application: Text
  }

  /// The source of the drag.
  let principal: Principal
  /// The bytes of the items.
  let bytes: Int
  /// The calls that get the answer.
  var calls: [CallNumber]
  /// The place to which the drag has moved since, and the calls that wait for the answer about it.
  var next: UniqueIdentifier?
  var waiting: [CallNumber] = []
}

/// The work of a host on one session, one thing at a time. Different sessions do not wait for each other.
struct Lane: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    let application: Text
    let session: UniqueIdentifier

    /// A session has one application.
    func hash(into hasher: inout Hasher) { hasher.combine(session) }
    func _rawHashValue(seed: Int) -> Int { session._rawHashValue(seed: seed) }
  }

  enum Act: Hashable, Sendable {
    /// It waits until the host has capacity.
    case queued
    /// The delivery is being read from the store.
    case reading(InHand)
    /// The host is asked which configuration the session gets. Then the session is connected with these options.
    indirect case choosing(InHand, options: Text)
    /// The host is asked to open the scene; again if it did not answer when it was asked before, and so may show the scene already.
    case connecting(InHand, again: Bool)
    case continuing(InHand)
    /// The window is brought to the front. If nothing was acknowledged before, this acknowledges the delivery.
    case activating(InHand, acknowledges: Bool)
    case refreshing
    case destroying

    /// The delivery that the host is given, or was given just now.
    var given: InHand? {
      switch self {
      case .choosing(let delivery, _), .connecting(let delivery, again: _), .continuing(let delivery),
        .activating(let delivery, _):
        delivery
      case .queued, .reading, .refreshing, .destroying: nil
      }
    }

    /// The delivery that the host is working on: its answer acknowledges or refuses it.
    var inHand: InHand? { if case .activating(_, acknowledges: false) = self { nil } else { given } }
  }

  /// A delivery that is being handed over, as it was when the hand-over began.
  struct InHand: Hashable, Sendable {
    let identifier: UniqueIdentifier
    let attempt: Int64
    var isPrivate = false
    var activationToken: Text?
  }

  var act: Act
  /// `nil` while the lane is queued.
  var errand: ErrandNumber?
  /// Whether the window has shown private content since the host was asked.
  var isSecret = false
  /// The call never reached the host.
  var neverReached = false
  /// `FinishDelivery` has told that the delivery in hand is handled, before the host has answered.
  var isFinished = false
}
