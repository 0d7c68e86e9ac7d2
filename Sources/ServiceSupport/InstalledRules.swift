package import SceneModel
package import TextRules

/// The person's rules: files that end in `.rules`, in `stagedoor/rules` in the directories of configuration.
package struct InstalledRules: Sendable {
  package let directories: [String]
  /// The last version of each file that had no fault.
  private var valid: [Text: RuleFile] = [:]

  package init(in directories: [String]) { self.directories = directories.map { "\($0)/stagedoor/rules" } }

  /// Whether no file of rules was valid when they were read.
  package var isEmpty: Bool { valid.isEmpty }

  /// Hidden files belong to editors.
  package static func isRules(_ name: String) -> Bool { name.hasSuffix(".rules") && !name.hasPrefix(".") }

  /// A file with faults, or with too many rules.
  package struct Broken: Sendable {
    package let path: Text
    /// Whether an earlier version of it is still in use.
    package let keepsEarlier: Bool
    /// The place and a sentence without its full stop: `12:3: …`.
    package let complaints: [String]
  }

  /// The rules as they are now: a file takes the place of one of the same name in a later directory. The version of a broken file before it stays.
  /// The warnings have their places: `FILE:12:3: …`.
  package mutating func read() -> (rules: RuleSet, broken: [Broken], warnings: [String]) {
    var (files, broken, seen): ([(path: Text, file: RuleFile)], [Broken], Set<Text>) = ([], [], [])
    var (earlier, count, steps) = (valid, 0, 0)
    valid = [:]
    func take(_ file: RuleFile, at path: Text) -> Bool {
      guard count + file.rules.count <= RuleLimits.rules, steps + file.steps <= RuleLimits.allExpressions else {
        return false
      }
      count += file.rules.count
      steps += file.steps
      files.append((path, file))
      valid[path] = file
      return true
    }
    for directory in directories {
      for name in SmallFile.names(in: directory, among: earlier.keys)
      where Self.isRules(name) && !seen.contains(Text(name)) {
        let path = Text("\(directory)/\(name)")
        let before = earlier.removeValue(forKey: path)
        var complaints: [String]
        do throws(RuleFaults) {
          guard let bytes = SmallFile.read(path.string, limit: RuleLimits.file) else {
            let reason = SmallFile.reason(path.string, limit: RuleLimits.file)
            throw RuleFaults(RuleFault(line: 1, column: 1, reason: "the file \(reason)"))
          }
          let file = try RuleFile(bytes)
          if take(file, at: path) {
            seen.insert(Text(name))
            continue
          }
          let place = count + file.rules.count > RuleLimits.rules ? file.rules[RuleLimits.rules - count].line : 1
          complaints = [
            "\(place):1: all files together have at most \(RuleLimits.rules) rules, and \(RuleLimits.allExpressions) steps of expressions"
          ]
        } catch {
          complaints = error.all.map(\.description)
        }
        // Without a version before it, a file of the same name in a later directory is asked.
        let keepsEarlier = before.map { take($0, at: path) } ?? false
        if keepsEarlier { seen.insert(Text(name)) }
        broken.append(Broken(path: path, keepsEarlier: keepsEarlier, complaints: complaints))
      }
    }
    let warnings = files.flatMap { path, file in file.warnings.map { "\(path):\($0)" } }
    return (RuleSet(files), broken, warnings)
  }
}
