public import FoundationEssentials

/// A window of an application, whether it is shown or put away: what the service keeps of it.
///
/// It is a value, what was so when it was asked for. ``Stagedoor/liveSessions(of:)`` tells what becomes of it.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for session in try await stagedoor.sessions(of: "org.example.Cats") {
///   print(session.persistentIdentifier, session.configuration.name, session.activationState, session.title)
/// }
/// ```
public struct SceneSession: Sendable, Hashable, Identifiable {
  /// What it is called, for as long as it lasts.
  public let identifier: SessionIdentifier
  /// The identifier of its application.
  public let application: String
  /// The configuration that its scenes are made from, and its role.
  public internal(set) var configuration: SceneConfiguration
  /// How near to the user its scene is.
  public internal(set) var activationState = ActivationState.unattached
  /// Whether there is a scene.
  public internal(set) var isConnected = false
  /// What it shows; "" for nothing in particular.
  public internal(set) var targetContentIdentifier = ""
  /// When it was made.
  public internal(set) var created = Date(timeIntervalSince1970: 0)
  /// When it was last brought to the front, as of the moment when this was read: nobody is told when it changes.
  public internal(set) var lastActivated = Date(timeIntervalSince1970: 0)
  /// What people read.
  public internal(set) var title = ""
  /// What its scene is doing.
  public internal(set) var userActivity: UserActivity?
  /// What a new scene of it would begin with.
  public internal(set) var stateRestorationActivity: UserActivity?
  /// What its application keeps with it.
  public internal(set) var userInfo: [String: UserInfoValue] = [:]
  /// Which content it takes.
  public internal(set) var activationConditions = SceneActivationConditions()

  init(_ identifier: SessionIdentifier, of application: String, _ configuration: SceneConfiguration) {
    self.identifier = identifier
    self.application = application
    self.configuration = configuration
  }

  /// The same identifier.
  public var id: SessionIdentifier { identifier }
  /// The identifier as text, as other kits have it.
  public var persistentIdentifier: String { identifier.description }
  /// What it is for.
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

  /// Names a configuration.
  public init(name: String, sessionRole role: SessionRole = .windowApplication) {
    self.name = name
    self.role = role
  }
}
