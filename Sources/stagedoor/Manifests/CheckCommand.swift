import SceneModel
import ServiceSupport

enum CheckCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let screen = invocation.screen
    var status = Status.done
    for path in invocation.arguments {
      if path.hasSuffix(".rules") {
        if try !RulesCommand.isGood(path, invocation) { status = .failed }
        continue
      }
      let file: ManifestFile
      do throws(Problem) { file = try ManifestFile(path, defining: invocation.all(.define)) } catch {
        status = .failed
        Output.note("stagedoor check: \(error.sentence)")
        continue
      }
      switch file.parsed {
      case .failure(let faults):
        status = .failed
        for fault in file.sentences(faults) { try say("error", fault, path, .bad, screen) }
      case .success(let manifest):
        let warnings = ManifestWarnings.all(manifest)
        for warning in warnings { try say("warning", warning, path, .waiting, screen) }
        if warnings.isEmpty, !invocation.has(.quiet) {
          try Output.line(
            "\(path.printable): \(screen.styled("good", .good)), it declares \(manifest.identifier.string)")
        }
      }
    }
    return status
  }

  private static func say(
    _ kind: String, _ text: String, _ path: String, _ style: Style, _ screen: Screen
  ) throws(Problem) {
    try Output.line("\(path.printable): \(screen.styled("\(kind):", style)) \(text.printable)")
  }
}
