import SceneModel
import TextPatterns

extension RuleFile {
  /// Reads a file of rules. It is refused whole if it has a fault.
  package init(_ bytes: [UInt8]) throws(RuleFaults) {
    if bytes.count > RuleLimits.file {
      throw RuleFaults(
        RuleFault(line: 1, column: 1, reason: "a file has at most \(RuleLimits.file) bytes, this one \(bytes.count)"))
    }
    var parser = RuleParser()
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      parser.read(line, number: number + 1)
    }
    self = try parser.finish()
  }
}

/// Reads rules, line by line.
///
///     line      = [ rule | condition | action ] [ "#" comment ]
///     rule      = "rule" NAME
///     condition = "when" [ "not" ] ( subject ( "matches" | "contains" ) 'REGEX' | subject "is" text | "file" text ( "exists" | "is" "a" "directory" ) )
///     subject   = "text" | "link" | "path" | "name" | "type" | "activity" | "key" | "source" | "info" KEY | "{" variable "}"
///     action    = "then" ( "activity" 'TYPE' [ "key" text ] | "info" NAME text | ( "title" | "file" | "link" | "text" ) text
///                 | "application" 'ID' | "configuration" 'NAME' | "disposition" 'DISPOSITION' )
struct RuleParser {
  private var rules: [Rule] = []
  private var names: Set<Text> = []
  private var faults: [RuleFault] = []
  private var warnings: [RuleFault] = []
  private var present: Draft?

  /// The rule whose lines are being read.
  private struct Draft {
    var name = Text.empty
    let line: Int
    let column: Int
    var conditions: [Condition] = []
    var actions = Actions()
    var actionCount = 0
    /// The kinds of its actions so far.
    var said: Set<String> = []
    /// The variables that its conditions may set.
    var variables: Set<Text> = []
    var hasFault = false

    func fault(_ reason: String) -> RuleFault { RuleFault(line: line, column: column, reason: reason) }
  }

  mutating func read(_ bytes: ArraySlice<UInt8>, number: Int) {
    if faults.count == RuleLimits.faults { return }
    do throws(RuleFault) {
      var line = try RuleLine(bytes, number: number)
      try read(&line)
    } catch {
      present?.hasFault = true
      faults.append(error)
    }
  }

  mutating func finish() throws(RuleFaults) -> RuleFile {
    endRule()
    if !faults.isEmpty { throw RuleFaults(all: faults) }
    return RuleFile(rules: rules, warnings: warnings, steps: steps)
  }

  /// The steps of the expressions so far: those of a file are in memory for as long as the service is.
  private var steps = 0

  private mutating func count(_ condition: Condition) throws(RuleFault) {
    guard case .matches(_, let expression, _) = condition.test else { return }
    steps += expression.steps
    if steps > RuleLimits.expressions {
      let reason = "written out, the expressions of a file have at most \(RuleLimits.expressions) steps"
      throw RuleFault(line: condition.line, column: condition.column, reason: reason)
    }
  }

  private mutating func read(_ line: inout RuleLine) throws(RuleFault) {
    guard let word = try line.next() else { return }
    switch word.word {
    case "rule": try begin(&line, at: word.column)
    case "when":
      try admit(word, line)
      if present?.actionCount ?? 0 > 0 {
        throw line.fault(at: word.column, "the conditions of a rule come before its actions")
      }
      let condition = try line.condition(from: line.rest)
      try count(condition)
      present?.conditions.append(condition)
      present?.variables.formUnion(condition.variables)
    case "then":
      try admit(word, line)
      if var draft = present {
        try line.action(into: &draft.actions, besides: &draft.said)
        draft.actionCount += 1
        present = draft
      }
    default:
      present = present ?? Draft(line: line.number, column: word.column)
      throw line.fault(at: word.column, "expected rule, when or then, got \(word.shown)")
    }
    try line.end()
  }

  private mutating func begin(_ line: inout RuleLine, at column: Int) throws(RuleFault) {
    endRule()
    // What follows belongs to a rule, also if this line has a fault.
    present = Draft(line: line.number, column: column)
    guard let name = try line.next(), let text = name.word, text.utf8.count <= Limits.name else {
      throw line.fault(at: column, "expected rule and its name, such as rule manual-page")
    }
    present?.name = Text(text)
    if !names.insert(Text(text)).inserted {
      throw line.fault(at: name.column, "there is a rule \(text) in this file already")
    }
    if rules.count == RuleLimits.rules {
      throw line.fault(at: column, "there are at most \(RuleLimits.rules) rules")
    }
  }

  /// A condition or an action belongs to a rule.
  private func admit(_ word: RuleLine.Token, _ line: RuleLine) throws(RuleFault) {
    guard let present else { throw line.fault(at: word.column, "expected rule and its name before this line") }
    if present.conditions.count + present.actionCount == RuleLimits.lines {
      throw line.fault(at: word.column, "a rule has at most \(RuleLimits.lines) conditions and actions")
    }
  }

  private mutating func endRule() {
    defer { present = nil }
    guard let draft = present, !draft.hasFault else { return }
    if draft.actionCount == 0 {
      faults.append(draft.fault("the rule \(draft.name) has no action: add a line that begins with then"))
      return
    }
    let rule = Rule(name: draft.name, line: draft.line, conditions: draft.conditions, actions: draft.actions)
    if draft.conditions.isEmpty {
      warnings.append(
        draft.fault("the rule \(draft.name) has no condition: it takes everything, and no later rule is tried"))
    }
    warnOfVariables(in: rule)
    rules.append(rule)
  }

  /// A variable that no condition sets is always "".
  private mutating func warnOfVariables(in rule: Rule) {
    var known: Set<Text> = []
    func warn(_ line: Int, _ name: Text, _ column: Int) {
      if known.contains(name) { return }
      warnings.append(
        RuleFault(
          line: line, column: column,
          reason: "no earlier condition sets {\(name)} (a `when not` sets nothing): it is always \"\""))
    }
    for condition in rule.conditions {
      for (name, column) in condition.uses { warn(condition.line, name, column) }
      known.formUnion(condition.variables)
    }
    for template in rule.actions.templates {
      for (name, column) in template.variables { warn(template.line, name, column) }
    }
  }
}

extension Condition {
  /// The variables that are set if the condition holds.
  fileprivate var variables: [Text] {
    switch test {
    case .file: [Variables.file]
    case .matches(_, let expression, _) where !isNegated: expression.names.map { Text($0) }
    case .matches, .is: []
    }
  }

  fileprivate var uses: [(name: Text, column: Int)] {
    switch test {
    case .file(let template, _): template.variables
    case .is(let subject, let template): variable(subject) + template.variables
    case .matches(let subject, _, _): variable(subject)
    }
  }

  private func variable(_ subject: Subject) -> [(name: Text, column: Int)] {
    if case .variable(let name) = subject { [(name, column)] } else { [] }
  }
}

// MARK: - Conditions and actions

extension RuleLine {
  /// A condition as explanations show it.
  private static func shown(_ source: Text) -> Text {
    let scalars = source.string.unicodeScalars
    return scalars.count <= RuleLimits.explained ? source : Text("\(String(scalars.prefix(RuleLimits.explained)))…")
  }

  fileprivate mutating func condition(from source: Text) throws(RuleFault) -> Condition {
    var word = try required("a subject such as text, or not")
    let isNegated = word.word == "not"
    if isNegated { word = try required("a subject such as text") }
    let test = try word.word == "file" ? file() : comparison(of: try subject(word))
    return Condition(
      line: number, column: word.column, source: RuleLine.shown(source), isNegated: isNegated, test: test)
  }

  private mutating func file() throws(RuleFault) -> Condition.Test {
    let path = try template("a path")
    let word = try required("exists, or is a directory")
    switch word.word {
    case "exists": return .file(path, isDirectory: false)
    case "is":
      for expected in ["a", "directory"] {
        let word = try required("is a directory")
        if word.word != expected { throw fault(at: word.column, "expected is a directory, got \(word.shown)") }
      }
      return .file(path, isDirectory: true)
    default: throw fault(at: word.column, "expected exists, or is a directory, got \(word.shown)")
    }
  }

  private static let parts: [String: Subject] = [
    "text": .text, "link": .link, "path": .path, "name": .name, "type": .type, "activity": .activity, "key": .key,
    "source": .source,
  ]

  private mutating func subject(_ word: Token) throws(RuleFault) -> Subject {
    if let part = word.word.flatMap({ RuleLine.parts[$0] }) { return part }
    switch word.word {
    case "info": return .info(Text(try infoName().value))
    case let name? where name.hasPrefix("{") && name.hasSuffix("}"):
      let variable = name.dropFirst().dropLast()
      if RuleLine.isName(variable) { return .variable(Text(String(variable))) }
    default: break
    }
    throw fault(
      at: word.column,
      "expected text, link, path, name, type, activity, key, info KEY, source, file or {variable}, got \(word.shown)")
  }

  private mutating func infoName() throws(RuleFault) -> Token {
    let name = try required("the name of an info")
    if name.word == nil { throw fault(at: name.column, "expected the name of an info, got \(name.shown)") }
    return name
  }

  private mutating func comparison(of subject: Subject) throws(RuleFault) -> Condition.Test {
    let word = try required("matches, contains or is")
    switch word.word {
    case "matches": return .matches(subject, try expression(), .whole)
    case "contains": return .matches(subject, try expression(), .part)
    case "is": return .is(subject, try template("a text"))
    default: throw fault(at: word.column, "expected matches, contains or is, got \(word.shown)")
    }
  }

  private mutating func expression() throws(RuleFault) -> RegularExpression {
    let quoted = try quotedText("a regular expression")
    let expression: RegularExpression
    do throws(ExpressionError) { expression = try RegularExpression(quoted.value) } catch {
      throw fault(at: quoted.columns[min(error.column, quoted.columns.count) - 1], error.reason)
    }
    if expression.names.contains(Variables.file.string) {
      throw fault(at: quoted.column, "no group is named file: {file} is the path of a condition about a file")
    }
    return expression
  }

  fileprivate mutating func action(into actions: inout Actions, besides said: inout Set<String>) throws(RuleFault) {
    let word = try required("an action such as activity")
    // A rule may say several infos.
    if let kind = word.word, kind != "info", !said.insert(kind).inserted {
      throw fault(at: word.column, "the rule says \(word.shown) already")
    }
    switch word.word {
    case "activity":
      let type = try plain("the type of an activity")
      var key: Template?
      if let next = try next() {
        if next.word != "key" { throw fault(at: next.column, "expected key or the end of the line, got \(next.shown)") }
        key = try template("a key")
      }
      actions.activity = (type, key)
    case "title":
      actions.title = try template("a title")
    case "info":
      let name = try infoName()
      if actions.info.contains(where: { $0.name.string == name.value }) {
        throw fault(at: name.column, "the rule says info \(name.value) already")
      }
      actions.info.append((Text(name.value), try template("a text")))
    case "file":
      actions.file = try template("a path")
    case "link":
      let (column, link) = (startOfNext, try template("a link"))
      // Otherwise a text would say what opens it; and its colon would be encoded.
      if !link.hasScheme {
        throw fault(at: column, "a link begins with its scheme, such as https:, before any variable")
      }
      if let text = link.literal, !URLText.isValid(text) {
        throw fault(at: column, "expected a URL, got \(quoted(text.string))")
      }
      actions.link = link
    case "text":
      actions.text = try template("a text")
    case "application":
      let (column, name) = (startOfNext, try plain("the identifier of an application"))
      guard ApplicationIdentifier.isValid(name) else {
        throw fault(at: column, "expected the identifier of an application such as org.example.Gallery")
      }
      actions.application = name
    case "configuration":
      actions.configuration = try plain("the name of a configuration")
    case "disposition":
      let (column, name) = (startOfNext, try plain("a disposition"))
      guard let disposition = PayloadOptions.Disposition(rawValue: name.string) else {
        throw fault(at: column, "expected 'auto', 'new', 'existing' or 'existingOnly'")
      }
      actions.disposition = disposition
    default:
      throw fault(
        at: word.column,
        "expected activity, title, info, file, link, text, application, configuration or disposition, got \(word.shown)"
      )
    }
  }
}
