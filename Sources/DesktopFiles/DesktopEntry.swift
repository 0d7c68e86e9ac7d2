import SceneModel
import ServiceSupport

/// An installed application, as its desktop file describes it.
package struct DesktopEntry: Sendable {
  package var identifier: String
  /// The identifier of the application that it belongs to: several entries of one program are one application.
  package var application: String
  package var path: String
  package var name: String
  package var icon: String?
  package var exec: [String]
  package var types: [String]
  package var startupClass: String?
  package var categories: Set<String>
  package var isShown: Bool
  package var isTerminal: Bool
  package var isActivatable: Bool

  /// The name of the program that it starts; empty if a launcher or an interpreter starts it, which many applications share.
  package var program: String {
    let words = exec.drop { DesktopEntry.name($0) == "env" || $0.contains("=") }
    let name = words.first.map(DesktopEntry.name) ?? ""
    return DesktopEntry.launchers.contains(name) || name.hasPrefix("python") ? "" : name
  }

  private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

  private static let launchers: Set<String> = [
    "bash", "dash", "flatpak", "gapplication", "gjs", "gtk-launch", "java", "mono", "node", "perl", "ruby", "sh",
    "snap",
    "systemd-run", "wine",
  ]

  /// Whether its windows show documents, which the windows of terminals, browsers and managers of files and archives do not.
  var opensDocuments: Bool {
    let others: Set = ["WebBrowser", "TerminalEmulator", "FileManager", "Archiving", "PackageManager"]
    return !isTerminal && categories.isDisjoint(with: others)
  }

  /// The words that start it with a file, whose path may have any bytes, as the desktop entry specification fills them in.
  package func command(opening path: [UInt8], url: String) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var isFilled = false
    for word in exec {
      // This code stands for two words, or none; the others for nothing by themselves.
      if word == "%i" || DesktopEntry.empty.contains(word) { continue }
      words.append(filled(Array(word.utf8), path, Array(url.utf8), &isFilled))
    }
    return isFilled ? words : words + [path]
  }

  private static let empty: Set<String> = ["%d", "%D", "%n", "%N", "%v", "%m"]

  private func filled(_ word: [UInt8], _ path: [UInt8], _ url: [UInt8], _ isFilled: inout Bool) -> [UInt8] {
    var (text, isCode) = ([UInt8](), false)
    for byte in word {
      if isCode {
        switch byte {
        case UInt8(ascii: "f"), UInt8(ascii: "F"): text += path
        case UInt8(ascii: "u"), UInt8(ascii: "U"): text += url
        case UInt8(ascii: "c"): text += name.utf8
        case UInt8(ascii: "k"): text += self.path.utf8
        case UInt8(ascii: "%"): text.append(byte)
        default: break
        }
        isFilled = isFilled || "fFuU".utf8.contains(byte)
        isCode = false
      } else if byte == UInt8(ascii: "%") {
        isCode = true
      } else {
        text.append(byte)
      }
    }
    return text
  }
}

extension DesktopEntry {
  /// `nil` for a file that describes no application, or one that is not installed.
  package init?(identifier: String, at path: String) {
    var fields: [String: String] = [:]
    for (group, key, value) in KeyFile.entries(of: path) where group == "Desktop Entry" && fields[key] == nil {
      fields[key] = value
    }
    guard fields["Type"] == "Application", fields["Hidden"] != "true",
      let exec = fields["Exec"].flatMap(CommandWords.words), let program = exec.first,
      Environment.program(fields["TryExec"] ?? program) != nil
    else { return nil }
    self.init(
      identifier: identifier, application: identifier, path: path, name: fields["Name"] ?? identifier,
      icon: fields["Icon"], exec: exec,
      types: (fields["MimeType"] ?? "").split(separator: ";").map(String.init), startupClass: fields["StartupWMClass"],
      categories: Set((fields["Categories"] ?? "").split(separator: ";").map(String.init)),
      isShown: fields["NoDisplay"] != "true", isTerminal: fields["Terminal"] == "true",
      isActivatable: fields["DBusActivatable"] == "true")
  }
}
