package import SceneModel

/// A payload, with the facts about its arrival.
package struct Request: Sendable {
  package var payload: Payload
  package var sender: Sender
  package var newSession: UniqueIdentifier
  /// Whether the explanation lists candidates. This does not affect the decision.
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

package struct Sender: Hashable, Sendable {
  /// The application whose attached host the sender is.
  package var hosts: Text?
  /// Whether the sender runs in a sandbox, left before the service could look at it, or passes on what a stranger sent.
  package var isSandboxed: Bool
  /// The application of the sandbox; `nil` if it is unknown, and outside a sandbox.
  package var application: Text?
  /// The application that forwards, and whose host takes from sandboxes what its manifest declares; `nil` if the named session is of no such
  /// application.
  package var acceptedBy: Text?

  package init(hosts: Text? = nil, isSandboxed: Bool = false, application: Text? = nil) {
    self.hosts = hosts
    self.isSandboxed = isSandboxed
    self.application = application
  }

  /// Whether the sender is the sandbox of another application. An application takes only declared types from it.
  func isStranger(to application: Text) -> Bool {
    isSandboxed && hosts != application && self.application != application
  }
}
