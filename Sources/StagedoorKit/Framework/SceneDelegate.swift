/// Who looks after a scene: makes its window, fills it, and hears what becomes of it.
///
/// The order of the calls is that of Apple's platforms: a new scene `willConnectTo`, `sceneWillEnterForeground`, `sceneDidBecomeActive`; one that
/// goes `sceneWillResignActive`, `sceneDidEnterBackground`, `sceneDidDisconnect`. What
/// ``scene(_:willConnectTo:options:)``, ``scene(_:continue:)`` or ``scene(_:receive:)`` throws refuses the delivery; when they return, it is handled.
///
/// ```swift
/// final class CatScene: SceneDelegate {
///   struct NoSuchCat: Error {}
///   private let cats = ["cat1", "cat2"]
///
///   func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
///     if let activity = options.userActivities.first { try self.scene(scene, continue: activity) }
///   }
///
///   func scene(_ scene: Scene, continue userActivity: UserActivity) throws {
///     guard let name = userActivity.targetContentIdentifier, cats.contains(name) else { throw NoSuchCat() }
///     scene.title = name
///     scene.userActivity = userActivity
///   }
///
///   func sceneDidDisconnect(_ scene: Scene) { print("the window of \(scene.title) closes") }
/// }
/// ```
@MainActor public protocol SceneDelegate: AnyObject {
  /// The scene is about to be there: make its window.
  func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws

  /// Go on with this in the window that is there. Of a delivery with several activities the one that routed it comes first, and then the
  /// others in their order.
  func scene(_ scene: Scene, continue userActivity: UserActivity) throws

  /// Take these into the window that is there. It comes after the activities, for items that have data.
  func scene(_ scene: Scene, receive items: [DragItem]) throws

  /// A delivery for the window that is there. Unless you say otherwise, it becomes a ``scene(_:continue:)`` for each activity and a
  /// ``scene(_:receive:)``.
  func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws

  /// It comes out of the background, or is there for the first time.
  func sceneWillEnterForeground(_ scene: Scene)

  /// It takes what the user does.
  func sceneDidBecomeActive(_ scene: Scene)

  /// It will not any more.
  func sceneWillResignActive(_ scene: Scene)

  /// It is out of sight.
  func sceneDidEnterBackground(_ scene: Scene)

  /// It is no more: close its window. Its session may get another scene.
  func sceneDidDisconnect(_ scene: Scene)

  /// What a new scene of the session would begin with; asked when it enters the background. Unless you say otherwise, its
  /// ``Scene/userActivity``.
  func stateRestorationActivity(for scene: Scene) -> UserActivity?

  /// The scene's activity needs saving, and is about to be: fill in what has changed.
  func scene(_ scene: Scene, willSave activity: inout UserActivity)

  /// Bring the window to the front. ``ActivationData/activationToken`` is what a compositor wants to see for it.
  func scene(_ scene: Scene, bringToFrontWith data: ActivationData)

  /// What it looks like from afar has changed: somebody asked for it with ``Application/requestSceneSessionRefresh(_:)``.
  func sceneNeedsRefresh(_ scene: Scene)

  /// What dropping these here would do. They have types and names, and no data yet. The service waits a second for it.
  func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation
}

extension SceneDelegate {
  /// Takes nothing of it.
  public func scene(_ scene: Scene, continue userActivity: UserActivity) throws {}
  /// Takes nothing of it.
  public func scene(_ scene: Scene, receive items: [DragItem]) throws {}
  /// The activities one by one, then the items that have data.
  public func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    for activity in options.userActivities { try self.scene(scene, continue: activity) }
    let items = options.items.filter { !$0.itemProvider.registeredTypes.isEmpty }
    if !items.isEmpty { try self.scene(scene, receive: items) }
  }
  /// Does nothing.
  public func sceneWillEnterForeground(_ scene: Scene) {}
  /// Does nothing.
  public func sceneDidBecomeActive(_ scene: Scene) {}
  /// Does nothing.
  public func sceneWillResignActive(_ scene: Scene) {}
  /// Does nothing.
  public func sceneDidEnterBackground(_ scene: Scene) {}
  /// Does nothing.
  public func sceneDidDisconnect(_ scene: Scene) {}
  /// What is done in it.
  public func stateRestorationActivity(for scene: Scene) -> UserActivity? { scene.userActivity }
  /// Leaves it as it is.
  public func scene(_ scene: Scene, willSave activity: inout UserActivity) {}
  /// Does nothing.
  public func scene(_ scene: Scene, bringToFrontWith data: ActivationData) {}
  /// Does nothing.
  public func sceneNeedsRefresh(_ scene: Scene) {}
  /// A copy, where the source allows one.
  public func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation {
    allowed.contains(.copy) ? .copy : .forbidden
  }
}

/// What a drop does with what is dropped.
///
/// ```swift
/// func proposal(allowed: Set<DropOperation>) -> DropOperation { allowed.contains(.move) ? .move : .forbidden }
/// ```
public enum DropOperation: String, Sendable, Hashable, CaseIterable {
  /// The source keeps it.
  case copy
  /// The source gives it away.
  case move
  /// It cannot be dropped here.
  case forbidden
  /// It would do nothing.
  case cancel
}

/// What a desktop wants to see before it lets a window come to the front.
///
/// ```swift
/// func token(of data: ActivationData) -> String { data.activationToken ?? data.startupIdentifier ?? "" }
/// ```
public struct ActivationData: Sendable, Hashable {
  /// For a Wayland compositor.
  public let activationToken: String?
  /// For an X11 window manager.
  public let startupIdentifier: String?
}
