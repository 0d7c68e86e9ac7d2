import DesktopFiles
import ServiceSupport
import WindowEvidence

/// What is known of applications: how they write their titles, and what they do when they are run again with a file that they show.
///
/// Each line was tried with the program from Debian 12. An application without a line counts as a viewer whose titles the documents may write, so that
/// only the file that its process holds is evidence. A person adds lines in `stagedoor/understudy.conf` of the configuration directory:
///
///     # program   kind     habit      titles
///     kwrite      editor   finds      directory
struct Habits {
  struct Row {
    var kind: Application.Kind
    var habit: Application.Habit
    var writesOwnTitles = false
    var writesDirectories = false
  }

  private var rows: [String: Row] = [:]

  private static let known = """
    mousepad      editor   finds    own
    geany         editor   finds    directory
    gedit         editor   finds    directory
    featherpad    editor   finds    own
    gvim          editor   one      directory
    vim.gtk3      editor   one      directory
    emacs         editor   one      own
    libreoffice   editor   window   -
    evince        viewer   window   -
    atril         viewer   window   -
    zathura       viewer   one      own
    xpdf          viewer   one      own
    xpdf.real     viewer   one      own
    qpdfview      viewer   finds    -
    okular        viewer   one      -
    eog           viewer   finds    -
    eom           viewer   finds    -
    viewnior      viewer   one      -
    ristretto     viewer   one      -
    mpv           player   one      -
    parole        player   finds    -
    vlc           player   finds    -
    """

  /// - Parameter directory: The person's settings of Stagedoor.
  init(in directory: String?) {
    read(Habits.known)
    if let directory, let bytes = SmallFile.read("\(directory)/understudy.conf", limit: 64 << 10) {
      read(String(decoding: bytes, as: UTF8.self))
    }
  }

  private mutating func read(_ text: String) {
    for line in text.split(separator: "\n") {
      let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
      guard words.count >= 3 else { continue }
      let kinds: [Substring: Application.Kind] = [
        "editor": .editor, "viewer": .viewer, "player": .player, "quoting": .quoting,
      ]
      let habits: [Substring: Application.Habit] = [
        "finds": .findsFile, "window": .findsWindow, "one": .oneProcessForEach, "-": .unknown,
      ]
      guard let kind = kinds[words[1]], let habit = habits[words[2]] else { continue }
      let titles = words.count > 3 ? words[3] : "-"
      rows[String(words[0])] = Row(
        kind: kind, habit: habit, writesOwnTitles: titles != "-", writesDirectories: titles == "directory")
    }
  }

  private static let quoting: Set<String> = [
    "WebBrowser", "TerminalEmulator", "Email", "InstantMessaging", "Chat", "IRCClient",
  ]

  /// Whether anything is known of an application beside its desktop file.
  func isKnown(_ entry: DesktopEntry) -> Bool {
    rows[entry.program] != nil || !entry.categories.isDisjoint(with: Habits.quoting)
  }

  /// What makes an application known that is not.
  static func advice(on entry: DesktopEntry) -> String {
    let consequence = "so only a file that its process holds open is evidence"
    return entry.program.isEmpty
      ? "\(entry.name) is started by an interpreter or a launcher, and has no program of its own that a list could name, \(consequence)"
      : "nobody has listed \(entry.program), \(consequence): a line in stagedoor/understudy.conf can say more of it, see "
        + "`man stagedoor-understudy`"
  }

  func application(_ entry: DesktopEntry) -> Application {
    var row = rows[entry.program] ?? Row(kind: .viewer, habit: .unknown)
    if !entry.categories.isDisjoint(with: Habits.quoting) { row.kind = .quoting }
    var names: Set<Bytes> = [Bytes(entry.name.utf8), Bytes(entry.program.utf8)]
    if let startup = entry.startupClass { names.insert(Bytes(startup.utf8)) }
    // Vim writes the name of its server, which is numbered from the second on.
    if ["gvim", "vim.gtk3"].contains(entry.program) {
      for server in ["GVIM", "VIM"] {
        names.formUnion(([""] + (1...20).map { "\($0)" }).map { Bytes((server + $0).utf8) })
      }
    }
    // geany writes Geany.
    names.insert(Bytes(entry.program.uppercased().utf8))
    names.insert(Bytes((entry.program.prefix(1).uppercased() + entry.program.dropFirst()).utf8))
    return Application(
      identifier: entry.application, names: names, kind: row.kind, habit: row.habit,
      writesOwnTitles: row.writesOwnTitles, writesDirectories: row.writesDirectories)
  }
}

extension DesktopEntry {
  var traits: EntryTraits {
    EntryTraits(
      identifier: identifier, path: Bytes(path.utf8), startupClass: startupClass.map { Bytes($0.utf8) },
      program: Bytes(program.utf8))
  }
}
