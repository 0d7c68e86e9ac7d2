/// How a program hosts the scenes of an application.
package struct HostOptions: Hashable, Sendable {
  /// Whether the host is asked for the configuration of each new session.
  package var choosesConfiguration: Bool
  /// Whether the host stands in for an application that knows nothing of this service. It does not own the application's name.
  package var isUnderstudy: Bool
  /// The path of the host's object; `nil` for the path that follows from the application's identifier.
  package var path: Text?
  /// Of an application that forwards: whether it takes from sandboxes what its manifest declares.
  package var acceptsSandboxed: Bool

  package init(
    choosesConfiguration: Bool = false, isUnderstudy: Bool = false, path: Text? = nil,
    acceptsSandboxed: Bool = false
  ) {
    self.choosesConfiguration = choosesConfiguration
    self.isUnderstudy = isUnderstudy
    self.path = path
    self.acceptsSandboxed = acceptsSandboxed
  }
}
