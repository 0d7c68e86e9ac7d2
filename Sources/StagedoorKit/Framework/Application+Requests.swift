extension Application {
  /// How a scene is to be activated.
  ///
  /// ```swift
  /// func inspect(_ photo: String, from scene: Scene, of gallery: Application) async throws {
  ///   let options = Application.ActivationRequestOptions(requestingScene: scene, preferredPresentationStyle: .prominent)
  ///   try await gallery.requestSceneSessionActivation(
  ///     nil, userActivity: UserActivity("org.example.Gallery.inspect", targetContentIdentifier: photo), options: options)
  /// }
  /// ```
  public struct ActivationRequestOptions: Sendable {
    /// The scene that the user acted in.
    public var requestingScene: Scene?
    /// How a new window is to appear.
    public var preferredPresentationStyle: DeliveryOptions.PresentationStyle
    /// What lets the window come to the front.
    public var activationToken: String?

    /// As little as there is to say.
    public init(
      requestingScene: Scene? = nil, preferredPresentationStyle: DeliveryOptions.PresentationStyle = .automatic,
      activationToken: String? = nil
    ) {
      self.requestingScene = requestingScene
      self.preferredPresentationStyle = preferredPresentationStyle
      self.activationToken = activationToken
    }
  }

  /// How a scene is to be destroyed.
  ///
  /// ```swift
  /// func sent(_ scene: Scene, of mail: Application) async throws {
  ///   let options = Application.DestructionRequestOptions(windowDismissalAnimation: .commit)
  ///   try await mail.requestSceneSessionDestruction(scene.session, options: options)
  /// }
  /// ```
  public struct DestructionRequestOptions: Sendable, Hashable {
    /// How the window goes.
    public var windowDismissalAnimation: DismissalAnimation

    /// As windows go.
    public init(windowDismissalAnimation: DismissalAnimation = .standard) {
      self.windowDismissalAnimation = windowDismissalAnimation
    }
  }

  /// Brings a session to the front, to go on with an activity; without a session, the one that the activity belongs to, or a new one.
  ///
  /// Without both it makes a new window, as the "+" of a window switcher does.
  ///
  /// ```swift
  /// func open(_ cat: String, in cats: Application) async throws {
  ///   let activity = UserActivity("org.example.Cats.view", targetContentIdentifier: cat)
  ///   let delivery = try await cats.requestSceneSessionActivation(nil, userActivity: activity)
  ///   print(delivery.outcome)
  /// }
  /// ```
  @discardableResult
  public func requestSceneSessionActivation(
    _ session: SceneSession?, userActivity: UserActivity?, options: ActivationRequestOptions = .init()
  ) async throws(StagedoorError) -> Delivery {
    let hosting = try connected()
    var wishes = DeliveryOptions()
    wishes.requestingSession = options.requestingScene?.id
    wishes.presentationStyle = options.preferredPresentationStyle
    wishes.activationToken = options.activationToken
    if let session {
      wishes.session = session.identifier
    } else {
      wishes.application = identifier
      if userActivity == nil { wishes.disposition = .new }
    }
    let items = userActivity.map { [DragItem($0)] } ?? []
    return try await hosting.stagedoor.deliver(Payload(items: items, wishes))
  }

  /// Wants a scene to be drawn anew, once it is in the background. It comes when there is time for it.
  public func requestSceneSessionRefresh(_ session: SceneSession) async throws(StagedoorError) {
    try await connected().stagedoor.refresh(session.identifier)
  }

  /// Ends a session for good, and closes its window.
  public func requestSceneSessionDestruction(
    _ session: SceneSession, options: DestructionRequestOptions = .init()
  ) async throws(StagedoorError) {
    try await connected().stagedoor.destroy(session.identifier, animation: options.windowDismissalAnimation)
  }
}
