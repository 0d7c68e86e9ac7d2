import DBus
import DesktopFiles
import Glibc
import SceneModel
import ServiceSupport
import WindowEvidence

/// Which window shows a file: what is gathered for one question, and what the judge says of it.
extension Understudy {
  /// The file, the application that shows it or is to open it, and what the windows say.
  struct Case {
    let file: File
    let url: String
    let entry: DesktopEntry
    var windows: [Window] = []
    var judgement: Judgement

    var isCertain: Bool { judgement.shownIn?.level == .certain }
  }

  /// The window that shows a file, or what else is to be done for it. Without an application, the person's own counts, and so do the others that take
  /// the file's type.
  func look(for url: String, in application: String?) async throws -> Case {
    let (file, entry) = try asked(for: url, application)
    var sight = sight()
    var cases = [judged(file, url, entry, &sight)]
    if application == nil {
      for other in others(than: entry, taking: file, in: sight) {
        if cases.contains(where: \.isCertain) { break }
        cases.append(judged(file, url, other, &sight))
      }
    }
    await askServices(about: url, &cases)
    // The display may have gone meanwhile.
    try refuseUnseen()
    // What is likely of the person's own application yields to what is certain of another.
    var chosen = cases.first(where: \.isCertain) ?? cases[0]
    for other in cases { chosen.judgement.merge(other.judgement) }
    return chosen
  }

  /// A second window for a file, whatever windows show it: nothing is asked.
  func another(for url: String, in application: String?) throws -> Case {
    let (file, entry) = try asked(for: url, application)
    return Case(file: file, url: url, entry: entry, judgement: Judgement(verdict: .startAnother, findings: []))
  }

  private func asked(for url: String, _ application: String?) throws -> (File, DesktopEntry) {
    guard let path = FileURL.path(of: Text(url)) else {
      throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "\(url) is not the URL of a file on this machine")
    }
    guard let file = File(at: path) else {
      throw ErrorReply(
        "org.freedesktop.DBus.Error.FileNotFound",
        "\(String(decoding: path, as: UTF8.self)): \(String(cString: strerror(errno)))")
    }
    readInstalledIfUnwatched()
    if let application {
      guard let entry = installed.now.applications[application] else {
        throw ErrorReply("org.stagedoor.Error.NoSuchApplication", "no application \(application) is installed")
      }
      return (file, entry)
    }
    let type = installed.now.files.type(ofFile: path)
    guard let entry = installed.now.applications.application(for: type) else {
      throw ErrorReply("org.stagedoor.Error.NoSuchApplication", "no application opens files of the type \(type)")
    }
    return (file, entry)
  }

  /// The other applications that take the file's type and have windows, those of the topmost windows first. Where strangers write the titles, no window
  /// can count.
  private func others(than entry: DesktopEntry, taking file: File, in sight: Sight) -> [DesktopEntry] {
    let takers = installed.now.applications.names(ofTakersOf: installed.now.files.type(ofFile: file.path))
    var seen: Set = [entry.application]
    return sight.windows.compactMap { _, window in
      guard let name = window.application, takers.contains(name), seen.insert(name).inserted else { return nil }
      return installed.now.applications[name].flatMap {
        installed.now.habits.application($0).kind == .quoting ? nil : $0
      }
    }
  }

  /// What a person can do, so that more is known of an application's windows.
  func notes(on entry: DesktopEntry) -> [String] {
    installed.now.habits.complaints + (installed.now.habits.isKnown(entry) ? [] : [Habits.advice(on: entry)])
  }

  // MARK: The display and the kernel

  /// What the display and the kernel tell for one question.
  struct Sight {
    /// The windows, the topmost first.
    let windows: [(number: WindowNumber, seen: Seen)]
    /// Each process is looked at once: it may have many windows and hold thousands of files.
    fileprivate var processes: [Int32: Process?] = [:]
  }

  /// The windows as they are now.
  func sight() -> Sight {
    takeEvents()
    defer { takeEvents() }
    readTitles(of: Array(windows.keys))
    return Sight(windows: display.windows().compactMap { number in windows[number].map { (number, $0) } })
  }

  /// The windows as the judge sees them, the topmost first. Processes are looked at for one application's windows only.
  func evidence(for application: String, in sight: inout Sight) -> [Window] {
    sight.windows.map { number, seen in
      let processNumber = seen.shown.isLocal ? seen.shown.process : nil
      var process: Process?
      if seen.application == application, let number = processNumber {
        process = sight.processes[number] ?? processes.process(number)
        sight.processes[number] = .some(process)
      }
      return Window(
        number, application: seen.application, title: seen.shown.title, processNumber: processNumber,
        process: process, isLocal: seen.shown.isLocal, isMain: seen.shown.isMain, history: seen.history)
    }
  }

  private func judged(_ file: File, _ url: String, _ entry: DesktopEntry, _ sight: inout Sight) -> Case {
    let windows = evidence(for: entry.application, in: &sight)
    let judgement = judgement(of: file, for: installed.now.habits.application(entry), among: windows)
    return Case(file: file, url: url, entry: entry, windows: windows, judgement: judgement)
  }

  func judgement(of file: File, for application: Application, among windows: [Window]) -> Judgement {
    judge(file, for: application, among: windows, home: home, exists: Understudy.exists)
  }

  static func exists(_ path: Bytes) -> Bool { access(path.map { CChar(bitPattern: $0) } + [0], F_OK) == 0 }

  // MARK: Services on the bus

  /// Asks the services of the applications before the first that certainly shows the file, all of them at once, and judges again.
  private func askServices(about url: String, _ cases: inout [Case]) async {
    let services = Services(connection: connection, patience: patience)
    let open = cases.prefix { !$0.isCertain }
    let questions = open.indices.filter { place in cases[place].windows.contains { $0.process != nil } }
      .compactMap { place in services.ask(about: url, cases[place].entry).map { (place: place, answer: $0) } }
    for (place, answer) in questions {
      guard let answer = await answer.value else { continue }
      cases[place].take(answer)
      cases[place].judgement = judgement(
        of: cases[place].file, for: installed.now.habits.application(cases[place].entry), among: cases[place].windows)
    }
  }
}

extension Understudy.Case {
  fileprivate mutating func take(_ answer: Services.Answer) {
    for place in windows.indices where windows[place].process?.number == answer.process {
      windows[place].playing = answer.playing
      windows[place].isNamedByService = answer.playing == nil
    }
  }
}
