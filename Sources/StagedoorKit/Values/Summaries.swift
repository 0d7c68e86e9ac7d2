/// A session in a list, with the values that fit on one line.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for window in try await stagedoor.sessionList(limit: 10) { print(window.session, window.title) }
/// ```
public struct SessionSummary: Sendable, Hashable, Identifiable {
  /// The session.
  public let session: SessionIdentifier
  /// The identifier of its application.
  public let application: String
  /// The name of its configuration.
  public let configuration: String
  /// The state of its scene.
  public let activationState: ActivationState
  /// The key of the content that it shows; "" for none.
  public let targetContentIdentifier: String
  /// The title that people read.
  public let title: String
  /// The time of its last activation, in microseconds since 1970.
  public let lastActivated: UInt64

  /// The session.
  public var id: SessionIdentifier { session }
}

/// An application in a list.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for application in try await stagedoor.applications() { print(application.identifier, application.name) }
/// ```
public struct ApplicationSummary: Sendable, Hashable, Identifiable {
  /// Its identifier.
  public let identifier: String
  /// The name that people read.
  public let name: String
  /// Whether its host is attached.
  public let isHostAttached: Bool

  /// The identifier.
  public var id: String { identifier }
}

/// The service's description of an application.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let cats = try await stagedoor.application("org.example.Cats")
/// print(cats.name, cats.activityTypes, cats.configurations.map(\.name))
/// ```
public struct ApplicationDetails: Sendable, Hashable {
  /// A kind of window.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// for kind in try await stagedoor.application("org.example.Cats").configurations { print(kind.role, kind.name) }
  /// ```
  public struct Configuration: Sendable, Hashable {
    /// The role that it is declared in.
    public let role: String
    /// Its name.
    public let name: String
    /// The activity types that it lists.
    public let activityTypes: [String]
  }

  /// Its identifier.
  public let identifier: String
  /// The name that people read.
  public let name: String
  /// The activity types that open its windows.
  public let activityTypes: [String]
  /// The content types that it takes without an activity.
  public let contentTypes: [String]
  /// Whether it can have more than one window.
  public let supportsMultipleScenes: Bool
  /// The configurations, in the manifest's order.
  public let configurations: [Configuration]
  /// Whether its host is attached.
  public let isHostAttached: Bool
  /// The file of its manifest; "" for a registered manifest.
  public let manifestPath: String
  /// Whether another program stands in for it, because it knows nothing of Stagedoor.
  public let isUnderstudied: Bool
}
