package import SceneModel
package import TextRules

/// An input of the core. A step depends only on cues and their moments.
package enum Cue: Sendable {
  /// The service starts, and the core remembers the data of its store.
  case began
  indirect case call(CallNumber, Caller, Ask)
  /// Whether the caller of AttachHost owns the name that its host must own, and what it lacks to be called.
  case ownership(ErrandNumber, isOwner: Bool, lack: Text? = nil)
  case hostAnswered(ErrandNumber, HostAnswer)
  /// The connection of this question has lost the name that the application's host must own, or has left the bus.
  case hostLeft(application: Text, since: ErrandNumber)
  /// A caller with charges has left the bus.
  case callerLeft(connection: Text)
  /// The delivery that an errand asked for; `nil` if the store has none.
  indirect case delivery(ErrandNumber, StoredDelivery?)
  case launch(application: Text, number: Int, LaunchNews)
  /// The installed manifests. The applications in `keeping` have a broken file, and keep their previous manifests.
  case installed([Text: InstalledManifest], keeping: Set<Text>)
  /// The program itself declares an application, as if it were registered.
  indirect case declared(Manifest)
  /// The baggage store has taken the contents of a call, or has failed.
  case packed(CallNumber, PackingAnswer)
  /// The rules were asked for a call.
  indirect case consulted(CallNumber, [Consultation])
  /// The baggage store has opened a parcel for a call, or has failed.
  case opened(CallNumber, OpeningAnswer)
  /// The time that a step asked for has come.
  case moment
  /// The store has refused a call, or the result of its packing. The answer is this error, and takes nothing from the store: a store that cannot be
  /// read would refuse it as well.
  indirect case refused(Cue, InterchangeError)
}

/// The time of a cue.
package struct Moment: Hashable, Sendable {
  /// The time of day, for records and for dates in documents. Somebody may set this clock.
  package var time: Instant
  /// Microseconds on a clock that nobody can set, for deadlines and pauses.
  package var uptime: Int64

  package init(time: Instant, uptime: Int64) { (self.time, self.uptime) = (time, uptime) }
}

/// The number of a call, until it is answered.
package typealias CallNumber = UInt64
/// The number of an errand, until the shell reports its result.
package typealias ErrandNumber = UInt64

/// A caller, as the service has identified it. The type knows nothing of D-Bus: a relay or a test can be a caller.
package struct Caller: Hashable, Sendable {
  /// The name of the connection; `nil` if it has none.
  package let connection: Text?
  /// Whether the caller runs in a sandbox, or left before the service could look at it.
  package let isSandboxed: Bool
  /// The application of a sandbox; "" for everything else.
  package let application: Text
  /// Whether the caller left before the service could look at it.
  package let isStranger: Bool
  /// Whether the caller left before its call was carried out. Nobody will report that it leaves.
  package private(set) var hasLeft = false

  package init(connection: Text?, isSandboxed: Bool, application: Text, isStranger: Bool = false) {
    self.connection = connection
    self.isSandboxed = isSandboxed
    self.application = application
    self.isStranger = isStranger
  }

  package var left: Caller {
    var caller = self
    caller.hasLeft = true
    return caller
  }

  package var principal: Principal {
    if isSandboxed { return isStranger || application.isEmpty ? .strangers : .sandbox(application) }
    if hasLeft { return .departed }
    return connection.map { .connection($0) } ?? .strangers
  }

  /// The owner of its tokens: programs outside a sandbox share theirs, because a shell has a new connection for each call. No application has the
  /// identifier "?".
  var tokenOwner: Text { isSandboxed && application.isEmpty ? "?" : application }

  /// Whether it may look after an application: a sandbox after its own, everyone else after all.
  package func mayTouch(_ other: Text) -> Bool { !isSandboxed || other == application && !application.isEmpty }
}

/// A request of a caller, with every value checked. Questions that change nothing are not among them.
package enum Ask: Sendable {
  /// - Parameters:
  ///   - digest: The digest of the document, which tells another document under the same token apart; "" if there is none.
  ///   - size: The bytes of the document.
  indirect case deliver(Payload, digest: Text, size: Int)
  indirect case deliverEach(Payload, digest: Text, size: Int)
  /// Brings a session to the front. It is a payload that names the session, with a reply of its own.
  indirect case activate(UniqueIdentifier, Payload, size: Int)
  case newSession(application: Text, configuration: Text)
  /// A window that its host shows already becomes a session.
  indirect case adopt(application: Text, configuration: Text, UserActivity?, title: Text)
  case cancel(UniqueIdentifier)
  case redirect(UniqueIdentifier, to: UniqueIdentifier)
  /// - Parameter size: The bytes of the document.
  indirect case register(Manifest, size: Int)
  case unregister(Text)
  case prefer(Text?, type: Text)
  /// - Parameters:
  ///   - shown: The sessions that the host still shows, and the paths that name no session.
  case attach(application: Text, shown: [UniqueIdentifier], unknown: [Text], HostOptions)
  case putOff(UniqueIdentifier, seconds: UInt32)
  /// - Parameter error: "" if the delivery has been handled.
  case finish(UniqueIdentifier, error: Text, message: Text)
  case refresh(UniqueIdentifier)
  case destroy(UniqueIdentifier, animation: Text)
  case setState(UniqueIdentifier, SceneState)
  case disconnect(UniqueIdentifier)
  case write(UniqueIdentifier, SessionWriting)
  case post(application: Text, name: Text, userInfo: Text)
  /// - Parameter type: The type to which the representation must conform; "" for the first.
  case openItem(UniqueIdentifier, item: Int, type: Text)
  case release(UniqueIdentifier)
  case renewPromises(token: Text)
  /// - Parameters:
  ///   - ticket: The random ticket, from outside, because the core has no random numbers.
  ///   - outlivesSource: Whether a script begins the drag, whose calls have a connection each.
  indirect case beginDrag(Payload, ticket: Text, outlivesSource: Bool, size: Int)
  case openDrag(ticket: Text)
  case addItems([Item], to: UniqueIdentifier, size: Int)
  case cancelDrag(UniqueIdentifier)
  /// - Parameter on: The session; `nil` for the edge of the screen.
  case propose(UniqueIdentifier, on: UniqueIdentifier?)
  case drop(UniqueIdentifier, on: UniqueIdentifier?, operation: Text)
}

/// A value that a host writes to its session.
package enum SessionWriting: Hashable, Sendable {
  case title(Text)
  case userActivity(UserActivity?)
  case stateRestorationActivity(UserActivity?)
  case userInfo(UserInfo)
  case canActivatePredicate(Text)
  case prefersToActivatePredicate(Text)

  package var property: SessionProperty {
    switch self {
    case .title: .title
    case .userActivity: .userActivity
    case .stateRestorationActivity: .stateRestorationActivity
    case .userInfo: .userInfo
    case .canActivatePredicate: .canActivatePredicate
    case .prefersToActivatePredicate: .prefersToActivatePredicate
    }
  }
}

/// The host's answer to a question.
package enum HostAnswer: Hashable, Sendable {
  case done
  case configuration(Text)
  /// The operation that it proposes for a drop.
  case operation(Text)
  /// It answered with an error, in its own words.
  case refused(Text)
  case timedOut
  /// The question could not be put.
  case failed(Text)
  /// The host has gone. Nobody knows what it did, unless the question never reached it.
  case gone(neverReached: Bool)
}

/// The progress of an application's start.
package enum LaunchNews: Hashable, Sendable {
  /// The bus knows how to start the application, and has begun.
  case isKnown
  /// The bus has started the application, or it was running already.
  case started
  /// The bus does not know how to start the application.
  case unknown
  case failed(Text)
  /// The command of the manifest has ended: with status 0, or with this failure.
  case commandEnded(failure: Text?)
  /// The application left the bus before it attached. The bus has not started it for this if it was there already, such as a host that did not attach
  /// again after a restart of the service.
  case left(wasStarted: Bool)
}

package struct InstalledManifest: Hashable, Sendable {
  package let manifest: Manifest
  package let file: Text

  package init(manifest: Manifest, file: Text) { (self.manifest, self.file) = (manifest, file) }
}
