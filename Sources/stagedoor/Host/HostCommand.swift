import SceneModel
import StagedoorKit

/// Makes commands the windows of an application: each session that is connected is a process.
enum HostCommand {
  @MainActor static func run(_ invocation: Invocation) async throws -> Status {
    let (identifier, connect) = (invocation[.hostApp] ?? "", invocation[.connect] ?? "")
    let commands = HostCommands(
      connect: try CommandTemplate(connect, "connect"),
      resume: try invocation[.onContinue].map { text throws(Problem) in try CommandTemplate(text, "continue") },
      close: try invocation[.onClose].map { text throws(Problem) in try CommandTemplate(text, "close") })
    // The name on the bus has to be the whole identifier, so that nothing is completed here.
    guard ApplicationIdentifier.isValid(Text(identifier)) else {
      throw Problem.usage(
        "--app takes a whole identifier such as org.example.Gallery, and not \"\(identifier.printable)\"")
    }
    try await CommandHost(identifier, commands).run()
    return .done
  }
}

struct HostCommands: Sendable {
  let connect: CommandTemplate
  let resume: CommandTemplate?
  let close: CommandTemplate?
}

@MainActor final class CommandHost: Application {
  private let commands: HostCommands

  init(_ identifier: String, _ commands: HostCommands) {
    self.commands = commands
    super.init(identifier)
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { CommandScene(commands, of: self) }

  override func didFail(_ error: StagedoorError, while what: String) {
    Output.note("stagedoor host: \(what): \(error.message)")
  }
}

/// A window that is a process.
@MainActor private final class CommandScene: SceneDelegate {
  private let commands: HostCommands
  private weak var application: CommandHost?
  private var child: Child?
  private let files = ItemFiles()
  private var isOver = false

  init(_ commands: HostCommands, of application: CommandHost) {
    self.commands = commands
    self.application = application
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    try run(commands.connect, scene, options, session.stateRestorationActivity) { [weak self, weak scene] child in
      self?.child = child
      await child?.ended()
      guard let self, let scene, !isOver else { return }
      // The window was closed from within: its session is over.
      application?.requestSceneSessionDestruction(scene.session)
    }
  }

  override func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    if let resume = commands.resume {
      try run(resume, scene, options, nil) { await $0?.ended() }
    } else {
      show(options, nil, in: scene)
    }
  }

  override func sceneDidDisconnect(_ scene: Scene) {
    isOver = true
    defer { files.remove() }
    if child?.isRunning ?? false, let close = commands.close {
      do {
        let child = try Child(close.filled(values(scene, scene.userActivity), files: []))
        Task { await child.ended() }
        return
      } catch {
        Output.note("stagedoor host: \((error as? StagedoorError)?.message ?? "\(error)")")
      }
    }
    child?.terminate()
  }

  /// Runs a command with what was delivered. An item that is no file in its place becomes one first, which takes time, and the application may load
  /// it only when it has taken the delivery.
  ///
  /// - Parameter attend: looks after the process; `nil` if there is none.
  private func run(
    _ template: CommandTemplate, _ scene: Scene, _ options: ConnectionOptions,
    _ restored: StagedoorKit.UserActivity?, attend: @escaping @MainActor (Child?) async -> Void
  ) throws {
    let values = values(scene, options.userActivities.first ?? restored)
    let items = template.takesFiles ? options.items.map(\.itemProvider) : []
    if items.contains(where: ItemFiles.needsFile) {
      Task { @MainActor in
        var child: Child?
        do {
          let paths = try await files.paths(of: items)
          if isOver { return files.remove() }
          child = try Child(template.filled(values, files: paths))
        } catch {
          Output.note("stagedoor host: \((error as? StagedoorError)?.message ?? "\(error)")")
        }
        await attend(child)
      }
    } else {
      let child = try Child(template.filled(values, files: items.compactMap(ItemFiles.pathInPlace)))
      Task { await attend(child) }
    }
    show(options, restored, in: scene)
  }

  /// What the window shows now: the next drop of the same comes here.
  private func show(_ options: ConnectionOptions, _ restored: StagedoorKit.UserActivity?, in scene: Scene) {
    guard let activity = options.userActivities.first ?? restored else { return }
    scene.userActivity = activity
    scene.title = activity.title ?? activity.targetContentIdentifier ?? scene.title
  }

  private func values(_ scene: Scene, _ activity: StagedoorKit.UserActivity?) -> [String: String] {
    var values = [
      "session": scene.id.description, "type": activity?.activityType ?? "",
      "target": activity?.targetContentIdentifier ?? "", "title": activity?.title ?? scene.title,
    ]
    for (key, value) in activity?.userInfo ?? [:] { values["info.\(key)"] = value.string ?? "" }
    return values
  }
}

extension Problem: CustomStringConvertible {
  var description: String { sentence }
}
