import Glibc
import ServiceSupport
package import WindowEvidence

/// What is known of applications: how they write their titles, and what they do when they are run again with a file that they show.
///
/// Each line was tried with the program from Debian 12. An application without a line counts as a viewer whose titles the documents may write, so that
/// only the file that its process holds is evidence. A person adds lines in `stagedoor/understudy.conf` of the configuration directory, which
/// `docs/understudy.md` explains.
package struct Habits: Sendable {
  /// What is known of each program. The identifiers and names come from its desktop file.
  private var rows: [String: Application] = [:]

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

  /// The lines of the person's file that say nothing, each with its place and its fault: "FILE:LINE: fault".
  package private(set) var complaints: [String] = []

  /// - Parameter directory: The person's settings of Stagedoor.
  package init(in directory: String?) {
    for line in Habits.known.split(separator: "\n") { try? read(line) }
    guard let file = directory.map({ "\($0)/understudy.conf" }), access(file, F_OK) == 0 else { return }
    guard let bytes = SmallFile.read(file, limit: 64 << 10) else {
      complaints = ["\(file) \(SmallFile.reason(file, limit: 64 << 10))"]
      return
    }
    // Not by characters: "\r\n" is one.
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      do throws(Fault) { try read(String(decoding: line, as: UTF8.self)[...]) } catch {
        complaints.append("\(file):\(number + 1): \(error.sentence)")
      }
    }
  }

  private struct Fault: Error {
    let sentence: String
  }

  private static let kinds: [String: Application.Kind] = [
    "editor": .editor, "viewer": .viewer, "player": .player, "quoting": .quoting,
  ]
  private static let habits: [String: Application.Habit] = [
    "finds": .findsFile, "window": .findsWindow, "one": .oneProcessForEach, "-": .unknown,
  ]
  private static let titles: [String: (own: Bool, directory: Bool)] = [
    "own": (true, false), "directory": (true, true), "-": (false, false),
  ]

  private mutating func read(_ line: Substring) throws(Fault) {
    let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let program = words.first else { return }
    guard 3...4 ~= words.count else {
      throw Fault(sentence: "a line has a program, a kind, a habit, and perhaps a word for the titles")
    }
    if program.contains("/") {
      throw Fault(sentence: "\(program) has a directory; write the name of the program alone")
    }
    let kind = try Habits.value(of: words[1], in: Habits.kinds, "kind")
    let habit = try Habits.value(of: words[2], in: Habits.habits, "habit")
    let titles = try Habits.value(of: words.count > 3 ? words[3] : "-", in: Habits.titles, "word for titles")
    rows[program] = Application(
      identifier: "", names: [], kind: kind, habit: habit, writesOwnTitles: titles.own,
      writesDirectories: titles.directory)
  }

  private static func value<Value>(
    of word: String, in known: [String: Value], _ what: String
  ) throws(Fault) -> Value {
    if let value = known[word] { return value }
    let all = known.keys.sorted()
    let advice = Suggestion.sentence(for: word, among: all) ?? "there are \(all.joined(separator: ", "))"
    throw Fault(sentence: "there is no \(what) \(word); \(advice)")
  }

  private static let quoting: Set<String> = [
    "WebBrowser", "TerminalEmulator", "Email", "InstantMessaging", "Chat", "IRCClient",
  ]

  /// Whether anything is known of an application beside its desktop file.
  package func isKnown(_ entry: DesktopEntry) -> Bool {
    rows[entry.program] != nil || !entry.categories.isDisjoint(with: Habits.quoting)
  }

  /// What makes an application known that is not.
  package static func advice(on entry: DesktopEntry) -> String {
    let consequence = "so only a file that its process holds open is evidence"
    return entry.program.isEmpty
      ? "\(entry.name) is started by an interpreter or a launcher, and has no program of its own that a list could name, \(consequence)"
      : "nobody has listed \(entry.program), \(consequence): a line in stagedoor/understudy.conf can say more of it, see "
        + "`man stagedoor-understudy`"
  }

  package func application(_ entry: DesktopEntry) -> Application {
    var application = rows[entry.program] ?? Application(identifier: "", names: [], kind: .viewer)
    if !entry.categories.isDisjoint(with: Habits.quoting) { application.kind = .quoting }
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
    (application.identifier, application.names) = (entry.application, names)
    return application
  }
}
