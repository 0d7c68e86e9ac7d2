import Glibc
import SceneModel
import ServiceSupport
import TextRules

enum GivenRules {
  static var installed: InstalledRules { InstalledRules(in: Directories.configuration()) }

  /// The files of --rules. Without them, those that are installed, unless manifests are given.
  static func all(_ invocation: Invocation) throws(Problem) -> RuleSet {
    let paths = invocation.all(.rules)
    if paths.isEmpty, !invocation.has(.manifests) {
      var installed = installed
      return installed.read().rules
    }
    var files: [(path: Text, file: RuleFile)] = []
    var count = 0
    for path in paths {
      let bytes = try InputFile.read(path, limit: RuleLimits.file)
      do throws(RuleFaults) { files.append((Text(path), try RuleFile(bytes))) } catch {
        throw .failed("\(path.printable):\(error.all[0])")
      }
      count += files[files.count - 1].file.rules.count
      if count > RuleLimits.rules { throw .failed("all files together have at most \(RuleLimits.rules) rules") }
    }
    return RuleSet(files)
  }
}

/// The answers of the disk to rules: about files, directories, and paths that begin with `~`.
struct Disk: Sendable {
  private var answers: [Text: DiskAnswer] = [:]
  private var home = Text.empty

  /// Asks the disk the questions of the rules about a payload.
  init(askedBy rules: RuleSet, about document: Value) throws(Fault) {
    let payload = try Payload(json: JSON.text(of: document), ReadingRules(types: ManifestFile.types))
    home = Text(Directories.home())
    guard !rules.isEmpty, case .asks(let paths) = consultation(on: payload, rules, isAsked: false) else {
      home = .empty
      return
    }
    for path in paths { answers[path] = LocalFile.types.answer(for: path) }
  }

  /// As a case has it: the type of each file, and "directory". What does not exist is left out.
  init(_ json: Value?) {
    guard case .dictionary(let fields)? = json else { return }
    for entry in fields.entries {
      guard let text = entry.value.string else { continue }
      if entry.key == "~" {
        home = Text(text)
      } else {
        answers[entry.key] = text == "directory" ? .directory : ContentType(Text(text)).map { .file($0) }
      }
    }
  }

  /// `nil` if no rule asked.
  var json: Value? {
    if home.isEmpty { return nil }
    var fields = UserInfo()
    fields["~"] = .string(home)
    for (path, answer) in answers {
      switch answer {
      case .nothing: break
      case .directory: fields[path] = "directory"
      case .file(let type): fields[path] = .string(type.spelling)
      }
    }
    return .dictionary(fields)
  }

  func consultation(on payload: Payload, _ rules: RuleSet, isAsked: Bool = true) -> Consultation {
    // Half of the steps find the paths, and half the rule.
    var steps = RuleLimits.steps / 2
    let handedIn = HandedIn(payload, home: home)
    // A path without an answer does not exist.
    let first = rules.consult(handedIn, ManifestFile.types, explains: true, steps: &steps)
    guard isAsked, case .asks(let paths) = first else { return first }
    var disk = answers
    for path in paths where disk[path] == nil { disk[path] = .nothing }
    steps = RuleLimits.steps / 2
    return rules.consult(handedIn, ManifestFile.types, disk: disk, explains: true, steps: &steps)
  }
}
