import DBus
import DesktopFiles
import SceneModel
import ServiceSupport
import WindowEvidence

/// What the service knows of the applications that the understudy stands in for.
struct Hosting {
  /// The service's connection; `nil` while it does not run.
  var service: BusName?
  /// The registered manifests, by their identifiers, and the paths of their applications.
  var registered: [String: (manifest: DerivedManifest, path: ObjectPath)] = [:]
  var sessions: [ObjectPath: HostedSession] = [:]
  /// The documents whose sessions were closed a short while ago.
  var closed: [ClosedDocument] = []
  /// The documents of private deliveries whose windows have not gone yet.
  var secrets: [SecretDocument] = []
  /// Nobody opens as many in private. Beyond this the oldest are forgotten, and their windows get sessions.
  static let mostSecrets = 10_000
  /// The applications whose windows have changed since their sessions were last compared with them, by their desktop files; `nil` if nothing has changed.
  var changed: Set<String>?
  /// Whether sessions are being compared, or are about to be: two that compare at the same time would adopt one window twice.
  var isComparing = false
  var isUpdating = false
  var isOutOfDate = false
  /// The pauses before the service is asked again for what it could not do: for an application's sessions by the desktop file, for manifests by `nil`.
  var pauses: [String?: (pause: Duration, isWaiting: Bool)] = [:]
  static let firstPause = Duration.milliseconds(100)
  static let longestPause = Duration.seconds(60)
}

/// A document whose session was closed: its window was asked to close, or is to close as soon as it comes. Meanwhile it gets no other session.
struct ClosedDocument {
  /// The application's desktop file.
  let application: String
  /// `nil` if nobody knew what the window showed.
  let document: DocumentPlace?
  /// `nil` while the window has not come.
  var window: WindowNumber?
  /// When the session was closed, or the window asked to close.
  var asked = ContinuousClock.now
  /// The time from which the window may come, or go, for as long as a program may take to start.
  var since = ContinuousClock.now
  /// Whether a dialog was there when the windows were last compared: a person may take long for the answer.
  var isAsking = false
}

/// A document, and the file behind its links: a session has the path that the person used, and the kernel tells where that leads.
struct DocumentPlace {
  let url: String
  /// `nil` if there is no file.
  private let file: Bytes?

  init(_ url: String) {
    self.url = url
    file = FileURL.path(of: Text(url)).flatMap { LinkTarget.last(of: $0) }
  }

  func isSame(as other: DocumentPlace) -> Bool { url == other.url || file != nil && file == other.file }
}

/// A document of a private delivery: nothing is said of it where others may read it.
struct SecretDocument {
  /// The application's desktop file.
  let application: String
  let document: DocumentPlace
  /// For as long as a program may take to start, its window may come, although nothing of its program is there yet.
  let since = ContinuousClock.now
  /// The windows that have shown it. They may show it under another name later, so they stay secret until they go.
  var windows: Set<WindowNumber> = []
}

/// A document that an application shows. Several may share a window, as tabs.
struct HostedSession {
  /// The application's identifier on the bus.
  let application: String
  /// Its desktop file.
  let entry: String
  /// The document that it shows; `nil` if that is no longer known.
  var document: DocumentPlace?
  var window: WindowNumber?
  /// Whether the service has heard that its delivery was taken. What it is told before is not kept.
  var isConnected = true
  /// The time of its last delivery.
  var opened = ContinuousClock.now
  /// The delivery that has brought its window to the front. The service asks for the front once more behind it, unless our answer came too late.
  var broughtBy: String?
  /// What the service has taken.
  var told = Told()

  /// The disk is asked where another URL leads, and not once more for each comparison.
  var url: String? {
    get { document?.url }
    set { if newValue != document?.url { document = newValue.map { DocumentPlace($0) } } }
  }

  struct Told: Equatable {
    /// The file that the session shows. The service itself knows the file of a delivery.
    var url: String?
    /// The document that the session gets back when its window was closed.
    var restoration = ""
    var title = ""
    var state = "foregroundInactive"
  }
}
