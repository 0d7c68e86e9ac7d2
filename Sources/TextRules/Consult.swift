package import SceneModel
import TextPatterns

// Which rule a payload fulfils, and what the rule makes of it. `docs/rules.md` gives the same in words.
//
// The answer is a function of the rules, the payload, its sender, and what the disk says. It changes nothing, so a rule that fails has changed nothing.
//
//   1  the rules are tried in their order
//   2  a rule that asks for files, or names one, is not for sandboxed senders
//   3  the conditions of a rule are tried in their order, and set its variables; the first that does not hold ends the rule
//   4  the first rule whose conditions all hold makes a new payload of what was there
//
// A condition about a file needs the disk, which may be slow. So the first round takes it as true, and collects the paths; the disk answers; the
// second round knows the answers.

/// A payload, with the facts about its arrival that rules may ask for.
package struct HandedIn: Sendable {
  package var payload: Payload
  /// The sender's application; "" for none.
  package var source: Text
  package var isSandboxed: Bool
  /// The directory that `~` means; "" for none.
  package var home: Text

  package init(_ payload: Payload, source: Text = .empty, isSandboxed: Bool = false, home: Text = .empty) {
    (self.payload, self.source, self.isSandboxed, self.home) = (payload, source, isSandboxed, home)
  }
}

/// What the disk says of a path.
package enum DiskAnswer: Hashable, Sendable {
  case nothing
  case file(ContentType)
  case directory
}

package enum Consultation: Sendable {
  /// The rule, and what it makes. Its options say that rules are not asked again.
  case rule(RuleReference, Payload)
  case none([RuleFailure])
  /// The disk has to be asked for these paths first.
  case asks([Text])
  /// The steps did not suffice.
  case exhausted
}

/// Why a rule did not take a payload.
package struct RuleFailure: Hashable, Sendable {
  package let name: Text
  /// Its first condition that does not hold, and on what.
  package let because: Text

  package init(name: Text, because: Text) { (self.name, self.because) = (name, because) }
}

extension RuleSet {
  /// Tries the rules.
  ///
  /// - Parameters:
  ///   - disk: What the disk says of each path; `nil` if it has not been asked. A path without an answer counts as unanswered.
  ///   - explains: Whether to say why rules failed.
  ///   - steps: The steps that are left.
  package func consult(
    _ handedIn: HandedIn, _ types: TypeCatalog, disk: [Text: DiskAnswer]? = nil, explains: Bool = false,
    steps: inout Int
  ) -> Consultation {
    var trial = Trial(handedIn, types, disk, steps)
    defer { steps = trial.steps }
    var failures: [RuleFailure] = []
    trying: for entry in entries {
      let verdict = trial.try(entry.rule)
      if trial.steps < 0 { return .exhausted }
      if case .holds(let payload) = verdict {
        if trial.dependsOnDisk { continue }
        if trial.paths.isEmpty { return .rule(entry.reference, payload) }
        // Those behind it do not matter, whatever the disk says.
        break trying
      }
      if explains, failures.count < RuleLimits.failures {
        failures.append(RuleFailure(name: entry.rule.name, because: trial.sentence(entry.rule, verdict)))
      }
    }
    return trial.paths.isEmpty ? .none(failures) : .asks(Array(trial.paths.prefix(RuleLimits.paths)))
  }
}

/// The trial of one payload by one rule after another.
struct Trial {
  enum Verdict {
    case holds(Payload)
    /// The condition at this place does not hold.
    case fails(Int, Reason)
    case unmakable(Unmakable)
    /// The rule is not for a sandboxed sender.
    case notForSandbox
  }

  /// Why a condition does not hold.
  enum Reason {
    case value(Text)
    /// The payload has no such thing.
    case absent
    case unreadable(String)
    case path(Text, String)
  }

  /// What the payload has for a subject.
  enum Found {
    case absent
    /// There is something, but rules do not look at it. A condition about it does not hold, `not` or no.
    case unreadable(String)
    case text(Text)
    case texts([Text])
  }

  let handedIn: HandedIn
  let types: TypeCatalog
  let disk: [Text: DiskAnswer]?
  var steps: Int
  /// The variables of the present rule.
  var variables = Variables()
  /// Whether the present rule takes something for true that the disk must say.
  private(set) var dependsOnDisk = false
  /// The paths to ask the disk about, in their order.
  private(set) var paths: [Text] = []
  private var asked: Set<Text> = []
  /// What the payload has for the subjects that rules have looked at: many rules look at the same.
  private var known: [Subject: Found] = [:]

  init(_ handedIn: HandedIn, _ types: TypeCatalog, _ disk: [Text: DiskAnswer]?, _ steps: Int) {
    (self.handedIn, self.types, self.disk, self.steps) = (handedIn, types, disk, steps)
  }

  mutating func `try`(_ rule: Rule) -> Verdict {
    variables.removeAll()
    dependsOnDisk = false
    steps -= 8
    if handedIn.isSandboxed, rule.concernsFiles { return .notForSandbox }
    for (place, condition) in rule.conditions.enumerated() {
      // Nobody reads the reason when the steps are used up.
      if let reason = failure(of: condition) ?? (steps < 0 ? .absent : nil) { return .fails(place, reason) }
    }
    // The type of the file has to be known.
    if disk == nil, let file = rule.actions.file, let path = path(file) { ask(path) }
    do throws(Unmakable) { return .holds(try make(rule.actions)) } catch { return .unmakable(error) }
  }

  private mutating func ask(_ path: Text) {
    dependsOnDisk = true
    if asked.insert(path).inserted { paths.append(path) }
  }

  // MARK: Conditions

  /// Why the condition does not hold; `nil` if it holds.
  private mutating func failure(of condition: Condition) -> Reason? {
    steps -= 8
    switch condition.test {
    case .file(let template, let isDirectory): return failure(of: template, isDirectory, condition.isNegated)
    case .matches(let subject, let expression, let extent):
      return failure(of: subject, condition.isNegated) { trial, text in
        switch expression.match(extent, in: text.string, steps: &trial.steps) {
        case .yes(let groups):
          if !condition.isNegated { trial.set(expression.names, groups, in: text) }
          return true
        case .no, .exhausted: return false
        }
      }
    case .is(let subject, let template):
      guard let wanted = template.text(variables, atMost: RuleLimits.text, &steps) else {
        return .unreadable("more than \(RuleLimits.text) bytes")
      }
      return failure(of: subject, condition.isNegated) { trial, text in
        trial.steps -= min(text.count, wanted.count) / 8
        return text == wanted
      }
    }
  }

  private mutating func failure(
    of subject: Subject, _ isNegated: Bool, _ holds: (inout Trial, Text) -> Bool
  ) -> Reason? {
    switch found(subject) {
    case .absent: return isNegated ? nil : .absent
    case .unreadable(let what): return .unreadable(what)
    case .text(let text): return holds(&self, text) != isNegated ? nil : .value(text)
    case .texts(let texts):
      for text in texts where holds(&self, text) { return isNegated ? .value(text) : nil }
      if isNegated { return nil }
      return texts.first.map { .value($0) } ?? .absent
    }
  }

  private mutating func set(_ names: [String], _ groups: [Range<Int>?], in text: Text) {
    for (name, range) in zip(names, groups) {
      steps -= 16 + (range?.count ?? 0) / 8
      variables[Text(name)] = range.map { range in
        text.withBytes { Text(String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self)) }
      }
    }
  }

  private mutating func failure(of template: Template, _ isDirectory: Bool, _ isNegated: Bool) -> Reason? {
    guard let path = path(template) else { return .path(.empty, whyNoPath(template)) }
    variables[Variables.file] = path
    guard let disk else {
      ask(path)
      return nil
    }
    guard let answer = disk[path] else { return .path(path, "was not answered in time") }
    switch answer {
    case .nothing: return isNegated ? nil : .path(path, "does not exist")
    case .directory: return isNegated ? .path(path, isDirectory ? "is a directory" : "exists") : nil
    case .file: return isDirectory == isNegated ? nil : .path(path, isDirectory ? "is no directory" : "exists")
    }
  }

  mutating func path(_ template: Template) -> Text? {
    guard let text = template.text(variables, atMost: RuleLimits.path, &steps), !text.isEmpty else { return nil }
    if text.hasPrefix("/") { return normal(text) }
    if text == "~" || text.hasPrefix("~/") {
      return handedIn.home.isEmpty ? nil : normal(Text(handedIn.home.string + text.string.dropFirst()))
    }
    guard case .text(let directory) = found(.info("dir")), directory.hasPrefix("/"), directory.count <= RuleLimits.path
    else { return nil }
    return normal(Text("\(directory)/\(text)"))
  }

  private mutating func normal(_ path: Text) -> Text? {
    steps -= path.count
    return AbsolutePath.normal(path)
  }

  private func whyNoPath(_ template: Template) -> String {
    var steps = Int.max
    guard let text = template.text(variables, atMost: RuleLimits.path, &steps) else {
      return "has more than \(RuleLimits.path) bytes"
    }
    if text.isEmpty { return "is an empty path" }
    if text.hasPrefix("~"), handedIn.home.isEmpty { return "begins with ~, and there is no home directory" }
    return "is no absolute path, and info dir does not say where it begins"
  }

  // MARK: Subjects

  private var item: Item? { handedIn.payload.items.first }
  private var activity: UserActivity? { item?.activities.first { $0.visibility == .all } }

  private mutating func found(_ subject: Subject) -> Found {
    if case .variable(let name) = subject { return .text(variables[name] ?? .empty) }
    if let found = known[subject] { return found }
    let found = limited(look(at: subject))
    known[subject] = found
    return found
  }

  /// Rules do not look at more bytes than a text may have, nor at NUL: no key, no title and no path has one.
  private mutating func limited(_ found: Found) -> Found {
    switch found {
    case .text(let text):
      steps -= min(text.count, RuleLimits.text) / 8
      if text.count > RuleLimits.text { return Trial.tooLong }
      return text.withBytes { $0.contains(0) } ? .unreadable("a text that has NUL") : found
    case .texts(let texts):
      let bytes = texts.reduce(0) { $0 + $1.count + 64 }
      steps -= bytes / 8
      return bytes > RuleLimits.text ? Trial.tooLong : found
    case .absent, .unreadable: return found
    }
  }

  private static let tooLong = Found.unreadable("more than \(RuleLimits.text) bytes")

  private mutating func look(at subject: Subject) -> Found {
    switch subject {
    case .text: return readText()
    case .link: return firstLink
    case .path: return firstPath
    case .name: return of(item?.suggestedName)
    case .type:
      return .texts(visible.flatMap { $0.type.parameters.isEmpty ? [$0.type.text] : [$0.type.name, $0.type.text] })
    case .activity: return of(activity?.activityType)
    case .key: return of(activity?.targetContentIdentifier)
    case .source: return .text(handedIn.source)
    case .info(let key): return info(key)
    case .variable: return .absent
    }
  }

  private func of(_ text: Text?) -> Found { text.map { .text($0) } ?? .absent }

  private var visible: [Representation] { item?.representations.filter { $0.visibility == .all } ?? [] }

  private var firstLink: Found {
    for representation in visible where !representation.isFile && representation.type.isLink {
      if representation.content.inlineBytes > RuleLimits.text { return Trial.tooLong }
      if let url = representation.url, !FileURL.hasScheme(url) { return .text(url) }
    }
    return of(activity?.webpageURL)
  }

  private var firstPath: Found {
    let url = visible.lazy.compactMap { representation -> Text? in
      if case .file(let url) = representation.content { url } else { nil }
    }.first
    guard let path = url.flatMap({ FileURL.path(of: $0) }) else { return .absent }
    return String(validating: path, as: UTF8.self).map { .text(Text($0)) } ?? .unreadable("a path that is not UTF-8")
  }

  private func info(_ key: Text) -> Found {
    if case .string(let text)? = handedIn.payload.options.info[key] { return .text(text) }
    switch activity?.userInfo[key] {
    case .string(let text)?: return .text(text)
    case .integer(let number)?: return .text(Text("\(number)"))
    case .double(let number)?: return .text(Text("\(number)"))
    default: return .absent
    }
  }

  /// The text that came in the call itself: as `text/plain`, or else as the first type that conforms to it.
  private mutating func readText() -> Found {
    let texts = visible.filter { representation in
      switch representation.content {
      case .data, .text: true
      case .file, .descriptor, .promise, .stored: false
      }
    }
    let plain = ContentType("text/plain")
    let chosen =
      texts.first { $0.type.name == "text/plain" }
      ?? texts.first { representation in
        steps -= 256
        return plain.map { types.conforms(representation.type, to: $0) } ?? false
      }
    switch chosen?.content {
    case .text(let text)?: return text.withBytes { trimmed($0) }
    case .data(let data)?: return data.withUnsafeBytes { trimmed($0) }
    default: return .absent
    }
  }

  /// The text without white space at its ends.
  private mutating func trimmed(_ bytes: UnsafeRawBufferPointer) -> Found {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var rest = bytes[...]
    while let first = rest.first, isSpace(first) { rest = rest.dropFirst() }
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    steps -= (bytes.count - rest.count) / 4
    if rest.count > RuleLimits.text { return Trial.tooLong }
    guard let text = String(validating: rest, as: UTF8.self) else { return .unreadable("a text that is not UTF-8") }
    return .text(Text(text))
  }

  // MARK: In words

  func sentence(_ rule: Rule, _ verdict: Verdict) -> Text {
    switch verdict {
    case .holds: return .empty
    case .unmakable(let error): return Text("it \(error)")
    case .notForSandbox: return "it asks for files or names one, and the sender is sandboxed"
    case .fails(let place, let reason):
      let condition = rule.conditions[place]
      let start = "line \(condition.line): when \(condition.source) does not hold"
      return switch reason {
      case .value(let text): Text("\(start) on \(quoted(text.string))")
      case .absent: Text("\(start): there is nothing to compare")
      case .unreadable(let what): Text("\(start) on \(what)")
      case .path(let path, let why): Text("\(start): \(path.isEmpty ? "it" : quoted(path.string)) \(why)")
      }
    }
  }
}

/// Paths in the one spelling in which they are asked for, opened, and written into URLs.
enum AbsolutePath {
  /// Without `.`, `..` and empty elements, as in the normal form of a URL; `nil` if it is too long.
  static func normal(_ path: Text) -> Text? {
    if path.count > 2 * RuleLimits.path { return nil }
    var (whole, start) = ([UInt8](), 0)
    func end(_ whole: inout [UInt8], _ start: Int) {
      switch whole[start...] {
      case [UInt8(ascii: "/")], [UInt8(ascii: "/"), UInt8(ascii: ".")]: whole.removeSubrange(start...)
      case [UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: ".")]:
        whole.removeSubrange((whole[..<start].lastIndex(of: UInt8(ascii: "/")) ?? start)...)
      default: break
      }
    }
    path.withBytes { bytes in
      for byte in bytes {
        if byte == UInt8(ascii: "/"), !whole.isEmpty {
          end(&whole, start)
          start = whole.count
        }
        whole.append(byte)
      }
    }
    end(&whole, start)
    if whole.isEmpty { whole = [UInt8(ascii: "/")] }
    return whole.count > RuleLimits.path ? nil : String(validating: whole, as: UTF8.self).map { Text($0) }
  }
}
