import DBus
@preconcurrency import Glibc
import SceneModel
import ServiceSupport
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

/// A command line with places to be filled in. What is filled in is one argument, whatever is in it: no shell reads it.
struct CommandTemplate: Sendable {
  private let words: [String]

  init(_ text: String, _ option: String) throws(Problem) {
    guard let words = CommandWords.words(of: text), !words.isEmpty else {
      throw .usage(
        "--\(option) takes a command; a quote in \"\(text.printable)\" is not closed, or there is nothing in it")
    }
    self.words = words
  }

  /// `{file}` by itself becomes an argument for each file, and none where there is no file. What is not known becomes nothing.
  func filled(_ values: [String: String], files: [String]) -> [String] {
    words.flatMap { word -> [String] in
      if word == "{file}" { return files }
      return [CommandTemplate.fill(word, values.merging(["file": files.first ?? ""]) { $1 })]
    }
  }

  private static func fill(_ word: String, _ values: [String: String]) -> String {
    var filled = ""
    var rest = word[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: open)..<close])
      let isPlace = ["title", "target", "file", "session", "type"].contains(name) || name.hasPrefix("info.")
      filled += rest[..<open] + (isPlace ? values[name] ?? "" : String(rest[open...close]))
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }
}

@MainActor final class CommandHost: Application {
  private let commands: HostCommands

  init(_ identifier: String, _ commands: HostCommands) {
    self.commands = commands
    super.init(identifier)
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { CommandScene(commands, of: self) }
}

/// A window that is a process.
@MainActor private final class CommandScene: SceneDelegate {
  private let commands: HostCommands
  private weak var application: CommandHost?
  private var process: pid_t?

  init(_ commands: HostCommands, of application: CommandHost) {
    self.commands = commands
    self.application = application
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    let process = try start(commands.connect, scene, options, session.stateRestorationActivity)
    self.process = process
    Task { @MainActor [weak self, weak scene] in
      await Child.ended(process)
      guard let self, self.process == process else { return }
      self.process = nil
      // The window was closed from within: its session is over.
      if let scene { self.application?.requestSceneSessionDestruction(scene.session) }
    }
  }

  override func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    if let resume = commands.resume {
      Child.forget(try start(resume, scene, options, nil))
    } else {
      show(options, nil, in: scene)
    }
  }

  override func sceneDidDisconnect(_ scene: Scene) {
    guard let process else { return }
    self.process = nil
    if let close = commands.close {
      let words = close.filled(values(scene, scene.userActivity), files: [])
      let (child, error) = Child.start(words)
      if error == 0 { return Child.forget(child) }
      Output.note("stagedoor host: \(words[0]): \(String(cString: strerror(error)))")
    }
    // All of its group: a command may have begun others.
    kill(-process, SIGTERM)
  }

  private func start(
    _ template: CommandTemplate, _ scene: Scene, _ options: ConnectionOptions, _ restored: StagedoorKit.UserActivity?
  ) throws -> pid_t {
    let words = template.filled(values(scene, options.userActivities.first ?? restored), files: files(options))
    let (process, error) = Child.start(words)
    if error != 0 { throw Problem.failed("\(words[0].printable): \(String(cString: strerror(error)))") }
    show(options, restored, in: scene)
    return process
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

  private func files(_ options: ConnectionOptions) -> [String] {
    options.items.compactMap { item in
      let provider = item.itemProvider
      return provider.registeredTypes.lazy.compactMap { provider.pathOpenedInPlace(as: $0) }.first
    }
  }
}

extension Problem: CustomStringConvertible {
  var description: String { sentence }
}

/// The processes of the windows.
private enum Child {
  static func start(_ words: [String]) -> (pid_t, Int32) {
    // What the program prints is for whoever reads along, and what it asks is for nobody.
    let (process, error) = Spawn.start(words, in: .group) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    return (process, error)
  }

  /// Waits on a thread of its own: nothing else tells of a process without being asked again and again.
  static func ended(_ process: pid_t) async {
    await withCheckedContinuation { continuation in
      let waiter = Unmanaged.passRetained(Waiter(process, continuation))
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { pointer in
          if let pointer { Unmanaged<Waiter>.fromOpaque(pointer).takeRetainedValue().run() }
          return nil
        }, waiter.toOpaque())
      if code == 0 { pthread_detach(thread) } else { waiter.takeRetainedValue().continuation.resume() }
    }
  }

  /// For one whose end means nothing: no zombie stays.
  static func forget(_ process: pid_t) { Task { @MainActor in await ended(process) } }

  private final class Waiter {
    let process: pid_t
    let continuation: CheckedContinuation<Void, Never>

    init(_ process: pid_t, _ continuation: CheckedContinuation<Void, Never>) {
      (self.process, self.continuation) = (process, continuation)
    }

    func run() {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      continuation.resume()
    }
  }
}
