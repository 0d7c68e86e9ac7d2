import FoundationEssentials
import StagedoorGTK
import StagedoorKit

/// A window of some application. The content of its card changes in place, so that a click or a drop still finds the card.
@MainActor final class Card: Identifiable, Equatable {
  nonisolated let id: SessionIdentifier
  private(set) lazy var widget = makeWidget()
  private unowned let owner: ExposeScene
  private let (title, state) = (Label().style("heading"), Label().style("dim-label", "caption"))
  private let picture = Picture(nil, "", within: (260, 180)).size(width: 260, height: 180)
  private(set) var session: SceneSession
  private var loading: Task<Void, any Error>?

  init(of session: SceneSession, in owner: ExposeScene) {
    (id, self.session, self.owner) = (session.identifier, session, owner)
  }

  isolated deinit { loading?.cancel() }

  nonisolated static func == (one: Card, other: Card) -> Bool { one === other }

  func show(_ session: SceneSession, of application: String) {
    self.session = session
    title.text = session.title.isEmpty ? session.configuration.name : session.title
    state.text = "\(application), \(Self.words(for: session.activationState))"
    picture.description = title.text
    widget.style("dim-label", isOn: !session.isConnected)
    load()
  }

  private static func words(for state: ActivationState) -> String {
    switch state {
    case .foregroundActive: "in use"
    case .foregroundInactive: "open"
    case .background: "in the background"
    case .unattached: "closed, kept"
    }
  }

  /// A window is drawn a moment after it has changed.
  func load() {
    loading?.cancel()
    loading = Task { [id, weak owner, weak picture] in
      for pause in [0.0, 0.8] {
        try await Task.sleep(for: .seconds(pause))
        // Many windows have no picture yet.
        if let data = try? await owner?.stagedoor.snapshot(of: id).picture { picture?.data = data }
      }
    }
  }

  private func makeWidget() -> Widget {
    let close = Button(icon: "window-close-symbolic", "Close for good") { [unowned owner, id] in owner.destroy(id) }
    let titles = Row(title.expand(vertically: false), close.style("flat", "circular"))
    // The frame that marks a drop is outside the padding.
    return Column(Column(spacing: 4, picture, titles, state).padding(8))
      .onDrop(of: ["*/*"]) { [unowned owner, id] in try await owner.hand($0, to: .window(id)) }
      .contextMenu { [unowned owner, id] in [MenuItem("Take a New Picture") { owner.refresh(id) }] }
  }
}

/// Shows all windows of all applications with scenes. It reads and changes other applications as a client of the service.
@MainActor final class Expose: Application {
  override func didFinishLaunching(with options: LaunchOptions) { restoresWindows = true }
  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { ExposeScene() }
}

@MainActor final class ExposeScene: WindowScene {
  private lazy var grid = Grid<Card> { $0.widget }.onOpen { [unowned self] in bringToFront($0.id) }
  private let applications = Row()
  private let hint = Label("No windows yet. + opens one.", align: .center).style("dim-label").expand()
  private var cards: [SessionIdentifier: Card] = [:]
  private var names: [String: String] = [:]
  private var following: Task<Void, Never>?
  var stagedoor: Stagedoor {
    get throws { try scene?.application?.stagedoor ?? { throw CancellationError() }() }
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = "Exposé"
    defaultSize = (960, 640)
    // A drop between the cards gets a window of its own.
    let between = Scroll(Column(spacing: 0, hint, grid.padding(18))).onDrop(of: ["*/*"]) { [unowned self] in
      try await hand($0, to: .edge)
    }
    content = Column(spacing: 0, applications.padding(10), between)
    following = Task { [weak self] in
      while !Task.isCancelled {
        do {
          guard let sessions = try await self?.stagedoor.liveSessions() else { return }
          for try await sessions in sessions { try await self?.show(sessions) }
        } catch {
          self?.attempt("Following the windows") { throw error }
        }
        try? await Task.sleep(for: .seconds(2))
      }
    }
  }

  override func sceneDidDisconnect(_ scene: Scene) {
    following?.cancel()
    (cards, grid.items) = ([:], [])
  }

  // MARK: Content

  private func show(_ sessions: [SceneSession]) async throws {
    let others = sessions.filter { $0.application != scene?.application?.identifier }
    if names.isEmpty || others.contains(where: { names[$0.application] == nil }) { try await showApplications() }
    // An application without an installed manifest has no name.
    for session in others where names[session.application] == nil { names[session.application] = session.application }
    var shown: [SessionIdentifier: Card] = [:]
    for session in others {
      let card = cards[session.identifier] ?? Card(of: session, in: self)
      shown[session.identifier] = card
      if cards[session.identifier] == nil || card.session != session {
        card.show(session, of: names[session.application] ?? session.application)
      }
    }
    cards = shown
    hint.isVisible = cards.isEmpty
    grid.items = cards.values.sorted {
      ($0.session.application, $0.session.created, $0.id) < ($1.session.application, $1.session.created, $1.id)
    }
  }

  private func showApplications() async throws {
    let all = try await stagedoor.applications().filter { $0.identifier != scene?.application?.identifier }
    names = Dictionary(uniqueKeysWithValues: all.map { ($0.identifier, $0.name) })
    applications.removeAll()
    for application in all {
      let identifier = application.identifier
      applications.append(
        Button("+ \(application.name)") { [unowned self] in
          attempt("Opening a window") { [self] in
            var options = DeliveryOptions()
            options.application = identifier
            options.disposition = .new
            options.activationToken = GtkStage.activationToken()
            try await stagedoor.deliver([], options)
          }
        })
    }
  }

  // MARK: Actions

  private func bringToFront(_ session: SessionIdentifier) {
    attempt("Bringing it to the front") { [self] in
      var options = DeliveryOptions()
      options.session = session
      options.activationToken = GtkStage.activationToken()
      try await stagedoor.deliver([], options)
    }
  }

  func destroy(_ session: SessionIdentifier) {
    attempt("Closing it") { [self] in try await stagedoor.destroy(session) }
  }

  func refresh(_ session: SessionIdentifier) {
    attempt("Asking for a picture") { [self] in
      try await stagedoor.refresh(session)
      cards[session]?.load()
    }
  }

  func hand(_ drop: Drop, to place: DropPlace) async throws -> DropOperation {
    try await drop.deliver(to: place, stagedoor)
    return .copy
  }
}

@main enum Main {
  static func main() { GtkStage.run { Expose("org.stagedoor.examples.Expose") } }
}
