package import SceneModel

/// A payload, and what has to be known of how it came.
package struct Request: Sendable {
  package var payload: Payload
  package var sender: Sender
  /// What a session is called that has to be made for it.
  package var newSession: UniqueIdentifier
  /// Whether the explanation lists the sessions that were looked at. It changes nothing about what is decided.
  package var listsCandidates: Bool

  package init(
    _ payload: Payload, from sender: Sender = Sender(), newSession: UniqueIdentifier, listsCandidates: Bool = false
  ) {
    self.payload = payload
    self.sender = sender
    self.newSession = newSession
    self.listsCandidates = listsCandidates
  }
}

/// Who hands something in.
package struct Sender: Hashable, Sendable {
  /// The application whose attached host it is.
  package var hosts: Text?
  /// The sender runs in a sandbox, or left before anyone could look.
  package var isSandboxed: Bool
  /// The application that the sandbox is made for; `nil` where nobody knows, and outside a sandbox.
  package var application: Text?

  package init(hosts: Text? = nil, isSandboxed: Bool = false, application: Text? = nil) {
    self.hosts = hosts
    self.isSandboxed = isSandboxed
    self.application = application
  }

  /// Whether the sender is the sandbox of another application. An application takes from a stranger only the types that it declares.
  func isStranger(to application: Text) -> Bool {
    isSandboxed && hosts != application && self.application != application
  }
}
