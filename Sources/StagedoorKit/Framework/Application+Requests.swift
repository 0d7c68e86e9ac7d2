extension Application {
  /// How to activate a scene.
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
    /// How a new window appears.
    public var preferredPresentationStyle: DeliveryOptions.PresentationStyle
    /// The token that lets the window come to the front.
    public var activationToken: String?

    /// The defaults.
    public init(
      requestingScene: Scene? = nil, preferredPresentationStyle: DeliveryOptions.PresentationStyle = .automatic,
      activationToken: String? = nil
    ) {
      self.requestingScene = requestingScene
      self.preferredPresentationStyle = preferredPresentationStyle
      self.activationToken = activationToken
    }
  }

  /// How to destroy a scene.
  ///
  /// ```swift
  /// @MainActor func sent(_ scene: Scene, of mail: Application) {
  ///   let options = Application.DestructionRequestOptions(windowDismissalAnimation: .commit)
  ///   mail.requestSceneSessionDestruction(scene.session, options: options)
  /// }
  /// ```
  public struct DestructionRequestOptions: Sendable, Hashable {
    /// How the window closes.
    public var windowDismissalAnimation: DismissalAnimation

    /// The defaults.
    public init(windowDismissalAnimation: DismissalAnimation = .standard) {
      self.windowDismissalAnimation = windowDismissalAnimation
    }
  }

  /// Brings a session to the front and continues an activity there. Without a session, the service finds the session that the activity
  /// belongs to, or makes one.
  ///
  /// Without session and activity this makes a new window, as the "+" of a window switcher does.
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

  /// Asks a scene to bring its content up to date, while the scene is in the background. The request may be carried out later.
  public func requestSceneSessionRefresh(_ session: SceneSession) async throws(StagedoorError) {
    try await connected().stagedoor.refresh(session.identifier)
  }

  /// Ends a session for good. Its window closes at once. The library tells the service as soon as the service runs, and then ``didDiscard(_:)``
  /// reports the session.
  public func requestSceneSessionDestruction(
    _ session: SceneSession, options: DestructionRequestOptions = .init()
  ) {
    let identifier = session.identifier
    guard isRunning else { return didFail(notStarted, while: "destroying \(identifier)") }
    scenes[identifier]?.end(options.windowDismissalAnimation)
    scenes[identifier] = nil
    knownSessions[identifier] = nil
    destroyedSessions.insert(identifier)
    unwritten.destroy(identifier, options.windowDismissalAnimation)
    writeSoon()
  }
}

// MARK: - Drops

/// Where a user drops something.
///
/// ```swift
/// func drop(_ items: [DragItem], draggedFrom scene: Scene, onto other: Scene?) async throws {
///   try await scene.application?.deliver(items, from: scene, at: other.map { .window($0.id) } ?? .edge)
/// }
/// ```
public enum DropPlace: Sendable, Hashable {
  /// The edge of the screen, or no window: it always gets a new window.
  case edge
  /// A window, whatever its conditions.
  case window(SessionIdentifier)
  /// No particular place: the service finds the window.
  case anywhere
}

extension Application {
  /// Hands in items that the user dragged from a window of this application.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - scene: The window that they come from.
  ///   - place: Where the user dropped them.
  ///   - options: Further options. `scene` and `place` replace the options of the same meaning.
  @discardableResult
  public func deliver(
    _ items: [DragItem], from scene: Scene, at place: DropPlace, _ options: DeliveryOptions = DeliveryOptions()
  ) async throws(StagedoorError) -> Delivery {
    let stagedoor = try connected().stagedoor
    var options = options
    options.requestingSession = scene.id
    switch place {
    case .edge: options.disposition = .new
    case .window(let session): options.session = session
    case .anywhere: break
    }
    return try await stagedoor.deliver(items, options)
  }

  /// Hands in an activity that the user dragged from a window of this application.
  @discardableResult
  public func deliver(
    _ activity: UserActivity, from scene: Scene, at place: DropPlace, _ options: DeliveryOptions = DeliveryOptions()
  ) async throws(StagedoorError) -> Delivery {
    try await deliver([DragItem(activity)], from: scene, at: place, options)
  }
}
