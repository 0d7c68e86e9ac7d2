@preconcurrency internal import Glibc

/// The environment of this process, and the programs on its PATH.
enum Programs {
  /// The environment at the first access; `environ` must not be read while other code calls `setenv`.
  static let environment: [String: String] = {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      next += 1
    }
    return result
  }()

  /// The same without the variables of other buses, for a bus and the programs that it starts.
  static let environmentOfBus = environment.filter { !$0.key.hasPrefix("DBUS_") }

  /// The folder into which Scripts/setup unpacks programs that it does not install.
  private static let unpacked = ".build/tools/usr/bin"

  /// The path of a program: the name itself if it has a slash, otherwise the first match on PATH.
  static func path(of name: String, in environment: [String: String] = environment) -> String? {
    if name.contains("/") { return name }
    let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in path.split(separator: ":").map(String.init) + [unpacked] {
      let candidate = "\(folder)/\(name)"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }

  /// The path of a product that was built together with this process.
  static func built(_ name: String) -> String {
    let path = Procfs.target(of: "/proc/self/exe") ?? ""
    return path.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/\(name)"
  }

  static func required(_ name: String, in environment: [String: String] = environment) throws(ProgramNotFound) -> String
  {
    guard let path = path(of: name, in: environment) else { throw ProgramNotFound(name: name) }
    return path
  }
}

/// A program that is not installed.
///
/// ```swift
/// do {
///   _ = try await Command("no-such-program").run()
/// } catch let error as ProgramNotFound {
///   print(error)  // there is no program "no-such-program" on PATH
/// }
/// ```
public struct ProgramNotFound: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the program.
  public let name: String

  /// A sentence that names the missing program.
  public var description: String { "there is no program \"\(name)\" on PATH" }
}
