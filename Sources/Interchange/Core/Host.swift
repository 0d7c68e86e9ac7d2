import SceneModel

// The life of a host. `docs/lives.md` shows the same states as a table.
//
//   (attached) ──► welcome: it is told which sessions are gone ──► ready: it is given what is held for it ──► (gone)
//                     ▲                                                 │
//                     └──────────────── attaches again ─────────────────┘

/// The connection that hosts an application's scenes.
struct Host: Hashable, Sendable {
  enum Stage: Hashable, Sendable {
    /// It hears what is gone before it is given anything.
    case welcome
    case ready
  }

  let application: Text
  let connection: Text
  let isSandboxed: Bool
  /// It wants to be asked for the configuration of each new session.
  var choosesConfiguration: Bool
  var stage = Stage.welcome
  /// The sessions whose scenes are connected.
  var scenes: Set<UniqueIdentifier> = []
  /// Sessions whose scenes it was asked to open, and did not refuse: it may show them.
  var opened: Set<UniqueIdentifier> = []
  /// Discarded sessions whose scenes it is still to close: it hears last that they are gone.
  var closing: Set<UniqueIdentifier> = []
  /// Discarded sessions that it was told of, and nobody knows whether it heard.
  var told: Set<UniqueIdentifier> = []
  /// It is being told.
  var isListening = false
  /// How many sessions it is asked about at the same time.
  var running = 0

  /// As many calls to a host may be under way: the bus sets bounds to them, and is everyone's.
  static let maximumRunning = 256
}

/// What a host does with one session, one thing after the other. Different sessions do not wait for each other.
struct Lane: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    let application: Text
    let session: UniqueIdentifier
  }

  enum Act: Hashable, Sendable {
    /// It waits for the host to have a hand free.
    case queued
    /// The delivery is being read.
    case reading(InHand)
    /// The host is asked which configuration the session gets; then it is connected with these options.
    indirect case choosing(InHand, options: Text)
    case connecting(InHand)
    case continuing(InHand)
    /// The window is brought to the front. Where nothing was acknowledged before, this acknowledges.
    case activating(InHand, acknowledges: Bool)
    case refreshing
    case destroying

    /// The delivery that the host is working on.
    var inHand: UniqueIdentifier? {
      switch self {
      case .choosing(let delivery, _), .connecting(let delivery), .continuing(let delivery): delivery.identifier
      case .activating(let delivery, let acknowledges): acknowledges ? delivery.identifier : nil
      case .queued, .reading, .refreshing, .destroying: nil
      }
    }
  }

  /// A delivery that is being handed over, as it was when that began.
  struct InHand: Hashable, Sendable {
    let identifier: UniqueIdentifier
    let attempt: Int64
    var isPrivate = false
    var activationToken: Text?
  }

  var act: Act
  /// `nil` while it is queued.
  var errand: ErrandNumber?
  /// Since the host was asked, the window has shown something private.
  var isSecret = false
  /// The call never reached the host.
  var neverReached = false
}
