import SceneModel
import ServiceSupport

enum CheckCommand {
  static func run(_ invocation: Invocation) async throws {
    let results = try invocation.arguments.map { path in
      try path.hasSuffix(".rules") ? RulesCommand.isGood(path, invocation) : isGood(path, invocation)
    }
    if results.contains(false) { throw Status.failed }
  }

  private static func isGood(_ path: String, _ invocation: Invocation) throws(Problem) -> Bool {
    let screen = invocation.screen
    let file: ManifestFile
    do throws(Problem) { file = try ManifestFile(path, defining: invocation.all(.define)) } catch {
      Output.note("stagedoor check: \(error.sentence)")
      return false
    }
    let manifest: Manifest
    do throws(Faults) { manifest = try file.parsed.get() } catch {
      for fault in file.sentences(error) { try say("error", fault, path, .bad, screen) }
      return false
    }
    let warnings = ManifestWarnings.all(manifest)
    for warning in warnings { try say("warning", warning, path, .waiting, screen) }
    if warnings.isEmpty, !invocation.has(.quiet) {
      try Output.line("\(path.printable): \(screen.styled("good", .good)), it declares \(manifest.identifier.string)")
    }
    return true
  }

  static func say(
    _ kind: String, _ text: String, _ path: String, _ style: Style, _ screen: Screen
  ) throws(Problem) {
    try Output.line("\(path.printable): \(screen.styled("\(kind):", style)) \(text.printable)")
  }
}
