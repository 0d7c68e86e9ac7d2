import DBus
import FoundationEssentials
@preconcurrency import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

/// Makes commands the windows of an application: each connected session is a process.
enum HostCommand {
  @MainActor static func run(_ invocation: Invocation) async throws {
    let (identifier, connect) = (invocation[.hostApp] ?? "", invocation[.connect] ?? "")
    let commands = HostCommands(
      connect: try CommandTemplate(connect, "connect"),
      resume: try invocation[.onContinue].map { text throws(Problem) in try CommandTemplate(text, "continue") },
      close: try invocation[.onClose].map { text throws(Problem) in try CommandTemplate(text, "close") },
      limit: invocation[.commandLimit].flatMap { Int($0) } ?? 64)
    // The name on the bus must be the whole identifier, so this command completes nothing.
    guard ApplicationIdentifier.isValid(Text(identifier)) else {
      throw Problem.usage(
        "--app takes a whole identifier such as org.example.Gallery, and not \"\(identifier.printable)\"")
    }
    let client = try await Client(invocation)
    try await CommandHost(identifier, commands).run(on: client.stagedoor.connection)
    await client.stagedoor.close()
  }
}

struct HostCommands: Sendable {
  let connect: CommandTemplate
  let resume: CommandTemplate?
  let close: CommandTemplate?
  /// The maximum of commands that run at the same time.
  let limit: Int
}

@MainActor final class CommandHost: Application {
  private let commands: HostCommands
  /// The number of commands that run, or will run as soon as their items are files.
  private var running = 0

  init(_ identifier: String, _ commands: HostCommands) {
    self.commands = commands
    super.init(identifier)
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { CommandScene(commands, of: self) }

  override func didFail(_ error: StagedoorError, while what: String) {
    Output.note("stagedoor host: \(what): \(error.message)")
  }

  /// Takes a place for one more command. The caller gives it back.
  func takePlace() throws {
    if running >= commands.limit {
      throw Problem(.failed, "\(running) commands run already, and --limit allows no more; close a window first")
    }
    running += 1
  }

  func givePlaceBack() { running -= 1 }
}

@MainActor private final class CommandScene: SceneDelegate {
  private let commands: HostCommands
  private weak var application: CommandHost?
  private var window: Child?
  private var children: [Child] = []
  private let files = ItemFiles()
  /// The loads that run: nobody waits for them when the window has closed, and a pipe may have no end.
  private var loads: Set<Task<[String], any Error>> = []
  private var isOver = false
  /// Whether the command of the window has ended.
  private var hasEnded = false
  /// Whether no command of the window runs, or will.
  private var isAtRest: Bool { children.isEmpty && loads.isEmpty }
  /// The delivery that was taken last. If the service did not learn this, the delivery comes again.
  private var taken: DeliveryIdentifier?

  init(_ commands: HostCommands, of application: CommandHost) {
    self.commands = commands
    self.application = application
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    try run(commands.connect, scene, options, session.stateRestorationActivity, isWindow: true)
  }

  override func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    if options.attempt > 1, options.delivery == taken { return }
    guard let resume = commands.resume else {
      let problem = Problem.failed(
        "the command of this window runs already, and takes no other delivery; start `stagedoor host` with --continue COMMAND"
      )
      CommandScene.report(problem)
      throw problem
    }
    try run(resume, scene, options, nil, isWindow: false)
  }

  override func sceneDidDisconnect(_ scene: Scene) {
    isOver = true
    for load in loads { load.cancel() }
    defer { files.remove() }
    if window?.isRunning ?? false, let close = commands.close {
      do {
        let child = try Child(close, values(scene, scene.userActivity), [])
        Task { await CommandScene.attend(child) }
        return
      } catch {
        CommandScene.report(error)
      }
    }
    for child in children { child.terminate() }
  }

  /// Runs a command with the contents of a delivery. Other items than files in their place become files first. This takes time, and the application
  /// may load them only after it has taken the delivery.
  private func run(
    _ template: CommandTemplate, _ scene: Scene, _ options: ConnectionOptions,
    _ restored: StagedoorKit.UserActivity?, isWindow: Bool
  ) throws {
    let values = values(scene, options.userActivities.first ?? restored)
    let all = options.items.map(\.itemProvider)
    let items = template.takesFiles ? all : []
    try ItemFiles.refuseNotUTF8(items)
    let needsFiles = items.contains(where: ItemFiles.needsFile)
    // The sender hears of a missing program now, because the command starts only when the items are files.
    if needsFiles { try template.refuseMissingProgram() }
    try application?.takePlace()
    if needsFiles {
      let load = Task { @MainActor in try await files.paths(of: items) }
      loads.insert(load)
      Task { @MainActor [weak scene] in
        do {
          let paths = try await load.value
          if !isOver { await attend(try begin(template, values, paths, isWindow)) }
        } catch {
          if !isOver { CommandScene.report(error) }
        }
        loads.remove(load)
        // If the window closed while items were loaded, some of them have become files since.
        if isOver { files.remove() }
        await isDone(scene, isWindow)
      }
    } else {
      let child: Child
      // A script finds the names in its environment, whatever its command line says.
      let files = all.compactMap(ItemFiles.pathInPlace).filter { !ItemFiles.isNotUTF8($0) }
      do { child = try begin(template, values, files, isWindow) } catch {
        application?.givePlaceBack()
        throw error
      }
      // The command itself opens these files.
      for item in items { item.finishLoading() }
      Task { @MainActor [weak scene] in
        await attend(child)
        await isDone(scene, isWindow)
      }
    }
    taken = options.delivery
    show(options, restored, in: scene)
  }

  private func begin(
    _ template: CommandTemplate, _ values: [String: String], _ files: [String], _ isWindow: Bool
  ) throws -> Child {
    let child = try Child(template, values, files)
    children.append(child)
    if isWindow { window = child }
    return child
  }

  private func attend(_ child: Child) async {
    await CommandScene.attend(child)
    children.removeAll { $0 === child }
  }

  private static func attend(_ child: Child) async {
    if let failure = await child.ended() { Output.note("stagedoor host: \(child.program) \(failure)") }
  }

  private func isDone(_ scene: Scene?, _ isWindow: Bool) async {
    application?.givePlaceBack()
    if isWindow { hasEnded = true }
    // Commands that took a later delivery are not ended with the window, which closed by itself.
    guard hasEnded, isAtRest, let application else { return }
    // A command may end before the service knows that the delivery is taken. If the session ended first, the delivery would fail.
    if let taken { _ = try? await application.stagedoor?.finished(taken) }
    if !isOver, isAtRest, let scene { application.requestSceneSessionDestruction(scene.session) }
  }

  private static func report(_ error: any Error) {
    Output.note("stagedoor host: \((error as? StagedoorError)?.message ?? "\(error)")")
  }

  /// Reports the content of the window, so that the next drop of the same activity comes here.
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
    for (key, value) in activity?.userInfo ?? [:] { values["info.\(key)"] = value.argument }
    return values
  }
}

extension StagedoorKit.UserInfoValue {
  /// The value as an argument; "" for bytes and for a value with parts.
  fileprivate var argument: String {
    if let string { return string }
    if let bool { return bool ? "true" : "false" }
    if let integer { return "\(integer)" }
    if let double { return "\(double)" }
    if let date { return Instant(microseconds: Int64((date.timeIntervalSince1970 * 1_000_000).rounded())).rfc3339 }
    return uuid?.uuidString.lowercased() ?? url?.absoluteString ?? ""
  }
}

extension Problem: CustomStringConvertible {
  var description: String { sentence }
}

/// A process of a window, and its group: a command may have started other processes.
@MainActor final class Child {
  let program: String
  private let process: pid_t
  /// Waits for the end of the process: every other way would have to ask again and again.
  private let thread: EventLoop
  private(set) var isRunning = true
  private var wasTerminated = false

  /// - Parameters:
  ///   - values: The values of the placeholders.
  ///   - files: The paths that replace `{file}`.
  init(_ command: CommandTemplate, _ values: [String: String], _ files: [String]) throws {
    let words = command.filled(values, files: files)
    let variables = CommandTemplate.variables(values, files: files)
    program = words[0]
    thread = try EventLoop(name: "child")
    // The program writes to our outputs, and reads nothing. This host may itself run in a window of another, whose values are not those of ours.
    let environment = Environment.all(adding: variables, without: ["STAGEDOOR_"])
    let (process, error) = Spawn.start(words.map { Array($0.utf8) }, environment: environment, in: .group) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    self.process = process
    if error != 0 {
      thread.beginStopping()
      throw Problem.failed("\(program.printable): \(String(cString: strerror(error)))")
    }
  }

  /// Returns when the process has ended. If it failed by itself, the result says how, as the end of a sentence. Call this once.
  func ended() async -> String? {
    let process = process
    await thread.run { _ in
      var info = siginfo_t()
      while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }
    await thread.stop()
    // Until now the process kept its number, so no signal could reach another process.
    var status: Int32 = 0
    waitpid(process, &status, 0)
    isRunning = false
    if wasTerminated || status == 0 { return nil }
    let number = status & 0x7F
    return number == 0 ? "ended with status \(status >> 8)" : "was ended by the signal \(number)"
  }

  func terminate() {
    wasTerminated = true
    if isRunning { kill(-process, SIGTERM) }
  }
}

/// The items of a scene as files: files in their place, and all other items in a folder that only this user can read.
@MainActor final class ItemFiles {
  private var folder: URL?
  private var count = 0

  static func pathInPlace(_ item: ItemProvider) -> String? {
    item.registeredTypes.lazy.compactMap { item.pathOpenedInPlace(as: $0) }.first
  }

  /// Refuses files in their place whose names cannot be arguments here.
  static func refuseNotUTF8(_ items: [ItemProvider]) throws(Problem) {
    for path in items.compactMap(pathInPlace) where isNotUTF8(path) {
      throw .failed(
        "the name of \(path.printable) is not UTF-8, and a command here cannot open it; hand it in with --copy")
    }
  }

  static func isNotUTF8(_ path: String) -> Bool { path.contains("\u{FFFD}") && access(path, F_OK) != 0 }

  /// Whether the item has content and is not a file in its place.
  static func needsFile(_ item: ItemProvider) -> Bool { !item.registeredTypes.isEmpty && pathInPlace(item) == nil }

  /// The paths of all items, with a new file for each that needs one.
  func paths(of items: [ItemProvider]) async throws -> [String] {
    var paths: [String] = []
    for item in items {
      if let path = ItemFiles.pathInPlace(item) {
        item.finishLoading()
        paths.append(path)
      } else if let type = item.registeredTypes.first {
        let loaded = try await item.loadFileRepresentation(as: type)
        // Each item has a folder of its own, because several may have the same name.
        let own = try place()
        try FileManager.default.moveItem(at: loaded.deletingLastPathComponent(), to: own)
        paths.append(own.appending(path: loaded.lastPathComponent).path)
      }
    }
    return paths
  }

  func remove() {
    if let folder { try? FileManager.default.removeItem(at: folder) }
    folder = nil
  }

  private func place() throws -> URL {
    let whole = try folder ?? ItemFiles.makeFolder()
    folder = whole
    count += 1
    return whole.appending(path: "\(count)")
  }

  private static func makeFolder() throws -> URL {
    let base = Environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/stagedoor.XXXXXX".utf8CString)
    if mkdtemp(&template) == nil { throw Problem.failed("\(base.printable): \(InputFile.reason)") }
    return URL(filePath: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}
