import CGtk4
import Foundation
import Glibc
import StagedoorGTK
import StagedoorKit

/// An application that prints the events of its window. It uses the parts of the library that the applications of this package do not use.
@MainActor final class StagePlay: Application {
  /// How long each item takes to load.
  static var delay = Duration.zero

  init() {
    let identifier = "org.example.\(ProcessInfo.processInfo.environment["PLAY"] ?? "Play")"
    super.init(
      identifier,
      manifest: """
        {
          "CFBundleIdentifier": "\(identifier)",
          "NSUserActivityTypes": ["\(identifier).show"],
          "CFBundleDocumentTypes": [{"LSItemContentTypes": ["text/plain"]}],
          "UIApplicationSceneManifest": {
            "UIApplicationSupportsMultipleScenes": true,
            "UISceneConfigurations": {
              "UIWindowSceneSessionRoleApplication": [
                {"UISceneConfigurationName": "Window", "StagedoorContentTypes": ["text/plain"], "StagedoorLaunch": "single"},
                {"UISceneConfigurationName": "Shown", "StagedoorActivityTypes": ["\(identifier).show"]}
              ]
            }
          }
        }
        """)
  }

  override func didFinishLaunching(with options: LaunchOptions) {
    addAction("fail", title: "Fail", shortcut: "<Control>f") { _ in throw StagedoorError(.loadFailed, "as it should") }
    addAction("slow", title: "Slow") { _ in Self.delay = .seconds(50) }
    addAction("remove", title: "Remove") { ($0 as? PlayScene)?.remove() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { PlayScene() }
}

@MainActor final class PlayScene: WindowScene {
  private let place = Place(Label())

  private func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = scene.application?.identifier.split(separator: ".").last.map(String.init) ?? ""
    defaultSize = (400, 400)
    let two = box("two").onDrag(allowing: [.copy, .move]) { [Self.item("one"), Self.item("another")] }
      .onDragOut { [unowned self] in say("out: \($0.count)") }
      .onDragEnd { [unowned self] in say("ended: \($0)") }
    let one = box("one").onDrag { [Self.item("alone")] }.onDragEnd { [unowned self] in say("ended: \($0)") }
    let target = box("target").onDrop(of: ["text/plain"]) { drop in
      drop.allowedOperations.contains(.move) ? .move : .copy
    } _: { [unowned self] drop in
      var texts: [String] = []
      for item in drop.items { texts.append(try await item.itemProvider.loadText()) }
      say("dropped: \(texts) \(drop.items.map { $0.localObject as? String ?? "foreign" })")
      if texts == ["unwanted"] { return .cancel }
      return drop.allowedOperations.contains(.move) ? .move : .copy
    }
    let odd = box("odd").onDrag(allowing: [.copy, .move]) { [unowned self] in [oddItem] }
      .onDragEnd { [unowned self] in say("ended: \($0)") }
    place.content = odd
    let calendar = Widget { gtk_calendar_new() }
    calendar.isVisible = false
    content = Column(spacing: 10, two, one, target, box("window"), place, calendar).padding(10)
    takesDrops(of: ["text/plain"])
    if !options.items.isEmpty { receive(options.items) }
    for activity in options.userActivities { say("shows: \(activity.targetContentIdentifier ?? "")") }
  }

  func remove() {
    place.content = Label()
    say("removed")
  }

  private func box(_ text: String) -> Label { Label(text, align: .center).style("card").size(height: 60) }

  /// An item that can be opened, but that no target takes.
  private var oddItem: DragItem {
    var item = Self.item("unwanted")
    let show = "\(scene?.application?.identifier ?? "").show"
    item.itemProvider.registerObject(UserActivity(show, targetContentIdentifier: "odd"))
    return item
  }

  private static func item(_ text: String) -> DragItem {
    var provider = ItemProvider()
    provider.suggestedName = "\(text).txt"
    provider.registerDataRepresentation(as: "text/plain") { _ in
      try await Task.sleep(for: await StagePlay.delay)
      return Data(text.utf8)
    }
    var item = DragItem(itemProvider: provider)
    item.localObject = text
    return item
  }

  override func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation {
    allowed.contains(.copy) ? .copy : .forbidden
  }

  override func scene(_ scene: Scene, receive items: [DragItem]) { receive(items) }

  private func receive(_ items: [DragItem]) {
    attempt("Reading") { [self] in
      for item in items { say("received: \(try await item.itemProvider.loadText())") }
    }
  }

  override func shouldClose() -> Bool {
    say("closing")
    return message == nil
  }
}

@main enum Main {
  static func main() { GtkStage.run { StagePlay() } }
}
