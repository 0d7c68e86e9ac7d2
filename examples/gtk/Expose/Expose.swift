import FoundationEssentials
import StagedoorGTK
import StagedoorKit

/// Shows all windows of all applications with scenes. It reads and changes other applications as a client of the service.
@MainActor final class Expose: Application {
  override func didFinishLaunching(with options: LaunchOptions) { restoresWindows = true }
  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { ExposeScene() }
}

@MainActor final class ExposeScene: WindowScene {
  private let grid = Grid<Card> { $0 }.onOpen { (card, window: ExposeScene) in
    window.open(nil, at: .window(card.id))
  }
  private let applications = Row()
  private let hint = Label("No windows yet. + opens one.", align: .center).style("dim-label").expand()
  private var cards: [SessionIdentifier: Card] = [:]
  private var names: [String: String] = [:]
  private var following: Task<Void, Never>?

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = "Exposé"
    defaultSize = (960, 640)
    // A drop between the cards gets a window of its own.
    let between = Scroll(Column(spacing: 0, hint, grid.padding(18)))
      .onDrop(of: ["*/*"]) { (drop, window: ExposeScene) in try await window.hand(drop, to: .edge) }
    content = Column(spacing: 0, applications.padding(10), between)
    following = Task { [weak self] in
      while !Task.isCancelled {
        await self?.follow()
        try? await GtkStage.sleep(for: .seconds(2))
      }
    }
  }

  override func sceneDidDisconnect(_ scene: Scene) {
    following?.cancel()
    grid.items = []
  }

  // MARK: Content

  /// Shows the windows, and each change of them, until the service leaves.
  private func follow() async {
    guard let stagedoor = scene?.application?.stagedoor else { return }
    do {
      for try await sessions in try await stagedoor.liveSessions() { try await show(sessions, stagedoor) }
    } catch {
      attempt("Following the windows") { throw error }
    }
  }

  private func show(_ sessions: [SceneSession], _ stagedoor: Stagedoor) async throws {
    let others = sessions.filter { $0.application != scene?.application?.identifier }
    if names.isEmpty || others.contains(where: { names[$0.application] == nil }) {
      try await showApplications(stagedoor)
    }
    var shown: [SessionIdentifier: Card] = [:]
    for session in others {
      let card = cards[session.identifier] ?? Card(of: session.identifier)
      shown[session.identifier] = card
      // An application without an installed manifest has no name.
      card.show(session, of: names[session.application] ?? session.application, stagedoor)
    }
    cards = shown
    hint.isVisible = cards.isEmpty
    grid.items = others.sorted { ($0.application, $0.created, $0.id) < ($1.application, $1.created, $1.id) }
      .compactMap { shown[$0.identifier] }
  }

  private func showApplications(_ stagedoor: Stagedoor) async throws {
    let all = try await stagedoor.applications().filter { $0.identifier != scene?.application?.identifier }
    names = Dictionary(uniqueKeysWithValues: all.map { ($0.identifier, $0.name) })
    applications.removeAll()
    for application in all {
      applications.append(
        Button("+ \(application.name)") { (window: ExposeScene) in window.openWindow(of: application.identifier) })
    }
  }

  // MARK: Actions

  private func openWindow(of application: String) {
    ask("Opening a window") { stagedoor in
      var options = DeliveryOptions()
      options.application = application
      options.disposition = .new
      options.activationToken = GtkStage.activationToken()
      try await stagedoor.deliver([], options)
    }
  }

  fileprivate func destroy(_ session: SessionIdentifier) {
    ask("Closing it") { stagedoor in try await stagedoor.destroy(session) }
  }

  fileprivate func takePicture(of session: SessionIdentifier) {
    ask("Asking for a picture") { [self] stagedoor in
      try await stagedoor.refresh(session)
      cards[session]?.loadSoon(stagedoor)
    }
  }

  fileprivate func hand(_ drop: Drop, to place: DropPlace) async throws -> DropOperation {
    guard let stagedoor = scene?.application?.stagedoor else { return .cancel }
    try await drop.deliver(to: place, stagedoor)
    return drop.operation
  }

  private func ask(_ what: String, _ body: @escaping @MainActor (Stagedoor) async throws -> Void) {
    guard let stagedoor = scene?.application?.stagedoor else { return }
    task(what) { try await body(stagedoor) }
  }
}

/// A window of some application. Its content changes in place, so that a click or a drop still finds the card.
@MainActor final class Card: Column, Identifiable, Equatable {
  nonisolated let id: SessionIdentifier
  private let (title, state) = (Label().style("heading"), Label().style("dim-label", "caption"))
  private let picture = Picture(nil, "", within: (260, 180)).size(width: 260, height: 180)
  private var session: SceneSession?
  private var loading: Task<Void, any Error>?

  init(of session: SessionIdentifier) {
    id = session
    super.init()
    let close = Button(icon: "window-close-symbolic", "Close for good") { (window: ExposeScene) in
      window.destroy(session)
    }
    let titles = Row(title.expand(vertically: false), close.style("flat", "circular"))
    // The frame that marks a drop is outside the padding.
    append(Column(spacing: 4, picture, titles, state).padding(8))
    onDrop(of: ["*/*"]) { (drop, window: ExposeScene) in try await window.hand(drop, to: .window(session)) }
    contextMenu { (window: ExposeScene) in [MenuItem("Take a New Picture") { window.takePicture(of: session) }] }
  }

  nonisolated static func == (one: Card, other: Card) -> Bool { one === other }

  func show(_ session: SceneSession, of application: String, _ stagedoor: Stagedoor) {
    if session == self.session { return }
    let isNew = self.session == nil
    self.session = session
    title.text = session.title.isEmpty ? session.configuration.name : session.title
    state.text = "\(application), \(Self.words(for: session.activationState))"
    picture.description = title.text
    style("dim-label", isOn: !session.isConnected)
    loadSoon(stagedoor, after: isNew ? .zero : .seconds(1))
  }

  private static func words(for state: ActivationState) -> String {
    switch state {
    case .foregroundActive: "in use"
    case .foregroundInactive: "open"
    case .background: "in the background"
    case .unattached: "closed, kept"
    }
  }

  /// Loads the picture once for several changes in a row. A window is drawn a moment after it has changed.
  func loadSoon(_ stagedoor: Stagedoor, after pause: Duration = .seconds(1)) {
    loading?.cancel()
    loading = Task { [id, weak picture] in
      try await GtkStage.sleep(for: pause)
      // Many windows have no picture yet.
      if let data = try? await stagedoor.snapshot(of: id).picture { picture?.content = .data(data) }
    }
  }
}

@main enum Main {
  static func main() { GtkStage.run { Expose("org.stagedoor.examples.Expose") } }
}
