/// The reason why the service refuses a request. The message stands by itself, because some clients show nothing else.
package struct InterchangeError: Error, Hashable, Sendable {
  package enum Name: Hashable, Sendable {
    case invalidPayload, invalidManifest, invalidPredicate
    case noSuchDelivery, noSuchSession, noSuchApplication
    case cancelled, hostTimeout, hostRefused, launchFailed, notHost
    case requestDenied, eventsGone, storageFailed
    case noSuchItem, sourceGone, notDropped
    /// Errors for which D-Bus itself has names.
    case invalidArgs, accessDenied, limitsExceeded, unknownObject, noReply
    /// A refusal with a name of its own: of routing, of the source of a promise, or of the host of a forwarded delivery.
    case routing(Text)
  }

  package let name: Name
  package let message: String

  package init(_ name: Name, _ message: String) {
    self.name = name
    self.message = message
  }

  /// The name on the bus.
  package var errorName: Text {
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
    case .noSuchItem: "org.stagedoor.Error.NoSuchItem"
    case .sourceGone: "org.stagedoor.Error.SourceGone"
    case .notDropped: "org.stagedoor.Error.NotDropped"
    case .invalidArgs: "org.freedesktop.DBus.Error.InvalidArgs"
    case .accessDenied: "org.freedesktop.DBus.Error.AccessDenied"
    case .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded"
    case .unknownObject: "org.freedesktop.DBus.Error.UnknownObject"
    case .noReply: "org.freedesktop.DBus.Error.NoReply"
    case .routing(let name): name
    }
  }

  // MARK: Faults of documents

  package init(payload fault: Fault) {
    self.init(fault.kind == .limit ? .limitsExceeded : .invalidPayload, fault.description)
  }

  package init(manifest faults: Faults) {
    let kinds = Set(faults.all.map(\.kind))
    let name: Name =
      kinds.contains(.limit) ? .limitsExceeded : kinds == [.predicate] ? .invalidPredicate : .invalidManifest
    // The whole document has the name of the argument.
    let named = faults.all.map { $0.place.isEmpty ? $0.below(Place.document.key("manifest")) : $0 }
    self.init(name, named.map(\.description).joined(separator: "\n"))
  }
}
