package import SceneModel
package import SceneRouting

/// What comes of a cue: plain values that can be printed and compared.
package struct Step: Hashable, Sendable {
  /// What is to be stored. Nobody hears of the rest before that is done.
  package var records: [Record] = []
  /// What is to be said then, in this order, the answer to the call last.
  package var sayings: [Saying] = []
  /// What is to be done once all of the turn was said.
  package var errands: [Errand] = []
  /// When the core wants the next ``Cue/moment``, on the clock that nobody sets; `nil` for never.
  package var callAgain: Int64?
  /// How much work the decision was, in its own steps: whoever caused much waits until others had their turn.
  package var effort = 0

  package init() {}
}

/// Something that is said on the bus or in the log.
package enum Saying: Hashable, Sendable {
  case answer(CallNumber, CallAnswer)
  indirect case event(Event)

  case applicationAppeared(Text)
  case applicationChanged(Text, [ApplicationProperty])
  case applicationWent(Text)
  case sessionAppeared(UniqueIdentifier)
  /// - Parameter withheld: of these nobody is told more than that they are others.
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

  static let ofManifest = allCases.filter { $0 != .hostAttached }
}

/// The properties of a session's object that can change and are announced.
package enum SessionField: String, CaseIterable, Sendable {
  case configuration = "Configuration"
  case state = "State"
  case connected = "Connected"
  case targetContentIdentifier = "TargetContentIdentifier"
  case title = "Title"
  case userActivity = "UserActivity"
  case stateRestorationActivity = "StateRestorationActivity"
  case userInfo = "UserInfo"
  case canActivatePredicate = "CanActivatePredicate"
  case prefersToActivatePredicate = "PrefersToActivatePredicate"
}

/// What a call is answered with.
package enum CallAnswer: Hashable, Sendable {
  case done
  case delivered(Delivered)
  case deliveredEach([DeliveredItem])
  case outcome(Text)
  case application(Text)
  /// - Parameter discarded: the sessions and paths that the host named and that are gone.
  case attached(application: Text, discarded: [Text])
  /// - Parameter size: in bytes; -1 where nobody knows it.
  case opened(size: Int64)
  case dragBegun(UniqueIdentifier, ticket: Text)
  case dragOpened(UniqueIdentifier)
  case operation(Text)
  indirect case refused(InterchangeError)
}

/// Where a delivery went.
package struct Delivered: Hashable, Sendable {
  package let session: UniqueIdentifier
  package let outcome: Text
  package let delivery: UniqueIdentifier
}

package enum DeliveredItem: Hashable, Sendable {
  case delivered(Delivered)
  case refused(InterchangeError)
}

/// Something that the shell does, and most often tells the core what came of it.
package enum Errand: Hashable, Sendable {
  /// Asks the host `owner` of an application; comes back as ``Cue/hostAnswered(_:_:)``.
  ///
  /// - Parameter within: microseconds.
  indirect case ask(ErrandNumber, application: Text, owner: Text, HostQuestion, within: Int64)
  /// Reads a delivery from the store; comes back as ``Cue/delivery(_:_:)``, as soon as the disk can be read.
  case read(ErrandNumber, delivery: UniqueIdentifier)
  /// Finds out whether a connection owns an application's name; comes back as ``Cue/ownership(_:isOwner:)``. As long as it attached,
  /// ``Cue/hostLeft(application:connection:)`` tells that it no longer does.
  case findOwner(CallNumber, application: Text, connection: Text)
  /// Starts an application by the bus; comes back as ``Cue/launch(application:number:_:)``, several times.
  case launch(application: Text, number: Int)
  /// Starts it by the command of its manifest; comes back in the same way.
  case run(application: Text, number: Int, command: Text, activationToken: Text?)
  /// What becomes of an earlier start is no news any more.
  case forgetLaunch(application: Text, number: Int)
  /// Takes contents into the baggage room; comes back as ``Cue/packed(_:_:)``.
  ///
  /// - Parameter atMost: bytes, of all of them together.
  case pack(CallNumber, [PackingOrder], atMost: Int)
  /// Opens a parcel for the caller; comes back as ``Cue/opened(_:_:)``.
  ///
  /// - Parameter within: microseconds, for a source that has to be asked.
  indirect case open(CallNumber, UniqueIdentifier, Parcel, within: Int64)
  /// Nobody waits for it any more.
  case callOff(CallNumber)
  /// Nobody asks for these any more: their sources may forget them.
  case endPromises([Promise])
  /// The room forgets what it has of these deliveries.
  case free([UniqueIdentifier])
  /// The room forgets these parcels of a delivery or a drag, and keeps the others.
  case freeParcels(UniqueIdentifier, [Int])
}

/// What a host is asked.
package enum HostQuestion: Hashable, Sendable {
  case configuration(UniqueIdentifier, role: Text, options: Text)
  case connect(UniqueIdentifier, configuration: Text, options: Text)
  case `continue`(UniqueIdentifier, options: Text)
  case activate(UniqueIdentifier, token: Text?)
  case refresh(UniqueIdentifier)
  case destroy(UniqueIdentifier, animation: Text)
  case discarded([UniqueIdentifier])
  indirect case propose(UniqueIdentifier, items: [Item], allowed: [PayloadOptions.Operation])
}

/// What the core has to know before it can answer a cue. The shell reads it, calls ``PromptBook/learn(_:)``, and gives the cue again.
package enum Lack: Error, Hashable, Sendable {
  /// Sessions that decisions may look at.
  case routing([Need])
  /// These sessions, whole.
  case sessions([UniqueIdentifier])
  case delivery(UniqueIdentifier)
  /// What a delivery carries.
  case baggage(UniqueIdentifier)
  /// What was made under a token, in the order in which it was made.
  case token(Text, owner: Text)
  /// Some of an application's sessions whose configuration its manifest does not have.
  indirect case orphans(Manifest)
}
