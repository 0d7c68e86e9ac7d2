import DBus
@preconcurrency import Glibc
import SceneModel
import ServiceSupport

struct Invocation: Sendable {
  let command: CommandEntry
  var given: GivenWords
  /// The loop on which the command runs, once it runs.
  var loop: EventLoop?

  var screen: Screen { Screen(color: self[.color]) }
  var arguments: [String] { given.arguments }

  func has(_ option: Option) -> Bool { given.has(option) }
  func all(_ option: Option) -> [String] { given.all(option) }
  subscript(_ option: Option) -> String? { given[option] }
  /// The argument at a position; `nil` if it was not given.
  func argument(_ place: Int) -> String? { place < arguments.count ? arguments[place] : nil }
}

enum Parsed {
  case run(Invocation)
  /// The help of a command, or of the program, with the value of `--color`.
  case help(CommandEntry?, color: String?)
  /// No command was given.
  case nothing(color: String?)
  case version
}

extension CommandTable {
  static let program = Usage(
    "stagedoor", arguments: [.one(.commandName, "a command")], options: Option.common + [.version])

  static func command(_ name: String) -> CommandEntry? { all.first { $0.name == name } }
  static var visible: [CommandEntry] { all.filter { !$0.isHidden } }

  static func parse(_ words: [String]) throws(Problem) -> Parsed {
    do throws(Misuse) {
      var rest = words[...]
      let global = try program.readOptions(before: &rest)
      switch global.ending?.name {
      case Option.version.name: return .version
      // `--help drop` is `drop --help`.
      case Option.help.name: return .help(try rest.first.map(visibleCommand), color: global[.color])
      default: break
      }
      guard let name = rest.popFirst() else { return .nothing(color: global[.color]) }
      // The shells call a hidden command with words that are nobody's options.
      if let hidden = command(name), hidden.isHidden {
        let given = try Usage(name, arguments: hidden.arguments).read(["--"] + rest)
        return .run(Invocation(command: hidden, given: given))
      }
      let command = try visibleCommand(name)
      var given = try command.usage.read(rest)
      given.add(global)
      if given.ending != nil { return .help(command, color: given[.color]) }
      try NotUTF8.refuse(given, for: command)
      return .run(Invocation(command: command, given: given))
    } catch {
      throw .usage(error.description)
    }
  }

  /// The command that an invalid command line names, and whether it asks for JSON.
  static func addressee(_ words: [String]) -> (command: String?, isAskedForJSON: Bool) {
    var rest = words[...]
    guard (try? program.readOptions(before: &rest)) != nil, let command = rest.first.flatMap(command) else {
      return (nil, false)
    }
    let hasJSON = command.options.contains { $0.name == Option.json.name }
    return (command.name, hasJSON && rest.prefix { $0 != "--" }.contains { ["--json", "-j"].contains($0) })
  }

  static func visibleCommand(_ name: String) throws(Misuse) -> CommandEntry {
    if let command = visible.first(where: { $0.name == name }) { return command }
    // Somebody who types what a command does, such as `list`, means one of these.
    let doing = visible.filter { $0.summary.hasPrefix("\(name) ") }.map(\.name)
    let meant =
      doing.isEmpty
      ? Suggestion.sentence(for: name, among: visible.map(\.name)) : "did you mean \(doing.listed("or"))?"
    throw Misuse(
      "there is no command \"\(name.printable)\"; \(meant ?? "`stagedoor --help` lists the commands")")
  }

  @Sendable static func showHelp(_ invocation: Invocation) async throws {
    let command: CommandEntry?
    do throws(Misuse) { command = try invocation.argument(0).map(visibleCommand) } catch {
      throw Problem.usage(error.description)
    }
    try Output.write(command?.help(invocation.screen) ?? help(invocation.screen))
  }

  static func help(_ screen: Screen) -> String {
    var page = HelpPage("stagedoor COMMAND [OPTION]... [ARGUMENT]...", screen)
    page.paragraph(summary)
    for (title, commands) in sections {
      page.heading(title)
      page.rows(commands.filter { !$0.isHidden }.map { ($0.name, $0.summary) })
    }
    page.options(program.options)
    page.paragraph(
      "`stagedoor COMMAND --help` explains a command; `man stagedoor` explains all. You may shorten identifiers as long as they stay unambiguous; only `host` and `uninstall-manifest` take whole ones."
    )
    return page.text
  }
}

/// A word of the command line that is not UTF-8. It can only be the name of a file. The file's URL replaces it.
enum NotUTF8 {
  /// No other word of a command line can begin with this.
  private static let mark: Character = "\0"

  static var words: [String] {
    let words = (1..<max(1, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0] }
    return words.map { word in
      if let text = String(validatingCString: word) { return text }
      let path = [UInt8](cString: word)
      return String(mark) + FileURL.text(ofPath: LocalFile.absolute(path) ?? path).string
    }
  }

  /// The URL that replaces such a word; `nil` for any other word.
  static func url(in word: String) -> String? { word.first == mark ? String(word.dropFirst()) : nil }

  static func refuse(_ given: GivenWords, for command: CommandEntry) throws(Misuse) {
    let places = given.arguments.indices.map { command.arguments[min($0, command.arguments.count - 1)] }
    let ofFiles = [ValueKind.files, .openable].map(\.placeholder)
    let others = zip(given.arguments, places).filter { !ofFiles.contains($1.kind.placeholder) }.map(\.0)
    guard let url = (given.allValues + others).lazy.compactMap(url).first else { return }
    let name = url.split(separator: "/").last ?? ""
    throw Misuse(
      "\(name) is not UTF-8 (its bytes are in hexadecimal here); "
        + "only the files of drop, open and explain can be called so")
  }
}
