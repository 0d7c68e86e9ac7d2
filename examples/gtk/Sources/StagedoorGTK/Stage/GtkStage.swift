internal import CGtk4
internal import CStage
internal import DBus
public import FoundationEssentials
internal import Glibc
public import StagedoorKit

/// The stage of an application with GTK's windows: its main loop, its name on the desktop, its menu.
///
/// ```swift
/// import StagedoorKit
///
/// final class Cats: Application {
///   override func didFinishLaunching(with options: LaunchOptions) { restoresWindows = true }
///   override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { CatScene() }
/// }
///
/// final class CatScene: WindowScene {
///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
///     scene.title = "Tom"
///     content = Label("a cat")
///   }
/// }
///
/// @main enum Main {
///   static func main() { GtkStage.run { Cats("org.example.Cats") } }
/// }
/// ```
///
/// The stage keeps the application alive until its last window has closed; the sessions stay, and the next drop starts the program
/// again. SIGTERM shuts it down cleanly. The program opens the files in its arguments. A second process hands its files to the first. A process has one
/// stage, and a stage has one application.
///
/// `--headless` runs the same scenes without a display. After each change, a window's text is written to standard output. Actions come
/// over the bus.
@MainActor public enum GtkStage {
  /// Whether the program runs without a display. Widgets then exist in Swift only.
  public private(set) static var isHeadless = false
  /// The application that runs on this stage.
  public private(set) static var application: Application?

  static let actions = Actions()
  /// The scene whose window had the focus last.
  static weak var lastActive: Scene?
  private(set) static var hadWindow = false
  private(set) static var isQuitting = false
  private static var desktop: DesktopInterface?
  private static var client: Stagedoor?
  /// The window of a program without scenes.
  private static var only: Window?

  /// The service, for drags. It exists once the application has started; a program without scenes may run without the service.
  static var stagedoor: Stagedoor? { application?.stagedoor ?? client }

  /// Runs the application that `make` returns. The process ends with the application.
  public nonisolated static func run(_ make: @escaping @MainActor () throws -> Application) -> Never {
    runLoop {
      let arguments = Arguments(CommandLine.arguments.dropFirst())
      prepare(headless: arguments.isHeadless, hint: "; --headless (with make: ARGS=--headless) runs without one")
      Task { @MainActor in
        do { try await start(try make(), arguments) } catch { fail("\(error)") }
      }
    }
  }

  /// Runs a program that has one window and no scenes, such as a tool from which people drag something. The process ends when the window
  /// closes, or when the program calls `exit`. The service need not run.
  ///
  /// ```swift
  /// import FoundationEssentials
  /// import StagedoorKit
  ///
  /// @main enum Main {
  ///   static func main() {
  ///     let file = URL(filePath: "/usr/share/pixmaps/cat.png")
  ///     GtkStage.runWindow(titled: "Drag me") {
  ///       Picture(.file(file), "a cat").onDrag { [DragItem(itemProvider: ItemProvider(file: file, openInPlace: true))] }
  ///     }
  ///   }
  /// }
  /// ```
  public nonisolated static func runWindow(
    titled title: String, size: (width: Int, height: Int) = (320, 240), _ content: @escaping @MainActor () -> Widget
  ) -> Never {
    runLoop {
      prepare(headless: false)
      let window = Window(of: nil) {
        DragFiles.removeAll()
        exit(EXIT_SUCCESS)
      }
      only = window
      (window.title, window.defaultSize, window.content) = (title, size, content())
      window.present(nil)
      Task { @MainActor in client = try? await Stagedoor.connect() }
    }
  }

  private nonisolated static func runLoop(_ begin: @MainActor () -> Void) -> Never {
    // The main actor is the thread that the process began with, and this is called there.
    MainActor.assumeIsolated { begin() }
    g_main_loop_run(g_main_loop_new(nil, 0))
    exit(EXIT_SUCCESS)
  }

  private static func prepare(headless: Bool, hint: String = "") {
    isHeadless = headless
    if !isHeadless {
      if gtk_init_check() == 0 { fail("there is no display" + hint) }
      stage_load_style(style)
      stage_watch_drags()
    }
    g_unix_fd_add(
      MainQueue.descriptor, G_IO_IN,
      { _, _, _ in
        MainQueue.drain()
        return 1
      }, nil)
  }

  private static func start(_ application: Application, _ arguments: Arguments) async throws {
    let connection = try await Connection.session()
    self.application = application
    if !isHeadless { g_set_prgname(application.identifier) }
    let desktop = DesktopInterface(of: application, on: connection)
    self.desktop = desktop
    desktop.export()
    do throws(StagedoorError) {
      try await application.start(on: connection)
    } catch  where error.code == .alreadyRunning {
      try await desktop.callOther(arguments.files)
      exit(EXIT_SUCCESS)
    }
    Task { @MainActor in
      _ = await connection.closed()
      if !isQuitting { fail("the bus has gone") }
    }
    desktop.isReady.signal()
    if !arguments.files.isEmpty {
      try await open(arguments.files, desktop)
    } else if !arguments.isService, !application.restoresWindows {
      try await desktop.activate(token: nil)
    }
  }

  /// Opens the files of the arguments. A failure does not end a program that has windows.
  private static func open(_ files: [URL], _ desktop: DesktopInterface) async throws {
    do {
      try await desktop.open(files, token: nil)
    } catch {
      guard hadWindow else { throw error }
      report("\(error)")
    }
  }

  static func fail(_ message: String) -> Never {
    report(message)
    exit(EXIT_FAILURE)
  }

  private static func report(_ message: String) {
    let line = Array("\(CommandLine.arguments.first ?? "stage"): \(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }

  // MARK: The end

  /// Ends the program. The sessions stay as they are, and an application that restores its windows shows them when it starts again.
  public static func quit() {
    if isQuitting { return }
    isQuitting = true
    Task { @MainActor in
      await application?.stop()
      await desktop?.release()
      exit(EXIT_SUCCESS)
    }
  }

  static func windowOpened() { hadWindow = true }

  static func windowClosed() {
    if application?.connectedScenes.allSatisfy({ $0.activationState == .unattached }) == true { DragFiles.removeAll() }
    quitSoon()
  }

  /// Ends the program a moment after its last window: a delivery, or a call of the desktop, may be about to open another one.
  static func quitSoon() {
    Timeout.run(after: 500) {
      guard hadWindow, let application, application.connectedScenes.isEmpty, desktop?.isAnswering == false else {
        return
      }
      quit()
    }
  }

  // MARK: Files

  /// The folder for an application's own files, in the desktop's place for such folders. A missing folder is made, and nobody else may read it.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let entries = try GtkStage.dataFolder(of: "org.example.Journal").appending(path: "entries.json")
  /// print(try Data(contentsOf: entries).count)
  /// ```
  public nonisolated static func dataFolder(of application: String) throws -> URL {
    let environment = ProcessInfo.processInfo.environment
    // An empty or a relative folder counts as none.
    let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let folder = URL(filePath: "\(data ?? "\(environment["HOME"] ?? "")/.local/share")/\(application)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
  }

  // MARK: Tokens

  /// A token of the user's last click or key in this program. It lets another program's window come to the front: see
  /// ``DeliveryOptions/activationToken``.
  ///
  /// ```swift
  /// import StagedoorKit
  ///
  /// func show(_ session: SceneSession, _ stagedoor: Stagedoor) async throws {
  ///   var options = DeliveryOptions()
  ///   options.session = session.identifier
  ///   options.activationToken = GtkStage.activationToken()
  ///   try await stagedoor.deliver([], options)
  /// }
  /// ```
  public static func activationToken() -> String? {
    if isHeadless { return nil }
    guard let token = stage_activation_token(application?.identifier ?? "") else { return nil }
    defer { g_free(token) }
    return String(cString: token)
  }

  /// Adds style sheets of the application's own, for the classes that ``Widget/style(_:)`` gives.
  ///
  /// ```swift
  /// GtkStage.addStyle(".note { background: khaki; }")
  /// let note = Label("buy milk").style("note")
  /// ```
  public static func addStyle(_ css: String) { if !isHeadless { stage_load_style(css) } }

  private static let style = """
    .stage-place { border: none; border-radius: 0; }
    .stage-progress { padding: 6px 12px; }
    .stage-message { padding: 6px 12px; background: alpha(@warning_color, 0.25); }
    .card { border-radius: 12px; }
    picture.rounded { border-radius: 10px; }
    *:drop(active) { box-shadow: none; }
    .stage-drop-here { outline: 3px solid @theme_selected_bg_color; outline-offset: -3px; border-radius: 8px; }
    """
}

/// The arguments of the program.
private struct Arguments {
  var isHeadless = false
  /// Whether the bus started the program. Then the call that waits for the program opens the windows.
  var isService = false
  var files: [URL] = []

  @MainActor init(_ words: ArraySlice<String>) {
    var takesOptions = true
    for word in words {
      switch word {
      case "--" where takesOptions: takesOptions = false
      case "--headless" where takesOptions: isHeadless = true
      case "--gapplication-service" where takesOptions: isService = true
      case "--help" where takesOptions:
        print(Self.usage)
        exit(EXIT_SUCCESS)
      case _ where takesOptions && word.hasPrefix("-"): GtkStage.fail("there is no option \(word)\n\(Self.usage)")
      default: files.append(word.hasPrefix("file:") ? URL(string: word) ?? URL(filePath: word) : URL(filePath: word))
      }
    }
  }

  private static let usage = """
    usage: \(CommandLine.arguments.first ?? "stage") [--headless] [FILE…]
    Opens its windows, and the files.
      --headless  runs without a display: the text of each window is written to standard output
    """
}
