import DBus
import SceneModel

/// Who calls, as far as the service found out by itself.
struct Caller: Hashable, Sendable {
  /// Its unique name on the bus.
  let name: BusName?
  /// It runs in a sandbox, or left before anyone could look.
  let isSandboxed: Bool
  /// A sandbox's application; "" for everything else.
  let application: Text

  /// Who counts as one sender where there is a limit to each: a sandbox's application, else the connection.
  var counted: Text { application.isEmpty ? Text(name?.rawValue ?? "") : application }
}
