internal import CGtk4
internal import CStage
public import StagedoorKit

/// The delegate of a scene with a window of GTK.
///
/// Subclass it, and set its ``content``. The window opens, comes to the front and closes with the scene. Its title is the scene's title,
/// and its focus sets the scene's state.
///
/// ```swift
/// import StagedoorKit
///
/// final class NoteScene: WindowScene {
///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
///     let note = options.userActivities.first?.targetContentIdentifier ?? "untitled"
///     scene.title = note
///     content = TextArea().onChange { text in scene.userInfo["draft"] = .string(text) }
///     trailingItems = [
///       Button(icon: "user-trash-symbolic", "Delete") { (window: NoteScene) in window.destroy(animation: .decline) }
///     ]
///     defaultSize = (480, 360)
///   }
/// }
/// ```
///
/// A subclass that overrides ``scene(_:bringToFrontWith:)`` or ``sceneNeedsRefresh(_:)`` calls `super`.
@MainActor open class WindowScene: SceneDelegate {
  /// Whether the session ends when the user closes the window.
  ///
  /// ```swift
  /// func keepsItsWindows(_ scene: WindowScene) { scene.closing = .releases }
  /// ```
  public enum Closing: Sendable {
    /// The session ends for good.
    case destroys
    /// The session stays, and its window opens again for the next delivery.
    case releases
  }

  /// The scene; `nil` before ``scene(_:willConnectTo:options:)``.
  public var scene: Scene? {
    adopt(Scene.current)
    return adopted
  }
  private weak var adopted: Scene?
  /// The content of the window.
  public var content: Widget? {
    didSet {
      adopt(Scene.current)
      if content !== oldValue { window.content = content }
    }
  }
  /// The widgets at the start of the header bar.
  public var leadingItems: [Widget] {
    get { window.leadingItems }
    set { window.leadingItems = newValue }
  }
  /// The widgets at the end of the header bar.
  public var trailingItems: [Widget] {
    get { window.trailingItems }
    set { window.trailingItems = newValue }
  }
  /// The size of the window when it opens.
  public var defaultSize: (width: Int, height: Int) {
    get { window.defaultSize }
    set { window.defaultSize = newValue }
  }
  /// Whether the session ends when the user closes the window.
  public var closing = Closing.destroys
  /// A sentence above the content about an error or missing content. People can dismiss it.
  public var message: String? {
    get { window.message }
    set { window.message = newValue }
  }

  private lazy var window = Window(of: self) { [weak self] in self?.close() }

  /// The widget that gets the keyboard focus when the window opens.
  var focusWhenOpen: Widget? {
    get { window.focusWhenOpen }
    set { window.focusWhenOpen = newValue }
  }

  /// Called when the user wants to close the window. Return false to keep it open. By default it closes.
  open func shouldClose() -> Bool { true }

  /// Closes the window as its close button does.
  public func close() {
    guard let scene, shouldClose() else { return }
    switch closing {
    case .destroys: destroy()
    case .releases:
      takeSnapshot()
      scene.release()
    }
  }

  /// Ends the session for good, and closes the window at once. With `.commit` and `.decline` the window fades away.
  public func destroy(animation: DismissalAnimation = .standard) {
    guard let scene else { return }
    scene.application?.requestSceneSessionDestruction(
      scene.session, options: .init(windowDismissalAnimation: animation))
  }

  /// Runs work that takes time. An error becomes the window's ``message``.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class MailScene: WindowScene {
  ///   func openInNewWindow(_ message: UserActivity) {
  ///     task("Opening the message") { [scene] in
  ///       try await scene?.application?.requestSceneSessionActivation(nil, userActivity: message)
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - what: The name of the work, for the error.
  ///   - progress: The progress of a load. If the load takes longer than a moment, the window shows it, with a button that cancels `body`.
  ///   - body: The work.
  public func task(
    _ what: String, progress: ItemProgress? = nil, _ body: @escaping @MainActor () async throws -> Void
  ) {
    perform(what, progress, body) { _ in }
  }

  /// Calls `then` with the result of `body`; with `nil` if `body` failed or was cancelled.
  func perform<Value: Sendable>(
    _ what: String, _ progress: ItemProgress?, _ body: @escaping @MainActor () async throws -> Value,
    then: @escaping @MainActor (Value?) -> Void
  ) {
    let showing = Showing()
    // Nobody waits for the task itself: its end would wake a thread pool.
    let work = Task { @MainActor in
      defer { showing.task?.cancel() }
      do {
        let value = try await body()
        forgetFailure()
        then(value)
      } catch {
        show(error, what)
        then(nil)
      }
    }
    showing.task = progress.map { window.show($0, of: what) { work.cancel() } }
  }

  /// Runs work at once that can fail. An error becomes the window's ``message``.
  public func attempt(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
      forgetFailure()
    } catch { show(error, what) }
  }

  /// The message that failed work has left.
  private var failure: String?

  /// Shows an error, but not after a cancellation: its user knows.
  private func show(_ error: any Error, _ what: String) {
    let code = (error as? StagedoorError)?.code
    if error is CancellationError || code == .taskCancelled { return }
    switch code {
    case .noReply, .serviceUnknown, .timedOut, .disconnected:
      message = "\(what): Stagedoor does not answer at the moment. Please try again."
      // The service usually comes back soon.
      Timeout.run(after: 10_000) { [weak self] in self?.forgetFailure() }
    default: message = "\(what): \((error as? StagedoorError)?.message ?? "\(error)")"
    }
    failure = message
  }

  /// The work that had failed has succeeded now.
  private func forgetFailure() {
    if let failure, message == failure { message = nil }
    failure = nil
  }

  /// Keeps the window above another one, like a sheet of that window. Use it for a window that was requested with
  /// ``DeliveryOptions/PresentationStyle/prominent``.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class InspectorScene: WindowScene {
  ///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
  ///     content = Label("taken in May")
  ///     if options.presentationStyle == .prominent { stands(above: options.requestingSession) }
  ///   }
  /// }
  /// ```
  public func stands(above session: SessionIdentifier?) {
    let scene = session.flatMap { GtkStage.application?.scene(of: $0) }
    if let other = scene?.delegate as? WindowScene { window.stands(above: other.window) }
  }

  /// Opens something for the user of this window. This window shows an error.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class ListScene: WindowScene {
  ///   func wasClicked(_ cat: String) { open(UserActivity("org.example.Cats.view", targetContentIdentifier: cat)) }
  ///   func wasClickedTwice(_ cat: UserActivity) { open(cat, at: .edge) }
  ///
  ///   func isOpenAlready(_ session: SceneSession) { open(nil, at: .window(session.identifier)) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - activity: The activity to continue; `nil` brings a window to the front as it is.
  ///   - place: The place: a window that the service finds or makes, always a new window, or a given window.
  ///   - style: The appearance of a new window.
  public func open(
    _ activity: UserActivity?, at place: DropPlace = .anywhere,
    style: DeliveryOptions.PresentationStyle = .automatic
  ) {
    task("Opening \(activity?.title ?? "a window")") { [scene] in
      guard let scene else { return }
      var options = DeliveryOptions()
      options.presentationStyle = style
      options.activationToken = GtkStage.activationToken()
      if case .window = place {} else { options.application = scene.application?.identifier }
      try await scene.application?.deliver(activity.map { [DragItem($0)] } ?? [], from: scene, at: place, options)
    }
  }

  // MARK: The calls of the library

  override open func scene(_ scene: Scene, bringToFrontWith data: ActivationData) {
    adopt(scene)
    window.present(data.activationToken ?? data.startupIdentifier)
  }

  override open func sceneNeedsRefresh(_ scene: Scene) { takeSnapshot() }

  /// Gives the service a picture of the window, for window switchers. The library also does this when the window loses the focus, and when
  /// somebody asks for a picture.
  public func takeSnapshot() { window.takeSnapshot() }

  // MARK: The scene and its window

  private func adopt(_ scene: Scene?) {
    guard let scene, adopted == nil, scene.delegate === self else { return }
    adopted = scene
    window.title = scene.title
    scene.onChange(of: \.title) { [weak self] title in self?.window.title = title }
    scene.onChange(of: \.activationState) { [weak self, weak scene] state in
      switch state {
      case .foregroundActive: GtkStage.lastActive = scene
      case .foregroundInactive, .background: break
      case .unattached: self?.ended(scene?.dismissalAnimation ?? .standard)
      }
    }
  }

  private func ended(_ animation: DismissalAnimation) {
    window.close(animation)
    GtkStage.windowClosed()
  }
}

extension Application {
  /// The place of the window that shows an activity: the window's own activity has the same type and the same target identifier. `nil` if
  /// no window does.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// let tom = UserActivity("org.example.Cats.view", targetContentIdentifier: "Tom")
  /// let place = GtkStage.application?.window(showing: tom) ?? .edge
  /// ```
  public func window(showing activity: UserActivity) -> DropPlace? {
    let session = openSessions.first { session in
      guard let shown = scene(of: session.identifier)?.userActivity else { return false }
      return shown.activityType == activity.activityType
        && shown.targetContentIdentifier == activity.targetContentIdentifier
    }
    return session.map { .window($0.identifier) }
  }
}

/// The task that shows the progress of some work.
@MainActor private final class Showing {
  var task: Task<Void, any Error>?
}
