import SceneModel
import ServiceSupport

enum CheckCommand {
  static func run(_ invocation: Invocation) async throws {
    let screen = invocation.screen
    var isGood = true
    for path in invocation.arguments {
      if path.hasSuffix(".rules") {
        isGood = try RulesCommand.isGood(path, invocation) && isGood
        continue
      }
      let file: ManifestFile
      do throws(Problem) { file = try ManifestFile(path, defining: invocation.all(.define)) } catch {
        isGood = false
        Output.note("stagedoor check: \(error.sentence)")
        continue
      }
      switch file.parsed {
      case .failure(let faults):
        isGood = false
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
    if !isGood { throw Status.failed }
  }

  static func say(
    _ kind: String, _ text: String, _ path: String, _ style: Style, _ screen: Screen
  ) throws(Problem) {
    try Output.line("\(path.printable): \(screen.styled("\(kind):", style)) \(text.printable)")
  }
}
