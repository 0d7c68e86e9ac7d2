import DBus
import SceneModel

/// Who calls, as far as the service found out by itself.
struct Caller: Hashable, Sendable {
  /// Its unique name on the bus.
  let name: BusName?
  /// It runs in a sandbox, or nobody can say that it does not.
  let isSandboxed: Bool
  /// A sandbox's application; "" for every other caller.
  let application: Text
  /// It could not be looked at: most often it left before.
  var isStranger = false

  /// Who counts as one sender where there is a limit to each: a sandbox's application, else the connection. Strangers count as one together, since
  /// whoever leaves at once could have as many connections as it likes. "?" is no name on the bus, and no application.
  var counted: Text {
    if isStranger { return "?" }
    return application.isEmpty ? Text(name?.rawValue ?? "") : application
  }

  /// Whose tokens it shares: those of a sandbox's application are its own, those of everyone outside are common, and who may be either shares
  /// neither.
  var key: Text { isSandboxed && application.isEmpty ? "?" : application }
}
