package import SceneModel
package import SceneRouting

/// The result of a cue: plain values that can be printed and compared.
package struct Step: Hashable, Sendable {
  /// The records to store. Nobody hears of the rest before this is done.
  package var records: [Record] = []
  /// What the service then says, in this order, the reply to the call last.
  package var sayings: [Saying] = []
  /// What the shell then does, after everything of the turn was said.
  package var errands: [Errand] = []
  /// When the core needs the next ``Cue/moment``, on the clock that nobody can set; `nil` for never.
  package var callAgain: Int64?
  /// The number of connections that are told of drags.
  package var listeners = 0

  package init() {}
}

/// A message on the bus, or a line in the log.
package enum Saying: Hashable, Sendable {
  case answer(CallNumber, CallAnswer)
  indirect case event(Event)

  case applicationAppeared(Text)
  case applicationChanged(Text, [ApplicationProperty])
  case applicationWent(Text)
  case sessionAppeared(UniqueIdentifier)
  /// - Parameter withheld: The fields that are announced without their values.
  case sessionChanged(UniqueIdentifier, [SessionField], withheld: [SessionField])
  case sessionWent(UniqueIdentifier)
  case notification(application: Text, name: Text, userInfo: Text)
  /// To these connections only.
  case drag(UniqueIdentifier, DragNews, to: [Text])

  case log(LogLevel, Text)
}

package enum LogLevel: Hashable, Sendable { case error, warning, info }

/// The properties of an application's object that can change.
package enum ApplicationProperty: String, CaseIterable, Sendable {
  case name = "Name"
  case activityTypes = "ActivityTypes"
  case contentTypes = "ContentTypes"
  case supportsMultipleScenes = "SupportsMultipleScenes"
  case configurations = "Configurations"
  case hostAttached = "HostAttached"
  case manifestPath = "ManifestPath"
  case understudied = "Understudied"

  static let ofManifest = allCases.filter { $0 != .hostAttached }
}

/// The properties of a session's object that can change and are announced.
package enum SessionField: Hashable, Sendable {
  case configuration
  case state
  case connected
  case targetContentIdentifier
  /// A property that the host writes.
  case written(SessionProperty)

  package var name: String {
    switch self {
    case .configuration: "Configuration"
    case .state: "State"
    case .connected: "Connected"
    case .targetContentIdentifier: "TargetContentIdentifier"
    case .written(let property): property.rawValue
    }
  }
}

/// The answer to a call.
package enum CallAnswer: Hashable, Sendable {
  case done
  case delivered(Delivered)
  case deliveredEach([DeliveredItem])
  case outcome(Text)
  case application(Text)
  case adopted(UniqueIdentifier)
  /// - Parameter discarded: The sessions and paths that the host named and that do not exist.
  case attached(application: Text, discarded: [Text])
  /// - Parameter size: In bytes; -1 if nobody knows the size.
  case opened(size: Int64)
  case dragBegun(UniqueIdentifier, ticket: Text)
  case dragOpened(UniqueIdentifier)
  case operation(Text)
  indirect case refused(InterchangeError)
}

extension InterchangeError {
  /// The answer to a call whose caller has left. Nobody reads the answer, and the shell does not send it.
  package static let callerLeft = InterchangeError(.noReply, "its caller has left the bus")

  package static func noDelivery(_ name: String) -> InterchangeError {
    InterchangeError(.noSuchDelivery, "there is no delivery \(quoted(name)), or it is not kept any more")
  }

  package static func noApplication(_ identifier: Text) -> InterchangeError {
    InterchangeError(
      .noSuchApplication,
      "there is no application \(quoted(identifier.string)): install a manifest of that name, or register it")
  }
}

/// The destination of a delivery.
package struct Delivered: Hashable, Sendable {
  package let session: UniqueIdentifier
  package let outcome: Text
  package let delivery: UniqueIdentifier
}

package enum DeliveredItem: Hashable, Sendable {
  case delivered(Delivered)
  case refused(InterchangeError)
}

/// An action of the shell, which usually reports the result to the core.
package enum Errand: Hashable, Sendable {
  /// Asks the host `owner` of an application a question. The result is ``Cue/hostAnswered(_:_:)``.
  ///
  /// - Parameters:
  ///   - path: The path of the host's object; `nil` for the path that follows from the application's identifier.
  ///   - within: The time, in microseconds.
  indirect case ask(ErrandNumber, application: Text, owner: Text, at: Text?, HostQuestion, within: Int64)
  /// Reads a delivery from the store. The result is ``Cue/delivery(_:_:)``, as soon as the disk can be read.
  case read(ErrandNumber, delivery: UniqueIdentifier)
  /// Finds out whether a connection owns the name under which it wants to host an application, and has an object at the host's path. The result is
  /// ``Cue/ownership(_:isOwner:lack:)``. If the connection owns it, ``Cue/hostLeft(application:since:)`` reports that it has lost the name.
  case findOwner(ErrandNumber, name: Text, application: Text, connection: Text, path: Text?)
  /// Starts the host of an application through the bus. The results are several ``Cue/launch(application:number:_:)``.
  case launch(application: Text, number: Int, name: Text)
  /// Starts an application by the command of its manifest, with the same results.
  case run(application: Text, number: Int, command: Text, activationToken: Text?)
  /// Later news of an earlier start no longer matters.
  case forgetLaunch(application: Text, number: Int)
  /// Takes contents into the baggage store. The result is ``Cue/packed(_:_:)``.
  ///
  /// - Parameters:
  ///   - atMost: The bytes of all contents together.
  ///   - eachItem: Whether an item that cannot be taken leaves the others. Otherwise everything fails with the first.
  case pack(CallNumber, [PackingOrder], atMost: Int, eachItem: Bool)
  /// Asks the rules, and the disk for them. The result is ``Cue/consulted(_:_:)``.
  indirect case consult(CallNumber, Consulting)
  /// Opens a parcel for the caller. The result is ``Cue/opened(_:_:)``.
  ///
  /// - Parameters:
  ///   - sandbox: The application of a sandboxed caller; `nil` for a caller outside.
  ///   - within: The time for a source that must be asked, in microseconds.
  indirect case open(CallNumber, UniqueIdentifier, Parcel, sandbox: Text?, within: Int64)
  /// Stops an opening that nobody waits for any more.
  case callOff(CallNumber)
  /// Tells the sources that nobody will ask for these promises again.
  case endPromises([Promise])
  /// The baggage store forgets the picture of a session: it may show what only some may see.
  case forgetPicture(UniqueIdentifier)
  /// The baggage store frees its contents of these deliveries.
  case free([UniqueIdentifier])
  /// The baggage store frees these parcels of a delivery or a drag, and keeps the others.
  case freeParcels(UniqueIdentifier, [Int])
}

/// A question to a host.
package enum HostQuestion: Hashable, Sendable {
  case configuration(UniqueIdentifier, role: Text, options: Text)
  case connect(UniqueIdentifier, configuration: Text, options: Text)
  case `continue`(UniqueIdentifier, options: Text)
  case activate(UniqueIdentifier, token: Text?)
  case refresh(UniqueIdentifier)
  case destroy(UniqueIdentifier, animation: Text)
  case discarded([UniqueIdentifier])
  indirect case propose(UniqueIdentifier, items: [Item], allowed: [PayloadOptions.Operation])

  /// The method of the host.
  package var member: String {
    switch self {
    case .configuration: "ConfigurationForConnecting"
    case .connect: "ConnectScene"
    case .continue: "ContinueScene"
    case .activate: "ActivateScene"
    case .refresh: "RefreshScene"
    case .destroy: "DestroyScene"
    case .discarded: "DidDiscardSceneSessions"
    case .propose: "ProposeDrop"
    }
  }
}

/// The data that the core needs before it can answer a cue. The prompter reads the data, calls ``PromptBook/learn(_:)``, and gives the cue again.
package enum Lack: Error, Hashable, Sendable {
  /// Sessions that decisions may look at.
  case routing([Need])
  /// These sessions, whole.
  case sessions([UniqueIdentifier])
  /// These deliveries, whole.
  case deliveries([UniqueIdentifier])
  /// The parcels of a delivery.
  case baggage(UniqueIdentifier)
  /// The deliveries that were made under a token, in their order.
  case token(Text, owner: Text)
  /// Some sessions of an application whose configuration its manifest does not have.
  indirect case orphans(Manifest)
}
