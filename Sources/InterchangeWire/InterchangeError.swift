package import DBus
package import SceneModel

/// A refusal, as the bus tells it. Its message stands by itself, since some clients show nothing else.
package struct InterchangeError: Error, NamedOnBus, Hashable, Sendable {
  package enum Name: Hashable, Sendable {
    case invalidPayload, invalidManifest, invalidPredicate
    case noSuchDelivery, noSuchSession, noSuchApplication
    case cancelled, hostTimeout, hostRefused, launchFailed, notHost
    case requestDenied, eventsGone, storageFailed
    /// What D-Bus itself has a name for.
    case invalidArgs, accessDenied, limitsExceeded, unknownObject, noReply
    /// What routing refused, by the name of its reason.
    case routing(Text)
  }

  package let name: Name
  package let message: String

  package init(_ name: Name, _ message: String) {
    self.name = name
    self.message = message
  }

  package var errorName: ErrorName {
    switch name {
    case .invalidPayload: "org.stagedoor.Error.InvalidPayload"
    case .invalidManifest: "org.stagedoor.Error.InvalidManifest"
    case .invalidPredicate: "org.stagedoor.Error.InvalidPredicate"
    case .noSuchDelivery: "org.stagedoor.Error.NoSuchDelivery"
    case .noSuchSession: "org.stagedoor.Error.NoSuchSession"
    case .noSuchApplication: "org.stagedoor.Error.NoSuchApplication"
    case .cancelled: "org.stagedoor.Error.Cancelled"
    case .hostTimeout: "org.stagedoor.Error.HostTimeout"
    case .hostRefused: "org.stagedoor.Error.HostRefused"
    case .launchFailed: "org.stagedoor.Error.LaunchFailed"
    case .notHost: "org.stagedoor.Error.NotHost"
    case .requestDenied: "org.stagedoor.Error.RequestDenied"
    case .eventsGone: "org.stagedoor.Error.EventsGone"
    case .storageFailed: "org.stagedoor.Error.StorageFailed"
    case .invalidArgs: .invalidArgs
    case .accessDenied: .accessDenied
    case .limitsExceeded: .limitsExceeded
    case .unknownObject: .unknownObject
    case .noReply: .noReply
    case .routing(let name): ErrorName(unchecked: name.string)
    }
  }

  package var errorReply: ErrorReply { ErrorReply(errorName, message) }

  // MARK: What documents are refused for

  package init(payload fault: Fault) {
    self.init(fault.kind == .limit ? .limitsExceeded : .invalidPayload, fault.description)
  }

  package init(manifest faults: Faults) {
    let kinds = Set(faults.all.map(\.kind))
    let name: Name =
      kinds.contains(.limit) ? .limitsExceeded : kinds == [.predicate] ? .invalidPredicate : .invalidManifest
    self.init(name, faults.description)
  }
}
