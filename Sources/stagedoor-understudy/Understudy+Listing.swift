import DBus
import DesktopFiles
import SceneModel
import ServiceSupport
import WindowEvidence

/// The windows for people who look for one: in lists, and by typing.
extension Understudy {
  struct ListedWindow: Equatable {
    var number: WindowNumber
    var title: String
    /// The identifier, name and icon of its application; empty if nobody knows.
    var application = "", name = "", icon = ""
    /// The file that it shows, where that is known.
    var document: String?
    var level: Level = .unsure
    var isActive: Bool
  }

  /// Every window, the topmost first.
  func list() -> [ListedWindow] {
    defer { takeEvents() }
    var sight = sight()
    var documents: [WindowNumber: (url: String, level: Level)] = [:]
    let applications = Set(sight.windows.compactMap(\.seen.application)).compactMap { installed.now.applications[$0] }
    for entry in applications { documents.merge(self.documents(of: entry, in: &sight)) { first, _ in first } }
    let active = display.active
    return sight.windows.compactMap { number, seen in
      guard seen.shown.isMain else { return nil }
      let entry = seen.application.flatMap { installed.now.applications[$0] }
      let document = documents[number]
      return ListedWindow(
        number: number, title: String(decoding: seen.shown.title, as: UTF8.self), application: seen.application ?? "",
        name: entry?.name ?? "", icon: entry?.icon ?? "", document: document?.url, level: document?.level ?? .unsure,
        isActive: number == active)
    }
  }

  /// The files that an application's windows show, as the judge finds.
  func documents(of entry: DesktopEntry, in sight: inout Sight) -> [WindowNumber: (url: String, level: Level)] {
    let known = installed.now.habits.application(entry)
    let windows = evidence(for: entry.application, in: &sight)
    var found: [WindowNumber: (url: String, level: Level)] = [:]
    for window in windows where window.application == entry.application && window.isMain {
      let files = filesToAsk(about: window, of: known, home: home).compactMap { path -> File? in
        guard let file = File(at: path) else { return nil }
        // A program holds files that are no documents, such as its own lists.
        return file.paths.contains { Title.hasWord(File.name(of: $0), in: window.title) } || takes(entry, file)
          ? file : nil
      }
      // The other windows are not judged, for there may be many of them.
      let findings = files.map { file in
        (file, finding(of: file, for: known, in: window, among: windows, home: home, exists: Understudy.exists))
      }
      if let shown = document(among: findings) {
        found[window.number] = (FileURL.text(ofPath: shown.file.path).string, shown.level)
      }
    }
    return found
  }

  private func takes(_ entry: DesktopEntry, _ file: File) -> Bool {
    let type = installed.now.files.type(ofFile: file.path)
    return installed.now.applications.application(for: type)?.application == entry.application
  }

  func activate(_ window: String, _ token: String?) throws {
    defer { endStartup(token) }
    try activate(window, at: time(of: token))
  }

  func activate(_ window: String, at time: UInt32) throws {
    guard let number = WindowNumber(window), windows[number] != nil else {
      throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "there is no window \(window)")
    }
    guard display.canRaise else {
      throw ErrorReply(
        "org.freedesktop.DBus.Error.NotSupported", "this compositor brings no window to the front for others")
    }
    display.raise(number, at: time)
    takeEvents()
  }

  /// Tells once after each listing, so that a title that changes ten times a second wakes nobody who does not look.
  func tellOfChange() {
    listChanged?()
    listChanged = nil
  }
}
