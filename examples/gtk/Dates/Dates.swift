import FoundationEssentials
import StagedoorGTK
import StagedoorKit

/// A time stamp.
struct Stamp: Identifiable, Equatable {
  let date: Date
  var id: Date { date }
  var text: String {
    date.formatted(.iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: true))
  }

  static let open = "org.stagedoor.examples.Dates.openDate"
  var activity: UserActivity { UserActivity(Self.open, title: text, userInfo: ["date": .date(date)]) }
}

/// The one list of dates that all windows share. It tells its observers of each change, and keeps none of them alive.
@MainActor final class DatesController {
  private struct Observer {
    weak var owner: AnyObject?
    let onUpdate: @MainActor (AnyObject) -> Void
  }

  private var observers: [Observer] = []
  private(set) var dates: [Stamp] = [] {
    didSet {
      if dates == oldValue { return }
      observers.removeAll { $0.owner == nil }
      for observer in observers { if let owner = observer.owner { observer.onUpdate(owner) } }
    }
  }

  /// Calls `onUpdate` with its owner after each change, as long as there is one.
  func addObserver<Owner: AnyObject>(_ owner: Owner, _ onUpdate: @escaping @MainActor (Owner) -> Void) {
    observers.append(Observer(owner: owner) { owner in if let owner = owner as? Owner { onUpdate(owner) } })
  }

  /// The date has whole milliseconds: an activity keeps microseconds, and a date with more digits would not be the same when it comes back.
  func insert() {
    let milliseconds = (Date().timeIntervalSince1970 * 1_000).rounded()
    dates.insert(Stamp(date: Date(timeIntervalSince1970: milliseconds / 1_000)), at: 0)
  }
  func remove(_ date: Date) { dates.removeAll { $0.date == date } }
}

@MainActor final class Dates: Application {
  let controller = DatesController()

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = true
    addAction("insert", title: "Insert Date", shortcut: "<Control>i") { [controller] in controller.insert() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { DatesScene(controller) }
}

/// The list, and the selected date beside it.
@MainActor final class DatesScene: WindowScene {
  private let controller: DatesController
  private let list = List<Stamp> { (stamp, window: DatesScene) in window.row(of: stamp) }
    .onSelect { (date, window: DatesScene) in window.show(date) }
  private let detail = Label("", align: .center).style("title-2")
  private let edits = Toggle("Edit") { (_, window: DatesScene) in window.list.reload() }

  init(_ controller: DatesController) { self.controller = controller }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (640, 400)
    leadingItems = [edits]
    trailingItems = [Button(icon: "list-add-symbolic", "Insert Date") { [controller] in controller.insert() }]
    content = Split(Scroll(list.style("navigation-sidebar")), detail, at: 280)
    controller.addObserver(self) { $0.reload() }
    reload()
    let activity = options.userActivities.first ?? session.stateRestorationActivity
    show(activity?.userInfo["date"]?.date)
  }

  override func scene(_ scene: Scene, continue activity: UserActivity) { show(activity.userInfo["date"]?.date) }

  private func row(of stamp: Stamp) -> Widget {
    let delete = Button(icon: "list-remove-symbolic", "Delete") { [controller] in controller.remove(stamp.date) }
    delete.isVisible = edits.isOn
    return Row(Label(stamp.text).padding(4).expand(vertically: false), delete.style("destructive-action", "circular"))
      .onDrag { [DragItem(stamp.activity)] }
      .contextMenu { [controller] in [MenuItem("Delete") { controller.remove(stamp.date) }] }
  }

  private func reload() {
    list.items = controller.dates
    show(list.selection)
  }

  private func show(_ date: Date?) {
    let stamp = controller.dates.first { $0.date == date }
    list.selection = stamp?.id
    detail.text = stamp?.text ?? "Select a date"
    scene?.title = stamp?.text ?? "Dates"
    scene?.userActivity = stamp?.activity
  }
}

@main enum Main {
  static func main() { GtkStage.run { Dates("org.stagedoor.examples.Dates") } }
}
