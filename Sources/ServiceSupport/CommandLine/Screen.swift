@preconcurrency import Glibc

/// The destination of the answer: a terminal with a width, or a file or a pipe.
package struct Screen: Sendable {
  /// Whether a person reads: then columns are aligned and long texts are cut.
  package let isTerminal: Bool
  package let width: Int
  private let hasColor: Bool

  /// - Parameter color: the value of `--color`.
  package init(color: String?, _ descriptor: Int32 = STDOUT_FILENO) {
    isTerminal = isatty(descriptor) == 1
    width = Screen.width(descriptor)
    hasColor =
      switch color {
      case "always": true
      case "never": false
      default: isTerminal && Environment["NO_COLOR"] == nil && Environment["TERM"] != "dumb"
      }
  }

  private static func width(_ descriptor: Int32) -> Int {
    if let columns = Environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return min(columns, 1000) }
    var size = winsize()
    if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return 80
  }

  package func styled(_ text: String, _ style: Style?) -> String {
    guard hasColor, let style, !text.isEmpty else { return text }
    return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
  }
}

package enum Style: String, Sendable {
  case heading = "1"
  case identifier = "36"
  case good = "32"
  case waiting = "33"
  case bad = "31"
  case aside = "2"
}

/// The caller's environment. A variable with an empty value counts as missing.
package enum Environment {
  package static subscript(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The file of a program, which is looked for in the directories of PATH unless its name has a slash. Without one, `errno` says why.
  package static func program(_ name: String) -> String? {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
    let folders = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
    var reason = ENOENT
    for place in name.contains("/") ? [name] : folders.map({ "\($0)/\(name)" }) {
      var status = stat()
      if stat(place, &status) != 0 { continue }
      if status.st_mode & S_IFMT == S_IFREG, access(place, X_OK) == 0 { return place }
      reason = EACCES
    }
    errno = reason
    return nil
  }

  /// Each variable as "NAME=value", whose bytes may be no text. The added ones replace those of the same name. Those that begin
  /// with one of `dropped` are left out.
  package static func all(adding variables: [String], without dropped: [String] = []) -> [[UInt8]] {
    let replaced = (variables.map { String($0.prefix { $0 != "=" }) + "=" } + dropped).map { Array($0.utf8) }
    var all = variables.map { Array($0.utf8) }
    var next = environ
    while let variable = next.pointee {
      let bytes = [UInt8](cString: variable)
      if !replaced.contains(where: bytes.starts) { all.append(bytes) }
      next += 1
    }
    return all
  }
}
