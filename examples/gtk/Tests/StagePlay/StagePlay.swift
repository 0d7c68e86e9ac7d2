import CGtk4
import Foundation
import Glibc
import StagedoorKit

@testable import StagedoorGTK

/// An application that prints the events of its window. It uses the parts of the library that the applications of this package do not use.
@MainActor final class StagePlay: Application {
  /// How long each item takes to load.
  static var delay = Duration.zero
  /// How many blanks each item has at its end.
  static var blanks = 0

  init() {
    let identifier = "org.example.\(ProcessInfo.processInfo.environment["PLAY"] ?? "Play")"
    super.init(
      identifier,
      manifest: """
        {
          "CFBundleIdentifier": "\(identifier)",
          "NSUserActivityTypes": ["\(identifier).show", "\(identifier).refuse"],
          "CFBundleDocumentTypes": [{"LSItemContentTypes": ["text/plain"]}],
          "UIApplicationSceneManifest": {
            "UIApplicationSupportsMultipleScenes": true,
            "UISceneConfigurations": {
              "UIWindowSceneSessionRoleApplication": [
                {"UISceneConfigurationName": "Window", "StagedoorContentTypes": ["text/plain"], "StagedoorLaunch": "single"},
                {"UISceneConfigurationName": "Shown", "StagedoorActivityTypes": ["\(identifier).show"]},
                {"UISceneConfigurationName": "Refused", "StagedoorActivityTypes": ["\(identifier).refuse"]}
              ]
            }
          }
        }
        """)
    addAction("early", title: "Early") { (play: StagePlay, window: PlayScene) in say("early: \(play.identifier)") }
  }

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = ProcessInfo.processInfo.environment["PLAY"] == "Back"
    addAction("fail", title: "Fail", shortcut: "<Control>f") { throw StagedoorError(.loadFailed, "as it should") }
    addAction("slow", title: "Slow") { Self.delay = .seconds(50) }
    addAction("large", title: "Large") { Self.blanks = 100_000 }
    addAction("strict", title: "Strict") { (play: StagePlay) in play.loadLimit = 10_000 }
    addAction("remove", title: "Remove") { (window: PlayScene) in window.remove() }
    addAction("message", title: "Message") { (window: PlayScene) in say("message: \(window.message ?? "")") }
    addAction("rows", title: "Rows") { (window: PlayScene) in window.changeRows() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? {
    session.configuration.name == "Refused" ? nil : PlayScene()
  }
}

/// A row that its own closure keeps alive.
@MainActor final class CountedRow: Column {
  static var count = 0

  init(_ text: String) {
    super.init(spacing: 0, Label(text))
    Self.count += 1
    onTap { self.isVisible = false }
  }

  isolated deinit { Self.count -= 1 }
}

struct RowText: Identifiable, Equatable {
  let id: Int
  var text = ""
}

/// Prints at once, for a reader of a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

@MainActor final class PlayScene: WindowScene {
  private let place = Place(Label())
  private let rows = List<RowText> { CountedRow($0.text) }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    say("scene: \(self.scene === scene)")
    scene.title = scene.application?.identifier.split(separator: ".").last.map(String.init) ?? ""
    defaultSize = (400, 400)
    let two = box("two").onDrag(allowing: [.copy, .move]) { [Self.item("one"), Self.item("another")] }
      .onDragOut { (items, window: PlayScene) in say("out: \(items.count)") }
      .onDragEnd { (operation, window: PlayScene) in say("ended: \(operation)") }
    let one = box("one").onDrag { [Self.item("alone")] }
      .onDragEnd { (operation, window: PlayScene) in say("ended: \(operation)") }
    let target = box("target").onDrop(of: ["text/plain"]) { drop in
      drop.allowedOperations.contains(.move) ? .move : .copy
    } _: { (drop, window: PlayScene) in
      var texts: [String] = []
      for item in drop.items { texts.append(try await item.itemProvider.loadText()) }
      say("dropped: \(texts) \(drop.items.map { $0.localObject as? String ?? "foreign" })")
      if texts == ["unwanted"] { return .cancel }
      return drop.allowedOperations.contains(.move) ? .move : .copy
    }
    let odd = box("odd").onDrag(allowing: [.copy, .move]) { (window: PlayScene) in [window.oddItem] }
      .onDragEnd { (operation, window: PlayScene) in say("ended: \(operation)") }
      .onDrop(of: ["text/plain"]) { (drop, window: PlayScene) in
        window.dropLater(String(decoding: try await drop.load(DragSession.ticketType), as: UTF8.self))
        return .copy
      }
    place.content = odd
    let calendar = Widget { gtk_calendar_new() }
    (calendar.isVisible, rows.isVisible) = (false, false)
    rows.items = (1...4).map { RowText(id: $0) }
    content = Column(spacing: 10, two, one, target, box("window"), place, calendar, rows).padding(10)
    takesDrops(of: ["text/plain"])
    if !options.items.isEmpty { receive(options.items) }
    for activity in options.userActivities { say("shows: \(activity.targetContentIdentifier ?? "")") }
  }

  func remove() {
    place.content = Label()
    say("removed")
  }

  /// A row goes, one changes, and one moves.
  func changeRows() {
    rows.items = [RowText(id: 4), RowText(id: 2, text: "changed"), RowText(id: 1)]
    // The list lets the old rows go when it returns.
    task("Counting") { say("rows: \(CountedRow.count)") }
  }

  /// Redeems the ticket of a drag after the toolkit's drop is over.
  private func dropLater(_ ticket: String) {
    task("Dropping") {
      try await GtkStage.sleep(for: .milliseconds(300))
      guard let scene = self.scene, let stagedoor = scene.application?.stagedoor else { return }
      try await stagedoor.openDrag(ticket).drop(on: scene.id)
    }
  }

  private func box(_ text: String) -> Label { Label(text, align: .center).style("card").size(height: 60) }

  /// An item that can be opened, but that no target takes.
  private var oddItem: DragItem {
    var item = Self.item("unwanted")
    let show = "\(scene?.application?.identifier ?? "").show"
    item.itemProvider.registerObject(UserActivity(show, targetContentIdentifier: "odd"))
    return item
  }

  static func item(_ text: String) -> DragItem {
    var provider = ItemProvider()
    provider.suggestedName = "\(text).txt"
    provider.registerDataRepresentation(as: "text/plain") { _ in
      try await GtkStage.sleep(for: await StagePlay.delay)
      return await Data((text + String(repeating: " ", count: StagePlay.blanks)).utf8)
    }
    var item = DragItem(itemProvider: provider)
    item.localObject = text
    return item
  }

  override func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation {
    allowed.contains(.move) ? .move : .copy
  }

  override func scene(_ scene: Scene, receive items: [DragItem]) throws {
    if items.contains(where: { $0.itemProvider.suggestedName == "unwanted.txt" }) {
      throw StagedoorError(.hostRefused, "nobody wants it")
    }
    receive(items)
  }

  private func receive(_ items: [DragItem]) {
    task("Reading") {
      for item in items {
        let place = item.itemProvider.fileOpenedInPlace(as: "text/plain") == nil ? "" : " in its place"
        say("received: \(try await item.itemProvider.loadText())\(place)")
      }
    }
  }

  override func shouldClose() -> Bool {
    say("closing")
    return message == nil
  }
}

@main enum Main {
  static func main() {
    if ProcessInfo.processInfo.environment["PLAY"] == "Tool" {
      GtkStage.runWindow(titled: "Tool") {
        Label("one").onDrag { [PlayScene.item("alone")] }.onDragEnd { say("ended: \($0)") }
      }
    }
    GtkStage.run { StagePlay() }
  }
}
