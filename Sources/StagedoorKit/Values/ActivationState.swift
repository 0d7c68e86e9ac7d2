/// How near to the user a scene is.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let shown = try await stagedoor.sessions().filter { $0.activationState != .unattached }
/// print(shown.count)
/// ```
public enum ActivationState: String, Sendable, Hashable, CaseIterable {
  /// In front, and taking what the user does.
  case foregroundActive
  /// To be seen, and somebody else takes what the user does.
  case foregroundInactive
  /// Out of sight.
  case background
  /// There is no scene, only its session.
  case unattached
}

/// How a window goes.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for session in try await stagedoor.sessions(of: "org.example.Drafts") {
///   try await stagedoor.destroy(session.identifier, animation: .decline)
/// }
/// ```
public enum DismissalAnimation: String, Sendable, Hashable, CaseIterable {
  /// As any window.
  case standard
  /// What was done in it is done: sent, saved.
  case commit
  /// What was done in it is thrown away.
  case decline
}

/// What a session is for.
///
/// ```swift
/// print(SessionRole.windowApplication)  // UIWindowSceneSessionRoleApplication
/// ```
public struct SessionRole: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// As manifests spell it.
  public let rawValue: String

  /// A role as manifests spell it.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A window of an application.
  public static let windowApplication = SessionRole(rawValue: "UIWindowSceneSessionRoleApplication")

  /// As manifests spell it.
  public var description: String { rawValue }
}
