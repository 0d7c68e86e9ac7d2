internal import FoundationEssentials
internal import SceneModel

/// A connected session: a window of this process, or the program's equivalent of a window.
///
/// The service stores the values that are set here, and uses them to route the next drop.
///
/// ```swift
/// final class NoteScene: SceneDelegate {
///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
///     let note = options.userActivities.first?.targetContentIdentifier ?? "untitled"
///     scene.title = note
///     scene.activationConditions = SceneActivationConditions(can: .equals(note), prefers: .equals(note))
///     scene.userActivity = UserActivity("org.example.Notes.edit", targetContentIdentifier: note)
///   }
///
///   func typed(in scene: Scene) { scene.userActivity?.needsSave = true }
///
///   override func scene(_ scene: Scene, willSave activity: inout UserActivity) { activity.userInfo["cursor"] = 17 }
/// }
/// ```
@MainActor public final class Scene: Identifiable {
  /// The session's identifier.
  public nonisolated let id: SessionIdentifier
  /// The session, as the service last reported it.
  public internal(set) var session: SceneSession { didSet { if session != oldValue { didChange() } } }
  /// The scene's delegate.
  public let delegate: SceneDelegate
  /// The application; `nil` if it no longer exists.
  public private(set) weak var application: Application?

  /// The state of the scene. See ``enter(_:)``.
  public var activationState: ActivationState { life.state }
  var life = SceneLife()
  /// How the window closes, once it is closing.
  public internal(set) var dismissalAnimation = DismissalAnimation.standard

  /// The title that people read.
  public var title: String { didSet { if Text(title) != Text(oldValue) { changed(.title) } } }
  /// The activity that the scene shows. See ``UserActivity/needsSave``.
  public var userActivity: UserActivity? {
    didSet {
      if isTaking {
        isTaking = false
        application?.forgetChange(.userActivity, of: self)
      } else if userActivity != oldValue || key != oldValue?.targetContentIdentifier.map({ Text($0) }) {
        application?.noteChange(.userActivity, of: self)
      }
      if userActivity != oldValue { didChange() }
    }
  }
  /// By its bytes, like conditions and titles: in Swift, texts of different bytes may be equal, and the service keeps them apart.
  private var key: Text? { userActivity?.targetContentIdentifier.map { Text($0) } }
  /// Whether the activity that is being set comes from the service.
  private var isTaking = false
  /// Data that the service keeps with the session.
  public var userInfo: [String: UserInfoValue] { didSet { if userInfo != oldValue { changed(.userInfo) } } }
  /// The conditions on the content that the scene takes.
  public var activationConditions: SceneActivationConditions {
    didSet {
      if Text(activationConditions.can) != Text(oldValue.can) { changed(.can) }
      if Text(activationConditions.prefers) != Text(oldValue.prefers) { changed(.prefers) }
    }
  }

  /// The activity that restores its session, as the delegate last returned it.
  var stateRestorationActivity: UserActivity?
  /// Whether the scene has changed since the delegate was asked for that activity.
  var isUnsaved = false
  /// Whether the delegate is filling in the activity. The delegate may end the scene, which saves the activity too.
  var isSaving = false
  /// Whether the session records that the window is shown, so that the next run of the program restores it.
  var saysShown: Bool
  /// Whether the service knows that the scene is connected. Before that the service does not know its state.
  var isAcknowledged = false
  /// Whether the service refused the state, because it did not know yet that the scene is connected.
  var hasUntoldState = false
  /// The scene took a delivery, and the service has not asked to bring the window to the front yet.
  var announcedActivation: AnnouncedActivation?

  /// The observers, which end with the scene.
  var observers: [(name: SceneNotification.Name, body: @MainActor (SceneNotification) -> Void)] = []
  var changeObservers: [@MainActor () -> Void] = []

  init(_ session: SceneSession, delegate: SceneDelegate, of application: Application) {
    id = session.identifier
    self.session = session
    self.delegate = delegate
    self.application = application
    title = session.title
    userActivity = session.userActivity
    userInfo = session.userInfo
    activationConditions = session.activationConditions
    stateRestorationActivity = session.stateRestorationActivity
    saysShown = session.wasShown
  }

  func changed(_ property: SceneProperty) {
    application?.noteChange(property, of: self)
    didChange()
  }

  /// Takes the activity that the service routed here, and therefore knows. An older activity that is not stored yet may not replace it. A change by an
  /// observer is sent as usual.
  func take(_ activity: UserActivity?) {
    isTaking = true
    userActivity = activity
    isTaking = false
  }
}

/// A request that the service makes as soon as it knows that a scene has taken a delivery. It makes none if it counts the delivery as late, or has
/// redirected it.
struct AnnouncedActivation {
  let data: ActivationData
  let delivery: DeliveryIdentifier?
  /// Of the delivery: what was taken later was late.
  let deadline: Date?

  init(_ options: ConnectionOptions) {
    data = ActivationData(activationToken: options.activationToken, startupIdentifier: options.activationToken)
    (delivery, deadline) = (options.delivery, options.deadline)
  }

  var isOver: Bool { deadline.map { $0 <= Date() } ?? false }
}

// MARK: - The current scene

extension Scene {
  /// The scene whose delegate is being called, also in tasks that begin in such a call; `nil` elsewhere, for example in a call of a
  /// toolkit.
  ///
  /// ```swift
  /// @MainActor func rename(_ note: String) { Scene.current?.title = note }
  /// ```
  public nonisolated static var current: Scene? { CurrentScene.value.scene }

  /// Calls the delegate.
  func lookedAfter<Value>(_ body: (SceneDelegate) throws -> Value) rethrows -> Value {
    try CurrentScene.$value.withValue(CurrentScene(scene: self)) { try body(delegate) }
  }
}

/// A task that outlives the scene does not keep the scene alive.
private struct CurrentScene: Sendable {
  @TaskLocal static var value = CurrentScene(scene: nil)

  weak let scene: Scene?
}

extension UserActivity {
  /// Makes this the activity of `scene`: the next drop finds the scene by this activity, and the activity restores the session.
  @MainActor public func becomeCurrent(in scene: Scene) { scene.userActivity = self }

  /// Makes this the activity of ``Scene/current``. Outside the calls of a delegate no scene is meant: this does nothing then, and says so on standard
  /// error.
  ///
  /// ```swift
  /// final class CatScene: SceneDelegate {
  ///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) { show("cat1") }
  ///
  ///   func show(_ cat: String) { UserActivity("org.example.Cats.view", targetContentIdentifier: cat).becomeCurrent() }
  /// }
  /// ```
  @MainActor public func becomeCurrent() {
    guard let scene = Scene.current else {
      return StandardError.write(
        "\(activityType): no scene's delegate is called here: say becomeCurrent(in:) and which scene is meant")
    }
    becomeCurrent(in: scene)
  }
}
