internal import DBus
internal import SceneModel

/// A window of this process, or whatever stands for one: a session that is connected.
///
/// What is set here is stored by the service, and the next drop is routed by it.
///
/// ```swift
/// final class NoteScene: SceneDelegate {
///   func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
///     let note = options.userActivities.first?.targetContentIdentifier ?? "untitled"
///     scene.title = note
///     scene.activationConditions = SceneActivationConditions(can: .equals(note), prefers: .equals(note))
///     scene.userActivity = UserActivity("org.example.Notes.edit", targetContentIdentifier: note)
///   }
///
///   func typed(in scene: Scene) { scene.userActivity?.needsSave = true }
///
///   func scene(_ scene: Scene, willSave activity: inout UserActivity) { activity.userInfo["cursor"] = 17 }
/// }
/// ```
@MainActor public final class Scene: Identifiable {
  /// The session's identifier.
  public nonisolated let id: SessionIdentifier
  /// What the service keeps of it, a moment ago.
  public internal(set) var session: SceneSession
  /// Who looks after it.
  public let delegate: any SceneDelegate
  /// Whose it is; `nil` where that is no more.
  public private(set) weak var application: Application?

  /// How near to the user it is. See ``enter(_:)``.
  public internal(set) var activationState = ActivationState.unattached
  /// How its window is to go, once it is on its way.
  public internal(set) var dismissalAnimation = DismissalAnimation.standard

  /// What people read.
  public var title: String { didSet { if title != oldValue { changed(.title) } } }
  /// What is done in it. See ``UserActivity/needsSave``.
  public var userActivity: UserActivity? { didSet { if userActivity != oldValue { changed(.userActivity) } } }
  /// What is kept with its session.
  public var userInfo: [String: UserInfoValue] { didSet { if userInfo != oldValue { changed(.userInfo) } } }
  /// Which content it takes.
  public var activationConditions: SceneActivationConditions {
    didSet {
      let (old, new) = (oldValue, activationConditions)
      if old.canActivateForTargetContentIdentifier != new.canActivateForTargetContentIdentifier { changed(.can) }
      if old.prefersToActivateForTargetContentIdentifier != new.prefersToActivateForTargetContentIdentifier {
        changed(.prefers)
      }
    }
  }

  /// What a new scene of its session would begin with.
  var stateRestorationActivity: UserActivity?
  /// The service knows that it is connected; before that it knows nothing of its state.
  var isAcknowledged = false
  /// While it is being connected its delegate has not heard of it yet.
  var isConnecting = true
  /// What was asked for meanwhile.
  var wantedState: ActivationState?

  init(_ session: SceneSession, delegate: any SceneDelegate, of application: Application) {
    id = session.identifier
    self.session = session
    self.delegate = delegate
    self.application = application
    title = session.title
    userActivity = session.userActivity
    userInfo = session.userInfo
    activationConditions = session.activationConditions
  }

  /// What is set now came from the service, which need not be told.
  private var isTold = false

  func changed(_ property: SceneProperty) { if !isTold { application?.noteChange(property, of: self) } }

  /// What the service routed here is what is done in it. An older one that has not been stored may not replace it.
  func take(_ activity: UserActivity) {
    isTold = true
    userActivity = activity
    isTold = false
    application?.unwritten.remove(.userActivity, of: id)
  }
}

// MARK: - The scene that is looked after

extension Scene {
  /// The scene whose delegate is being called, also in the tasks that begin in such a call; `nil` elsewhere, as where a toolkit calls.
  ///
  /// ```swift
  /// @MainActor func rename(_ note: String) { Scene.current?.title = note }
  /// ```
  public nonisolated static var current: Scene? { CurrentScene.value.scene }

  /// Calls the delegate.
  func lookedAfter<Value>(_ body: (any SceneDelegate) throws -> Value) rethrows -> Value {
    try CurrentScene.$value.withValue(CurrentScene(scene: self)) { try body(delegate) }
  }
}

/// A task that lives longer than the scene does not keep it.
private struct CurrentScene: Sendable {
  @TaskLocal static var value = CurrentScene(scene: nil)

  weak let scene: Scene?
}

extension UserActivity {
  /// Makes it what is done in `scene`: the next drop finds the scene by it, and it is what the session is restored with.
  ///
  /// ```swift
  /// func show(_ photo: String, in scene: Scene) async {
  ///   await UserActivity("org.example.Gallery.openDetail", targetContentIdentifier: photo).becomeCurrent(in: scene)
  /// }
  /// ```
  @MainActor public func becomeCurrent(in scene: Scene) { scene.userActivity = self }

  /// Makes it what is done in ``Scene/current``, which has to be there: it traps where no delegate is called.
  ///
  /// ```swift
  /// final class CatScene: SceneDelegate {
  ///   func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) { show("cat1") }
  ///
  ///   func show(_ cat: String) { UserActivity("org.example.Cats.view", targetContentIdentifier: cat).becomeCurrent() }
  /// }
  /// ```
  @MainActor public func becomeCurrent() {
    guard let scene = Scene.current else {
      preconditionFailure("no scene's delegate is called here: say becomeCurrent(in:) and which scene is meant")
    }
    becomeCurrent(in: scene)
  }
}
