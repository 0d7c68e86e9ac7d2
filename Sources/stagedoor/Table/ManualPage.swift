import SceneModel
import ServiceSupport

/// The manual page, in the format of man. `docs/stagedoor.1` is this text.
enum ManualPage {
  static var text: String {
    var page = [
      #".\" Made of the table of commands by "stagedoor __manual"; change that."#,
      #".TH STAGEDOOR 1 "" "Stagedoor \#(CommandTable.versionNumber)" "User Commands""#,
      ".SH NAME", #"stagedoor \- hand things to the windows that they belong to"#,
      ".SH SYNOPSIS", ".B stagedoor", ".I COMMAND", ".RI [ OPTION ]...", ".RI [ ARGUMENT ]...",
      ".SH DESCRIPTION", escaped(CommandTable.summary),
      ".PP", escaped(CommandTable.aboutIdentifiers),
      ".PP", escaped(CommandTable.aboutAnswers),
      ".SH COMMANDS",
    ]
    for command in CommandTable.visible { page += section(command) }
    page.append(".SH OPTIONS OF THE PROGRAM AND OF EVERY COMMAND")
    for option in CommandTable.program.options { page += entry(option) }
    page.append(".SH EXIT STATUS")
    for status in Status.allCases { page += [".TP", ".B \(status.rawValue)", sentence(status.meaning)] }
    page.append(".SH ENVIRONMENT")
    for (name, meaning) in CommandTable.environment { page += [".TP", ".B \(escaped(name))", escaped(meaning)] }
    page.append(".SH FILES")
    for (name, meaning) in CommandTable.files { page += [".TP", ".I \(escaped(name))", escaped(meaning)] }
    page += [".SH SEE ALSO", ".BR stagedoord (1),", ".BR dbus\\-send (1),", ".BR busctl (1)"]
    return page.map { $0 + "\n" }.joined()
  }

  private static func section(_ command: CommandEntry) -> [String] {
    var lines = [".SS \(escaped(command.name))", ".B \(escaped("stagedoor \(command.name)"))"]
    for option in command.options where option.isRequired { lines.append(escaped(option.shown)) }
    lines.append(".RI [ OPTION ]...")
    for argument in command.arguments { lines.append(".I \(escaped(argument.shown))") }
    lines += [".PP", sentence(command.summary)]
    for paragraph in command.description { lines += [".PP", escaped(paragraph)] }
    for argument in command.arguments {
      lines += [".TP", ".I \(escaped(argument.kind.placeholder))", sentence(argument.help)]
    }
    for option in command.options { lines += entry(option) }
    let statuses = command.allStatuses.map { "\($0.rawValue)" }
    lines += [".PP", escaped("It ends with status \(statuses.listed("or")).")]
    for (purpose, line) in command.examples {
      lines += [".PP", escaped(purpose.capitalizedStart + ":"), ".PP", ".nf", ".RS", escaped(line), ".RE", ".fi"]
    }
    return lines
  }

  private static func entry(_ option: Option) -> [String] {
    let name = (option.letter.map { #"\fB\-\#($0)\fR, "# } ?? "") + #"\fB\-\-\#(escaped(option.name))\fR"#
    return [
      ".TP", name + (option.value.map { #" \fI\#(escaped($0.placeholder))\fR"# } ?? ""), sentence(option.helpWithWords),
    ]
  }

  private static func sentence(_ text: String) -> String { escaped(text.capitalizedStart + ".") }

  /// The text with roff's special characters escaped.
  private static func escaped(_ text: String) -> String {
    var line = ""
    for character in text {
      switch character {
      case "\\": line += "\\e"
      case "-": line += "\\-"
      case "'" where line.isEmpty, "." where line.isEmpty: line += "\\&" + String(character)
      case "'": line += "\\(aq"
      case "`": line += "\\(ga"
      case "~": line += "\\(ti"
      case "^": line += "\\(ha"
      case _ where !character.isASCII:
        for scalar in character.unicodeScalars {
          let digits = String(scalar.value, radix: 16, uppercase: true)
          line += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + "]"
        }
      default: line.append(character)
      }
    }
    return line
  }
}
