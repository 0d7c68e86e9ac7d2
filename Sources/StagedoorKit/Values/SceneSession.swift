public import FoundationEssentials

/// A window of an application, whether it is open or not, as the service stores it.
///
/// The value does not change after the call. ``Stagedoor/liveSessions(of:)`` reports changes.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for session in try await stagedoor.sessions(of: "org.example.Cats") {
///   print(session.persistentIdentifier, session.configuration.name, session.activationState, session.title)
/// }
/// ```
public struct SceneSession: Sendable, Hashable, Identifiable {
  /// The identifier, which never changes.
  public let identifier: SessionIdentifier
  /// The identifier of its application.
  public let application: String
  /// The configuration of its scenes, and its role.
  public internal(set) var configuration: SceneConfiguration
  /// The state of its scene.
  public internal(set) var activationState = ActivationState.unattached
  /// Whether it has a scene.
  public internal(set) var isConnected = false
  /// The key of its content; "" for none.
  public internal(set) var targetContentIdentifier = ""
  /// The time when it was made.
  public internal(set) var created = Date(timeIntervalSince1970: 0)
  /// The last activation, as of the time of the call: no signal announces its changes.
  public internal(set) var lastActivated = Date(timeIntervalSince1970: 0)
  /// The title that people read.
  public internal(set) var title = ""
  /// The activity that its scene shows.
  public internal(set) var userActivity: UserActivity?
  /// The activity that restores it.
  public internal(set) var stateRestorationActivity: UserActivity?
  /// Data that its application keeps with it.
  public internal(set) var userInfo: [String: UserInfoValue] = [:]
  /// Whether its window was shown when its program last ended. Only programs that restore windows record this.
  var wasShown = false
  /// The conditions on the content that it takes.
  public internal(set) var activationConditions = SceneActivationConditions()

  /// The same identifier.
  public var id: SessionIdentifier { identifier }
  /// The identifier as text, as in UIKit.
  public var persistentIdentifier: String { identifier.description }
  /// The purpose of the session.
  public var role: SessionRole { configuration.role }
}

/// A kind of window that an application's manifest declares.
///
/// ```swift
/// let detail = SceneConfiguration(name: "Cat Detail")
/// print(detail.role)  // UIWindowSceneSessionRoleApplication
/// ```
public struct SceneConfiguration: Sendable, Hashable {
  /// Its `UISceneConfigurationName`.
  public var name: String
  /// The role that it is declared in.
  public var role: SessionRole

  /// Makes a reference to a configuration.
  public init(name: String, sessionRole role: SessionRole = .windowApplication) {
    self.name = name
    self.role = role
  }
}
