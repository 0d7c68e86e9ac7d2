import SceneModel

// The life of a start. `docs/lives.md` shows the same states as a table.
//
//   (something is held) ──► asking ──► begun ──► (the host attaches)
//                             │          │
//                             │          ├──► ended: the command ended well, and what it left behind may attach yet
//                             │          ├──► asking (a program that was there before leaves)
//                             │          └──► (failed: everything held fails)
//                             └──► impossible: someone may attach

/// The start of an application that has held deliveries and no host. Each start has a number, so that the news of an earlier start is not taken for
/// its own.
enum Start: Hashable, Sendable {
  /// The bus was asked to start the application. If it cannot, it answers at once, and otherwise when the application has started.
  case asking(number: Int, isKnown: Bool)
  /// The application was started, and should attach.
  case begun(number: Int, since: Int64)
  /// The command ended with status 0. If nothing has attached by this time, the application is started again.
  case ended(until: Int64)
  /// Nothing can start the application. After a while the core asks again.
  case impossible(since: Int64)

  static let askedAgainAfter: Int64 = 10_000_000
  /// A program that has not attached by then hangs, or never began, whatever the bus or systemd said: it is started again.
  static let attachesBy: Int64 = 120_000_000
  /// The same for what a command has left behind: the default deadline of a delivery.
  static let followsBy: Int64 = 20_000_000

  /// Whether another start should begin now.
  func mayBeginAgain(at uptime: Int64) -> Bool {
    switch self {
    case .asking: false
    case .begun(_, let since): uptime - since >= Start.attachesBy
    case .impossible(let since): uptime - since >= Start.askedAgainAfter
    case .ended(let until): uptime >= until
    }
  }

  var number: Int? {
    switch self {
    case .asking(let number, _), .begun(let number, _): number
    case .ended, .impossible: nil
    }
  }

  /// Whether the application may still attach; `nil` if that is not known yet.
  var isPossible: Bool? {
    switch self {
    case .asking(_, let isKnown): isKnown ? true : nil
    case .begun, .ended: true
    case .impossible: false
    }
  }
}
