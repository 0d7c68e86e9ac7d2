package import DBus
package import SceneModel

/// Who calls, as far as the service found out by itself.
package struct Caller: Hashable, Sendable {
  /// Its unique name on the bus.
  package let name: BusName?
  /// It runs in a sandbox, or left before anyone could look.
  package let isSandboxed: Bool
  /// A sandbox's application; "" for everything else.
  package let application: Text

  package init(name: BusName?, isSandboxed: Bool, application: Text) {
    self.name = name
    self.isSandboxed = isSandboxed
    self.application = application
  }
}
