import Foundation
import StagedoorGTK
import StagedoorKit

/// A cat, with its picture.
struct Cat: Identifiable, Equatable {
  let name: String
  var id: String { name }

  static let all = ["Tom", "Kitty", "Luna", "Bruno"].map { Cat(name: $0) }
  static let view = "org.stagedoor.examples.Cats.viewCat"

  var picture: URL? { Bundle.module.url(forResource: name, withExtension: "png", subdirectory: "Pictures") }

  var activity: UserActivity { UserActivity(Self.view, targetContentIdentifier: name, title: "View \(name)") }
}

/// Cats, and a window for each cat that people want to see larger.
@MainActor final class Cats: Application {
  private(set) var meals = 0
  var mealsInWords: String { meals == 0 ? "not fed yet" : meals == 1 ? "fed once" : "fed \(meals) times" }

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = true
    addAction("feed", title: "Feed the Cats", shortcut: "<Control>f") { (cats: Cats) in try await cats.feed() }
  }

  override func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    options.userActivities.first?.activityType == Cat.view ? SceneConfiguration(name: "Cat Detail") : nil
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? {
    session.configuration.name == "Cat Detail" ? CatScene(of: self) : ListScene(of: self)
  }

  /// The windows in the background follow when the service asks them to.
  private func feed() async throws {
    meals += 1
    for scene in connectedScenes { scene.delegate.sceneNeedsRefresh(scene) }
    for session in openSessions where scene(of: session.identifier)?.userActivity?.activityType == Cat.view {
      try await requestSceneSessionRefresh(session)
    }
  }
}

/// All cats.
@MainActor final class ListScene: WindowScene {
  private let cats: Cats
  init(of cats: Cats) { self.cats = cats }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = "Cats"
    defaultSize = (560, 640)
    let grid = Grid<Cat> { $0.card }
    grid.items = Cat.all
    content = Scroll(grid.padding(18))
  }

  fileprivate func show(_ cat: Cat) {
    // Activates the window that shows the cat, or opens a new one.
    open(cat.activity, at: cats.window(showing: cat.activity) ?? .edge)
  }
}

extension Cat {
  /// The cat in the list of all cats.
  @MainActor fileprivate var card: Widget {
    let picture = Picture(picture.map { .file($0) }, name, within: (220, 220))
    return Column(spacing: 8, picture.style("rounded"), Label(name, align: .center).style("heading"))
      .onTap { (window: ListScene) in window.show(self) }
      .onDrag(icon: picture) { [dragItem] }
  }

  private var dragItem: DragItem {
    var provider = ItemProvider(activity)
    provider.suggestedName = "\(name).png"
    // The picture is loaded only when somebody asks for it.
    provider.registerDataRepresentation(as: "image/png") { _ in try picture.map { try Data(contentsOf: $0) } ?? Data() }
    var item = DragItem(itemProvider: provider)
    item.localObject = self
    return item
  }
}

/// One cat.
@MainActor final class CatScene: WindowScene {
  private let cats: Cats
  private let picture = Picture(nil, "no cat")
  private let name = Label("", align: .center).style("title-1")
  private let meals = Label("", align: .center).style("dim-label")
  init(of cats: Cats) { self.cats = cats }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (380, 460)
    leadingItems = [Button("Close") { (window: CatScene) in window.destroy(animation: .commit) }]
    content = Column(spacing: 10, picture.style("rounded").expand(), name, meals).padding(18)
    let activity = options.userActivities.first ?? session.stateRestorationActivity
    show(Cat.all.first { $0.name == activity?.targetContentIdentifier })
    if let activity { scene.userActivity = activity }
  }

  override func scene(_ scene: Scene, continue activity: UserActivity) {
    show(Cat.all.first { $0.name == activity.targetContentIdentifier })
  }

  override func sceneNeedsRefresh(_ scene: Scene) {
    meals.text = cats.mealsInWords
    super.sceneNeedsRefresh(scene)
  }

  /// A window that is restored without its activity shows no cat in particular.
  private func show(_ cat: Cat?) {
    name.text = cat?.name ?? "No cat in particular"
    picture.content = cat?.picture.map { .file($0) }
    picture.description = cat?.name ?? "no cat"
    meals.text = cats.mealsInWords
    scene?.title = name.text
    scene?.activationConditions = cat.map { .only($0.name) } ?? SceneActivationConditions(can: .never)
  }
}

@main enum Main {
  static func main() { GtkStage.run { Cats("org.stagedoor.examples.Cats") } }
}
