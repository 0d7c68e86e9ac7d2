import DBus
import InterchangeCore
import SceneModel
import ServiceSupport

/// Identifies callers. Each sender is looked at once, because its unique name is never given to another.
final class Callers {
  private var known: [BusName: Caller] = [:]
  /// Each call of a shell has a new name, so most names come once. Beyond this number all are forgotten.
  private static let maximumKnown = 1024

  func caller(of call: Call) -> Caller { call.isAbandoned ? sender(of: call).left : sender(of: call) }

  private func sender(of call: Call) -> Caller {
    guard let name = call.sender else { return Callers.stranger(nil) }
    if let caller = known[name] { return caller }
    // The service may succeed in looking at the caller at its next call.
    guard let caller = Callers.look(at: call.knownCredentials, Text(name.rawValue)) else {
      return Callers.stranger(Text(name.rawValue))
    }
    if known.count >= Callers.maximumKnown { known.removeAll(keepingCapacity: true) }
    known[name] = caller
    return caller
  }

  private static func stranger(_ name: Text?) -> Caller {
    Caller(connection: name, isSandboxed: true, application: .empty, isStranger: true)
  }

  /// `nil` if the service could not look at it: it had left, or there was no descriptor to look with.
  private static func look(at credentials: Credentials?, _ name: Text) -> Caller? {
    guard let sandbox = Sandbox.find(around: credentials) else { return nil }
    switch sandbox {
    case .none: return Caller(connection: name, isSandboxed: false, application: .empty)
    case .application(let identifier): return Caller(connection: name, isSandboxed: true, application: identifier)
    case .unknown: return Caller(connection: name, isSandboxed: true, application: .empty)
    }
  }
}
