/// The delegate of a scene: it makes the window, fills it, and hears of every change of the scene.
///
/// Subclass it, and override the calls that your windows need. Every call has a default, and `override` lets the compiler find a misspelt one.
///
/// The order of the calls is that of Apple's platforms: for a new scene `willConnectTo`, `sceneWillEnterForeground`,
/// `sceneDidBecomeActive`; for a scene that ends `sceneWillResignActive`, `sceneDidEnterBackground`, `sceneDidDisconnect`. An error of
/// ``scene(_:willConnectTo:options:)``, ``scene(_:continue:)`` or ``scene(_:receive:)`` refuses the delivery; when they return, the
/// delivery is handled. The sender gets the error: throw a ``StagedoorError`` with ``StagedoorError/Code/hostRefused`` and a sentence for people.
///
/// ```swift
/// final class CatScene: SceneDelegate {
///   struct NoSuchCat: Error {}
///   private let cats = ["cat1", "cat2"]
///
///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
///     if let activity = options.userActivities.first { try self.scene(scene, continue: activity) }
///   }
///
///   override func scene(_ scene: Scene, continue userActivity: UserActivity) throws {
///     guard let name = userActivity.targetContentIdentifier, cats.contains(name) else { throw NoSuchCat() }
///     scene.title = name
///     scene.userActivity = userActivity
///   }
///
///   override func sceneDidDisconnect(_ scene: Scene) { print("the window of \(scene.title) closes") }
/// }
/// ```
@MainActor open class SceneDelegate {
  /// Makes a delegate.
  public init() {}

  /// The scene is about to connect: make its window. By default this does nothing.
  open func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {}

  /// Continue this activity in the open window. For a delivery with several activities, the activity that routed it comes first, and then
  /// the others in their order. By default this does nothing.
  open func scene(_ scene: Scene, continue userActivity: UserActivity) throws {}

  /// Take these items into the open window. This call follows the activities, for items with data. By default this does nothing.
  open func scene(_ scene: Scene, receive items: [DragItem]) throws {}

  /// A delivery for the open window. By default this calls ``scene(_:continue:)`` for each activity, and then ``scene(_:receive:)``.
  open func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    for activity in options.userActivities {
      try scene.isThere()
      try self.scene(scene, continue: activity)
    }
    let items = options.items.filter { !$0.itemProvider.registeredTypes.isEmpty }
    if items.isEmpty { return }
    try scene.isThere()
    try self.scene(scene, receive: items)
  }

  /// The scene leaves the background, or appears for the first time. By default this does nothing.
  open func sceneWillEnterForeground(_ scene: Scene) {}

  /// The scene has the user's input. By default this does nothing.
  open func sceneDidBecomeActive(_ scene: Scene) {}

  /// The scene is about to lose the user's input. By default this does nothing.
  open func sceneWillResignActive(_ scene: Scene) {}

  /// The scene is not visible any more. By default this does nothing.
  open func sceneDidEnterBackground(_ scene: Scene) {}

  /// The scene has ended: close its window. Its session may get another scene. By default this does nothing.
  open func sceneDidDisconnect(_ scene: Scene) {}

  /// Returns the activity that restores the session. The library asks for it when the scene enters the background, and within two seconds
  /// after a change of the scene in the foreground. By default it is ``Scene/userActivity``.
  open func stateRestorationActivity(for scene: Scene) -> UserActivity? { scene.userActivity }

  /// The scene's activity is about to be saved: fill in the changes. By default the activity stays unchanged.
  open func scene(_ scene: Scene, willSave activity: inout UserActivity) {}

  /// Bring the window to the front. A compositor requires ``ActivationData/activationToken`` for this. When the window has the focus, call
  /// ``Scene/enter(_:)``. By default this does nothing.
  open func scene(_ scene: Scene, bringToFrontWith data: ActivationData) {}

  /// Bring the window's content up to date: somebody called ``Application/requestSceneSessionRefresh(_:)``. By default this does nothing.
  open func sceneNeedsRefresh(_ scene: Scene) {}

  /// Returns the operation of a drop here. The items have types and names, and no data yet. The service waits a second for the answer. The default is
  /// to copy, if the source allows it.
  open func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation {
    allowed.contains(.copy) ? .copy : .forbidden
  }
}

/// The operation of a drop on its items.
///
/// ```swift
/// func proposal(allowed: Set<DropOperation>) -> DropOperation { allowed.contains(.move) ? .move : .forbidden }
/// ```
public enum DropOperation: String, Sendable, Hashable, CaseIterable {
  /// The source keeps its items.
  case copy
  /// The source gives its items away.
  case move
  /// No drop is possible here.
  case forbidden
  /// A drop would do nothing.
  case cancel
}

/// The tokens that a desktop requires before it lets a window come to the front.
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
