@preconcurrency import Glibc
import SceneModel
import ServiceSupport

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
