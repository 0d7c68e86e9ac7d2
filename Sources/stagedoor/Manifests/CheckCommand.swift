import SceneModel
import ServiceSupport
import TextRules

enum CheckCommand {
  private typealias Sentences = [(place: String, text: String)]

  static func run(_ invocation: Invocation) async throws { try check(invocation.arguments[...], invocation) }

  /// Prints each fault of the files as a compiler would.
  static func check(_ paths: ArraySlice<String>, areRules: Bool = false, _ invocation: Invocation) throws {
    let screen = invocation.screen
    var areGood = true
    for path in paths {
      let (faults, warnings, good): (Sentences, Sentences, String)
      do throws(Problem) {
        (faults, warnings, good) =
          try areRules || path.hasSuffix(".rules") ? rules(path) : manifest(path, invocation.all(.define))
      } catch {
        Output.note("stagedoor \(invocation.command.name): \(error.sentence)")
        areGood = false
        continue
      }
      for (kind, style, sentences) in [("error:", Style.bad, faults), ("warning:", .waiting, warnings)] {
        for (place, text) in sentences {
          try Output.line("\(place.printable): \(screen.styled(kind, style)) \(text.printable)")
        }
      }
      if !faults.isEmpty {
        areGood = false
      } else if warnings.isEmpty, !invocation.has(.quiet) {
        try Output.line("\(path.printable): \(screen.styled("good", .good)), \(good)")
      }
    }
    if !areGood { throw Status.failed }
  }

  private static func manifest(
    _ path: String, _ definitions: [String]
  ) throws(Problem) -> (Sentences, warnings: Sentences, good: String) {
    let file = try ManifestFile(path, defining: definitions)
    return switch file.parsed {
    case .failure(let faults): (file.sentences(faults).map { (path, $0) }, [], "")
    case .success(let manifest):
      ([], ManifestWarnings.all(manifest).map { (path, $0) }, "it declares \(manifest.identifier.string)")
    }
  }

  private static func rules(_ path: String) throws(Problem) -> (Sentences, warnings: Sentences, good: String) {
    func sentences(_ faults: [RuleFault]) -> Sentences {
      faults.map { ("\(path):\($0.line):\($0.column)", $0.reason) }
    }
    let bytes = try InputFile.read(path, limit: RuleLimits.file)
    do throws(RuleFaults) {
      let file = try RuleFile(bytes)
      return ([], sentences(file.warnings), counted(file.rules.count, "rule", "rules"))
    } catch {
      return (sentences(error.all), [], "")
    }
  }
}
