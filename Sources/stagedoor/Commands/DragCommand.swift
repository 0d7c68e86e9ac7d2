import Glibc
import ServiceSupport

/// Becomes the program that opens the window: the command itself links no toolkit.
enum DragCommand {
  private static let program = "stagedoor-drag"

  static func run(_ invocation: Invocation) async throws {
    var words = [program] + (invocation.has(.once) ? ["--once"] : []) + ["--"] + invocation.arguments
    let own = LinkTarget.of("/proc/self/exe") ?? ""
    for path in ["\(own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex))/\(program)", program] {
      words[0] = path
      var arguments = words.map { strdup($0) } + [nil]
      execvp(path, &arguments)
      for argument in arguments { free(argument) }
    }
    let reason = errno == ENOENT ? "it is not installed; `make install-drag` builds and installs it" : InputFile.reason
    throw Problem.failed("\(program): \(reason)")
  }
}
