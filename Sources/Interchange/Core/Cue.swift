package import SceneModel

/// What the core is told. With the moment, it is all that a step depends on.
package enum Cue: Sendable {
  /// The service begins, and what it left is remembered.
  case began
  case call(CallNumber, Caller, Ask)
  /// Whether the caller of AttachHost owns the name of the application.
  case ownership(CallNumber, isOwner: Bool)
  case hostAnswered(ErrandNumber, HostAnswer)
  /// The connection has lost the application's name or has left the bus.
  case hostLeft(application: Text, connection: Text)
  /// A caller that is charged for something has left the bus.
  case callerLeft(connection: Text)
  /// The delivery that an errand asked for: `nil` where the store has none.
  case delivery(ErrandNumber, StoredDelivery?)
  case launch(application: Text, number: Int, LaunchNews)
  /// The manifests that are installed now. The applications in `keeping` have a broken one: what they were they stay.
  case installed([Text: InstalledManifest], keeping: Set<Text>)
  /// The program itself declares an application, as if it were registered.
  indirect case declared(Manifest)
  /// The baggage room has taken the contents of a call, or could not.
  case packed(CallNumber, PackingAnswer)
  /// The baggage room has opened what a call asked for, or could not.
  case opened(CallNumber, OpeningAnswer)
  /// The moment that a step asked for.
  case moment
}

/// When something comes.
package struct Moment: Hashable, Sendable {
  /// The time of day, for records and for dates in documents: somebody may set it.
  package var time: Instant
  /// Microseconds on a clock that nobody sets: deadlines and pauses count on it.
  package var uptime: Int64

  package init(time: Instant, uptime: Int64) { (self.time, self.uptime) = (time, uptime) }
}

/// A call that came in, until it is answered.
package typealias CallNumber = UInt64
/// Something that the shell was asked to do, until it tells what came of it.
package typealias ErrandNumber = UInt64

/// Who calls, as far as the service found out by itself. It knows nothing of D-Bus: a relay or a test can be one.
package struct Caller: Hashable, Sendable {
  /// What the connection is called; `nil` for one that has no name.
  package let connection: Text?
  /// It runs in a sandbox, or left before anyone could look.
  package let isSandboxed: Bool
  /// A sandbox's application; "" for everything else.
  package let application: Text
  /// Nobody could look at it before it left.
  package let isStranger: Bool

  package init(connection: Text?, isSandboxed: Bool, application: Text, isStranger: Bool = false) {
    self.connection = connection
    self.isSandboxed = isSandboxed
    self.application = application
    self.isStranger = isStranger
  }

  var principal: Principal {
    if isSandboxed { return isStranger || application.isEmpty ? .strangers : .sandbox(application) }
    return connection.map { .connection($0) } ?? .strangers
  }

  /// Whose tokens it has: programs outside a sandbox share theirs, since a shell has a new connection for each call. No application is
  /// called "?".
  var tokenOwner: Text { isSandboxed && application.isEmpty ? "?" : application }

  /// Whether it looks after the application: a sandbox after its own, everyone else after all.
  package func mayTouch(_ other: Text) -> Bool { !isSandboxed || other == application && !application.isEmpty }
}

/// What a caller asks for, every value checked. Questions that change nothing are not among them.
package enum Ask: Sendable {
  /// - Parameters:
  ///   - digest: of the document as it came, by which another document under the same token is known; "" where there is none.
  ///   - size: bytes of the document as it came.
  indirect case deliver(Payload, digest: Text, size: Int)
  indirect case deliverEach(Payload, digest: Text, size: Int)
  /// Brings a session to the front: a payload that names it, answered in its own way.
  indirect case activate(UniqueIdentifier, Payload, size: Int)
  case newSession(application: Text, configuration: Text)
  case cancel(UniqueIdentifier)
  case redirect(UniqueIdentifier, to: UniqueIdentifier)
  /// - Parameter size: bytes of its document.
  indirect case register(Manifest, size: Int)
  case unregister(Text)
  case prefer(Text?, type: Text)
  /// - Parameters:
  ///   - shown: the sessions that the host still shows, and the paths that name none.
  case attach(application: Text, shown: [UniqueIdentifier], unknown: [Text], choosesConfiguration: Bool)
  case refresh(UniqueIdentifier)
  case destroy(UniqueIdentifier, animation: Text)
  case setState(UniqueIdentifier, SceneState)
  case disconnect(UniqueIdentifier)
  case write(UniqueIdentifier, SessionWriting)
  case post(application: Text, name: Text, userInfo: Text)
  /// - Parameter type: what the representation is to conform to; "" for the first.
  case openItem(UniqueIdentifier, item: Int, type: Text)
  case release(UniqueIdentifier)
  /// - Parameters:
  ///   - ticket: random, from outside: the core has no randomness.
  ///   - outlivesSource: a script begins it, whose calls each have a connection of their own.
  indirect case beginDrag(Payload, ticket: Text, outlivesSource: Bool, size: Int)
  case openDrag(ticket: Text)
  case addItems([Item], to: UniqueIdentifier, size: Int)
  case cancelDrag(UniqueIdentifier)
  /// - Parameter on: a session; `nil` for the edge of the screen.
  case propose(UniqueIdentifier, on: UniqueIdentifier?)
  case drop(UniqueIdentifier, on: UniqueIdentifier?, operation: Text)
}

/// What a host writes about its session.
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

/// What a host answered to what it was asked.
package enum HostAnswer: Hashable, Sendable {
  case done
  case configuration(Text)
  /// What it proposes for a drop.
  case operation(Text)
  /// It answered with an error, in its words.
  case refused(Text)
  case timedOut
  /// It could not be asked.
  case failed(Text)
  /// It is no longer there. Nobody knows what it did, unless the call never reached it.
  case gone(neverReached: Bool)
}

/// What becomes of an application that is being started.
package enum LaunchNews: Hashable, Sendable {
  /// The bus knows how to start it, and has begun.
  case isKnown
  /// The bus has started it, or it was there already.
  case started
  /// The bus does not know how to start it.
  case unknown
  case failed(Text)
  /// The command of its manifest has ended: well, or as the sentence says.
  case commandEnded(failure: Text?)
  /// It came to the bus, and left it before it attached.
  case left
}

package struct InstalledManifest: Hashable, Sendable {
  package let manifest: Manifest
  package let file: Text

  package init(manifest: Manifest, file: Text) { (self.manifest, self.file) = (manifest, file) }
}
