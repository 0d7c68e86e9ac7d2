import FoundationEssentials
import StagedoorGTK
import StagedoorKit

/// A window of some application, as its card shows it.
struct Card: Identifiable, Equatable {
  let session: SceneSession
  let application: String
  var picture: Data?

  var id: SessionIdentifier { session.identifier }
  var title: String { session.title.isEmpty ? session.configuration.name : session.title }
  var state: String {
    switch session.activationState {
    case .foregroundActive: "in use"
    case .foregroundInactive: "open"
    case .background: "in the background"
    case .unattached: "put away"
    }
  }
}

/// All windows of all applications with scenes. What it knows and does of others it knows and does as a client of the service.
@MainActor final class Expose: Application {
  override func didFinishLaunching(with options: LaunchOptions) { restoresWindows = true }
  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { ExposeScene() }
}

@MainActor final class ExposeScene: WindowScene {
  private lazy var grid = Grid<Card> { [unowned self] in widget(of: $0) }.onOpen { [unowned self] in
    bringToFront($0.session)
  }
  private let applications = Row()
  private var cards: [SessionIdentifier: Card] = [:]
  private var names: [String: String] = [:]
  private var following: Task<Void, Never>?
  private var stagedoor: Stagedoor {
    get throws { try scene?.application?.stagedoor ?? { throw CancellationError() }() }
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = "Exposé"
    defaultSize = (960, 640)
    // What is dropped between the cards gets a window of its own.
    let between = Scroll(grid.padding(18)).onDrop(of: ["*/*"]) { [unowned self] in try await hand($0, to: .edge) }
    content = Column(spacing: 0, applications.padding(10), between)
    following = Task { [weak self] in
      do {
        guard let sessions = try await self?.stagedoor.liveSessions() else { return }
        for try await sessions in sessions { try await self?.show(sessions) }
      } catch { self?.message = "\(error)" }
    }
  }

  override func sceneDidDisconnect(_ scene: Scene) { following?.cancel() }

  // MARK: What it shows

  private func show(_ sessions: [SceneSession]) async throws {
    let others = sessions.filter { $0.application != scene?.application?.identifier }
    if others.contains(where: { names[$0.application] == nil }) || names.isEmpty { try await showApplications() }
    cards = Dictionary(
      uniqueKeysWithValues: others.map { session in
        let name = names[session.application] ?? session.application
        return (
          session.identifier, Card(session: session, application: name, picture: cards[session.identifier]?.picture)
        )
      })
    arrange()
    for session in others { load(session.identifier) }
  }

  private func arrange() {
    grid.items = cards.values.sorted {
      ($0.application, $0.session.created, $0.id) < ($1.application, $1.session.created, $1.id)
    }
  }

  /// A window is drawn a moment after it has changed.
  private func load(_ session: SessionIdentifier) {
    Task { [weak self] in
      for pause in [0.0, 0.8] {
        try await Task.sleep(for: .seconds(pause))
        // Many windows have no picture yet.
        guard let picture = try? await self?.stagedoor.snapshot(of: session).picture else { continue }
        self?.cards[session]?.picture = picture
        self?.arrange()
      }
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
          attempt("opening a window") { [self] in
            var options = DeliveryOptions()
            options.application = identifier
            options.disposition = .new
            options.activationToken = GtkStage.activationToken()
            try await stagedoor.deliver([], options)
          }
        })
    }
  }

  private func widget(of card: Card) -> Widget {
    let close = Button(icon: "window-close-symbolic", "Close for good") { [unowned self] in
      attempt("closing it") { [self] in try await stagedoor.destroy(card.id) }
    }
    let widget = Column(
      spacing: 4, Picture(card.picture, card.title, within: (260, 180)).size(width: 260, height: 180),
      Row(Label(card.title).style("heading").expand(vertically: false), close.style("flat", "circular")),
      Label("\(card.application), \(card.state)").style("dim-label", "caption"))
    if card.session.isConnected == false { widget.style("dim-label") }
    return widget.padding(8).onDrop(of: ["*/*"]) { [unowned self] in try await hand($0, to: .window(card.id)) }
      .contextMenu { [unowned self] in
        [
          MenuItem("Take a New Picture") { [unowned self] in
            attempt("asking for a picture") { [self] in try await stagedoor.refresh(card.id) }
          }
        ]
      }
  }

  // MARK: What people do

  private func bringToFront(_ session: SceneSession) {
    attempt("bringing it to the front") { [self] in
      var options = DeliveryOptions()
      options.session = session.identifier
      options.activationToken = GtkStage.activationToken()
      try await stagedoor.deliver([], options)
    }
  }

  private func hand(_ drop: Drop, to place: DropPlace) async throws -> DropOperation {
    try await drop.deliver(to: place, stagedoor)
    return .copy
  }
}

@main enum Main {
  static func main() { GtkStage.run { Expose("org.stagedoor.examples.Expose") } }
}
