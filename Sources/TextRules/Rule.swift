package import SceneModel
import TextPatterns

/// What a person says about texts and links of some kind: conditions, and what a payload that fulfils them is about.
package struct Rule: Sendable {
  package let name: Text
  /// The line of the word `rule`.
  package let line: Int
  let conditions: [Condition]
  let actions: Actions
  /// Whether the rule asks for a file or names one: such a rule is not for sandboxed senders.
  let concernsFiles: Bool

  init(name: Text, line: Int, conditions: [Condition], actions: Actions) {
    (self.name, self.line, self.conditions, self.actions) = (name, line, conditions, actions)
    concernsFiles = actions.file != nil || conditions.contains(where: \.concernsFiles)
  }
}

struct Condition: Sendable {
  enum Test: Sendable {
    case matches(Subject, RegularExpression, RegularExpression.Extent)
    case `is`(Subject, Template)
    case file(Template, isDirectory: Bool)
  }

  let line: Int
  /// The place of its subject, for warnings.
  let column: Int
  /// The words after `when`, for explanations.
  let source: Text
  let isNegated: Bool
  let test: Test

  var concernsFiles: Bool {
    switch test {
    case .file: true
    case .matches(let subject, _, _), .is(let subject, _): subject == .path
    }
  }
}

/// The part of a payload that a condition looks at.
enum Subject: Hashable, Sendable {
  case text, link, path, name, type, activity, key, source
  case info(Text)
  case variable(Text)
}

struct Actions: Sendable {
  var activity: (type: Text, key: Template?)?
  var title: Template?
  var info: [(name: Text, value: Template)] = []
  var file: Template?
  var link: Template?
  var text: Template?
  var application: Text?
  var configuration: Text?
  var disposition: PayloadOptions.Disposition?

  /// Whether the rule says what the payload is about. Otherwise it adds to what the payload says.
  var isAbout: Bool { activity != nil || file != nil || link != nil || application != nil }

  var templates: [Template] {
    [activity?.key, title, file, link, text].compactMap(\.self) + info.map(\.value)
  }
}

/// The limits of rules, which `docs/rules.md` promises.
package enum RuleLimits {
  /// The rules of all files together: a text that no rule takes is compared with each.
  package static let rules = 1_000
  /// The bytes of a file: its rules are in memory.
  package static let file = 256 << 10
  /// The steps of the expressions of a file, and five times as many of all files: each takes some bytes of memory.
  package static let expressions = 200_000
  package static let allExpressions = 5 * expressions
  /// The scalars of a condition that an explanation shows.
  static let explained = 256
  /// The conditions and actions of a rule together.
  package static let lines = 64
  /// The bytes of a text that rules look at, and of a text that a rule makes: a selection, and not a document.
  package static let text = 64 << 10
  /// The bytes of a path in Linux.
  package static let path = 4096
  /// The paths that the disk is asked for a payload.
  package static let paths = 100
  /// The failed rules that an explanation names.
  package static let failures = 100
  /// The faults of a file that are reported at once.
  package static let faults = 100
  /// The steps that a payload may take, in which the paths are found and, once the disk has answered, the rule: a step takes less than five
  /// nanoseconds, so all of them less than five milliseconds.
  package static let steps = 1 << 20
}
