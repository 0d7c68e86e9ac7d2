import SceneModel

// The life of a start. `docs/lives.md` shows the same states as a table.
//
//   (something is held) ──► asking ──► begun ──► (the host attaches)
//                             │          │
//                             │          ├──► ended: the command ended well, and what it left behind may attach yet
//                             │          └──► (failed: everything held fails)
//                             └──► impossible: someone may attach

/// What is known of an application that has no host and for which something is held. Each start has a number, so that the news of an
/// earlier one is not taken for its own.
enum Start: Hashable, Sendable {
  /// The bus is asked to start it. Where the bus knows no way it says so at once, and else when the application is there.
  case asking(number: Int, isKnown: Bool)
  /// It has been started, and is to attach.
  case begun(number: Int, since: Int64)
  /// What was started has ended well. Where nothing has attached in time, it is started again.
  case ended(isLate: Bool)
  /// Nothing can start it. Whether that is still so is asked again after a while.
  case impossible(since: Int64)

  static let askedAgainAfter: Int64 = 10_000_000
  /// What has not attached by then hangs, or was never begun, whatever somebody said: it is started again.
  static let attachesBy: Int64 = 120_000_000

  /// Whether another start is to begin now.
  func mayBeginAgain(at uptime: Int64) -> Bool {
    switch self {
    case .asking, .ended(isLate: false): false
    case .begun(_, let since): uptime - since >= Start.attachesBy
    case .impossible(let since): uptime - since >= Start.askedAgainAfter
    case .ended(isLate: true): true
    }
  }

  var number: Int? {
    switch self {
    case .asking(let number, _), .begun(let number, _): number
    case .ended, .impossible: nil
    }
  }

  /// Whether something may come of it; `nil` for not known yet.
  var isPossible: Bool? {
    switch self {
    case .asking(_, let isKnown): isKnown ? true : nil
    case .begun, .ended: true
    case .impossible: false
    }
  }
}
