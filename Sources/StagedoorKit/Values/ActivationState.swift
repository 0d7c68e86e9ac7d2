/// The state of a scene.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let shown = try await stagedoor.sessions().filter { $0.activationState != .unattached }
/// print(shown.count)
/// ```
public enum ActivationState: String, Sendable, Hashable, CaseIterable {
  /// In front, with the user's input.
  case foregroundActive
  /// Visible, without the user's input.
  case foregroundInactive
  /// Not visible.
  case background
  /// The session has no scene.
  case unattached
}

extension Scene {
  /// UIKit's place for this name, for a file that has another `ActivationState`.
  public typealias ActivationState = StagedoorKit.ActivationState
  /// UIKit's place for this name.
  public typealias ConnectionOptions = StagedoorKit.ConnectionOptions
  /// UIKit's place for this name.
  public typealias DismissalAnimation = StagedoorKit.DismissalAnimation
}

extension SceneSession {
  /// UIKit's place for this name.
  public typealias Role = SessionRole
}

/// How a window closes.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// for session in try await stagedoor.sessions(of: "org.example.Drafts") {
///   try await stagedoor.destroy(session.identifier, animation: .decline)
/// }
/// ```
public enum DismissalAnimation: String, Sendable, Hashable, CaseIterable {
  /// Like any window.
  case standard
  /// The work in the window was completed, for example sent or saved.
  case commit
  /// The work in the window was discarded.
  case decline
}

/// The purpose of a session.
///
/// ```swift
/// print(SessionRole.windowApplication)  // UIWindowSceneSessionRoleApplication
/// ```
public struct SessionRole: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The spelling of manifests.
  public let rawValue: String

  /// Makes a role from the spelling of manifests.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A window of an application.
  public static let windowApplication = SessionRole(rawValue: "UIWindowSceneSessionRoleApplication")

  /// The spelling of manifests.
  public var description: String { rawValue }
}
