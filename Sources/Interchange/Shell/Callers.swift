import DBus
import Glibc
import InterchangeCore
import SceneModel

/// Who calls. A sender is looked at once: its unique name is never given to another.
final class Callers {
  private var known: [BusName: Caller] = [:]
  /// Each call of a shell comes under a new name, so most are asked for once. Beyond this many all are forgotten.
  private static let maximumKnown = 1024

  func caller(of call: Call) -> Caller {
    guard let name = call.sender else { return Caller(connection: nil, isSandboxed: true, application: .empty, isStranger: true) }
    if let caller = known[name] { return caller }
    let caller = Callers.look(at: call.knownCredentials, name)
    if known.count >= Callers.maximumKnown { known.removeAll(keepingCapacity: true) }
    known[name] = caller
    return caller
  }

  /// One that has left before it could be looked at could have been anyone, and counts as a stranger.
  private static func look(at credentials: Credentials?, _ name: BusName) -> Caller {
    var sandbox = Sandbox.unknown
    if let credentials, credentials.userID == getuid(), let process = credentials.processID {
      sandbox = Sandbox.find(around: process, credentials.processDescriptor)
    }
    let connection = Text(name.rawValue)
    switch sandbox {
    case .none: return Caller(connection: connection, isSandboxed: false, application: .empty)
    case .application(let identifier): return Caller(connection: connection, isSandboxed: true, application: identifier)
    case .unknown: return Caller(connection: connection, isSandboxed: true, application: .empty, isStranger: credentials == nil)
    }
  }
}
