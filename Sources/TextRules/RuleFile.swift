package import SceneModel

/// The rules of one file, in their order.
package struct RuleFile: Sendable {
  package let rules: [Rule]
  /// What is no fault, and surely a mistake.
  package let warnings: [RuleFault]
  /// The steps of its expressions, written out.
  package let steps: Int
}

/// A place at which a file stops being rules, and a remedy.
package struct RuleFault: Error, Hashable, Sendable, CustomStringConvertible {
  package let line: Int
  /// In Unicode scalars from 1.
  package let column: Int
  /// A sentence without its full stop.
  package let reason: String

  package init(line: Int, column: Int, reason: String) {
    (self.line, self.column, self.reason) = (line, column, reason)
  }

  package var description: String { "\(line):\(column): \(reason)" }
}

/// All faults of a file, in their order there. There is at least one.
package struct RuleFaults: Error, Hashable, Sendable {
  package let all: [RuleFault]

  init(all: [RuleFault]) { self.all = all }

  package init(_ fault: RuleFault) { all = [fault] }
}

/// The rules of all files, in the order in which they are tried.
///
/// It is one value: whoever has it sees every file as it was at one moment.
package struct RuleSet: Sendable {
  /// A rule, and the path of its file.
  package struct Entry: Sendable {
    package let rule: Rule
    package let file: Text

    package var reference: RuleReference { RuleReference(name: rule.name, file: file, line: rule.line) }
  }

  package let entries: [Entry]

  package init() { entries = [] }

  /// - Parameter files: The files in their order. They have at most ``RuleLimits/rules`` together.
  package init(_ files: [(path: Text, file: RuleFile)]) {
    entries = files.flatMap { path, file in file.rules.map { Entry(rule: $0, file: path) } }
    precondition(entries.count <= RuleLimits.rules, "there are too many rules")
  }

  package var isEmpty: Bool { entries.isEmpty }
}

package struct RuleReference: Hashable, Sendable {
  package let name: Text
  package let file: Text
  /// The line of the word `rule`.
  package let line: Int

  package init(name: Text, file: Text, line: Int) { (self.name, self.file, self.line) = (name, file, line) }
}
