internal import CGtk4
internal import CStage
public import StagedoorKit

/// The delegate of a scene that is a window of GTK.
///
/// Subclass it, and give it a ``content``. The window opens, comes to the front and closes as the scene does; its title is the scene's; its
/// focus is the scene's state.
///
/// ```swift
/// import StagedoorKit
///
/// final class NoteScene: WindowScene {
///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
///     let note = options.userActivities.first?.targetContentIdentifier ?? "untitled"
///     scene.title = note
///     content = TextArea().onChange { text in scene.userInfo["draft"] = .string(text) }
///     trailingItems = [Button(icon: "user-trash-symbolic", "Delete") { [unowned self] in destroy(animation: .commit) }]
///     defaultSize = (480, 360)
///   }
/// }
/// ```
///
/// A subclass that overrides ``scene(_:bringToFrontWith:)`` or ``sceneNeedsRefresh(_:)`` calls `super`.
@MainActor open class WindowScene: SceneDelegate {
  /// What becomes of the session when the user closes the window.
  ///
  /// ```swift
  /// func keepsItsWindows(_ scene: WindowScene) { scene.closing = .releases }
  /// ```
  public enum Closing: Sendable {
    /// It ends for good.
    case destroys
    /// It stays, and opens again when something is for it.
    case releases
  }

  /// The scene, once it is connected.
  public private(set) weak var scene: Scene?
  /// What the window shows.
  public var content: Widget? {
    didSet {
      adopt(Scene.current)
      if content !== oldValue { window.content = content }
    }
  }
  /// The widgets at the start of its header bar.
  public var leadingItems: [Widget] {
    get { window.leadingItems }
    set { window.leadingItems = newValue }
  }
  /// The widgets at the end of its header bar.
  public var trailingItems: [Widget] {
    get { window.trailingItems }
    set { window.trailingItems = newValue }
  }
  /// How large the window is when it opens.
  public var defaultSize: (width: Int, height: Int) {
    get { window.defaultSize }
    set { window.defaultSize = newValue }
  }
  /// What becomes of the session when the user closes the window.
  public var closing = Closing.destroys
  /// A sentence above the content, which people can dismiss: what went wrong, or what is missing.
  public var message: String? {
    get { window.message }
    set { window.message = newValue }
  }

  private lazy var window = Window(of: self)

  /// The user wants to close the window. Return false to keep it open. By default it closes.
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

  /// Does something that takes time or can fail. The error is shown as the window's ``message``.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class MailScene: WindowScene {
  ///   func openInNewWindow(_ message: UserActivity) {
  ///     attempt("Opening the message") { [scene] in
  ///       try await scene?.application?.requestSceneSessionActivation(nil, userActivity: message)
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - what: What it is, for the error.
  ///   - progress: The progress of a load. Where it takes longer than a moment, the window shows it, with a button that cancels `body`.
  ///   - body: What is to be done.
  public func attempt(
    _ what: String, progress: ItemProgress? = nil, _ body: @escaping @MainActor () async throws -> Void
  ) {
    Task { @MainActor in await perform(what, progress, body) }
  }

  /// What `body` returns; `nil` where it failed or was cancelled.
  @discardableResult
  func perform<Value: Sendable>(
    _ what: String, _ progress: ItemProgress?, _ body: @escaping @MainActor () async throws -> Value
  ) async -> Value? {
    let work = Task { @MainActor in try await body() }
    let showing = progress.map { window.show($0, of: what) { work.cancel() } }
    defer { showing?.cancel() }
    do { return try await work.value } catch {
      show(error, what)
      return nil
    }
  }

  /// Does something at once that can fail. The error is shown as the window's ``message``.
  public func attempt(_ what: String, _ body: () throws -> Void) {
    do { try body() } catch { show(error, what) }
  }

  /// Whoever has cancelled it knows.
  private func show(_ error: any Error, _ what: String) {
    if error is CancellationError || (error as? StagedoorError)?.code == .taskCancelled { return }
    message = "\(what): \((error as? StagedoorError)?.message ?? "\(error)")"
  }

  /// Keeps the window above another one, as a sheet of that is: for a window that was asked for with
  /// ``DeliveryOptions/PresentationStyle/prominent``.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// final class InspectorScene: WindowScene {
  ///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
  ///     content = Label("what there is to know")
  ///     if options.presentationStyle == .prominent { stands(above: options.requestingSession) }
  ///   }
  /// }
  /// ```
  public func stands(above session: SessionIdentifier?) {
    let scene = session.flatMap { GtkStage.application?.scene(of: $0) }
    if let other = scene?.delegate as? WindowScene { window.stands(above: other.window) }
  }

  /// Opens something for the user of this window. An error is shown here.
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
  ///   - activity: What is to be continued; `nil` brings a window to the front as it is.
  ///   - place: Where: the service finds the window, or makes one; always in a new one; or in this one.
  ///   - style: How a new window appears.
  public func open(
    _ activity: UserActivity?, at place: DropPlace = .anywhere,
    style: DeliveryOptions.PresentationStyle = .automatic
  ) {
    attempt("Opening \(activity?.title ?? "a window")") { [scene] in
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

  /// Gives the service a picture of the window, for window switchers. This happens by itself when the window loses the focus, and when
  /// somebody asks.
  public func takeSnapshot() { window.takeSnapshot() }

  // MARK: The scene and its window

  private func adopt(_ scene: Scene?) {
    guard let scene, self.scene == nil, scene.delegate === self else { return }
    self.scene = scene
    window.title = scene.title
    scene.onChange(of: \.title) { [unowned self] title in window.title = title }
    scene.onChange(of: \.activationState) { [unowned self] state in
      switch state {
      case .foregroundActive: GtkStage.lastActive = self.scene
      case .foregroundInactive, .background: break
      case .unattached: ended(scene.dismissalAnimation)
      }
    }
  }

  private func ended(_ animation: DismissalAnimation) {
    window.close(animation)
    GtkStage.windowClosed()
  }
}
