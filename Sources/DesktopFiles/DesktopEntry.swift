import Glibc
import ServiceSupport

/// An installed application, as its desktop file describes it.
package struct DesktopEntry: Sendable {
  package var identifier: String
  package var path: String
  package var name: String
  package var exec: [String]
  package var types: [String]
  package var startupClass: String?
  package var categories: Set<String>
  package var isShown: Bool
  package var isTerminal: Bool
  package var isActivatable: Bool

  /// The name of the program that it starts.
  package var program: String { exec.first?.split(separator: "/").last.map(String.init) ?? "" }

  /// Whether its windows show documents, which the windows of terminals, browsers and managers of files and archives do not.
  package var opensDocuments: Bool {
    !isTerminal
      && categories.isDisjoint(with: ["WebBrowser", "TerminalEmulator", "FileManager", "Archiving", "PackageManager"])
  }

  /// The words that start it with a file, as the desktop entry specification fills them in.
  package func command(opening path: String, url: String) -> [String] {
    var words: [String] = []
    var isFilled = false
    for word in exec {
      switch word {
      case "%f", "%F":
        words.append(path)
        isFilled = true
      case "%u", "%U":
        words.append(url)
        isFilled = true
      case "%i", "%d", "%D", "%n", "%N", "%v", "%m": break
      case "%c": words.append(name)
      case "%k": words.append(self.path)
      default: words.append(word.contains("%") ? DesktopEntry.filled(word, path, url, &isFilled) : word)
      }
    }
    return isFilled ? words : words + [path]
  }

  private static func filled(_ word: String, _ path: String, _ url: String, _ isFilled: inout Bool) -> String {
    var (text, isCode) = ("", false)
    for letter in word {
      if isCode {
        switch letter {
        case "f", "F": text += path
        case "u", "U": text += url
        case "%": text += "%"
        default: break
        }
        isFilled = isFilled || "fFuU".contains(letter)
        isCode = false
      } else if letter == "%" {
        isCode = true
      } else {
        text.append(letter)
      }
    }
    return text
  }
}

extension DesktopEntry {
  /// `nil` for a file that describes no application, or none that is there.
  init?(identifier: String, at path: String) {
    var fields: [String: String] = [:]
    for (group, key, value) in KeyFile.entries(of: path) where group == "Desktop Entry" && fields[key] == nil {
      fields[key] = value
    }
    guard fields["Type"] == "Application", fields["Hidden"] != "true",
      let exec = fields["Exec"].flatMap(CommandWords.words), let program = exec.first,
      DesktopEntry.isInstalled(fields["TryExec"] ?? program)
    else { return nil }
    self.init(
      identifier: identifier, path: path, name: fields["Name"] ?? identifier, exec: exec,
      types: (fields["MimeType"] ?? "").split(separator: ";").map(String.init), startupClass: fields["StartupWMClass"],
      categories: Set((fields["Categories"] ?? "").split(separator: ";").map(String.init)),
      isShown: fields["NoDisplay"] != "true", isTerminal: fields["Terminal"] == "true",
      isActivatable: fields["DBusActivatable"] == "true")
  }

  private static func isInstalled(_ program: String) -> Bool {
    if program.hasPrefix("/") { return access(program, X_OK) == 0 }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }
}
